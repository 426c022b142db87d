"""Superseding: one item takes another's place; the old one goes to its document's History, and links to it follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.memory.documents import Block, block_of, commented, edited
from pipelines.memory.items import Status
from pipelines.memory.layout import BRIEFING, GENERAL, REVIEW, USER
from pipelines.stages.promote import new_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.memory.documents import Document
    from pipelines.memory.items import Item

SUPERSEDABLE: Final = frozenset({Status.LIVE, Status.OPEN, Status.ARCHIVED})
"""What is still believed, in a document or in an archive. What is closed already has its end, and keeps it."""

_LOADED: Final = frozenset({BRIEFING, USER})

_STORY: Final = frozenset({"supersedes", "contradicts"})
"""Links that tell of one wording and no other; they go on naming it."""


def superseded(documents: Mapping[str, Document], old_id: str, new_item: Item, day: str) -> dict[str, Document]:
    """Return the documents in which one item has taken another's place.

    The old one is struck, gets `until` and `superseded-by`, and moves with the notes under it to `## History` of its
    document, or of Areas/general where every session loads its own. The new one is linked `supersedes`; what named the
    old one by `because`, `supports`, `related`, `part-of` or `next` names the new one. Nothing changes where that
    cannot be meant: the old one stands nowhere, or is closed already (an item is superseded once), or both are the
    same, or the new one stands nowhere.

    Args:
        documents: every document by path; the new item stands in one of them.
        old_id: the item that holds no longer.
        new_item: the one that holds now.
        day: from which day on, `YYYY-MM-DD`.
    """
    after = dict(documents)
    places = {p.item.id: (path, p) for path, document in documents.items() for p in document.items if p.item.id}
    if old_id == new_item.id or old_id not in places or new_item.id not in places:
        return after
    path, placed = places[old_id]
    if placed.item.status not in SUPERSEDABLE or path == REVIEW:
        return after
    closed = replace(
        placed.item, status=Status.SUPERSEDED, until=max(day, placed.item.since), superseded_by=new_item.id
    )
    block = Block(closed, block_of(after[path], placed).notes)
    after[path] = edited(after[path], remove=[old_id])
    target = GENERAL if path in _LOADED else path
    history = after.get(target) or new_document(target, "", placed.item.since)
    after[target] = edited(history, add=[block])
    for place, document in sorted(after.items()):
        after[place] = _following(document, old_id, new_item.id)
    return after


def _following(document: Document, old: str, new: str) -> Document:
    """Return a document whose items name the new one where they named the old one; lines keep their words' bytes."""
    changed = {}
    for placed in document.items:
        item = placed.item
        told = with_link(item, "supersedes", old) if item.id == new else linked_instead(item, old, new)
        if told != item:
            changed[placed.line] = told
    return commented(document, changed) if changed else document


def linked_instead(item: Item, old: str, new: str) -> Item:
    """Return an item that names `new` where it named `old`, each once; what it supersedes or contradicts stays."""
    if not item.id:
        return item
    links = tuple(
        (kind, ids if kind in _STORY else tuple(dict.fromkeys(new if ident == old else ident for ident in ids)))
        for kind, ids in item.links
    )
    return replace(item, links=links)


def with_link(item: Item, kind: str, ident: str) -> Item:
    """Return an item with one more link, unless it has it; its links keep their order."""
    if item.id == ident:
        return item
    told = dict(item.links)
    if ident not in told.get(kind, ()):
        told[kind] = (*told.get(kind, ()), ident)
    return replace(item, links=tuple(told.items()))
