"""The change set of a run: all its writes, checked as a whole before the first byte is written.

Also the reverse: what a run did, as the difference between two memories, item by item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from pipelines.store.document import Block, Document, Documents, Placed, block_of, edited, numbered, with_marks
from pipelines.store.item import HeldItem, Item, brought_back
from pipelines.store.layout import BRIEFING, kind_of
from pipelines.store.trees import ledger_after

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping


class Change(NamedTuple):
    """One file before and after; None if it does not exist."""

    path: str
    before: bytes | None
    after: bytes | None


def document_changes(before: Documents, after: Documents, state: Mapping[str, bytes]) -> list[Change]:
    """Return the changes between two sets of documents and those of the ledger, ordered by path.

    Args:
        before: the documents by path.
        after: what they become.
        state: path → bytes of the files under State.
    """
    changes = []
    for path in sorted(before.keys() | after.keys()):
        was, now = (side[path].text if path in side else None for side in (before, after))
        if was != now:
            changes.append(Change(path, *(None if text is None else text.encode() for text in (was, now))))
    # The rows of the others, too: what the ledger lost is written again.
    current = [one for path, one in after.items() if one is not before.get(path) or not one.is_still]
    known, left = ({key for one in side.values() for key in (*one.held, *one.told)} for side in (before, after))
    written = ledger_after(state, current, known - left)
    return [*changes, *(Change(path, state.get(path), data) for path, data in sorted(written.items()))]


def check_documents(
    before: Documents, after: Documents, cap: int, *, added: Iterable[str] = (), gone: Container[str] = ()
) -> list[str]:
    """Return the promises that the new documents would break; an empty list means that they may be written.

    Every existing and every new item must be somewhere, and ids unique, and MEMORY.md be under its cap unless people's
    own text alone exceeds it.

    Args:
        before: every document as the run found it.
        after: every document as it would be.
        cap: the limit of MEMORY.md, in bytes.
        added: ids of new items.
        gone: ids of items removed on purpose, each with a tombstone.
    """
    places: tuple[dict[str, list[str]], dict[str, list[str]]] = {}, {}
    for found, side in zip(places, (before, after), strict=True):
        for document, placed in numbered(side.values()):
            found.setdefault(placed.item.id, []).append(document.path)
    was, now = places
    faults = [f"{ident} of {was[ident][0]} would vanish" for ident in was if ident not in now and ident not in gone]
    faults += [f"{ident} is new and would be missing" for ident in added if ident not in now]
    doubled = [ident for ident, paths in now.items() if len(paths) > max(1, len(was.get(ident, ())))]
    faults += [f"{ident} would be in {' and '.join(now[ident])}" for ident in doubled]
    changed = (path for path, document in after.items() if document is not before.get(path))
    faults += [f"{path} is not a valid place for a document" for path in changed if kind_of(path) is None]
    briefing = after.get(BRIEFING)
    extracted = briefing and briefing is not before.get(BRIEFING) and any(placed.item.by for placed in briefing.items)
    if briefing and extracted and briefing.size > cap:
        faults.append(f"{BRIEFING} would have {briefing.size:,} bytes, over its cap of {cap:,}")
    return faults


class ItemPlace(NamedTuple):
    """An item and its place.

    Args:
        path: its document.
        section: the title of its section.
        line: its line as written, without the line end.
        row: its row of the ledger.
        notes: the lines that a person wrote below it, with line ends.
        item: the parsed item.
    """

    path: str
    section: str
    line: str
    row: str
    notes: tuple[str, ...]
    item: Item

    @property
    def told(self) -> tuple[str, ...]:
        """All that is known of it, but for a person's notes: its place, its line, and its row."""
        return self.path, self.section, self.line, self.row


class ItemChange(NamedTuple):
    """What a run did to one item; None if the item did not exist."""

    id: str
    before: ItemPlace | None
    after: ItemPlace | None

    @property
    def place(self) -> ItemPlace:
        """Where it is, or was last."""
        return cast("ItemPlace", self.after or self.before)


def item_places(documents: Iterable[Document]) -> dict[str, ItemPlace]:
    """Return id → place, ordered by document and line; the first place of a duplicated id."""
    found = dict[str, ItemPlace]()
    for document, placed in numbered(documents):
        line = "".join(document.lines[placed.line : placed.notes])
        notes = document.lines[placed.notes : placed.end]
        row = document.rows.get(placed.item.id, "")
        here = ItemPlace(document.path, placed.section, line.rstrip("\r\n"), row, tuple(notes), placed.item)
        found.setdefault(placed.item.id, here)
    return found


def item_changes(before: Documents, after: Documents) -> list[ItemChange]:
    """Return the change of each item between two sets of documents, ordered by id; unchanged items are left out.

    Args:
        before: the documents that differ, as they were; `understood` makes them comparable.
        after: the same documents as they are.
    """
    was, now = item_places(before.values()), item_places(after.values())
    changes = (ItemChange(ident, was.get(ident), now.get(ident)) for ident in sorted(was.keys() | now.keys()))
    return [one for one in changes if not (one.before and one.after and one.before.told == one.after.told)]


def items_by_id(documents: Documents) -> dict[str, HeldItem]:
    """Return id → (document path, item), for every item with an id."""
    found = dict[str, HeldItem]()
    for document in documents.values():
        found.update(document.held)
    return found


def placed_item(documents: Documents, ident: str) -> tuple[str, Placed]:
    """Return an item's document path and its place in the document.

    Raises:
        KeyError: no document has it.
    """
    homes = (one for one in documents.values() if ident in one.held)
    for document, placed in numbered(homes):
        if placed.item.id == ident:
            return document.path, placed
    raise KeyError(ident)


def with_item_changed(documents: Documents, ident: str, change: Callable[[Item], Item]) -> dict[str, Document]:
    """Return the documents with an item changed in what its row holds; the words of its line keep their bytes."""
    path, placed = placed_item(documents, ident)
    return {**documents, path: with_marks(documents[path], {placed.line: change(placed.item)})}


def moved(documents: Documents, ident: str, target: str) -> dict[str, Document]:
    """Return the documents with an item and its notes moved to another one; an archived item becomes active there.

    Links name ids, so they stay valid.
    """
    path, placed = placed_item(documents, ident)
    block = block_of(documents[path], placed)
    after = {**documents, path: edited(documents[path], remove=[ident])}
    return {**after, target: edited(after[target], add=[Block(brought_back(block.item), block.notes)])}
