"""The memory template: what `curate init` lays down, and what a run adds where it is missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from pipelines.memory.changes import Change
from pipelines.memory.files import making, replace_file, writing
from pipelines.memory.layout import FOLDERS, LOGS, SESSIONS, SETTINGS, STATE, kind_of
from pipelines.memory.names import at, names_of, real_path

if TYPE_CHECKING:
    from pathlib import Path

_DOTTED: Final = {"gitignore": ".gitignore", "gitattributes": ".gitattributes"}
_ALL_FOLDERS: Final = (*FOLDERS, LOGS, STATE, SESSIONS)


def template_files(template: Path) -> dict[str, bytes]:
    """Return path → bytes of the template's files, named as a memory has them."""
    found = {}
    for file in sorted(template.iterdir()):
        if file.is_file():
            found[_DOTTED.get(file.name, file.name)] = file.read_bytes()
    return found


def missing_files(root: Path, template: Path) -> list[Change]:
    """Return the changes that add what the template has and the memory lacks; nothing that is there is touched."""
    return [
        Change(path, None, data)
        for path, data in _wanted(root, template).items()
        if path != SETTINGS and not os.path.lexists(at(root, path))
    ]


def make_missing_folders(root: Path) -> None:
    """Make the folders of the layout that are not there."""
    for name in _ALL_FOLDERS if names_of(root) is None else (*FOLDERS, STATE):
        if not os.path.lexists(at(root, name)):
            real = real_path(root, name)
            with writing(real), making(root, real):
                pass


def _wanted(root: Path, template: Path) -> dict[str, bytes]:
    """Return what of the template a memory wants: one that was adopted in place only what runs write into."""
    files = template_files(template)
    return files if names_of(root) is None else {path: data for path, data in files.items() if kind_of(path)}


def lay_down(root: Path, template: Path, timezone: str) -> list[str]:
    """Write what is missing of the template into a folder, and return the paths that were added.

    Args:
        root: the folder; made where it is missing.
        template: the template's folder.
        timezone: the zone that a new curate.toml names.

    Raises:
        NotWritable: the disk refused.
    """
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
    added = []
    make_missing_folders(root)
    for path, data in _wanted(root, template).items():
        if os.path.lexists(at(root, path)):
            continue
        told = data.replace(b'timezone = "UTC"', f'timezone = "{timezone}"'.encode()) if path == SETTINGS else data
        replace_file(root, path, told)
        added.append(real_path(root, path))
    return added
