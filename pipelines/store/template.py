"""The files that make a memory: what `curate init` lays down, which of them commits hold, and how people name them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from pipelines.errors import UnknownItem, UsageFault
from pipelines.store.change_set import Change
from pipelines.store.document import aliases_of
from pipelines.store.files import list_files, making, replace_file, writing
from pipelines.store.layout import FOLDERS, LOGS, NOTES, SESSIONS, SETTINGS, STATE, TRACKED, kind_of
from pipelines.store.user_layout import at, names_of, real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pipelines.store.document import Document

    Entry = tuple[str, str]


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
        content = data.replace(b'timezone = "UTC"', f'timezone = "{timezone}"'.encode()) if path == SETTINGS else data
        replace_file(root, path, content)
        added.append(real_path(root, path))
    return added


def named_documents(documents: Mapping[str, Document], name: str, shown: Callable[[str], str] = str) -> list[str]:
    """Return the paths of the documents that a name means: their path, id, title or file name, whatever its case.

    A former name means a document only where no other has it now.

    Args:
        documents: every document by path.
        name: what a person or an agent calls it.
        shown: what people call the file at a path.

    Raises:
        UsageFault: there is none.
    """
    wanted = name.casefold().removesuffix(".md")
    found = []
    for path, document in documents.items():
        names = (document.id, shown(path).removesuffix(".md"), document.title, document.id.rpartition("/")[2])
        if wanted in map(str.casefold, names):
            found.append(path)
    found = found or [path for path, one in documents.items() if wanted in map(str.casefold, aliases_of(one))]
    if not found:
        known = ", ".join(sorted(shown(path).removesuffix(".md") for path in documents)[:20])
        raise UsageFault(f"There is no document {name}.", f"There are: {known}." if known else "There is none yet.")
    return found


def named_item(prefix: str, *known: Iterable[str]) -> str:
    """Return the one item's id that begins so; every verb that takes an id asks here.

    Args:
        prefix: a whole id or its beginning, in any case, with or without blanks around it.
        known: ids, in groups: a group is looked through only where those before it have none that begins so.

    Raises:
        UnknownItem: there is none, or more than one; the sentence lists those.
    """
    wanted = prefix.strip().casefold()
    for group in known:
        found = sorted({ident for ident in group if ident and ident.startswith(wanted)})
        if wanted in found or len(found) == 1:
            return wanted if wanted in found else found[0]
        if found:
            raise UnknownItem(prefix, found)
    raise UnknownItem(prefix, ())


def is_tracked(root: Path, path: str) -> bool:
    """Whether the memory commits the file that the program calls `path`."""
    names = names_of(root)
    return path.partition("/")[0] in TRACKED if names is None else names.is_tracked(path)


def only_tracked(root: Path, tree: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return those of a commit's files that the memory commits."""
    if names_of(root) is not None:
        return dict(tree)  # git has told of no other
    return {path: entry for path, entry in tree.items() if path.partition("/")[0] in TRACKED}


def tracked_files(root: Path) -> list[str]:
    """Return the files that the memory commits, by what the program calls them; links are passed over."""
    names = names_of(root)
    if names is None:
        return own_files(root, TRACKED)
    return [
        path for path in own_files(root, (*TRACKED, NOTES) if names.opted_in else TRACKED) if names.is_tracked(path)
    ]


def own_files(root: Path, tops: Iterable[str]) -> list[str]:
    """Return the regular files that are, or stand below, these files and folders of a memory."""
    found = []
    for name in tops:
        place = at(root, name)
        if not place.is_symlink():
            found += [name] if place.is_file() else list_files(root, name, "")
    return found
