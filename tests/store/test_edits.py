"""What differs from the last commit: a file is read only where its size and times leave a doubt."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pipelines.store import edits, stamps
from pipelines.store.edits import commit_edits, uncommitted
from pipelines.store.git import Author, Git

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.store.folders import Below

LATER = 120_000_000_000
DAYS = [f"Logs/2026-03-{day:02}.md" for day in range(1, 21)]


@pytest.fixture
def git(bare_memory: Path) -> Git:
    """A memory with twenty logs, all committed."""
    for path in DAYS:
        (bare_memory / path).write_text(f"# {path}\n\n- a word\n")
    made = Git(bare_memory)
    made.init()
    commit_edits(bare_memory, made, "first\n", Author("Night", "night@example.org", datetime(2026, 3, 21, tzinfo=UTC)))
    return made


def read_by(git: Git, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Return what differs, as a run finds it two minutes from now, and what it read for that."""
    read: list[str] = []
    hashes_at, now = edits._hashes_at, time.time_ns()

    def told(below: Below, path: str, like: str) -> tuple[str, str] | None:
        read.append(path)
        return hashes_at(below, path, like)

    with monkeypatch.context() as patch:
        patch.setattr(edits, "_hashes_at", told)
        patch.setattr(time, "time_ns", lambda: now + LATER)
        return uncommitted(git.root, git, git.head()), read


def test_what_has_not_changed_is_read_once(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(DAYS) <= set(read_by(git, monkeypatch)[1])
    assert read_by(git, monkeypatch) == ([], [])


def test_a_file_that_is_still_young_is_read_again(git: Git) -> None:
    assert uncommitted(git.root, git, git.head()) == []
    assert not (git.root / ".curate" / stamps.FILE).exists()


def test_an_edit_that_keeps_size_and_time_is_seen(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by(git, monkeypatch)
    file = git.root / DAYS[0]
    then = file.stat()
    file.write_text(file.read_text().replace("word", "bird"))
    os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))
    assert file.stat().st_size == then.st_size
    assert read_by(git, monkeypatch)[0] == [DAYS[0]]
    assert read_by(git, monkeypatch)[0] == [DAYS[0]]


def test_a_file_that_takes_anothers_place_is_seen(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by(git, monkeypatch)
    (git.root / DAYS[1]).replace(git.root / DAYS[2])
    assert read_by(git, monkeypatch)[0] == [DAYS[1], DAYS[2]]


def test_stamps_that_cannot_be_read_cost_nothing_but_time(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by(git, monkeypatch)
    (git.root / ".curate" / stamps.FILE).write_text('{"Logs/2026-03-01.md": [1, ')
    (git.root / DAYS[0]).write_text("changed")
    assert read_by(git, monkeypatch)[0] == [DAYS[0]]
