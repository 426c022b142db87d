"""Which files of a memory its commits hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.memory.files import list_files
from pipelines.memory.layout import NOTES, TRACKED
from pipelines.memory.names import at, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def is_tracked(root: Path, path: str) -> bool:
    """Whether the memory commits the file that the program calls `path`."""
    names = names_of(root)
    return path.partition("/")[0] in TRACKED if names is None else names.is_tracked(path)


def tracked_files(root: Path) -> list[str]:
    """Return the files that the memory commits, by what the program calls them; links are passed over."""
    names = names_of(root)
    found = own_files(root, (*TRACKED, NOTES) if names is not None and names.opted_in else TRACKED)
    return found if names is None else [path for path in found if names.is_tracked(path)]


def own_files(root: Path, tops: Iterable[str]) -> list[str]:
    """Return the regular files that are, or stand below, these files and folders of a memory."""
    found = []
    for name in tops:
        place = at(root, name)
        if not place.is_symlink():
            found += [name] if place.is_file() else list_files(root, name, "")
    return found
