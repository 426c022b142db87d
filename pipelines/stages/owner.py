"""What a person files by hand: one item of the owner's, put into its document at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.stages.filing import home_of
from pipelines.stages.promote import new_document
from pipelines.stages.tidying import tidied
from pipelines.store.change_set import document_changes
from pipelines.store.document import Block, edited
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust, folded, new_id
from pipelines.store.layout import document_id

if TYPE_CHECKING:
    from pipelines.settings import Settings
    from pipelines.stages.filing import Shelves
    from pipelines.store.change_set import Change
    from pipelines.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class OwnItem:
    """An item of the owner's and where it stands; no changes where the memory held it already."""

    item: Item
    path: str
    changes: tuple[Change, ...]


def file_own_item(  # noqa: PLR0913, PLR0917  what the person said, and what it is filed into
    kind: ItemType, text: str, path: str, today: str, snapshot: Snapshot, shelves: Shelves, settings: Settings
) -> OwnItem:
    """Return the item and the changes that file it.

    Args:
        kind: its type.
        text: its sentence.
        path: the document's path, or empty for the one where it belongs.
        today: the memory's day.
        snapshot: the memory as it is.
        shelves: its documents.
        settings: their caps; what the new item pushes out is moved as in a run.
    """
    path = path or home_of(kind, text, Confidence.HIGH, shelves)
    for place, document in shelves.documents.items():
        for placed in document.items:
            if placed.item.active and placed.item.type is kind and folded(placed.item.text) == folded(text):
                return OwnItem(placed.item, place, ())
    status = Status.OPEN if kind is ItemType.TODO else Status.LIVE
    item = Item(kind, text, status=status, since=today, trust=Trust.OWNER)
    taken = {placed.item.id for document in shelves.documents.values() for placed in document.items}
    item = Item(kind, text, new_id(item, document_id(path), taken), status, today, trust=Trust.OWNER)
    home = shelves.documents.get(path) or new_document(path, "", today)
    documents = {**shelves.documents, path: edited(home, add=[Block(item)])}
    after = tidied(documents, snapshot, settings, shelves.closed).documents
    return OwnItem(item, path, tuple(document_changes(snapshot.documents, after)))
