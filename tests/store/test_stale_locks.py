"""Locks of git: what a killed process left stops nobody, and what a living git holds is never removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from pipelines.errors import GitFault
from pipelines.store.git import Git
from pipelines.store.git_locks import HOUR, UNSEEN, WAITS, clear_stale_locks, holder_of, locks_of, wait_for_locks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LEFT = ("index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock")


@pytest.fixture
def git(bare_memory: Path) -> Git:
    made = Git(bare_memory)
    made.init()
    return made


@pytest.fixture
def living(git: Git, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A git that waits for its editor, as a person's `git commit` does; it holds index.lock or not, as git pleases."""
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


@pytest.mark.parametrize("name", LEFT)
def test_a_lock_that_nobody_holds_goes(git: Git, name: str) -> None:
    (git.root / ".git" / name).touch()
    assert clear_stale_locks(git.repository) is None
    assert not locks_of(git.repository)


def test_locks_of_other_programs_stay(git: Git) -> None:
    for name in ("annex.lock", "lfs.lock", "objects/maintenance.lock"):
        (git.root / ".git" / name).touch()
    clear_stale_locks(git.repository)
    assert (git.root / ".git" / "annex.lock").exists()
    assert (git.root / ".git" / "objects" / "maintenance.lock").exists()


def test_what_a_killed_import_keeps_goes_and_what_a_person_keeps_stays(git: Git) -> None:
    left = git.root / ".git" / "objects" / "pack" / "pack-{}.keep"
    own, of_import, not_written = (left.with_name(left.name.format(digit * 40)) for digit in "123")
    own.write_text("I keep this one")
    of_import.write_text("fast-import")
    not_written.touch()
    clear_stale_locks(git.repository)
    assert (own.exists(), of_import.exists(), not_written.exists()) == (True, False, False)


def test_a_lock_that_a_living_git_holds_stays_and_is_named(git: Git, living: subprocess.Popen[bytes]) -> None:
    waited: list[float] = []
    with pytest.raises(GitFault, match=rf"index\.lock is held by process {living.pid} \(`git commit`\)"):
        wait_for_locks(git.repository, waited.append)
    assert waited == list(WAITS)
    assert sum(waited) < 2
    assert (git.root / ".git" / "index.lock").exists()


def test_a_git_that_finishes_meanwhile_is_waited_for(git: Git, living: subprocess.Popen[bytes]) -> None:
    def finish(_: float) -> None:
        living.kill()
        living.wait()

    wait_for_locks(git.repository, finish)
    assert not (git.root / ".git" / "index.lock").exists()


def test_a_program_that_is_no_git_and_has_the_lock_open_holds_it(git: Git) -> None:
    lock = git.root / ".git" / "index.lock"
    code = "import sys; held = open(sys.argv[1], 'w'); print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        assert clear_stale_locks(git.repository)
        assert lock.exists()
        other.kill()
    assert clear_stale_locks(git.repository) is None


def test_a_git_elsewhere_and_one_that_only_reads_hold_nothing(git: Git, tmp_path: Path) -> None:
    (git.root / ".git" / "index.lock").touch()
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=git.root, stdin=subprocess.PIPE) as reader:
        assert clear_stale_locks(git.repository) is None
        reader.kill()
    (git.root / ".git" / "index.lock").touch()
    with subprocess.Popen(["git", "hash-object", "--stdin"], cwd=tmp_path, stdin=subprocess.PIPE) as elsewhere:
        assert clear_stale_locks(git.repository) is None
        elsewhere.kill()


def test_a_git_that_was_told_the_repository_counts(git: Git, tmp_path: Path) -> None:
    (git.root / ".git" / "HEAD.lock").touch()
    words = ["git", "-C", str(git.root), "mktree", "--batch"]
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.write(b"\n")  # an empty tree: once it is named, git is in its folder
        other.stdin.flush()
        assert other.stdout.readline()
        assert clear_stale_locks(git.repository)
        other.kill()


def test_where_processes_cannot_be_seen_only_an_old_lock_goes(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = git.root / ".git" / "index.lock"
    lock.touch()
    monkeypatch.setattr("pipelines.store.git_locks.holder_of", lambda *_: UNSEEN)
    assert clear_stale_locks(git.repository)
    old = time.time() - HOUR - 1
    os.utime(lock, (old, old))
    assert clear_stale_locks(git.repository) is None
    assert not lock.exists()


def test_without_proc_it_is_in_doubt(git: Git, tmp_path: Path) -> None:
    assert holder_of(git.repository.places(), [], tmp_path / "no-proc") == UNSEEN


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_the_night_and_the_next_commit_of_a_person_go_on(
    bare_memory: Path, name: str, at: Callable[..., object]
) -> None:
    from pipelines.store.edits import commit_edits
    from pipelines.store.git import Author
    from pipelines.store.journal import recover

    git = Git(bare_memory)
    git.init()
    author = Author("A", "a@example.org", at("2026-03-18T02:00+00:00"))  # type: ignore[arg-type]  # a moment
    commit_edits(bare_memory, git, "first\n", author)
    (bare_memory / ".git" / name).touch()
    recover(bare_memory, git)
    (bare_memory / "SOUL.md").write_text("mine\n")
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, "commit", "-qam", "mine"], cwd=bare_memory, check=True)
    (bare_memory / ".git" / name).touch()
    (bare_memory / "SOUL.md").write_text("more\n")
    assert commit_edits(bare_memory, git, "edits\n", author)
