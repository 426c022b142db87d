"""Items as records for other programs: the lines that `curate export --jsonl` writes and `curate import` reads.

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

import json
from dataclasses import asdict, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pipelines.store.item import Confidence, Evidence, Item, ItemType, Status, Trust

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import TypeAdapter

    from pipelines.store.document import Document


FORMAT: Final = "memcurate-items"
VERSION: Final = 1

Record = dict[str, Any]
_NULLABLE: Final = ("since", "until", "confirmed", "by", "superseded_by", "merged_into", "due", "doubted")
_WANTED: Final = {
    "type": f"one of {', '.join(ItemType)}",
    "status": f"one of {', '.join(Status)}",
    "trust": f"one of {', '.join(Trust)}",
    "confidence": f"one of {', '.join(Confidence)}",
    "evidence": "a list of places, each with path, start_line, end_line and digest",
    "seen": "a whole number, 0 or more",
    "links": "a list of links, each with its kind and its ids",
    "pinned": "true or false",
    "unverified": "true or false",
    "extra": "a list of pairs of key and value",
    "notes": "a list of single lines",
}


def header_record() -> Record:
    """Return the first line of an export."""
    return {"record": "header", "format": FORMAT, "version": VERSION}


def check_header(record: Mapping[str, Any]) -> None:
    """Check that a record is the header of a format that this version reads.

    Raises:
        ValueError: it is not; the message says what is wrong.
    """
    if record.get("record") != "header" or record.get("format") != FORMAT:
        raise ValueError(f'the first line is not a header; it must contain "format": "{FORMAT}"')
    version = record.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        raise ValueError(f"it has version {version!r}, but this program reads versions 1 to {VERSION}")


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


def from_record(record: Mapping[str, Any]) -> tuple[str, Item]:
    """Return the document path and the item of a record; the inverse of `to_record`.

    Missing keys, apart from `document`, `type` and `text`, have the defaults of an item's line.

    Raises:
        ValueError: a value is not valid; the message names the key.
    """
    from pydantic import ValidationError  # noqa: PLC0415  only an import needs it

    given = {one.name: record[one.name] for one in fields(Item) if record.get(one.name) is not None}
    if isinstance(links := given.get("links"), list):
        given["links"] = [[one.get("kind"), one.get("ids")] if isinstance(one, dict) else None for one in links]
    try:
        item = _items().validate_json(json.dumps(given), strict=True)
    except ValidationError as error:
        raise _wrong(str(*error.errors()[0]["loc"][:1])) from None
    if item.seen < 0:
        raise _wrong("seen")
    if any(Evidence.parse(place.render()) != place for place in item.evidence):
        raise _wrong("evidence")
    if not isinstance(path := record.get("document"), str):
        raise _wrong("document")
    return path, item


@cache
def _items() -> TypeAdapter[Item]:
    from pydantic import TypeAdapter  # noqa: PLC0415  as above

    return TypeAdapter(Item)


def placement_of(record: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the section of a record's item, and the notes below it, without line ends.

    Raises:
        ValueError: one of them is not valid.
    """
    section, notes = record.get("section") or "", record.get("notes", [])
    if not isinstance(section, str):
        raise _wrong("section")
    if not isinstance(notes, list) or not all(isinstance(note, str) and "\n" not in note for note in notes):
        raise _wrong("notes")
    return section, tuple(notes)


def _wrong(key: str) -> ValueError:
    return ValueError(f"`{key}` must be {_WANTED.get(key, 'a text')}")
