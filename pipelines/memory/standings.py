"""Where each item stands, and what a run changed of that: the difference between two memories, item by item."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.memory.documents import commented
from pipelines.memory.items import Trust

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipelines.memory.documents import Document, Placed
    from pipelines.memory.items import Item


@dataclass(frozen=True, slots=True)
class Standing:
    """An item where it stands.

    Args:
        path: its document.
        section: the title of the section that holds it.
        line: its line as written, without the line end.
        notes: the lines that a person wrote under it, with their ends.
        item: what the line says.
    """

    path: str
    section: str
    line: str
    notes: tuple[str, ...]
    item: Item

    @property
    def place(self) -> tuple[str, str]:
        """Its document and section."""
        return self.path, self.section


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What a run did to one item; None where it did not stand."""

    id: str
    before: Standing | None
    after: Standing | None


def standing_of(document: Document, placed: Placed) -> Standing:
    """Return how an item of a document stands."""
    rows = document.lines[placed.line : placed.end]
    return Standing(document.path, placed.section, rows[0].rstrip("\r\n"), tuple(rows[1:]), placed.item)


def standings(documents: Iterable[Document]) -> dict[str, Standing]:
    """Return id → where it stands, in order of documents and lines; the first place of one that stands twice."""
    found: dict[str, Standing] = {}
    for document in documents:
        for placed in document.items:
            if placed.item.id:
                found.setdefault(placed.item.id, standing_of(document, placed))
    return found


def standing_twice(documents: Iterable[Document]) -> frozenset[str]:
    """Return the ids that stand in more than one place."""
    count = Counter(p.item.id for document in documents for p in document.items if p.item.id)
    return frozenset(ident for ident, places in count.items() if places > 1)


def item_changes(before: Mapping[str, Document], after: Mapping[str, Document]) -> list[ItemChange]:
    """Return what became of each item between two sets of documents, in order of ids; the unchanged are left out.

    Args:
        before: the documents that differ, as they were; `understood` makes them comparable.
        after: the same documents as they are.
    """
    was, now = standings(before.values()), standings(after.values())
    return [
        ItemChange(ident, was.get(ident), now.get(ident))
        for ident in sorted(was.keys() | now.keys())
        if not _same(was.get(ident), now.get(ident))
    ]


def _same(one: Standing | None, other: Standing | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.place, one.line) == (other.place, other.line)


def understood(before: Mapping[str, Document], after: Mapping[str, Document]) -> dict[str, Document]:
    """Return `before` with what the run only understood of people's edits: ids of hand-written lines, and ownership.

    A run numbers a line that a person wrote, and makes one that a person reworded the owner's. Neither is the run's
    own doing, so neither is taken back with it, and neither counts as a change of the item.
    """
    known = standings(before.values())
    left = standings(after.values())
    told = dict(before)
    for path, document in before.items():
        numbers: dict[tuple[str, str], deque[Item]] = {}
        for ident, one in left.items():
            if one.path == path and ident not in known and not one.item.by:
                numbers.setdefault((one.item.type, one.item.text), deque()).append(one.item)
        new = {}
        for placed in document.items:
            item = placed.item
            if not item.id and (waiting := numbers.get((item.type, item.text))):
                number = waiting.popleft()
                new[placed.line] = replace(item, id=number.id, since=number.since)
            elif item.id in left and _became_own(item, left[item.id].item):
                own = left[item.id].item
                new[placed.line] = replace(item, trust=own.trust, confidence=own.confidence, by=own.by)
        if new:
            told[path] = commented(document, new)
    return told


def _became_own(before: Item, after: Item) -> bool:
    """Whether a run saw that a person had reworded an item: its words stand, and it is the owner's from then on."""
    owned = not after.by and after.trust is Trust.OWNER
    return owned and bool(before.by or before.trust is not Trust.OWNER) and before.text == after.text
