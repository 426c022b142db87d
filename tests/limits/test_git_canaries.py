"""A memory may be somebody else's repository: nothing that its settings and attributes name is ever run."""

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from pipelines.store.git import Author, Git
from tests.conftest import Memory, Once
from tests.limits.hostile import Canaries, arm, canaries, lose_a_blob, sign
from tests.night.sync.machines import append_log, shared

NOW = ("--now", "2026-03-19T02:00")
LATER = ("--now", "2026-03-20T02:00")


def a_night(memory: Memory) -> None:
    memory.day("2026-03-17", "- Decision: Use SQLite for the index\n- Rule: never push on Fridays\n")


@pytest.fixture
def lived(once: Once) -> Memory:
    """A memory that has seen a night, before it is armed."""
    return once(a_night)


@pytest.fixture
def armed(lived: Memory, tmp_path: Path) -> tuple[Memory, Canaries]:
    """A memory, armed."""
    made = canaries(tmp_path / "canaries")
    sign(lived.root)
    arm(lived.root, made)
    return lived, made


def every_verb(memory: Memory, tmp_path: Path, step: int = 1) -> list[str]:
    """Run every STEP-th verb that may ask git for something, whatever its exit code; return those that end in a bug."""
    [one, two] = sorted(item["id"] for item in memory.json("items"))
    memory.write("Logs/2026-03-18.md", "- Decision: Use Terraform, not Pulumi\n- Todo: ask legal about the DPA\n")
    memory.write("Areas/mine.md", "# Mine\n\n- Fact: The office is in Bern.\n")
    export = tmp_path / "export.jsonl"
    verbs = [
        ["status"], ["check"], ["run", "--dry-run", *NOW], ["run", *NOW], ["runs"],
        ["history", one],
        ["secrets", "--history"], ["why", one], ["impact", one], ["items"],
        ["items", "--as-of", "2026-03-18"], ["export"],
        ["log", "work goes on", *NOW], ["add", "Fact", "The sky is blue.", *NOW], ["pin", one, *NOW],
        ["unpin", one, *NOW], ["move", one, "Alpha", *NOW],
        ["forget", two, "--yes", *NOW],
        ["review"], ["search", "SQLite"], ["context"], ["index", "--full"], ["undo", *LATER],
        ["undo", "--item", one, *LATER], ["undo", "last", *LATER], ["init", *NOW], ["import", str(export)],
        ["run", *LATER],
        ["run", "--again", "2026-03-18", *LATER],
        ["capture", *NOW],
    ]  # fmt: skip
    bugs = []
    for verb in verbs[::step]:
        place = [str(memory.root)] if verb[0] == "init" else ["--memory", str(memory.root)]
        if run_cli([*verb, *place]) not in {0, 1, 2}:
            bugs.append(" ".join(verb))
    return bugs


def test_nothing_that_a_repository_names_is_run(armed: tuple[Memory, Canaries], tmp_path: Path) -> None:
    memory, made = armed
    assert every_verb(memory, tmp_path) == []
    assert made.fired() == []
    assert "Use Terraform" in "".join(file.read_text() for file in memory.root.glob("[MPA]*/*.md")) + memory.read(
        "MEMORY.md"
    )


def test_nothing_is_run_to_tell_when_two_machines_changed_a_line(memory: Memory, tmp_path: Path) -> None:
    one, other, _ = shared(memory)
    append_log(one, "2025-01-02", "- Todo: Buy nails\n")
    one.night("2025-01-02T22:00")
    other.night("2025-01-02T22:10")
    one.curate("done", "nails", "--now", "2025-01-02T23:00")
    other.curate("correct", "nails", "Buy 40 nails", "--now", "2025-01-02T23:10")
    one.night("2025-01-03T22:00")
    made = canaries(tmp_path / "canaries")
    other.git("read-tree", "HEAD")  # what git saw of files in this very second it would compare by a filter
    arm(other.root, made)
    other.night("2025-01-03T22:10")
    assert "was changed on two machines" in other.read("Review.md")
    assert made.fired() == []


def test_the_canaries_would_sing_for_their_owner(armed: tuple[Memory, Canaries]) -> None:
    memory, made = armed
    (memory.root / "MEMORY.md").write_text("changed\n")
    served = ["-c", "filter.served.process=", "-c", "filter.served.required=false"]
    nights = ["diff", "HEAD~1", "HEAD"]
    for verb in (["status"], nights, [*nights, "--no-ext-diff"], ["log", "--format=%H"], ["add", "-A"],
                 ["update-ref", "refs/heads/x", "HEAD"]):  # fmt: skip
        subprocess.run(["git", *served, *verb], cwd=memory.root, check=False, capture_output=True)
    fired = " ".join(made.fired())
    for part in ("2", "-clean", "-diff", "--keyid-format", "hooks/reference-transaction", "-textconv"):
        assert part in fired, fired


def test_nothing_is_fetched_for_a_repository_that_lacks_its_objects(lived: Memory, tmp_path: Path) -> None:
    made = canaries(tmp_path / "canaries")
    head = str(Git(lived.root).head())
    lose_a_blob(lived.root, made)
    subprocess.run(["git", "show", "HEAD:MEMORY.md"], cwd=lived.root, check=False, capture_output=True)
    armed_at_all = made.fired()
    made.told.unlink(missing_ok=True)
    every_verb(lived, tmp_path)
    assert made.fired() == []
    assert armed_at_all or Git(lived.root).show(head, "MEMORY.md") is None


def test_the_callers_git_variables_lead_nowhere_else(
    lived: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = canaries(tmp_path / "canaries")
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", str(other)], check=True)
    before = {file: file.read_bytes() for file in other.rglob("*") if file.is_file()}
    values = {"GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_INDEX_FILE": other / "index",
              "GIT_OBJECT_DIRECTORY": other / "objects", "GIT_ALTERNATE_OBJECT_DIRECTORIES": other,
              "GIT_NAMESPACE": "x", "GIT_CEILING_DIRECTORIES": "/", "GIT_COMMON_DIR": other,
              "GIT_TRACE": other / "trace", "GIT_TRACE2": other / "trace2", "GIT_CONFIG_COUNT": "1",
              "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": made.program, "GIT_CONFIG": other / "config",
              "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor'='{made.program}'", "GIT_LITERAL_PATHSPECS": "1",
              "GIT_REPLACE_REF_BASE": "refs/x", "GIT_SHALLOW_FILE": other / "shallow",
              "GIT_DEFAULT_HASH": "sha256"}  # fmt: skip
    runners = (
        "GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_ASKPASS GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND PAGER EDITOR"
    )
    for name, value in values.items() | {(name, made.program) for name in runners.split()}:
        monkeypatch.setenv(name, str(value))
    assert every_verb(lived, tmp_path) == []
    assert made.fired() == []
    assert {file: file.read_bytes() for file in other.rglob("*") if file.is_file()} == before


def test_a_git_that_lies_in_the_memory_is_not_run(
    lived: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = canaries(tmp_path / "canaries")
    for folder in (lived.root, lived.root / "bin"):
        folder.mkdir(exist_ok=True)
        for name in ("git", "env"):
            shutil.copy2(made.program, folder / name)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}bin{os.pathsep}{lived.root / 'bin'}{os.pathsep}{path}")
    monkeypatch.chdir(lived.root)
    assert every_verb(lived, tmp_path, 3) == []
    assert made.fired() == []


def test_a_bare_repository_in_a_memorys_shape_is_none(lived: Memory, tmp_path: Path) -> None:
    made = canaries(tmp_path / "canaries")
    arm(lived.root, made)
    shutil.rmtree(lived.root / "hooks")
    for file in (lived.root / ".git").iterdir():
        file.rename(lived.root / file.name)
    (lived.root / ".git").rmdir()
    with (lived.root / "config").open("a") as config:
        config.write(f"[core]\n\tbare = false\n\tworktree = {lived.root}\n")
    assert "is not a git repository" in lived.curate("run", *NOW, exits=1)
    assert made.fired() == []


def test_nested_repositories_are_no_part_of_the_memory(armed: tuple[Memory, Canaries], tmp_path: Path) -> None:
    memory, made = armed
    for place in ("Projects", "Areas/inner", "Logs"):
        (memory.root / place).mkdir(exist_ok=True)
        shutil.copytree(memory.root / ".git", memory.root / place / ".git")
    shutil.copytree(memory.root / ".git", memory.root / "Resources" / "bare")
    assert every_verb(memory, tmp_path, 3) == []
    assert made.fired() == []
    held = memory_tree(memory)
    assert not [path for path in held if ".git/" in path]


def test_a_submodule_in_the_tree_is_left_alone(armed: tuple[Memory, Canaries], tmp_path: Path) -> None:
    memory, made = armed
    git = Git(memory.root)
    head = git.head() or ""
    author = Author("x", "x@example.org", datetime(2026, 3, 18, tzinfo=UTC))
    git.run("update-ref", "HEAD", git.store_commit([head], {"Projects/sub": ("160000", head)}, "sub\n", author))
    assert every_verb(memory, tmp_path, 3) == []
    assert made.fired() == []


def test_a_work_tree_elsewhere_is_not_written(lived: Memory, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with (lived.root / ".git" / "config").open("a") as config:
        config.write(f"[core]\n\tworktree = {elsewhere}\n")
    lived.write("Logs/2026-03-18.md", "- Decision: Use Terraform, not Pulumi\n")
    lived.curate("run", *NOW, exits=1)
    assert list(elsewhere.iterdir()) == []


def memory_tree(memory: Memory) -> list[str]:
    return sorted(Git(memory.root).tree(Git(memory.root).head()))
