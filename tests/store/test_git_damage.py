"""A damaged repository: it is named, it stays, and no other one is taken for it."""

import subprocess

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


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main"])
def test_what_git_cannot_read_is_named_and_stays(night: Memory, name: str) -> None:
    (night.root / ".git" / name).write_text("ref: refs/he")
    assert "`curate init`" in night.curate("check", exits=1)
    assert "`curate init`" in night.curate("run", *NOW, exits=1)


def test_a_repository_further_up_is_never_taken_for_the_memorys(night: Memory) -> None:
    above = night.root.parent
    subprocess.run(["git", "init", "-q", str(above)], check=True)
    (night.root / ".git" / "HEAD").write_bytes(b"")
    assert "git fsck" in night.curate("run", *NOW, exits=1)
    assert "git fsck" in night.curate("runs")
    assert not any((above / ".git" / "refs" / "heads").iterdir())
    (night.root / ".git").rename(above / "aside")
    assert run_cli(["init", str(night.root)]) == 0
    assert "1 item added" in night.curate("run", *NOW)
    assert not any((above / ".git" / "refs" / "heads").iterdir())


def test_a_branch_that_is_gone_does_not_begin_anew_unseen(night: Memory) -> None:
    (night.root / ".git" / "refs" / "heads" / "main").unlink()
    assert "names no readable commit" in night.curate("run", *NOW, exits=1)
    assert "names no readable commit" in night.curate("check", exits=1)
