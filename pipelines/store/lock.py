"""One writer at a time: a kernel lock held by the process, so that a killed run never leaves one behind.

Locks that a killed git left behind are removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import re
import time
from datetime import datetime
from typing import TYPE_CHECKING, Final

from pipelines.errors import GitFault, LockHeld, NotYours, reason_of
from pipelines.store.files import make_folder, open_own, read_bytes, writing
from pipelines.store.layout import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipelines.store.git import Repository


SCHEDULE: Final = "schedule.lock"
"""The lock of the memory's only scheduler, even in another container. Runs started by hand are not affected."""
_RECORD = 2
"""The lock holds at least so many line ends until its run has ended well: who, since when runs failed, and when."""
_LOOKS = 21
_PAUSE = 0.05
_HOUR = 3600


@contextlib.contextmanager
def run_lock(root: Path, holder: str, name: str = "lock") -> Iterator[None]:
    """Hold the memory's run lock.

    Wait up to a second if the process named in the lock file has ended: a child forked by a killed run may still hold
    the lock, or the next holder may not have written its name yet.

    Args:
        root: the memory.
        holder: what the process does, shown to others; process id and start time are added here.
        name: the lock file under `.curate/`.

    Raises:
        LockHeld: another process holds it; the message names the process and says since when.
        NotWritable: the disk refused.
    """
    descriptor = _open_lock(root, name)
    try:
        for attempt in range(_LOOKS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                living = _holder(os.pread(descriptor, 500, 0))
                if living or attempt == _LOOKS - 1:
                    raise LockHeld(living or "a run that has just begun") from None
                time.sleep(_PAUSE)
        before = os.pread(descriptor, 500, 0).decode(errors="replace").split("\n")
        failed = next(filter(None, before[1:]), "").partition(" ")[0]  # since when, if the last run did not end well
        now = datetime.now().astimezone()
        told = f"process {os.getpid()} since {now.isoformat(timespec='seconds')}, {holder}\n"
        with writing(f"{PRIVATE}/{name}"):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{told}{failed}\n{now.timestamp() - 1}\n".encode(), 0)  # the disk's clock lags
        yield
        with contextlib.suppress(OSError):  # the name stays: on a full disk, there is room for the next one
            os.ftruncate(descriptor, len(told.encode()))
    finally:
        os.close(descriptor)


def is_held(root: Path, name: str = "lock") -> bool:
    """Whether a process holds a lock now: without a name, that of whoever writes."""
    try:
        with (root / PRIVATE / name).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _holder(text: bytes) -> str:
    """Return the lock file's text if the process it names is alive, else an empty string."""
    name = text.decode(errors="replace").partition("\n")[0]
    found = re.match(r"process (\d+) since ", name)
    if not found:
        return ""
    with contextlib.suppress(PermissionError, OverflowError):  # another user's process
        try:
            os.kill(int(found[1]), 0)
        except ProcessLookupError:
            return ""
    return name


@contextlib.contextmanager
def log_lock(root: Path, name: str = "log.lock") -> Iterator[None]:
    """Hold the lock for writing to logs, or that of another name. Waits for it; hold it only as long as needed."""
    descriptor = _open_lock(root, name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _open_lock(root: Path, name: str) -> int:
    private_folder(root)
    with writing(f"{PRIVATE}/{name}"):
        return open_own(root, f"{PRIVATE}/{name}", os.O_RDWR | os.O_CREAT)


def private_folder(root: Path) -> Path:
    """Return `.curate/`, readable only by its owner; create it if needed.

    Raises:
        BadFile: it is a symbolic link.
        NotYours: this user has no access.
        NotWritable: the disk refused.
    """
    with writing(PRIVATE):
        try:
            folder = make_folder(root, PRIVATE)
            if folder.stat().st_mode & 0o077:  # made by hand, or by an old version
                folder.chmod(0o700)
        except PermissionError:
            raise NotYours(PRIVATE) from None
    return folder


# ---------------------------------------- git's locks
# Git creates `NAME.lock` before it changes NAME and removes it afterwards. If it is killed in between, the lock stays,
# and every later `git add` or `git commit` fails. A lock is stale if it is from the time of a run that was killed, or
# old. For one that another git holds, git itself waits a while, then names it.


# The locks of commits, branches and settings. Other programs keep their own locks below .git; we leave those alone.
_TOP = re.compile(r"(?:index|config|config\.worktree|packed-refs|shallow|[A-Z_]+)\.lock")


def clear_stale_locks(repository: Repository, root: Path) -> None:
    """Remove stale locks of commits, packs, branches and settings.

    Args:
        repository: the repository.
        root: the memory, whose run lock says since when runs failed or were killed.

    Raises:
        GitFault: a stale lock cannot be removed.
    """
    record = (read_bytes(root, f"{PRIVATE}/lock") or b"").split(b"\n")
    failed = float(record[1].partition(b" ")[0] or math.inf) if len(record) > _RECORD else math.inf
    found: set[Path] = set()
    for folder in {repository.git_dir, repository.common_dir}:
        found.update(path for path in folder.glob("*.lock") if _TOP.fullmatch(path.name))
        found.update((folder / "refs").rglob("*.lock"))
    for path in (*found, *(repository.common_dir / "objects" / "pack").glob("*.keep")):
        try:
            # While the mark of an import exists, its pack cannot be stored again.
            is_git = path.suffix == ".lock" or b"fast-import".startswith(path.read_bytes())
            made = path.lstat().st_mtime
            if is_git and (made < time.time() - _HOUR or made >= failed):
                path.unlink()
        except FileNotFoundError:
            continue
        except OSError as fault:
            why = reason_of(fault)
            raise GitFault(f"The stale lock {path} cannot be removed: {why}.", "Remove it, then run again.") from None
