"""Small things that a person does to one item: pin it, move it to another document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.memory.documents import Block, block_of, commented, edited
from pipelines.memory.items import ItemType, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.memory.documents import Document, Placed


def placed_item(documents: Mapping[str, Document], ident: str) -> tuple[str, Placed]:
    """Return where an item stands: its document's path, and its place in it.

    Raises:
        KeyError: it stands nowhere.
    """
    for path, document in documents.items():
        for placed in document.items:
            if placed.item.id == ident:
                return path, placed
    raise KeyError(ident)


def with_pin(documents: Mapping[str, Document], ident: str, *, pinned: bool) -> dict[str, Document]:
    """Return the documents with an item pinned or not; its line keeps its words' bytes."""
    path, placed = placed_item(documents, ident)
    item = replace(placed.item, pinned=pinned)
    return {**documents, path: commented(documents[path], {placed.line: item})}


def moved(documents: Mapping[str, Document], ident: str, target: str) -> dict[str, Document]:
    """Return the documents with an item, and the notes under it, in another one; what was archived holds again there.

    Links name ids, so they lead to it wherever it stands.
    """
    path, placed = placed_item(documents, ident)
    block = block_of(documents[path], placed)
    item = block.item
    if item.status is Status.ARCHIVED:
        item = replace(item, status=Status.OPEN if item.type is ItemType.TODO else Status.LIVE)
    after = {**documents, path: edited(documents[path], remove=[ident])}
    return {**after, target: edited(after[target], add=[Block(item, block.notes)])}
