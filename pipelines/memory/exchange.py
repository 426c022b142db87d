"""Items as records that other programs read: the lines of `curate export --jsonl`, which `curate import` reads back.

The first line is the header. A document's record comes before those of its items, and items come in the order in which
they stand, so that reading them one after the other gives the same documents again:

    {"record": "header", "format": "memcurate-items", "version": 1}
    {"record": "document", "path": "Projects/alpha.md", "title": "Alpha", "kind": "project", "status": "active"}
    {"record": "item", "document": "Projects/alpha.md", "id": "k7f3a9c2b10", "type": "Decision", "text": …,
     "section": "Decisions", "notes": []}

Every field of an item is there, also an empty one; days and ids that are not told are null. `notes` are the lines that
a person wrote under the item, without their ends. Keys that a reader does not know are passed over; what they mean must
not change within a version.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pipelines.memory.items import Confidence, Evidence, Item, ItemType, Status, Trust

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.memory.documents import Document

FORMAT: Final = "memcurate-items"
VERSION: Final = 1

Record = dict[str, Any]
_Choice = TypeVar("_Choice", bound=StrEnum)


def header_record() -> Record:
    """Return the first line of an export."""
    return {"record": "header", "format": FORMAT, "version": VERSION}


def check_header(record: Mapping[str, Any]) -> None:
    """Make sure that a record is the header of a form that this version reads.

    Raises:
        ValueError: it is not; the sentence says what it is.
    """
    if record.get("record") != "header" or record.get("format") != FORMAT:
        raise ValueError(f'the first line is no header; it should hold "format": "{FORMAT}"')
    version = record.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        raise ValueError(f"it is of version {version!r}, and this program reads versions 1 to {VERSION}")


def document_record(document: Document) -> Record:
    """Return what a reader needs to make a document that it does not have."""
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
        path: its home document, relative to the memory, with `/`.
        item: the item.
        section: the title of the section that it stands in.
        notes: the lines that a person wrote under it, with or without their ends.
    """
    return {
        "record": "item",
        "document": path,
        "id": item.id,
        "type": item.type.value,
        "text": item.text,
        "status": item.status.value,
        "since": item.since or None,
        "until": item.until or None,
        "confirmed": item.confirmed or None,
        "trust": item.trust.value,
        "confidence": item.confidence.value,
        "evidence": [
            {"path": one.path, "start_line": one.start_line, "end_line": one.end_line, "digest": one.digest}
            for one in item.evidence
        ],
        "seen": item.seen,
        "by": item.by or None,
        "superseded_by": item.superseded_by or None,
        "merged_into": item.merged_into or None,
        "links": [{"kind": kind, "ids": list(ids)} for kind, ids in item.links],
        "pinned": item.pinned,
        "extra": [[key, value] for key, value in item.extra],
        "section": section or None,
        "notes": [note.rstrip("\r\n") for note in notes],
    }


def from_record(record: Mapping[str, Any]) -> tuple[str, Item]:
    """Return the home document and the item of a record; the inverse of `to_record`.

    Keys that are missing, apart from `document`, `type` and `text`, mean what they mean on an item's line without them.

    Raises:
        ValueError: something in it cannot be read; the sentence names the key.
    """
    item = Item(
        type=_choice(record, "type", ItemType),
        text=_text(record, "text", needed=True),
        id=_text(record, "id"),
        status=_choice(record, "status", Status, Status.LIVE),
        since=_text(record, "since"),
        until=_text(record, "until"),
        confirmed=_text(record, "confirmed"),
        trust=_choice(record, "trust", Trust, Trust.OWNER),
        confidence=_choice(record, "confidence", Confidence, Confidence.HIGH),
        evidence=tuple(_evidence(one) for one in _list(record, "evidence")),
        seen=_number(record, "seen"),
        by=_text(record, "by"),
        superseded_by=_text(record, "superseded_by"),
        merged_into=_text(record, "merged_into"),
        links=tuple(_link(one) for one in _list(record, "links")),
        pinned=_truth(record, "pinned"),
        extra=tuple(_pair(one) for one in _list(record, "extra")),
    )
    return _text(record, "document", needed=True), item


def placement_of(record: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the section that a record's item stood in, and the notes under it, without line ends.

    Raises:
        ValueError: one of them cannot be read.
    """
    notes = _list(record, "notes")
    if not all(isinstance(note, str) and "\n" not in note for note in notes):
        raise ValueError("`notes` must be a list of single lines")
    return _text(record, "section"), tuple(notes)


def _wrong(key: str, wanted: str) -> ValueError:
    return ValueError(f"`{key}` must be {wanted}")


def _text(record: Mapping[str, Any], key: str, *, needed: bool = False) -> str:
    value = record.get(key)
    if value is None and not needed:
        return ""
    if not isinstance(value, str):
        raise _wrong(key, "a text")
    return value


def _choice(record: Mapping[str, Any], key: str, kind: type[_Choice], usual: _Choice | None = None) -> _Choice:
    value = record.get(key)
    if value is None and usual is not None:
        return usual
    if not isinstance(value, str) or value not in frozenset(kind):
        raise _wrong(key, f"one of {', '.join(kind)}")
    return kind(value)


def _number(record: Mapping[str, Any], key: str) -> int:
    value = record.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _wrong(key, "a whole number, 0 or more")
    return value


def _truth(record: Mapping[str, Any], key: str) -> bool:
    value = record.get(key, False)
    if not isinstance(value, bool):
        raise _wrong(key, "true or false")
    return value


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    value = record.get(key, [])
    if not isinstance(value, list):
        raise _wrong(key, "a list")
    return value


def _evidence(told: Any) -> Evidence:  # noqa: ANN401  whatever JSON can hold
    if not isinstance(told, dict):
        raise _wrong("evidence", "a list of places")
    place = Evidence(
        _text(told, "path", needed=True),
        _number(told, "start_line"),
        _number(told, "end_line"),
        _text(told, "digest", needed=True),
    )
    if Evidence.parse(place.render()) != place:
        raise _wrong("evidence", "a list of places, each with path, start_line, end_line and digest")
    return place


def _link(told: Any) -> tuple[str, tuple[str, ...]]:  # noqa: ANN401  as above
    ids = told.get("ids") if isinstance(told, dict) else None
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise _wrong("links", "a list of links, each with its kind and its ids")
    return _text(told, "kind", needed=True), tuple(ids)


def _pair(told: Any) -> tuple[str, str]:  # noqa: ANN401  as above
    if not isinstance(told, list) or len(told) != 2 or not all(isinstance(one, str) for one in told):  # noqa: PLR2004
        raise _wrong("extra", "a list of pairs of key and value")
    return told[0], told[1]
