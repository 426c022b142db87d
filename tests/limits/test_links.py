"""Links out of the memory: whichever component of whichever path is one, nothing behind it is read or written."""

import json
import shutil
from pathlib import Path
from typing import Final

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory

CANARY: Final = "The canary sings in cellar 77"
LOG: Final = "project: Alpha\n\n- Fact: The port of the gateway is 8080\n- Todo: Tell Mara about the gateway\n"
SESSION: Final = json.dumps(
    {
        "type": "user",
        "sessionId": "s1",
        "timestamp": "2026-03-12T09:00:00Z",
        "message": {"role": "user", "content": "Hello there"},
    }
)
VERBS: Final = (
    ("run", "--now", "2026-03-13T02:00"),
    ("log", "hello"),
    ("add", "fact", "Another thing that is so"),
    ("capture", "SESSION"),
    ("index",),
    ("search", "canary sings cellar"),
    ("context",),
    ("status",),
    ("undo",),
)
FOLDERS: Final = (
    "Projects", "Areas", "Resources", "Archives", "Logs", "Logs/partial", "State", "Sessions", ".curate", ".curate/tmp",
    ".curate/runs", ".curate/pending", ".curate/replies", "Projects/sub",
)  # fmt: skip
FILES: Final = (
    "MEMORY.md", "USER.md", "SOUL.md", "AGENTS.md", "Review.md", "curate.toml", "Projects/alpha.md", "Areas/general.md",
    "Logs/2026-03-10.md", "Logs/2026-03-12.md", "Logs/partial/2026-03-12-phone.md", "State/progress.jsonl",
    "State/captured.jsonl", "State/tombstones.jsonl", ".curate/lock", ".curate/log.lock", ".curate/capture.lock",
    ".curate/index.db", ".curate/index.lock", ".curate/start", ".curate/clock",
    ".curate/index-base", ".curate/schedule.json", ".curate/vectors.json",
)  # fmt: skip


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with a night behind it."""
    root = tmp_path_factory.mktemp("grown") / "memory"
    assert run_cli(["init", str(root), "--now", "2026-03-01T12:00"]) == 0
    (root / "Logs" / "2026-03-10.md").write_text(LOG)
    assert run_cli(["run", "--now", "2026-03-11T02:00", "--memory", str(root)]) == 0
    return root


def linked(grown: Path, place: Path, component: str) -> Path:
    """Copy the memory, and put a link to what lies outside of it in the place of one of its components."""
    root, outside = place / "memory", place / "outside"
    shutil.copytree(grown, root, symlinks=True)
    there, target = root / component, outside / "target"
    outside.mkdir()
    if there.exists():
        there.rename(target)
    elif component in FOLDERS:
        target.mkdir()
    else:
        target.write_bytes(b"")
    for name in ("canary.md", "2026-03-09.md", "canary.json"):
        if target.is_dir():
            (target / name).write_text(f"# Canary\n\n- Fact: {CANARY}\n")
    if target.is_file() and not component.startswith(".curate"):
        with target.open("a") as file:
            file.write(f"\n- Fact: {CANARY}\n" if component != "curate.toml" else f"\n# {CANARY}\n")
    there.parent.mkdir(parents=True, exist_ok=True)
    there.symlink_to(target)
    if not (root / "Logs" / "2026-03-12.md").is_symlink() and component != "Logs":
        (root / "Logs" / "2026-03-12.md").write_text("- Rule: The new printer stands in hall 4\n")
    return root


def told(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return what lies outside: each file's bytes and rights, and each folder's."""
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
    }


FIRST: Final = {
    *("Projects", "State", ".curate", "MEMORY.md", "Projects/alpha.md", "Logs/2026-03-12.md"),
    *(".curate/lock", ".curate/index.db"),
}


@pytest.mark.parametrize(
    "component",
    [pytest.param(one, marks=[] if one in FIRST else pytest.mark.torture) for one in (*FOLDERS, *FILES)],
)
def test_no_verb_reads_or_writes_behind_a_link(
    grown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], component: str
) -> None:
    root = linked(grown, tmp_path, component)
    session = tmp_path / "session.jsonl"
    session.write_text(f"{SESSION}\n")
    before = told(tmp_path / "outside")
    memory = Memory(root, capsys)
    for verb in VERBS:
        words = [str(session) if word == "SESSION" else word for word in verb]
        code = run_cli([*words, "--memory", str(root)])
        out = capsys.readouterr()
        said = out.out + out.err
        assert code in {0, 1, 2}, said
        assert "Traceback" not in said
        assert CANARY not in said, (verb, said)
        assert told(tmp_path / "outside") == before, (verb, said)
    assert CANARY not in memory.git("log", "-p", "--all", "--text")
    index = root / ".curate" / "index.db"
    assert component == ".curate" or CANARY.encode() not in index.read_bytes()


def test_a_link_where_the_memory_had_nothing_leaves_nothing_undone(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "canary.md").write_text(f"- Fact: {CANARY}\n")
    (memory.root / "Resources").mkdir(exist_ok=True)
    (memory.root / "Resources" / "notes").symlink_to(tmp_path / "notes")
    for night in ("2026-03-12", "2026-03-13", "2026-03-14"):
        said = memory.night(f"{night}T02:00")
        assert said.count("Resources/notes is a symbolic link, which is never followed; it was left alone.") == 1
    assert "ended well since" not in memory.curate("status", "--now", "2026-03-14T08:00")
    assert "Everything is accounted for" in memory.curate("check")


@pytest.mark.parametrize("hidden", ["Projects/alpha.md", "Projects/sub", "bytes"])
def test_what_hides_a_document_is_said_each_night_and_takes_nothing_out(
    grown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], hidden: str
) -> None:
    """Neither a night nor an undo takes for deleted what cannot be read."""
    root = shutil.copytree(grown, tmp_path / "memory", symlinks=True)
    memory, path = Memory(root, capsys), root / hidden
    if hidden == "Projects/sub":
        path.mkdir()
        (root / "Projects" / "alpha.md").rename(path / "alpha.md")
    memory.day("2026-03-11", "- Fact: The new printer stands in hall 4\n")
    if hidden == "bytes":
        (root / "Projects" / "alpha.md").write_bytes(b"\xff")
    else:
        path.rename(tmp_path / "outside")
        path.symlink_to(tmp_path / "outside")
    for night in ("2026-03-13", "2026-03-14"):
        memory.night(f"{night}T02:00", exits=1)
    said = memory.curate("status", "--now", "2026-03-14T08:00", exits=1)
    assert f"The last run left something pending: {hidden.replace('bytes', 'Projects/alpha.md')} is" in said
    assert "Run `curate run`" not in said
    memory.curate("undo", "--now", "2026-03-14T09:00")
    assert all("deleted" not in file.read_text() for file in (root / "State").glob("tombstones.jsonl"))
    assert "gateway" not in memory.read("Review.md")


@pytest.mark.parametrize(
    "component", ["Projects", "Projects/alpha.md", "Logs", "Logs/2026-03-10.md", "State", ".curate"]
)
def test_the_night_names_the_component_and_takes_nothing_back(
    grown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], component: str
) -> None:
    root = linked(grown, tmp_path, component)
    memory = Memory(root, capsys)
    head = memory.git("ls-tree", "-r", "--name-only", "HEAD")
    said = memory.night("2026-03-13T02:00", exits=1)
    assert f"{component} is a symbolic link, which is never followed" in said
    assert set(head.splitlines()) <= set(memory.git("ls-tree", "-r", "--name-only", "HEAD").splitlines())
    (root / component).unlink()
    (tmp_path / "outside" / "target").rename(root / component)
    for left in root.rglob("*canary*"):
        left.unlink()
    memory.night("2026-03-13T03:00")
    project = memory.read("Projects/alpha.md")
    assert "The port of the gateway is 8080" in project
    assert "retracted" not in memory.git("log", "--format=%b")


@pytest.mark.parametrize("folder", ["Resources", "Areas", "Archives", "Projects"])
def test_a_folder_of_documents_that_is_a_link_costs_a_note(
    grown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    root = linked(grown, tmp_path, folder)
    memory = Memory(root, capsys)
    hides = folder == "Projects"
    said = memory.night("2026-03-13T02:00", exits=int(hides))
    assert "1 item added" in said
    assert said.count(f"{folder} is a symbolic link, which is never followed") == 1
    assert "hall 4" in memory.curate("items")
    if hides:  # what the memory has behind it is taken for no deletion
        (root / folder).unlink()
        (tmp_path / "outside" / "target").rename(root / folder)
        memory.night("2026-03-14T02:00")
        assert "8080" in memory.curate("items")
