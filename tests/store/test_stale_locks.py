"""Locks of git: what a killed run left stops nobody, and what a living git holds is not removed."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
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


@pytest.fixture
def living(git: Git, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A git that waits for its editor, as a person's `git commit` does; it holds index.lock."""
    trap = tmp_path / "editor"
    trap.write_text("#!/bin/sh\nread line\n")
    trap.chmod(0o755)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", f"core.editor={trap}"]
    git.run("add", "MEMORY.md")
    command = ["git", *identity, "commit", "MEMORY.md"]
    process = subprocess.Popen(command, cwd=git.root, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    lock = git.root / ".git" / "index.lock"
    while not lock.exists() and process.poll() is None:
        os.sched_yield()
    yield process
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


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
        clear_stale_locks(git)
        assert not left(git)
    (old := git.root / ".git" / "index.lock").touch()
    os.utime(old, (then := time.time() - 3601, then))
    clear_stale_locks(git)
    assert not old.exists()


def test_a_lock_made_since_or_while_no_run_was_killed_stays(git: Git) -> None:
    lock = git.root / ".git" / "index.lock"
    for kill in (True, False):
        if kill:
            killed_run(git.root)
        with run_lock(git.root, "which tests"):
            lock.touch()
            assert clear_stale_locks(git) == lock
    with run_lock(git.root, "which tests"):
        assert clear_stale_locks(git) == lock


def test_locks_of_other_programs_stay(git: Git) -> None:
    names = ("annex.lock", "lfs.lock", "objects/maintenance.lock")
    killed_run(git.root, *names)
    with run_lock(git.root, "which tests"):
        clear_stale_locks(git)
    assert all((git.root / ".git" / name).exists() for name in names)


@pytest.mark.usefixtures("living")
def test_a_lock_that_a_living_git_holds_stays_and_is_named(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    with run_lock(git.root, "which tests"), pytest.raises(GitFault, match=r"Another git holds .*index\.lock"):
        git.commit({"MEMORY.md": ("100644", b"new")}, "change\n", Author("A", "a@example.org", WHEN))
    assert 1 < sum(waited) < 2
    assert git.head() is None
    assert (git.root / ".git" / "index.lock").exists()


@pytest.mark.parametrize("record", ["x\ny\nz\n", "x\n1.2.3 4.5 6.7\n", "x\n. . .\n"])
def test_any_text_in_the_run_lock_is_written_over(git: Git, record: str) -> None:
    with run_lock(git.root, "which tests"):
        pass
    (git.root / ".curate" / "lock").write_text(record)
    with run_lock(git.root, "which tests"):
        (git.root / ".git" / "index.lock").touch()
        assert clear_stale_locks(git)
