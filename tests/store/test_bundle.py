"""A memory goes into one file and comes out of it as it was; a file that somebody forged makes no memory."""

import io
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from tests.conftest import Memory, Once, curate

AT = ("--now", "2026-03-02T02:00")
LATER = ("--now", "2026-03-03T02:00")
SECRET = "pa-k3y-of-a-model-4711"  # noqa: S105  no key
TURN = '{"role": "user", "content": "hello"}\n'


def live(memory: Memory) -> None:
    memory.write("Logs/2026-03-01.md", "# 2026-03-01\n\n- Decision: use Terraform\n- Fact: the office opens at 8\n")
    memory.curate("run", *AT)
    memory.write("Logs/2026-03-02.md", "# 2026-03-02\n\n- Decision: use Kafka\n")
    memory.curate("run", *LATER)
    memory.git("branch", "aside", "HEAD~1")
    memory.git("tag", "first", "HEAD~2")
    memory.write("Sessions/a/one.jsonl", TURN).chmod(0o600)
    memory.write("Resources/tool.sh", "#!/bin/sh\n").chmod(0o755)
    memory.write("Areas/general.md", memory.read("Areas/general.md") + "\nsaid by hand\n")
    (memory.root / "SOUL.md").unlink()


def packed(memory: Memory) -> None:
    memory.curate("export", str(memory.root.with_name("all.zip")))


@pytest.fixture
def lived(once: Once) -> Memory:
    """Return a memory with two nights, a transcript, edits that are not committed, and a branch and a tag beside."""
    return once(live)


@pytest.fixture
def bundle(lived: Memory, once: Once, tmp_path: Path) -> Path:  # noqa: ARG001  it comes before
    once(packed)
    return tmp_path / "all.zip"


def restored(memory: Memory, bundle: Path, *, exits: int = 0) -> tuple[Memory, str]:
    """Restore a bundle beside a memory."""
    other = memory.aside(memory.root.with_name("anew"))
    return other, curate(memory._capsys, "init", str(other.root), "--from", str(bundle), exits=exits)


def test_a_bundle_is_its_owners_alone_and_holds_nothing_of_their_settings(
    lived: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'providers = ["rules"]\n[embedder]\nprovider = "voyage"\nkey_variable = "{SECRET}"\n')
    monkeypatch.setenv("VOYAGE_API_KEY", SECRET)
    lived.git("remote", "add", "origin", f"https://me:{SECRET}@example.org/m.git")
    lived.write(".git/hooks/post-commit", f"#!/bin/sh\n# {SECRET}\n")
    lived.write(".claude/settings.json", SECRET)
    lived.curate("export", str(tmp_path / "all.zip"))
    assert stat.S_IMODE((tmp_path / "all.zip").stat().st_mode) == 0o600
    assert SECRET.encode() not in (tmp_path / "all.zip").read_bytes()
    anew, _ = restored(lived, tmp_path / "all.zip")
    assert anew.git("remote") == ""
    assert not (anew.root / ".git/hooks").exists()


def test_nothing_is_overwritten_and_no_bundle_lies_in_the_memory(lived: Memory, bundle: Path) -> None:
    before = bundle.read_bytes()
    assert "is there already" in lived.curate("export", str(bundle), exits=1)
    assert bundle.read_bytes() == before
    assert "part of the memory" in lived.curate("export", str(lived.root / "Areas/all.zip"), exits=1)
    lived.root.with_name("anew").mkdir()
    kept = lived.root.with_name("anew") / "mine.txt"
    kept.write_text("mine")
    _, said = restored(lived, bundle, exits=1)
    assert "nothing is overwritten" in said
    assert [kept] == list(kept.parent.iterdir())


def test_an_export_that_fails_leaves_no_file_and_no_bundle_on_standard_output(lived: Memory, tmp_path: Path) -> None:
    (lived.root / os.fsdecode(b"Areas/\xff.md")).write_text("# Odd\n")
    said = lived.curate("export", str(tmp_path / "all.zip"), exits=1)
    assert "is not UTF-8" in said
    assert [path for path in tmp_path.iterdir() if path != lived.root] == []
    asked = [sys.executable, "-m", "pipelines.cli", "export", "-", "--memory", str(lived.root)]
    told = subprocess.run(asked, check=False, capture_output=True)
    assert told.returncode == 1
    (tmp_path / "part.zip").write_bytes(told.stdout)
    _, said = restored(lived, tmp_path / "part.zip", exits=1)
    assert "not a bundle of a memory" in said
    (lived.root / os.fsdecode(b"Areas/\xff.md")).unlink()
    (tmp_path / "whole.zip").write_bytes(subprocess.run(asked, check=True, capture_output=True).stdout)
    anew, _ = restored(lived, tmp_path / "whole.zip")
    assert anew.files() == lived.files()


def test_what_has_no_whole_history_of_its_own_is_refused(memory: Memory, tmp_path: Path) -> None:
    file = str(tmp_path / "all.zip")
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{memory.root}", tmp_path / "cut"], check=True)
    memory.write("Logs/2026-03-01.md", "- Decision: use Terraform\n")
    memory.curate("run", *AT)
    shallow = memory.aside(tmp_path / "shallow")
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{memory.root}", shallow.root], check=True)
    assert "no complete history" in shallow.curate("export", file, exits=1)


def _forged(bundle: Path, change: Callable[[ZipFile, ZipFile], None]) -> None:
    """Write a bundle anew: all that it holds but the history, and what `change` puts there."""
    made = io.BytesIO()
    with ZipFile(bundle) as old, ZipFile(made, "w") as new:
        new.comment = old.comment
        for name in old.namelist():
            if name != "history.bundle":
                new.writestr(name, old.read(name))
        change(old, new)
        if "history.bundle" not in new.namelist():
            new.writestr("history.bundle", old.read("history.bundle"))
    bundle.write_bytes(made.getvalue())


def _linking(_old: ZipFile, new: ZipFile) -> None:
    link = ZipInfo("memory/Areas/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    new.writestr(link, "/etc")


def _history(old: ZipFile, new: ZipFile) -> None:
    data = old.read("history.bundle")
    new.writestr("history.bundle", data[: len(data) // 2])


BAD = (
    "../out",
    "/out",
    "Areas/../../out",
    ".git/hooks/post-commit",
    ".git/config",
    "Areas/.claude/settings.json",
    "a//b",
)


@pytest.mark.parametrize(
    "change",
    [
        *(lambda _, new, name=name: new.writestr(f"memory/{name}", "x") for name in BAD),
        lambda _, new: new.writestr("elsewhere/a.md", "x"),
        lambda _, new: new.writestr("memory/Areas/big.md", b"\0" * 10_000_000, ZIP_DEFLATED),
        lambda _, new: new.writestr("memory/Areas/general.md", "twice"),
        lambda _, new: setattr(new, "comment", b"another program's"),
        _linking,
        _history,
        lambda _, new: new.writestr("history.bundle", "# v2 git bundle\n\n"),
    ],
    ids=[*BAD, "elsewhere", "compressed", "twice", "another's", "link", "half a history", "no history"],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_forged_bundle_makes_no_memory(
    lived: Memory, bundle: Path, change: Callable[[ZipFile, ZipFile], None]
) -> None:
    _forged(bundle, change)
    before = {path for path in bundle.parent.rglob("*") if path.name != "out"}
    anew, _ = restored(lived, bundle, exits=1)
    left = set(bundle.parent.rglob("*")) - before
    assert left <= {anew.root}


def test_a_bundle_that_claims_more_than_it_has_or_is_cut_or_changed_is_refused(lived: Memory, bundle: Path) -> None:
    whole = bundle.read_bytes()
    with ZipFile(bundle) as archive:
        about = archive.getinfo("memory/Areas/general.md")
    at = whole.rindex(b"PK\1\2", 0, whole.rindex(about.filename.encode()))
    claimed = whole[: at + 20] + (10**9).to_bytes(4, "little") * 2 + whole[at + 28 :]
    for data in (
        whole[:-200],
        whole[: len(whole) // 2],
        b"",
        b"no zip",
        claimed,
        whole.replace(b"said by", b"SAID by"),
    ):
        bundle.write_bytes(data)
        _, said = restored(lived, bundle, exits=1)
        assert "nothing was" in said
    bundle.unlink()
    _, said = restored(lived, bundle, exits=1)
    assert "no such file" in said.lower()


def test_a_history_that_would_leave_git_another_folder_is_refused(lived: Memory, bundle: Path, tmp_path: Path) -> None:
    blob = lived.git("rev-parse", "HEAD:curate.toml").strip()
    inner = (
        subprocess.run(
            ["git", "mktree"],
            cwd=lived.root,
            input=f"100755 blob {blob}\tconfig\n".encode(),
            check=True,
            capture_output=True,
        )
        .stdout.decode()
        .strip()
    )
    row = b"40000 .git\0" + bytes.fromhex(inner)
    told = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        cwd=lived.root, input=row, check=True, capture_output=True,
    )  # fmt: skip
    commit = lived.git("commit-tree", told.stdout.decode().strip(), "-m", "x")
    lived.git("update-ref", "refs/heads/bad", commit.strip())
    lived.git("bundle", "create", "-q", str(tmp_path / "bad.bundle"), "HEAD", "--branches")
    _forged(bundle, lambda _, new: new.write(tmp_path / "bad.bundle", "history.bundle"))
    _, said = restored(lived, bundle, exits=1)
    assert "nothing was" in said
