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
    """Whether parts have a shape, in time in proportion to both: of several `**` only the last is tried again."""
    at = here = 0
    again: tuple[int, int] | None = None
    while at < len(parts):
        if here < len(shape) and shape[here] == "**":
            if here == len(shape) - 1:
                return True
            again, here = (at, here + 1), here + 1
        elif here < len(shape) and fnmatchcase(parts[at], shape[here]):
            at, here = at + 1, here + 1
        elif again is None:
            return False
        else:
            again = (again[0] + 1, again[1])
            at, here = again
    return here == len(shape)


def _leads(parts: Sequence[str], shape: Sequence[str]) -> bool:
    for number, part in enumerate(parts):
        if number >= len(shape):
            return False
        if shape[number] == "**":
            return True
        if not fnmatchcase(part, shape[number]):
            return False
    return len(shape) > len(parts)
