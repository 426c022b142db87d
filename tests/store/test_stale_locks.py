"""Locks of git: what a killed run left stops nobody, and what a living git holds is not removed."""

import os
import signal
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.errors import GitFault
from pipelines.store.git import Author, Git
from pipelines.store.lock import clear_stale_locks, run_lock

WHEN = datetime(2026, 3, 18, 2, tzinfo=UTC)
LEFT = ("index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock")


@pytest.fixture
def git(bare_memory: Path) -> Git:
    made = Git(bare_memory)
    made.init()
    return made


def killed_run(root: Path, *left: str) -> None:
    """Leave what a run leaves that is killed while its git holds these locks."""
    if (pid := os.fork()) == 0:
        with run_lock(root, "which is killed"):
            for name in left:
                (root / ".git" / name).touch()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)


def left(git: Git) -> set[str]:
    return {path.name for path in (git.root / ".git").rglob("*.lock")}


def test_a_lock_of_a_killed_run_goes_and_so_does_an_old_one(git: Git) -> None:
    killed_run(git.root, *LEFT)
    killed_run(git.root)  # which is killed, too, before it cleans up
    with run_lock(git.root, "which tests"):
        clear_stale_locks(git.repository, git.root)
        assert not left(git)
    (old := git.root / ".git" / "index.lock").touch()
    os.utime(old, (then := time.time() - 3601, then))
    clear_stale_locks(git.repository, git.root)
    assert not old.exists()


def test_a_lock_made_while_no_run_was_killed_stays(git: Git) -> None:
    for _ in range(2):
        with run_lock(git.root, "which tests"):
            (git.root / ".git" / "index.lock").touch()
            clear_stale_locks(git.repository, git.root)
            assert left(git) == {"index.lock"}


def test_locks_of_other_programs_stay(git: Git) -> None:
    names = ("annex.lock", "lfs.lock", "objects/maintenance.lock")
    killed_run(git.root, *names)
    with run_lock(git.root, "which tests"):
        clear_stale_locks(git.repository, git.root)
    assert all((git.root / ".git" / name).exists() for name in names)


def test_a_branch_that_a_living_git_holds_is_named(git: Git) -> None:
    (git.root / ".git" / "refs" / "heads" / "main.lock").touch()
    with run_lock(git.root, "which tests"):
        git.settle()
        with pytest.raises(GitFault, match=r"main\.lock"):
            git.commit({"MEMORY.md": ("100644", b"new")}, "change\n", Author("A", "a@example.org", WHEN))
