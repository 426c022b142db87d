"""Locks that a killed git left behind are removed; a lock that a running git holds never is.

Git creates `NAME.lock` before it changes NAME and removes it afterwards. If it is killed in between, the lock stays and
every later `git add` or `git commit` fails. A lock is stale if no running process could have made it.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.errors import GitFault, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


HOUR: Final = 3600.0
WAITS: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Seconds between checks of a held lock: most git commands hold one for milliseconds."""

# The locks of commits, branches and settings. Other programs keep their own locks below .git; we leave those alone.
_TOP = re.compile(r"(?:index|config|config\.worktree|packed-refs|shallow|[A-Z_]+)\.lock")


@dataclass(frozen=True, slots=True)
class Repository:
    """The folders of a repository: its own, the one shared with its other work trees, and this work tree.

    `prefix` is the memory's path in the work tree: empty, or a folder ending with `/`. `branch` is the full name of the
    current branch, even if it has no commit yet; `HEAD` if there is none.
    """

    git_dir: Path
    common_dir: Path
    top: Path
    prefix: str
    branch: str

    def places(self) -> tuple[Path, ...]:
        """Return the folders in which a git process of this repository may run, links resolved."""
        found = [self.top, self.git_dir, self.common_dir]
        if self.common_dir.name == ".git":
            found.append(self.common_dir.parent)
        others = self.common_dir.glob("worktrees/*/gitdir")
        found += [Path(file.read_text(errors="surrogateescape").strip()).parent for file in others]
        return tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in found))


def clear_stale_locks(repository: Repository) -> tuple[Path, str] | None:
    """Remove stale locks. Return a lock that is held and its holder, or None if no lock is left.

    Raises:
        GitFault: a stale lock cannot be removed.
    """
    locks = locks_of(repository)
    holder = holder_of(repository.places(), locks) if locks else None
    for path in locks:
        with contextlib.suppress(FileNotFoundError):
            if holder and (holder != UNSEEN or time.time() - path.lstat().st_mtime < HOUR):
                return path, holder
    for path in locks:
        try:
            path.unlink(missing_ok=True)
        except OSError as fault:
            why = reason_of(fault)
            raise GitFault(f"The stale lock {path} cannot be removed: {why}.", "Remove it, then run again.") from None
    return None


def wait_for_locks(repository: Repository, sleep: Callable[[float], None] = time.sleep) -> None:
    """Remove stale locks, and wait briefly for those that a running git holds.

    Raises:
        GitFault: a running git still holds one.
    """
    for pause in (*WAITS, None):
        held = clear_stale_locks(repository)
        if held is None:
            return
        if pause is None:
            raise GitFault(
                f"{held[0]} is held by {held[1]}.",
                "Let it finish, then run again to complete what was started.",
            )
        sleep(pause)


def locks_of(repository: Repository) -> Sequence[Path]:
    """Return the lock files that would block a commit, a pack, a branch or a setting."""
    found: set[Path] = set()
    for folder in {repository.git_dir, repository.common_dir}:
        found.update(path for path in folder.glob("*.lock") if _TOP.fullmatch(path.name))
        found.update((folder / "refs").rglob("*.lock"))
    keeps = (repository.common_dir / "objects" / "pack").glob("*.keep")
    found.update(path for path in keeps if _is_of_import(path))
    return sorted(found)


def _is_of_import(keep: Path) -> bool:
    """Whether `git fast-import` wrote it, at least in part. While it exists, its pack cannot be stored again."""
    try:
        return b"fast-import".startswith(keep.read_bytes())
    except OSError:  # just deleted, or not readable by us
        return False


# ---------------------------------------- finding a running git that could hold the locks
# In /proc; where there is none, a lock's age decides.


PROC: Final = Path("/proc")

# These run for long (in a pager, beside an editor) and take no lock; one with a lock file open counts all the same.
_READERS = frozenset({
    "blame", "cat-file", "credential-cache--daemon", "daemon", "diff", "fsmonitor--daemon", "grep", "help", "log",
    "rev-list", "shortlog", "show",
})  # fmt: skip
_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})


UNSEEN: Final = "a process that is not visible from here"
"""The holder if the processes of this machine, or of the lock's owner, cannot be seen: a lock's age decides."""


def holder_of(places: Sequence[Path], locks: Sequence[Path], proc: Path = PROC) -> str | None:
    """Describe a running process that could hold the locks. Return None if there is none, or `UNSEEN`.

    A git process counts if it runs in one of the folders; any process counts that has a lock file open.

    Args:
        places: the folders of the repository, links resolved.
        locks: its lock files.
        proc: the kernel's process folder.
    """
    if _owned_by_others(locks):
        return UNSEEN
    if (proc / "self" / "cwd").exists():
        return _from_proc(places, locks, proc)
    return UNSEEN


def _owned_by_others(locks: Iterable[Path]) -> bool:
    """Whether a lock belongs to another user, whose processes we may not see."""
    user = os.geteuid()
    for lock in locks:
        try:
            if user and lock.lstat().st_uid != user:
                return True
        except FileNotFoundError:
            continue
    return False


def _from_proc(places: Sequence[Path], locks: Sequence[Path], proc: Path) -> str | None:
    names = {os.path.realpath(lock) for lock in locks}
    for process in proc.iterdir():
        if not process.name.isdecimal() or int(process.name) == os.getpid():
            continue
        try:
            words = [os.fsdecode(word) for word in (process / "cmdline").read_bytes().split(b"\0")]
            if words == [""]:
                continue  # a zombie
            verb, name = _subcommand(words), Path(words[0]).name
            is_git = (process / "comm").read_text(errors="replace").startswith("git")
            if _has_open(process, names) or (is_git and verb not in _READERS and _works_in(process, places)):
                return f"process {process.name} (`{f'git {verb}'.strip() if name == 'git' else name}`)"
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
    return None


def _has_open(process: Path, names: set[str]) -> bool:
    try:
        return any(os.path.realpath(descriptor) in names for descriptor in (process / "fd").iterdir())
    except PermissionError:
        return False


def _subcommand(words: Sequence[str]) -> str:
    rest = iter(words[1:])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-"):
            return word
    return ""


def _works_in(process: Path, places: Sequence[Path]) -> bool:
    """Whether a git process works in the repository; assume so if its folder is not readable and it is ours."""
    try:
        folder = (process / "cwd").readlink()
    except PermissionError:
        return process.stat().st_uid == os.geteuid()
    return any(folder.is_relative_to(place) for place in places)
