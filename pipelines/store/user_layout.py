"""The layout of a memory: its files' paths on disk, and the canonical paths used inside the program.

Canonical paths are `Logs/2026-03-18.md`, `Projects/alpha.md`, `MEMORY.md`, and `Notes/…` for a person's own documents.
Without a `[layout]` in curate.toml, paths on disk are the same. In a memory that was adopted in place, paths are
translated where bytes enter or leave, and nowhere else. Evidence in the ledger is canonical, so that it stays valid
when the person moves the folder of daily notes.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path
from typing import Final

from pipelines.errors import BadFile, BadSettings, NoMemory, PathNotUtf8, check_format, read_toml
from pipelines.store.layout import LINKED, SETTINGS, STATE, Layout
from pipelines.text import is_utf8

FORMAT_FILE: Final = f"{STATE}/format"
"""The file of a memory that says in which format it is written."""
_MENTION = re.compile(rb"^[ \t]*\[[ \t]*layout\b|^[ \t]*layout[ \t]*[.=]", re.MULTILINE)
_MOST = 1024 * 1024
_KNOWN: dict[str, Layout] = {}
"""The layout of each memory, as the command read it at its start."""


def find_memory(named: str | os.PathLike[str] | None) -> Path:
    """Return the memory given here or in CURATE_MEMORY, else the nearest folder upward with a curate.toml.

    Its layout is read now; faults in it are reported by the code that needs it.

    Raises:
        NoMemory: the given folder has no curate.toml, or none is found upward.
        PathNotUtf8: the path of the memory cannot be written in a file or a message.
        NewerFormat: a later version wrote it.
    """
    named = named or os.environ.get("CURATE_MEMORY")
    start = Path(named).expanduser().absolute() if named else Path.cwd()
    for folder in (start,) if named else (start, *start.parents):
        if (folder / SETTINGS).is_file():
            if not is_utf8(str(folder)):
                raise PathNotUtf8(folder)
            with contextlib.suppress(BadFile, BadSettings):
                read_layout(folder)
            return folder
    raise NoMemory(start)


def layout_of(root: Path) -> Layout:
    """Return the layout of a memory, reading it if `read_layout` has not.

    Raises:
        BadFile: curate.toml is a symbolic link.
        BadSettings: its `[layout]` has faults.
    """
    known = _KNOWN.get(str(root))
    return read_layout(root) if known is None else known


def read_layout(root: Path) -> Layout:
    """Read the layout of a memory from its curate.toml; each command does so once, at its start.

    Raises:
        BadFile: curate.toml is a symbolic link.
        BadSettings: its `[layout]` has faults.
        NewerFormat: a later version wrote the memory.
    """
    file, data, raw = Path(f"{root}/{SETTINGS}"), b"", None
    with contextlib.suppress(OSError):
        if stat.S_ISLNK(os.lstat(file).st_mode):
            raise BadFile(SETTINGS, LINKED)
        with file.open("rb") as settings:
            data = settings.read(_MOST)  # `load_settings` reports a larger file
    if b"layout" in data:
        try:
            raw = read_toml(file).get("layout")
        except BadSettings:
            if _MENTION.search(data):
                raise  # other errors are reported by `load_settings`
    found = Layout() if raw is None else _in_place(file, raw, root)
    with contextlib.suppress(OSError):
        check_format(Path(f"{root}/{found.real(FORMAT_FILE)}").read_bytes())
    _KNOWN[str(root)] = found
    return found


def _in_place(file: Path, raw: object, root: Path) -> Layout:
    from pipelines.store.in_place_layout import layout_faults, layout_names  # noqa: PLC0415  few memories need it

    if faults := layout_faults(raw, root):
        raise BadSettings(file, faults)
    return layout_names(raw)


def real_path(root: Path, path: str) -> str:
    """Return the path on disk, relative to the memory, of a canonical path: the one that people are shown."""
    return layout_of(root).real(path)


def at(root: Path, path: str) -> Path:
    """Return the absolute path on disk of a canonical path."""
    return Path(root) / real_path(root, path)


def inside(root: Path, real: str) -> Path:
    """Return where a file or folder of the memory is; it need not exist. Links are refused here, and nowhere else.

    Args:
        root: the memory; its own path may contain links.
        real: the path on disk, relative to the memory; empty for the memory itself.

    Raises:
        BadFile: a component of the path is a symbolic link, which could lead out of the memory.
    """
    place = str(root)
    for name in real.split("/") if real else ():
        place = f"{place}/{name}"
        if os.path.islink(place):  # noqa: PTH114  for each file that is read
            raise BadFile(place.removeprefix(f"{root}/"), LINKED)
    return Path(place)
