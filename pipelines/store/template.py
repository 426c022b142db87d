"""The files of a memory: what `curate init` creates, which of them are committed, and how people name them.

Former names of a document are kept under `aliases` in its front matter, and still find it.
"""

from __future__ import annotations

import os
from itertools import takewhile
from typing import TYPE_CHECKING

from pipelines.errors import FORMAT, UnknownItem, UsageFault, did_you_mean
from pipelines.store.document import Document, Documents, with_front_matter
from pipelines.store.files import create_file, list_files, make_folder, writing
from pipelines.store.layout import FOLDERS, LOGS, SESSIONS, SETTINGS, STATE, slug
from pipelines.store.markdown import line_end
from pipelines.store.snapshot import read_documents
from pipelines.store.trees import left_out
from pipelines.store.user_layout import FORMAT_FILE
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


_TYPED = 6
"""An id of fewer characters is near too many others to guess which was meant."""


def missing_files(root: Path) -> dict[str, bytes]:
    """Return the template files that the memory lacks; those that git left out of the disk are not lacking."""
    template = resource("memory_template")
    files = {
        f".{file.name}" if file.name.startswith("git") else file.name: file
        for file in sorted(template.iterdir())
        if file.is_file()
    }
    wanted = {path: file.read_bytes() for path, file in files.items()} | {FORMAT_FILE: f"{FORMAT}\n".encode()}
    missing = {path: data for path, data in wanted.items() if not os.path.lexists(root / path)}
    left = left_out(root) if missing else {}
    return {path: data for path, data in missing.items() if path not in left}


def make_missing_folders(root: Path) -> None:
    """Create the missing folders of the layout."""
    for name in (*FOLDERS, LOGS, STATE, SESSIONS):
        if not os.path.lexists(root / name):
            with writing(name):
                make_folder(root, name)


def lay_down(root: Path, timezone: str) -> list[str]:
    """Write the missing template files into a folder, and return the added paths.

    Args:
        root: the folder; created if needed.
        timezone: the time zone for a new curate.toml.

    Raises:
        NotWritable: the disk refused.
    """
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
    make_missing_folders(root)
    missing = missing_files(root)
    for path, data in missing.items():
        zoned = data.replace(b'timezone = "UTC"', f'timezone = "{timezone}"'.encode()) if path == SETTINGS else data
        create_file(root, path, zoned)
    return list(missing)


def named_documents(documents: Documents, name: str) -> list[str]:
    """Return the paths of the documents with that path, id, title or file name, in any case.

    A former name counts only if no document has it now.

    Args:
        documents: every document by path.
        name: the name that a person or an agent uses.

    Raises:
        UsageFault: there is none.
    """
    wanted = name.casefold().removesuffix(".md")
    found = [
        path
        for path, one in documents.items()
        if wanted in map(str.casefold, (one.id, one.title, one.id.rpartition("/")[2]))
    ]
    found = found or [path for path, one in documents.items() if wanted in map(str.casefold, aliases_of(one))]
    if not found:
        paths = sorted(path.removesuffix(".md") for path in documents)
        near = did_you_mean(name, paths if "/" in name else (path.rpartition("/")[2] for path in paths))
        known = f"There are: {', '.join(paths[:20])}." if paths else "There is none yet."
        raise UsageFault(f"There is no document {name}.", near or known)
    return found


def new_project(root: Path, name: str) -> str:
    """Return “X is a new project.”, with the page that is nearest, or nothing if a page has that name."""
    named = slug(name)
    if not name.strip() or (root / "Projects" / f"{named}.md").exists():
        return ""
    pages = read_documents(root).values()
    known = {slug(one) for page in pages for one in (page.title, page.id.rpartition("/")[2], *aliases_of(page))}
    return "" if named in known else f"{name} is a new project. {did_you_mean(named, known)}".strip()


_ALIASES = "aliases"
_STRUCTURE = str.maketrans(dict.fromkeys(",[]\"'{}#", " "))


def aliases_of(document: Document) -> tuple[str, ...]:
    """Return a document's former names: `aliases: [One, Two]`, `aliases: One`, or a list of lines below the key."""
    at, below = _listed(document)
    beside = document.lines[at].partition(":")[2].strip().strip("[]").split(",") if at else ()
    found = [*beside, *(row.strip()[2:] for row in below)]
    return tuple(name for one in found if (name := one.strip().strip("\"'").strip()))


def _listed(document: Document) -> tuple[int, list[str]]:
    """Return the line of the key, or 0 without one, and the lines of the list below it."""
    rows = document.lines[: document.front.lines]
    at = next((n for n, line in enumerate(rows) if line.startswith(f"{_ALIASES}:")), 0)
    return at, list(takewhile(lambda row: row.strip().startswith("- "), rows[at + 1 :])) if at else []


def with_alias(document: Document, name: str) -> Document:
    """Return a document with a former name added to its aliases."""
    name, known = " ".join(name.translate(_STRUCTURE).split()), aliases_of(document)
    if not name or name.casefold() in map(str.casefold, known):
        return document
    at, below = _listed(document)
    if not below:
        return with_front_matter(document, {_ALIASES: f"[{', '.join([*known, name])}]"})
    indent, lines = below[0].partition("-")[0], list(document.lines)
    lines.insert(at + 1 + len(below), f"{indent}- {name}{line_end(lines)}")
    return document.with_text("".join(lines))


def named_item(prefix: str, *known: Iterable[str], advice: str = "") -> str:
    """Return the only item id that starts with `prefix`. All commands with an id argument use this.

    Args:
        prefix: an id or its beginning, in any case, with or without surrounding blanks.
        known: groups of ids; a group is searched only if the earlier ones have no match.
        advice: what to do if no id is near; by default, to list the items.

    Raises:
        UnknownItem: no id matches, or more than one; the message lists those.
    """
    wanted = prefix.strip().casefold()
    groups = [list(group) for group in known]
    for group in groups:
        found = sorted({ident for ident in group if ident and ident.startswith(wanted)})
        if len(found) == 1 or wanted in found:  # which sorts first
            return found[0]
        if found:
            raise UnknownItem(prefix, found)
    close = len(wanted) >= _TYPED and did_you_mean(wanted, (one[: len(wanted)] for group in groups for one in group))
    raise UnknownItem(prefix, (), close or advice)


def own_files(root: Path, tops: Iterable[str]) -> list[str]:
    """Return the regular files at or below these files and folders of a memory; links are skipped."""
    found = []
    for name in tops:
        place = root / name
        if not place.is_symlink():
            found += [name] if place.is_file() else list_files(root, name, "")
    return found
