"""Where a memory is on the disk, and which notes around it belong to it.

A memory whose notes were adopted in place lies in a folder among them, and `curate-notes.toml` beside that folder says
so: what reads a person's notes is said by a file of theirs, never by the memory, which may be somebody else's.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile, BadSettings, NoMemory, check_format, read_toml
from pipelines.store.layout import LINKED, NOTES, NOTES_FILE, SETTINGS, STATE, Layout
from pipelines.text import is_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT_FILE: Final = f"{STATE}/format"
"""The file of a memory that says in which format it is written."""
_KEYS = "memory logs notes trust".split()
MOST_GLOBS = 200


def find_memory(named: str | os.PathLike[str] | None) -> Path:
    """Return the memory given here or in CURATE_MEMORY, else the nearest folder upward that is one, or has one.

    Raises:
        NoMemory: there is none.
        BadFile: the path of the memory is not UTF-8: timers, hooks and reports could not name it.
        CurateError: a later version wrote it.
    """
    named = named or os.environ.get("CURATE_MEMORY")
    start = Path(named).expanduser().absolute() if named else Path.cwd()
    for folder in (start,) if named else (start, *start.parents):
        if found := memory_at(folder):
            if not is_utf8(str(found)):
                raise BadFile(found, "is not UTF-8", "Rename the folder.")
            return found
    raise NoMemory(start)


def memory_at(folder: Path) -> Path | None:
    """Return the memory that is a folder, or whose notes are in that folder; None for neither.

    Raises:
        CurateError: a later version wrote it.
    """
    with suppress(BadFile, BadSettings):
        root = folder if (folder / SETTINGS).is_file() else folder / _notes_around(folder).home
        if (root / SETTINGS).is_file():
            with suppress(OSError):
                check_format((root / FORMAT_FILE).read_bytes())
            return root
    return None


def layout_of(root: Path) -> Layout:
    """Return the layout of a memory.

    Raises:
        BadFile: the file beside it is a symbolic link.
        BadSettings: that file has faults.
    """
    place = Path(os.path.realpath(root))
    found = _notes_around(place.parent)
    return found if found.home == place.name else Layout()


def _notes_around(folder: Path) -> Layout:
    """Return what the file of a folder of notes says, if there is one."""
    file = folder / NOTES_FILE
    try:
        found = file.lstat()
    except OSError:
        return Layout()
    if stat.S_ISLNK(found.st_mode):
        raise BadFile(file, LINKED)
    return _read(file, found.st_ctime_ns, found.st_size)


@lru_cache(maxsize=8)
def _read(file: Path, _changed: int, _size: int) -> Layout:
    """Return what a file says; it is read once while its metadata stays."""
    raw: dict[str, Any] = read_toml(file)
    if faults := [*_faults(raw)]:
        raise BadSettings(file, faults)
    return Layout(raw["memory"], tuple(raw.get("logs", ())), tuple(raw.get("notes", ())), raw.get("trust", ""))


def _faults(raw: dict[str, Any]) -> Iterator[str]:
    yield from (f"{key}: there is no such key" for key in raw if key not in _KEYS)
    home = raw.get("memory")
    if not (isinstance(home, str) and home.isprintable() and home[:1] not in {"", ".", "~"} and "/" not in home):
        yield "memory: it should be the name of a folder here"
    if raw.get("trust", "self") != "self":
        yield 'trust: it should be "self", for notes of an agent'
    for key in _KEYS[1:3]:
        globs = raw.get(key, [])
        if not isinstance(globs, list) or len(globs) > MOST_GLOBS or not all(isinstance(one, str) for one in globs):
            yield f"{key}: it should be a list of at most {MOST_GLOBS} globs"


def inside(root: Path, path: str) -> Path:
    """Return where a file or folder of the memory, or a note, is; it need not exist.

    Links are refused here, and nowhere else.

    Args:
        root: the memory; its own path may contain links.
        path: the path, relative to the memory; empty for the memory itself.

    Raises:
        BadFile: a component of the path is a symbolic link, or it leads out of the memory to what is no note of it.
    """
    place, parts = str(root), path.split("/") if path else []
    if NOTES in parts:
        if not layout_of(root).has(path):
            raise BadFile(path, "is not part of the memory")
        place, parts = f"{root}/{NOTES}", parts[1:]
    for name in parts:
        place = f"{place}/{name}"
        if os.path.islink(place):  # noqa: PTH114  for each file that is read
            raise BadFile(place.removeprefix(f"{root}/"), LINKED)
    return Path(place)
