"""Real names for the program's own: how a memory that was adopted in place is called on the disk.

Inside the program every path is canonical: `Logs/2026-03-18.md`, `Projects/alpha.md`, `MEMORY.md`, and `Notes/…` for a
person's own documents. In a memory whose curate.toml has no `[layout]` that is what they are called on the disk, too,
and nothing here does anything. Where there is one, paths are translated where bytes enter or leave, and nowhere else.
Evidence in the comments of items is canonical, so that it holds when the person moves the folder of daily notes.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile, BadSettings, read_toml
from pipelines.memory.folders import LINKED
from pipelines.memory.layout import BRIEFING, FOLDERS, LOGS, NOTES, REVIEW, SETTINGS, STATE, USER

if TYPE_CHECKING:
    from pipelines.memory.filenames import Names

_MENTION: Final = re.compile(rb"^[ \t]*\[[ \t]*layout\b|^[ \t]*layout[ \t]*[.=]", re.MULTILINE)
_PATH: Final = re.compile(
    rf"(?<![\w./-])(?:{BRIEFING}|{USER}|{REVIEW}|(?:{'|'.join((*FOLDERS, LOGS, NOTES, STATE))})"
    r"/[^\n]{0,1000}?\.(?:md|jsonl))(?!\w)"
)
_MOST: Final = 1024 * 1024
_KNOWN: dict[str, tuple[tuple[int, int, int], Names | None]] = {}


def names_of(root: Path) -> Names | None:
    """Return the names of a memory, or None where its names on the disk are the program's own.

    They are read again when curate.toml changes.

    Raises:
        BadFile: curate.toml is a symbolic link.
        BadSettings: the `[layout]` of its curate.toml has faults.
    """
    file = f"{root}/{SETTINGS}"
    try:
        found = os.lstat(file)
    except OSError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise BadFile(SETTINGS, LINKED)
    stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
    known = _KNOWN.get(file)
    if known is None or known[0] != stamp:
        known = _KNOWN[file] = (stamp, _read(root))
    return known[1]


def _read(root: Path) -> Names | None:
    file = Path(f"{root}/{SETTINGS}")
    try:
        with file.open("rb") as settings:
            data = settings.read(_MOST)  # whoever needs the settings says that they are too large
    except OSError:
        return None
    if b"layout" not in data:
        return None
    from pipelines.memory.naming_rules import layout_faults, layout_names  # noqa: PLC0415  most memories have none

    try:
        told = read_toml(file).get("layout")
    except BadSettings:
        if _MENTION.search(data):
            raise
        return None  # whoever needs the settings says what is wrong with them
    if told is None:
        return None
    if faults := layout_faults(told, root):
        raise BadSettings(file, faults)
    return layout_names(told)


def real_path(root: Path, path: str) -> str:
    """Return the path on the disk, relative to the memory, of what the program calls `path`: what people are shown."""
    names = names_of(root)
    return path if names is None else names.real(path)


def told(root: Path, sentence: str) -> str:
    """Return a sentence of the program's own with the files in it called as people call them."""
    names = names_of(root)
    return sentence if names is None else _PATH.sub(lambda found: names.real(found[0]), sentence)


def at(root: Path, path: str) -> Path:
    """Return where on the disk the file is that the program calls `path`."""
    return Path(root) / real_path(root, path)
