"""Items as records for other programs: the lines that `curate export --jsonl` writes.

The first line is the header. A document's record precedes those of its items, and items keep their order, so that
reading the records in sequence restores the documents:

    {"record": "header", "format": "memcurate-items", "version": 1}
    {"record": "document", "path": "Projects/alpha.md", "title": "Alpha", "kind": "project", "status": "active"}
    {"record": "item", "document": "Projects/alpha.md", "id": "k7f3a9c2b10", "type": "Decision", "text": …,
     "section": "Decisions", "notes": []}

Every field of an item is present, even if empty; missing days and ids are null. `notes` are the lines that a person
wrote below the item, without line ends. Readers ignore unknown keys; the meaning of a key must not change within a
version.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.store.document import Document
    from pipelines.store.item import Item


FORMAT: Final = "memcurate-items"
VERSION: Final = 1

Record = dict[str, Any]
_NULLABLE: Final = ("since", "until", "confirmed", "by", "superseded_by", "merged_into", "due", "doubted")


def header_record() -> Record:
    """Return the first line of an export."""
    return {"record": "header", "format": FORMAT, "version": VERSION}


def document_record(document: Document) -> Record:
    """Return what a reader needs to create a document."""
    return {
        "record": "document",
        "path": document.path,
        "title": document.title,
        "kind": document.kind.value,
        "status": document.front.get("status"),
    }


def to_record(path: str, item: Item, *, section: str = "", notes: Sequence[str] = ()) -> Record:
    """Return an item as a record.

    Args:
        path: its document, relative to the memory, with `/`.
        item: the item.
        section: the title of its section.
        notes: the lines that a person wrote below it, with or without line ends.
    """
    record = asdict(item)
    return {
        "record": "item",
        "document": path,
        "id": item.id,
        **record,
        **{key: record[key] or None for key in _NULLABLE},
        "links": [{"kind": kind, "ids": ids} for kind, ids in item.links],
        "section": section or None,
        "notes": [note.rstrip("\r\n") for note in notes],
    }
