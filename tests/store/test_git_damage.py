"""A damaged repository: what git says is shown, the commands that are named help, and no other one is taken for it."""

import shlex
import subprocess
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory

NOW = ("--now", "2026-03-20T02:00")


@pytest.fixture
def night(memory: Memory) -> Memory:
    """Return a memory with one night behind it, and a day that waits."""
    memory.day("2026-03-10", "- Decision: Use SQLite.\n")
    memory.write("Logs/2026-03-19.md", "- Fact: The lamp is on channel seven.\n")
    return memory


def lose_a_commit(memory: Memory) -> None:
    """Take the packs away in which the first commits are."""
    packs = sorted((memory.root / ".git" / "objects" / "pack").glob("*.pack"), key=lambda pack: pack.stat().st_mtime_ns)
    packs[0].unlink()


def remedies(memory: Memory) -> list[str]:
    """Return the commands that the check names; it mends nothing."""
    before = {path: path.read_bytes() for path in (memory.root / ".git").rglob("*") if path.is_file()}
    said = memory.curate("check", exits=1)
    assert {path: path.read_bytes() for path in (memory.root / ".git").rglob("*") if path.is_file()} == before
    return said.split("`")[1::2]


def do(memory: Memory, command: str) -> None:
    """Do what a command says; `curate init` is ours."""
    shell, _, ours = command.partition(" && curate ")
    subprocess.run(["sh", "-ec", shell], check=True, capture_output=True, cwd=memory.root.parent)
    assert not ours or run_cli(shlex.split(ours)) == 0


def test_lost_history_comes_back_from_a_remote_by_the_command_that_is_named(night: Memory, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    night.git("clone", "-q", "--bare", ".", str(remote))
    night.git("remote", "add", "origin", str(remote))
    commits = night.git("rev-list", "HEAD")
    lose_a_commit(night)
    before = night.files()
    do(night, remedies(night)[0])
    assert night.git("rev-list", "HEAD") == commits
    assert night.git("remote", "get-url", "origin").strip() == str(remote)
    assert night.files() == before
    assert "nothing is broken" in night.curate("check")
    assert "1 item added" in night.curate("run", *NOW)


def test_without_a_copy_the_command_that_is_named_begins_anew_with_the_same_files(night: Memory) -> None:
    lose_a_commit(night)
    before = night.files()
    named = remedies(night)
    assert "--from BUNDLE" in named[0]
    do(night, named[1])
    assert {path: data for path, data in night.files().items() if path in before} == before
    assert "1 item added" in night.curate("run", *NOW)
    assert "nothing is broken" in night.curate("check")


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main"])
def test_what_git_cannot_read_is_named_and_stays(night: Memory, name: str) -> None:
    (night.root / ".git" / name).write_text("ref: refs/he")
    assert "is damaged" in night.curate("check", exits=1)
    assert any("curate init" in one for one in remedies(night))
    assert "`curate check`" in night.curate("run", *NOW, exits=1)


def test_a_repository_further_up_is_never_taken_for_the_memorys(night: Memory) -> None:
    above = night.root.parent
    subprocess.run(["git", "init", "-q", str(above)], check=True)
    (night.root / ".git" / "HEAD").write_bytes(b"")
    assert "curate check" in night.curate("run", *NOW, exits=1)
    assert "curate check" in night.curate("runs")
    assert not any((above / ".git" / "refs" / "heads").iterdir())
    do(night, remedies(night)[-1])
    assert "1 item added" in night.curate("run", *NOW)
    assert not any((above / ".git" / "refs" / "heads").iterdir())


def test_a_branch_that_is_gone_does_not_begin_anew_unseen(night: Memory) -> None:
    (night.root / ".git" / "refs" / "heads" / "main").unlink()
    assert "names no readable commit" in night.curate("run", *NOW, exits=1)
    assert "names no readable commit" in night.curate("check", exits=1)
