"""Globs over paths of a memory: `*` and `?` stay within one folder's name, `**` stands for any number of folders.

A glob that begins with `!` takes out again what the ones before it let in.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def is_matched(path: str, globs: Iterable[str]) -> bool:
    """Whether a path (relative, with `/`) is let in by globs, the last one that matches deciding."""
    parts, inside = path.split("/"), False
    for glob in globs:
        shape = glob.removeprefix("!").split("/")
        if inside is glob.startswith("!") and _matches(parts, shape):
            inside = not inside
    return inside


def may_hold(folder: str, globs: Iterable[str]) -> bool:
    """Whether something below a folder could be let in; False spares the walk through it."""
    parts = folder.split("/") if folder else []
    return any(_leads(parts, glob.split("/")) for glob in globs if not glob.startswith("!"))


def _matches(parts: Sequence[str], shape: Sequence[str]) -> bool:
    if not shape:
        return not parts
    if shape[0] == "**":
        if len(shape) == 1:
            return bool(parts)
        return any(_matches(parts[skipped:], shape[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], shape[0]) and _matches(parts[1:], shape[1:])


def _leads(parts: Sequence[str], shape: Sequence[str]) -> bool:
    for number, part in enumerate(parts):
        if number >= len(shape):
            return False
        if shape[number] == "**":
            return True
        if not fnmatchcase(part, shape[number]):
            return False
    return len(shape) > len(parts)
