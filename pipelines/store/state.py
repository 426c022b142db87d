"""What has been curated: a set of entry hashes per log, so that no entry is read twice, however the log grows.

`State/progress.jsonl` has one line per log, sorted. `file` is the hash of the log as it was read: while it matches, the
log need not even be parsed. For an open day the line has the hashes of its entries; for a closed one, git has the file.

`State/tombstones.jsonl` has one line for each item that must not come back: deleted by a person, undone or forgotten.
Its lines are sorted, so that two machines' files merge line by line. It contains no text: what was deleted on purpose
is not kept elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pipelines.errors import BadFile
from pipelines.store.files import read_bytes, replace_synced, writing
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import private_folder
from pipelines.store.wording import veto_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pipelines.store.item import Item, ItemType


_T = TypeVar("_T")


class LogProgress(NamedTuple):
    """How far one log is curated.

    Args:
        file: hash of the log's bytes when it was last read.
        entries: the hashes of its curated entries while the day is open; none once it is closed.
    """

    file: str
    entries: frozenset[str]


def file_hash(data: bytes) -> str:
    """Return sixteen hex digits of SHA-256 over a file's bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


def read_progress(data: bytes | None) -> dict[str, tuple[LogProgress, ...]]:
    """Return log path → its records; more than one if two machines' records were merged.

    Unreadable lines are skipped: their logs are read again, and review drops what is known.
    """
    found = dict[str, tuple[LogProgress, ...]]()
    rows = read_rows(
        data, lambda row: (str(row["log"]), LogProgress(str(row["file"]), frozenset(map(str, row.get("entries", ())))))
    )
    for log, record in rows:
        found[log] = (*found.get(log, ()), record)
    return found


def read_rows(data: bytes | None, understood: Callable[[dict[str, Any]], _T]) -> Iterator[_T]:
    """Yield each parsed line of a JSONL file; lines that cannot be read, or written again, are skipped."""
    for line in (data or b"").decode(errors="replace").split("\n"):
        try:
            row = json.loads(line)
            if "\\ud" in line.lower():
                json.dumps(row, ensure_ascii=False).encode()  # fails on lone surrogates
            read = understood(row)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
        yield read


def unreadable_lines(data: bytes) -> list[int]:
    """Return the numbers, from 1, of the non-empty lines of a JSONL file that cannot be read."""
    lines = enumerate(data.split(b"\n"), 1)
    return [number for number, line in lines if line.strip() and not any(read_rows(line, lambda row: {**row, "": 1}))]


def render_progress(progress: Mapping[str, tuple[LogProgress, ...]]) -> bytes:
    """Return the bytes of `State/progress.jsonl`; the inverse of `read_progress`."""
    rows = (
        {"log": path, "file": one.file} | ({"entries": sorted(one.entries)} if one.entries else {})
        for path in sorted(progress)
        for one in progress[path]
    )
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


class Reason(StrEnum):
    """Why an item must not come back."""

    DELETED = "deleted"
    UNDONE = "undone"
    FORGOTTEN = "forgotten"
    CORRECTED = "corrected"
    UNWANTED = "unwanted"
    """What a person deleted from the generated sentences: their words, or an item that they cited."""


class Tombstone(NamedTuple):
    """One item that is gone for good.

    Args:
        hash: `wording_hash` of its type and text.
        id: its id, for conservation; empty if only its wording is gone.
        day: the memory's day of its removal.
        reason: why.
        places: the evidence of an item that a person rejected, for search.
    """

    hash: str
    id: str
    day: str
    reason: Reason
    places: tuple[str, ...] = ()


def wording_hash(kind: ItemType, text: str) -> str:
    """Return the hash that identifies an item's wording; articles, case, spacing and punctuation do not count."""
    return file_hash(f"{kind}\x1f{veto_key(text)}".encode())


def tombstone(item: Item, day: str, reason: Reason) -> Tombstone:
    """Return the tombstone of an item."""
    places = tuple(one.render() for one in item.evidence) if reason is Reason.DELETED else ()
    return Tombstone(wording_hash(item.type, item.text), item.id, day, reason, places)


def read_tombstones(data: bytes | None) -> frozenset[Tombstone]:
    """Return the tombstones of a file; unreadable lines are skipped."""
    return frozenset(
        read_rows(
            data,
            lambda row: Tombstone(
                str(row["hash"]),
                str(row["id"]),
                str(row["day"]),
                Reason(row["reason"]),
                tuple(map(str, row.get("places", ()))),
            ),
        )
    )


def render_tombstones(stones: Iterable[Tombstone]) -> bytes:
    """Return the bytes of `State/tombstones.jsonl`; the inverse of `read_tombstones`."""
    rows = ({key: value for key, value in stone._asdict().items() if value or key != "places"} for stone in stones)
    return "".join(sorted({f"{json.dumps(row)}\n" for row in rows})).encode()


def read_record(root: Path, name: str, folder: str = PRIVATE) -> dict[str, object]:
    """Return a record of the derived folder, or of another; empty if it is missing or unreadable."""
    try:
        found = json.loads(read_bytes(root, f"{folder}/{name}") or b"")
    except (BadFile, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write_record(root: Path, name: str, row: Mapping[str, object]) -> None:
    """Write a record to the derived folder, replacing an earlier one.

    Raises:
        NotWritable: the disk refused.
    """
    folder = private_folder(root)
    with writing(f"{PRIVATE}/{name}"):
        replace_synced(folder / name, json.dumps(row, ensure_ascii=False).encode())
