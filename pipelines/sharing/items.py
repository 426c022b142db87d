"""One item as two machines left it: which of the two stands, by rules that come to the same on either machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.store.document import Block, block_of
from pipelines.store.item import Status, folded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.store.document import Document
    from pipelines.store.item import Item

_RANK: Final = {
    status: rank
    for rank, status in enumerate((
        Status.LIVE, Status.OPEN, Status.WAITING, Status.ARCHIVED, Status.DONE, Status.MERGED, Status.SUPERSEDED,
        Status.RETRACTED, Status.FORGOTTEN,
    ))
}  # fmt: skip
"""What closes an item stands against what leaves it open: a person, or a newer item, did so."""


@dataclass(frozen=True, slots=True)
class Stood:
    """An item where it stood: its document, and the item with its notes."""

    path: str
    block: Block

    @property
    def item(self) -> Item:
        """The item alone."""
        return self.block.item


def standing(documents: Mapping[str, Document]) -> dict[str, Stood]:
    """Return id → where the item stands, the first place where there are several."""
    found: dict[str, Stood] = {}
    for path in sorted(documents):
        for placed in documents[path].items:
            if placed.item.id:
                found.setdefault(placed.item.id, Stood(path, block_of(documents[path], placed)))
    return found


def joined(before: Stood | None, ours: Stood | None, theirs: Stood | None) -> Stood | None:
    """Return what becomes of one item; None where it goes.

    What one side alone changed is as that side has it. An item that one side took out and the other changed goes,
    except where its words were changed: those a person wrote.
    """
    if theirs in (ours, before):
        return ours
    if ours == before:
        return theirs
    if ours is None or theirs is None:
        left = ours or theirs
        return left if left and before and left.item.text != before.item.text else None
    return _both(before, *sorted((ours, theirs), key=_weight))


def _weight(side: Stood) -> tuple[int, bool, str, str, str]:
    """Order two sides of one item: what weighs more stands. A line without `by` is a person's."""
    item = side.item
    return (_RANK[item.status], not item.by, item.confirmed, item.text, side.path)


def _both(before: Stood | None, less: Stood, more: Stood) -> Stood:
    """Join two changes of one item: the weightier one stands, with what the other alone changed."""
    words = _words(before, less.item, more.item)
    item = replace(
        more.item,
        text=words.text,
        by=words.by,
        trust=words.trust,
        since=min(filter(None, (less.item.since, more.item.since)), default=""),
        confirmed=max(less.item.confirmed, more.item.confirmed),
        seen=max(less.item.seen, more.item.seen),
        pinned=less.item.pinned or more.item.pinned,
        links=more.item.links or less.item.links,
    )
    moved = less if before and more.path == before.path and more.item.status is less.item.status else more
    return Stood(moved.path, Block(item, more.block.notes or less.block.notes))


def _words(before: Stood | None, less: Item, more: Item) -> Item:
    """Return the side whose words stand: the one that changed them; where both did, a person's."""
    if before is None or (before.item.text not in (less.text, more.text)):
        return less if more.by and not less.by else more
    return less if less.text != before.item.text else more


def without_twins(
    items: Mapping[str, Stood], ours: Mapping[str, Stood], theirs: Mapping[str, Stood]
) -> dict[str, Stood]:
    """Return the items with those merged that both machines learnt, in the same document and in the same words."""
    out = dict(items)
    first: dict[tuple[str, str, str], str] = {}
    for ident, stood in sorted(items.items(), key=lambda pair: (pair[1].item.since, pair[0])):
        if not stood.item.active:
            continue
        key = (stood.path, str(stood.item.type), folded(stood.item.text))
        twin = first.setdefault(key, ident)
        if twin != ident and (ident in ours) != (ident in theirs) and (twin in ours) != (ident in ours):
            merged = replace(stood.item, status=Status.MERGED, merged_into=twin)
            out[ident] = Stood(stood.path, Block(merged, stood.block.notes))
    return out
