"""A damaged repository: what gives way is kept, the remedies that are named work, and no other one is taken for it."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from pipelines.cli import run_cli

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory

NOW = ("--now", "2026-03-20T02:00")


@pytest.fixture
def night(memory: Memory) -> Memory:
    """Return a memory with one night behind it, and a day that waits."""
    memory.write("Logs/2026-03-10.md", "- Decision: Use SQLite.\n")
    memory.curate("run", "--now", "2026-03-11T02:00")
    memory.write("Logs/2026-03-19.md", "- Fact: The lamp is on channel seven.\n")
    return memory


def lose_a_commit(memory: Memory) -> None:
    """Take the packs away in which the first commits are."""
    packs = sorted((memory.root / ".git" / "objects" / "pack").glob("*.pack"), key=lambda pack: pack.stat().st_mtime_ns)
    for pack in packs[:1]:
        pack.unlink()


def remedy(memory: Memory) -> str:
    memory.curate("check", "--fix", *NOW, exits=1)
    return memory.curate("check", exits=1).split("`")[1]


def do(command: str) -> None:
    for part in command.split(" && "):
        words = shlex.split(part)
        if words[0] == "curate":
            assert run_cli(words[1:]) == 0
        else:
            subprocess.run(words, check=True, capture_output=True)


def test_lost_history_comes_back_from_a_remote_by_the_command_that_is_named(night: Memory, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(night.root), str(remote)], check=True)
    night.git("remote", "add", "origin", str(remote))
    lose_a_commit(night)
    command = remedy(night)
    assert "fetch --refetch origin" in command
    do(command)
    assert "nothing is broken" in night.curate("check")


def test_without_a_remote_the_command_that_is_named_begins_anew_with_the_same_files(night: Memory) -> None:
    lose_a_commit(night)
    before = night.files()
    do(remedy(night))
    assert {path: data for path, data in night.files().items() if path in before} == before
    assert "1 item added" in night.curate("run", *NOW)
    assert "nothing is broken" in night.curate("check")


def test_what_gives_way_is_kept(night: Memory) -> None:
    head = night.root / ".git" / "HEAD"
    head.write_text("ref: refs/he")
    assert ".git/broken" in night.curate("check", "--fix", *NOW)
    assert head.read_text() == "ref: refs/heads/main\n"
    assert (night.root / ".git" / "broken" / "HEAD.1").read_text() == "ref: refs/he"


def test_a_repository_further_up_is_never_taken_for_the_memorys(night: Memory) -> None:
    above = night.root.parent
    subprocess.run(["git", "init", "-q", str(above)], check=True)
    (night.root / ".git" / "HEAD").write_bytes(b"")
    assert "curate check --fix" in night.curate("run", *NOW, exits=1)
    assert "curate check --fix" in night.curate("runs")
    assert not any((above / ".git" / "refs" / "heads").iterdir())
    night.curate("check", "--fix", *NOW)
    assert "1 item added" in night.curate("run", *NOW)


def test_a_branch_that_is_gone_does_not_begin_anew_unseen(night: Memory) -> None:
    commits = int(night.git("rev-list", "--count", "HEAD"))
    (night.root / ".git" / "refs" / "heads" / "main").unlink()
    assert "names no readable commit" in night.curate("run", *NOW, exits=1)
    night.curate("check", "--fix", *NOW)
    night.curate("run", *NOW)
    assert int(night.git("rev-list", "--count", "HEAD")) > commits


def test_a_list_that_git_cannot_read_loses_only_its_bad_lines(night: Memory) -> None:
    night.git("tag", "kept")
    night.git("pack-refs", "--all")
    packed = night.root / ".git" / "packed-refs"
    packed.write_text(packed.read_text() + "rubbish\n")
    night.curate("check", "--fix", *NOW)
    assert night.git("tag").split() == ["kept"]
