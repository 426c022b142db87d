"""Locks of git that a killed process left: they stop nobody, and a lock that a living git holds is never removed.

Git makes `NAME.lock` before it changes NAME and takes it away afterwards; killed in between it leaves the lock, and
every later `git add` or `git commit` fails. A lock is stale when no living process could be the one that made it.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.errors import GitFault
from pipelines.memory.git_processes import Doubt, holder_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOUR: Final = 3600.0
WAITS: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Seconds between looks at a lock that is held: most git commands hold one for milliseconds."""

# What commits, branches and settings need. Other programs keep locks of their own below .git; those are not ours.
_TOP: Final = re.compile(r"(?:index|config|config\.worktree|packed-refs|shallow|[A-Z_]+)\.lock")


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a repository is: its own folder, the one it shares with its other work trees, and this work tree."""

    git_dir: Path
    common_dir: Path
    top: Path

    def places(self) -> tuple[Path, ...]:
        """Return the folders in which a git process works on this repository, links resolved."""
        found = [self.top, self.git_dir, self.common_dir]
        if self.common_dir.name == ".git":
            found.append(self.common_dir.parent)
        others = self.common_dir.glob("worktrees/*/gitdir")
        found += [Path(file.read_text(errors="surrogateescape").strip()).parent for file in others]
        return tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in found))


def clear_stale_locks(repository: Repository, aside: Path) -> tuple[Path, str] | None:
    """Remove the locks that nobody living holds. Return a lock that is held, and by whom, or None where none is left.

    Args:
        repository: where to look.
        aside: a path on the same disk to which a lock is moved before it is removed, so that one which was made anew
            in that very moment is noticed and put back.
    """
    seen = {path: found for path in locks_of(repository) if (found := _identity(path))}
    if not seen:
        return None
    holder = holder_of(repository.places(), list(seen))
    for path, identity in seen.items():
        if isinstance(holder, Doubt) and time.time() - identity[1] < HOUR:
            return path, "a process that cannot be seen from here"
        if isinstance(holder, str):
            return path, holder
    for path, identity in seen.items():
        _remove(path, identity, aside)
    return None


def wait_for_locks(repository: Repository, aside: Path, sleep: Callable[[float], None] = time.sleep) -> None:
    """Remove stale locks, and wait a short time for those that a living git holds.

    Raises:
        GitFault: a living git still holds one.
    """
    for pause in (*WAITS, None):
        held = clear_stale_locks(repository, aside)
        if held is None:
            return
        if pause is None:
            raise GitFault(
                f"{held[0]} is held by {held[1]}.",
                "Let it finish, then run again; what was begun is finished then.",
            )
        sleep(pause)


def locks_of(repository: Repository) -> Sequence[Path]:
    """Return the lock files that would stop a commit, a branch or a setting."""
    found: set[Path] = set()
    for folder in {repository.git_dir, repository.common_dir}:
        found.update(path for path in folder.glob("*.lock") if _TOP.fullmatch(path.name))
        found.update((folder / "refs").rglob("*.lock"))
    return sorted(found)


def _identity(path: Path) -> tuple[int, float] | None:
    """Return what tells a lock from one made later under the same name, and when it was made."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime


def _remove(path: Path, identity: tuple[int, float], aside: Path) -> None:
    try:
        path.rename(aside)
    except FileNotFoundError:
        return
    except OSError as fault:
        why = (fault.strerror or str(fault)).lower()
        raise GitFault(f"The stale lock {path} cannot be removed: {why}.", "Remove it, then run again.") from None
    if _identity(aside) != identity:
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    aside.unlink()
