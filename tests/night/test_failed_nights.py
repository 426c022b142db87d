"""Nights that fail for real: each names its cause and what mends it, and doing that helps."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import Memory

AT: Final = ("--now", "2026-03-12T02:00")
LATER: Final = ("--now", "2026-03-12T08:00")


@pytest.fixture
def waiting(memory: Memory) -> Memory:
    """Return a memory with a night behind it, and a day that waits."""
    memory.day("2026-03-10", "- Decision: Use SQLite for the cache.\n")
    memory.write("Logs/2026-03-11.md", "- Fact: The lamp is on channel seven.\n")
    return memory


@pytest.fixture
def disk(waiting: Memory, tmp_path: Path) -> Iterator[Path]:
    """Return a small disk of its own with that memory on it."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if (
        os.geteuid()
        or not shutil.which("mount")
        or subprocess.run(command, check=False, capture_output=True).returncode
    ):
        pytest.skip("only root may mount a disk")
    shutil.copytree(waiting.root, place / "memory", symlinks=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def failed(memory: Memory, *words: str, exits: int = 1) -> str:
    """Let the night fail, and return what it says, which `doctor` repeats."""
    said = memory.curate("run", *AT, exits=exits)
    assert [word for word in words if word not in said] == [], said
    return said


def test_a_merge_in_progress_would_keep_both_sides(waiting: Memory) -> None:
    waiting.curate("correct", "Use SQLite", "Use DuckDB for the cache.", *AT)
    waiting.git("checkout", "-q", "-b", "side", "HEAD~1")
    waiting.curate("correct", "Use SQLite", "Use Redis for the cache.", *AT)
    waiting.git("checkout", "-q", "main")
    name = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *name, "merge", "side"], cwd=waiting.root, check=False, capture_output=True)
    head = waiting.git("rev-parse", "HEAD")
    failed(waiting, "in the middle of a merge", "`git merge --continue`", "`git merge --abort`")
    assert waiting.git("rev-parse", "HEAD") == head
    assert "repository  wrong" in waiting.curate("doctor", *LATER, exits=1)
    waiting.git("merge", "--abort")
    waiting.curate("run", *AT)


def test_a_provider_without_its_key(waiting: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config.toml"
    config.write_text('providers = ["anthropic"]\n')
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    failed(waiting, "its key is missing", "ANTHROPIC_API_KEY")
    assert "ANTHROPIC_API_KEY" in waiting.curate("status", *LATER, exits=1), "a timer's night fails where nobody looks"
    assert "providers   wrong" in waiting.curate("doctor", *LATER, exits=1)


def test_a_disk_that_is_full(waiting: Memory, disk: Path) -> None:
    here = waiting.aside(disk / "memory")
    (disk / "fill").write_bytes(bytes(disk_free(disk)))
    said = failed(here, "Free some space, then run again")
    assert "Out of diskspace" in said or "No space left on device" in said
    (disk / "fill").unlink()
    here.curate("run", *AT)
    assert "nothing is broken" in here.curate("check")


def test_a_disk_that_is_read_only(waiting: Memory, disk: Path) -> None:
    here = waiting.aside(disk / "memory")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    failed(here, "read-only file system", "Mount that disk writable")
    assert "pack cannot be written: read-only file system" in here.curate("doctor", *LATER, exits=1)
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    here.curate("run", *AT)


def disk_free(place: Path) -> int:
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a memory away")
def test_a_repository_of_another_user(waiting: Memory) -> None:
    for place in (waiting.root, *waiting.root.rglob("*")):
        os.chown(place, 65534, 65534, follow_symlinks=False)
    failed(waiting, "dubious ownership", "`ls -ld` shows its owner", "chown -R")
    assert "dubious ownership" in waiting.curate("check", exits=1)


def test_hooks_and_a_missing_identity_stop_no_night(waiting: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    hooks = waiting.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "reference-transaction", "post-commit"):
        (hooks / name).write_text("#!/bin/sh\nexit 1\n")
        (hooks / name).chmod(0o755)
    assert "1 item added" in waiting.curate("run", *AT)
