"""Links between items: which may be linked, and an item's successor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import is_pending
from pipelines.store.document import Block, Document, block_of, edited
from pipelines.store.item import Evidence, Item, ItemType, Status
from pipelines.store.layout import BRIEFING, GENERAL, REVIEW, USER, Kind, kind_of
from pipelines.store.secrets.redact import is_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def linkable(items: Iterable[tuple[str, Item]]) -> list[tuple[str, Item]]:
    """Return the active items of curated documents, without those marked as private."""
    return [
        (path, item)
        for path, item in items
        if item.id
        and item.active
        and path != REVIEW
        and kind_of(path) is not Kind.ARCHIVE
        and not is_private(item.text)
    ]


# ---------------------------------------- succession
# A superseded item names its successor; links of others keep what was true when they were made.


AGAINST: Final = "against"
"""The key in a waiting item that names the item it contradicts."""
_LOADED = frozenset({BRIEFING, USER})


def with_successor(old: Item, new: Item, day: str) -> Item:
    """Return an item superseded by another one on a day, but not before its own start.

    A Todo whose place nothing takes that is open, but a decision, a fact or a rule, is done.
    """
    is_settled = old.type is ItemType.TODO and new.type is not ItemType.TODO and not is_pending(new)
    status = Status.DONE if is_settled else Status.SUPERSEDED
    return replace(old, status=status, until=max(day, old.since), superseded_by=new.id)


def with_confirmation(item: Item, place: Evidence, day: str) -> Item:
    """Return an item confirmed by new evidence: it keeps the first and the last place, and a count.

    Args:
        item: the item.
        place: the new evidence.
        day: the day of the new evidence.
    """
    first = item.evidence[:-1] if item.confirmed and len(item.evidence) > 1 else item.evidence
    return replace(
        item,
        confirmed=max(item.confirmed, day),
        doubted=item.doubted if item.doubted > day else "",
        evidence=(*first, place),
        seen=max(item.seen, len(item.evidence)) + 1,
    )


def with_link(item: Item, kind: str, ident: str) -> Item:
    """Return an item with a link added, unless it has the link or would link to itself."""
    links = dict(item.links)
    if ident == item.id or ident in links.get(kind, ()):
        return item
    links[kind] = (*links.get(kind, ()), ident)
    return replace(item, links=tuple(links.items()))


def without_link(item: Item, kind: str) -> Item:
    """Return an item without its links of a kind."""
    return replace(item, links=tuple(pair for pair in item.links if pair[0] != kind))


def history_of(path: str) -> str:
    """Return the document that keeps closed items: their own, unless every session loads it."""
    return GENERAL if path in _LOADED else path


def leaving(document: Document, items: Mapping[str, Item]) -> tuple[Document, list[Block]]:
    """Return a document without the items that ended, and these items with their notes, for the History.

    Args:
        document: their document.
        items: by id, each as it is now.
    """
    blocks: Iterable[Block] = (block_of(document, p) for p in document.items if p.item.id in items)
    moved = [Block(items[block.item.id], block.notes) for block in blocks]
    return edited(document, remove=items), moved
