"""Succession: an item that holds no longer names what holds in its place, and links of others follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.store.document import Block, block_of, edited
from pipelines.store.item import Status
from pipelines.store.layout import BRIEFING, GENERAL, USER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipelines.store.document import Document
    from pipelines.store.item import Item

SUPERSEDES: Final = "supersedes"
AGAINST: Final = "against"
_STAYS: Final = frozenset({SUPERSEDES, "contradicts"})
"""Links that tell of one item for ever: what it took the place of, and what it spoke against."""
_LOADED: Final = frozenset({BRIEFING, USER})


def succeeded(old: Item, new: str, day: str) -> Item:
    """Return an item as it stands once another took its place: held until that day, and not before it began."""
    return replace(old, status=Status.SUPERSEDED, until=max(day, old.since), superseded_by=new)


def successor(new: Item, old: str) -> Item:
    """Return the item that took its place, which says so."""
    return with_link(new, SUPERSEDES, old)


def with_link(item: Item, kind: str, ident: str) -> Item:
    """Return an item with one more link, unless it has it or it would name itself; its links keep their order."""
    told = dict(item.links)
    if ident == item.id or ident in told.get(kind, ()):
        return item
    told[kind] = (*told.get(kind, ()), ident)
    return replace(item, links=tuple(told.items()))


def last_of(ident: str, followed: Mapping[str, str]) -> str:
    """Return what stands in an item's place now: the end of its chain, however often it was replaced tonight.

    A chain that leads back into itself ends where it began.
    """
    seen = {ident}
    at = ident
    while (after := followed.get(at)) and after not in seen:
        seen.add(after)
        at = after
    return ident if followed.get(at) else at


def following(item: Item, followed: Mapping[str, str]) -> Item:
    """Return an item whose links name what stands now in place of what they named, itself left out."""
    if item.status is Status.SUPERSEDED or not any(ident in followed for ident in (*item.linked, *_against(item))):
        return item
    links = []
    for kind, ids in item.links:
        now = ids if kind in _STAYS else tuple(dict.fromkeys(last_of(ident, followed) for ident in ids))
        links.append((kind, tuple(ident for ident in now if ident != item.id or ident in ids)))
    extra = tuple((key, last_of(value, followed) if key == AGAINST else value) for key, value in item.extra)
    return replace(item, links=tuple((kind, ids) for kind, ids in links if ids), extra=extra)


def _against(item: Item) -> list[str]:
    return [value for key, value in item.extra if key == AGAINST]


def history_of(path: str) -> str:
    """Return the document that keeps what no longer holds: its own, but for those that every session loads."""
    return GENERAL if path in _LOADED else path


def leaving(document: Document, items: Mapping[str, Item]) -> tuple[Document, list[Block]]:
    """Return a document without the items that ended, and those, with their notes, on their way into a History.

    Args:
        document: where they stood.
        items: by id, each as it stands now.
    """
    blocks: Iterable[Block] = (block_of(document, p) for p in document.items if p.item.id in items)
    moved = [Block(items[block.item.id], block.notes) for block in blocks]
    return edited(document, remove=items), moved
