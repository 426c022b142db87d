"""Superseding: one item takes another's place; the old one goes to its document's History, and links to it follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.review.item_links import following, history_of, leaving, succeeded, successor
from pipelines.stages.promote import new_document
from pipelines.store.document import commented, edited
from pipelines.store.item import Status
from pipelines.store.layout import REVIEW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.store.document import Document
    from pipelines.store.item import Item

SUPERSEDABLE: Final = frozenset({Status.LIVE, Status.OPEN, Status.ARCHIVED})
"""What is still believed, in a document or in an archive. What is closed already has its end, and keeps it."""


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
    ended = succeeded(placed.item, new_item.id, day)
    after[path], blocks = leaving(after[path], {old_id: ended})
    target = history_of(path)
    history = after.get(target) or new_document(target, "", placed.item.since)
    after[target] = edited(history, add=blocks)
    for place, document in sorted(after.items()):
        after[place] = _following(document, old_id, new_item.id)
    return after


def _following(document: Document, old: str, new: str) -> Document:
    """Return a document whose items name the new one where they named the old one; lines keep their words' bytes."""
    changed = {}
    for placed in document.items:
        item = placed.item
        told = successor(item, old) if item.id == new else following(item, {old: new}) if item.id else item
        if told != item:
            changed[placed.line] = told
    return commented(document, changed) if changed else document
