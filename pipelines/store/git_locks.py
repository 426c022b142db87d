"""Locks that a killed git left behind are removed; what another git may hold is waited for.

Git creates `NAME.lock` before it changes NAME and removes it afterwards. If it is killed in between, the lock stays and
every later `git add` or `git commit` fails. A lock is stale if it is from the time of a run that was killed, or old.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import GitFault, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


HOUR: Final = 3600.0
WAITS: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Seconds between checks of a held lock: most git commands hold one for milliseconds."""

# The locks of commits, branches and settings. Other programs keep their own locks below .git; we leave those alone.
_TOP = re.compile(r"(?:index|config|config\.worktree|packed-refs|shallow|[A-Z_]+)\.lock")


@dataclass(frozen=True, slots=True)
class Repository:
    """The folders of a repository: its own, and the one shared with its other work trees.

    `branch` is the full name of the current branch, even if it has no commit yet; `HEAD` if there is none.
    """

    git_dir: Path
    common_dir: Path
    branch: str


def clear_stale_locks(repository: Repository, killed: tuple[float, float]) -> Path | None:
    """Remove stale locks. Return a lock that may be held, or None if no lock is left.

    Args:
        repository: the repository.
        killed: from when to when killed runs worked; all locks of that time are stale.

    Raises:
        GitFault: a stale lock cannot be removed.
    """
    held = None
    for path in locks_of(repository):
        try:
            made = path.lstat().st_mtime
            if killed[0] <= made < killed[1] or made < time.time() - HOUR:
                path.unlink()
            else:
                held = path
        except FileNotFoundError:
            continue
        except OSError as fault:
            why = reason_of(fault)
            raise GitFault(f"The stale lock {path} cannot be removed: {why}.", "Remove it, then run again.") from None
    return held


def wait_for_locks(
    repository: Repository, killed: tuple[float, float], sleep: Callable[[float], None] = time.sleep
) -> None:
    """Remove stale locks, and wait briefly for those that a running git may hold; `killed` as above.

    Raises:
        GitFault: one is still there.
    """
    for pause in WAITS:
        if clear_stale_locks(repository, killed) is None:
            return
        sleep(pause)
    if held := clear_stale_locks(repository, killed):
        raise GitFault(
            f"Another git holds {held}.",
            "Let it finish, or remove that file if none is running. Then run again to complete what was started.",
        )


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
