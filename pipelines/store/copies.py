"""Copies: an id that stands in two places, as file syncers, `cp` and pasted lines leave it.

One item has one place. It is the one that the last run committed; of several, or of none, the one with the shortest
path. The same words elsewhere are a copy, and no item; other words are left for `night.reconcile`. A page that mostly
repeats another one is a copy as a whole: nothing of it is read or committed until a person has decided.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import CurateError
from pipelines.store.git import Git
from pipelines.store.layout import Kind, kind_of
from pipelines.store.trees import committed, read_version
from pipelines.store.wording import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pipelines.store.document import Document, Placed
    from pipelines.store.item import Item

    Place = tuple[str, Placed]


class Copy(NamedTuple):
    """What a document repeats of another one: its lines, from 1; none if it is a copy as a whole."""

    path: str
    original: str
    lines: tuple[int, ...]


def without_copies(root: Path, documents: Mapping[str, Document]) -> tuple[dict[str, Document], tuple[Copy, ...]]:
    """Return the documents with each item in one place, and the copies that were left out.

    Args:
        root: the memory.
        documents: every document by path, as read.
    """
    if not (twice := _twice(documents)):
        return dict(documents), ()
    held, repeated, reworded = _committed_items(root), dict[str, dict[int, str]](), dict[str, set[tuple[str, str]]]()
    homes = {ident: min(found, key=lambda place: _rank(place, held)) for ident, found in twice.items()}
    for ident, found in twice.items():
        home, item = homes[ident][0], homes[ident][1].item
        for path, placed in (place for place in found if place != homes[ident]):
            said = {_words(one) for one in (item, held(path, ident), held(home, ident))}
            if _words(placed.item) in said:
                repeated.setdefault(path, {})[placed.line] = home
            else:
                reworded.setdefault(path, set()).add((ident, placed.item.text))
    after, copies = dict(documents), list[Copy]()
    for path in sorted({*repeated, *reworded}):
        document, lines = documents[path], repeated.get(path, {})
        original = Counter(lines.values()).most_common(1)[0][0] if lines else path
        is_elsewhere = all(ident in homes and homes[ident][0] != path for ident in document.held)
        if is_elsewhere and _is_mostly(document, documents[original], len(lines)):
            copies.append(Copy(path, original, ()))
            del after[path]
            continue
        copied = {(one.item.id, one.item.text) for one in document.placed if lines.get(one.line, path) != path}
        after[path] = replace(document, copied=frozenset(copied), reworded=frozenset(reworded.get(path, ())))
        for home in sorted(set(lines.values())):
            copies.append(Copy(path, home, tuple(line + 1 for line in sorted(lines) if lines[line] == home)))
    return after, tuple(copies)


def _twice(documents: Mapping[str, Document]) -> dict[str, list[Place]]:
    """Return the places of each id that has more than one."""
    places: dict[str, list[Place]] = {}
    for path in sorted(documents):
        for placed in documents[path].placed:
            if placed.item.id:
                places.setdefault(placed.item.id, []).append((path, placed))
    return {ident: found for ident, found in places.items() if len(found) > 1}


def _committed_items(root: Path) -> Callable[[str, str], Item | None]:
    """Return what tells, by path and id, an item as the last run left it; before the first run, as last committed."""
    git, commit = Git(root), ""
    with contextlib.suppress(CurateError):
        commit = git.last_run() or git.head() or ""

    @cache
    def page(path: str) -> Document:
        with contextlib.suppress(CurateError):
            return committed(git, commit, path)
        return read_version(path, None)

    return lambda path, ident: page(path).held.get(ident, (path, None))[1]


def _rank(place: Place, held: Callable[[str, str], Item | None]) -> tuple[bool, bool, int, str, bool, int]:
    """Order the places of an id: the first one is its own."""
    path, (item, line, *_) = place
    there = held(path, item.id)
    return there is None, kind_of(path) is Kind.ARCHIVE, len(path), path, _words(there) != _words(item), line


def _words(item: Item | None) -> tuple[str, str]:
    return (item.type, folded(item.text)) if item else ("", "")


def _is_mostly(document: Document, original: Document, copies: int) -> bool:
    """Whether most items of a page are copies, and most of its lines are those of one other page."""
    if original.path == document.path or "/" not in document.path:
        return False
    there = Counter(line.strip() for line in original.lines)
    own = Counter(line.strip() for line in document.lines if line.strip())
    return copies * 2 >= document.numbered and (own & there).total() * 2 > own.total()
