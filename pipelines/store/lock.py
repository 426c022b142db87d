"""One writer at a time: a kernel lock held by the process, so that a killed run never leaves one behind.

Locks that a killed git left behind are removed; what another git may hold is waited for.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final

from pipelines.errors import GitFault, LockHeld, NotYours, reason_of
from pipelines.store.files import make_folder, open_own, writing
from pipelines.store.layout import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipelines.store.git import Git


SCHEDULE: Final = "schedule.lock"
"""The lock of the memory's only scheduler, even in another container. Runs started by hand are not affected."""
_LOOKS = 21
_PAUSE = 0.05
_HOUR = 3600.0


@contextmanager
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
    private_folder(root)
    with writing(f"{PRIVATE}/{name}"):
        descriptor = open_own(root, f"{PRIVATE}/{name}", os.O_RDWR | os.O_CREAT)
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
        since = datetime.now().astimezone().isoformat(timespec="seconds")
        os.utime(descriptor)
        now = os.fstat(descriptor).st_mtime  # by the clock of the disk, which lags behind the other one
        begun, _, ended = _times_in(os.pread(descriptor, 500, 0)) or (now, now, now)
        told = f"process {os.getpid()} since {since}, {holder}\n{begun} {min(ended, now)} "
        with writing(f"{PRIVATE}/{name}"):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{told}{now + _HOUR}\n".encode(), 0)
        try:
            yield
        except BaseException:
            with suppress(OSError):  # as if it had been killed
                os.pwrite(descriptor, f"{told}{time.time():<20}".encode(), 0)
            raise
        with suppress(OSError):  # the name stays: on a full disk, there is room for the next one
            os.ftruncate(descriptor, len(told.partition("\n")[0].encode()))
    finally:
        os.close(descriptor)


def _times_in(record: bytes) -> tuple[float, float, float] | None:
    """Return the times of a record: from when to when earlier runs failed, and when that of the record ended.

    A killed one is taken to have worked for an hour.
    """
    found = re.fullmatch(rb"[^\n]*\n(\d+\.\d+) (\d+\.\d+) (\d+\.\d+)\s*", record)
    return (float(found[1]), float(found[2]), float(found[3])) if found else None


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
    with suppress(PermissionError, OverflowError):  # another user's process
        try:
            os.kill(int(found[1]), 0)
        except ProcessLookupError:
            return ""
    return name


@contextmanager
def log_lock(root: Path, name: str = "log.lock") -> Iterator[None]:
    """Hold the lock for writing to logs, or that of another name. Waits for it; hold it only as long as needed."""
    private_folder(root)
    with writing(f"{PRIVATE}/{name}"):
        descriptor = open_own(root, f"{PRIVATE}/{name}", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


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
# old.


_WAITS = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Seconds between checks of a held lock: most git commands hold one for milliseconds."""

# The locks of commits, branches and settings. Other programs keep their own locks below .git; we leave those alone.
_TOP = re.compile(r"(?:index|config|config\.worktree|packed-refs|shallow|[A-Z_]+)\.lock")


def clear_stale_locks(git: Git) -> Path | None:
    """Remove stale locks. Return a lock that may be held, or None if no lock is left.

    All locks are stale of the time when runs worked that failed, or were killed, just before the present one began.

    Args:
        git: the repository of the memory, whose run lock has that time.

    Raises:
        GitFault: a stale lock cannot be removed.
    """
    held, killed, repository = None, None, git.repository
    with suppress(OSError):
        killed = _times_in((git.root / PRIVATE / "lock").read_bytes())
    found: set[Path] = set()
    for folder in {repository.git_dir, repository.common_dir}:
        found.update(path for path in folder.glob("*.lock") if _TOP.fullmatch(path.name))
        found.update((folder / "refs").rglob("*.lock"))
    for path in (*found, *(repository.common_dir / "objects" / "pack").glob("*.keep")):
        try:
            # While the mark of an import exists, its pack cannot be stored again.
            if path.suffix == ".keep" and not b"fast-import".startswith(path.read_bytes()):
                continue
            made = path.lstat().st_mtime
            if (killed and killed[0] <= made < killed[1]) or made < time.time() - _HOUR:
                path.unlink()
            else:
                held = path
        except FileNotFoundError:
            continue
        except OSError as fault:
            why = reason_of(fault)
            raise GitFault(f"The stale lock {path} cannot be removed: {why}.", "Remove it, then run again.") from None
    return held


def wait_for_locks(git: Git) -> None:
    """Remove stale locks, and wait briefly for those that a running git may hold.

    Raises:
        GitFault: one is still there.
    """
    for pause in (*_WAITS, 0.0):
        if (held := clear_stale_locks(git)) is None:
            return
        time.sleep(pause)
    raise GitFault(
        f"Another git holds {held}.",
        "Let it finish, or remove that file if none is running. Then run again to complete what was started.",
    )
