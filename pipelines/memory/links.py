"""Links among the documents: one that hides what the memory holds is told from one where nothing of it ever was."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.memory.folders import LINKED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipelines.memory.git import Git
    from pipelines.memory.snapshot import Snapshot, Warned

_LINK: Final = "120000"
"""The mode by which git knows a link."""


def with_links_told_apart(snapshot: Snapshot, git: Git) -> Snapshot:
    """Return a snapshot in which only those links leave something pending that hide a document of the last commit.

    While such a link is there, the items behind it cannot be tended, and each night says so anew. Any other is a
    person's own affair: nothing behind it was ever to be read, so nothing is left undone, and a note is enough.
    """
    if not any(warned.is_link for warned in snapshot.warnings):
        return snapshot
    tree = git.tree(git.head())
    held = [path for path, (mode, _) in tree.items() if mode != _LINK]
    return replace(snapshot, warnings=tuple(_told(warned, held) for warned in snapshot.warnings))


def _told(warned: Warned, held: Iterable[str]) -> Warned:
    if not warned.is_link:
        return warned
    if any(path == warned.path or path.startswith(f"{warned.path}/") for path in held):
        return replace(warned, why=f"{LINKED}; what the memory has there waits until the link is gone")
    return replace(warned, pending=False)
