"""Copies: an id that stands in two places, as file syncers, `cp` and pasted lines leave it.

One item has one place. It is the one that the last run committed; of several, or of none, the one with the shortest
path. The same words elsewhere are a copy, and no item; other words are left for `night.reconcile`. A page that mostly
repeats another one is a copy as a whole: nothing of it is read or committed until a person has decided.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import CurateError
from pipelines.store.git import Git
from pipelines.store.layout import Kind, kind_of
from pipelines.store.trees import committed, read_version
from pipelines.store.wording import folded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
    twice = _twice(documents)
    if not twice:
        return dict(documents), ()
    committed, repeated, reworded = _Committed(root), dict[str, dict[int, str]](), dict[str, set[tuple[str, str]]]()
    homes = {ident: _home(found, committed) for ident, found in twice.items()}
    for ident, home in homes.items():
        for path, placed in (place for place in twice[ident] if place != home):
            if _is_copy((path, placed), home, committed):
                repeated.setdefault(path, {})[placed.line] = home[0]
            else:
                reworded.setdefault(path, set()).add((ident, placed.item.text))
    after, copies = dict(documents), list[Copy]()
    for path, others in reworded.items():
        after[path] = replace(documents[path], reworded=frozenset(others))
    for path, lines in sorted(repeated.items()):
        document, original = documents[path], Counter(lines.values()).most_common(1)[0][0]
        own = (one.item.id for one in document.placed if one.item.id)
        stays = any(ident not in homes or homes[ident][0] == path for ident in own)
        if not stays and _is_mostly(document, documents[original], len(lines)):
            copies.append(Copy(path, original, ()))
            del after[path]
            continue
        copied = {(one.item.id, one.item.text) for one in document.placed if lines.get(one.line, path) != path}
        after[path] = replace(after[path], copied=frozenset(copied))
        for home_path in sorted(set(lines.values())):
            rows = (line + 1 for line, where in sorted(lines.items()) if where == home_path)
            copies.append(Copy(path, home_path, tuple(rows)))
    return after, tuple(copies)


def _twice(documents: Mapping[str, Document]) -> dict[str, list[Place]]:
    """Return the places of each id that has more than one."""
    places: dict[str, list[Place]] = {}
    for path in sorted(documents):
        for placed in documents[path].placed:
            if placed.item.id:
                places.setdefault(placed.item.id, []).append((path, placed))
    return {ident: found for ident, found in places.items() if len(found) > 1}


class _Committed:
    """The documents as the last run left them; before the first run, as they were last committed."""

    def __init__(self, root: Path) -> None:
        self._git = Git(root)
        self._read: dict[str, Document] = {}
        self._commit = ""
        with contextlib.suppress(CurateError):
            self._commit = self._git.last_run() or self._git.head() or ""

    def held(self, path: str, ident: str) -> Item | None:
        """Return an item as a document had it, or None."""
        if path not in self._read:
            self._read[path] = read_version(path, None)
            with contextlib.suppress(CurateError):
                self._read[path] = committed(self._git, self._commit, path)
        found = self._read[path].held.get(ident)
        return found[1] if found else None


def _home(places: Sequence[Place], committed: _Committed) -> Place:
    """Return the place of an id that is its own."""

    def rank(place: Place) -> tuple[bool, bool, int, str, bool, int]:
        path, (item, line, *_) = place
        there = committed.held(path, item.id)
        changed = there is None or _words(there) != _words(item)
        return there is None, kind_of(path) is Kind.ARCHIVE, len(path), path, changed, line

    return min(places, key=rank)


def _is_copy(place: Place, home: Place, committed: _Committed) -> bool:
    """Whether a line says what the item says, or what it said as the last run left it."""
    item = place[1].item
    before = (committed.held(path, item.id) for path in (place[0], home[0]))
    return any(one and _words(item) == _words(one) for one in (home[1].item, *before))


def _words(item: Item) -> tuple[str, str]:
    return item.type, folded(item.text)


def _is_mostly(document: Document, original: Document, copies: int) -> bool:
    """Whether most items of a page are copies, and most of its lines are those of one other page."""
    if original.path == document.path or "/" not in document.path:
        return False
    there = Counter(line.strip() for line in original.lines)
    own = Counter(line.strip() for line in document.lines if line.strip())
    return copies * 2 >= document.numbered and (own & there).total() * 2 > own.total()
