"""Claims of documents about log lines: which item is based on a line, and why the line is overruled, if it is.

A document's items cite the lines they are based on; so do waiting items in Review.md, and the tombstones of items that
a person rejected. The index stores each file's claims, with the current positions of the lines.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from pipelines.search.schema import CLAIM_COLUMNS, HELD_BACK, REJECTED
from pipelines.store.document import document_at
from pipelines.store.evidence import Quotes
from pipelines.store.item import STRUCK, Evidence, Item, Status, Trust
from pipelines.store.layout import REVIEW, SESSIONS, TOMBSTONES, day_of_log, is_log
from pipelines.store.review_queue import read_queue
from pipelines.store.state import Reason, read_tombstones

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path


class LineClaim(NamedTuple):
    """What a document says about some lines: the item based on them, and why they are overruled, if they are."""

    item: str
    cited: str
    why: str = ""
    successor: str = ""
    since: str = ""


_QUARANTINE = "quarantine"
_WORDS = {Status.NEVER_HELD: "retracted", Status.RETRACTED: "retracted"}


def claims_in(path: str, text: str, ledger: Mapping[str, str]) -> tuple[LineClaim, ...]:
    """Return the claims of a document, Review.md or the tombstones about log lines.

    Args:
        path: relative to the memory.
        text: the whole file.
        ledger: the rows of its items by id.
    """
    if is_log(path) or path.startswith(f"{SESSIONS}/"):
        return ()
    if path == TOMBSTONES:
        rejected = (one for one in sorted(read_tombstones(text.encode())) if one.reason is Reason.DELETED)
        return tuple(LineClaim(one.id, cited, REJECTED, "", one.day) for one in rejected for cited in one.places)
    document = document_at(path, text, ledger)
    if path == REVIEW:
        held = (
            (entry.day, item)
            for entry in read_queue(document)
            for item in entry.items
            if entry.kind == _QUARANTINE or not item.is_ours
        )
        return tuple(LineClaim(item.id, at.render(), HELD_BACK, "", day) for day, item in held for at in item.evidence)
    return tuple(claim for placed in document.items for claim in _claims_of(placed.item))


def _claims_of(item: Item) -> Iterator[LineClaim]:
    reworded = item.trust is Trust.OWNER and not item.by  # it cites lines, so a run wrote it originally
    for number, at in enumerate(item.evidence):
        if item.status is Status.WAITING:
            continue
        if item.status is Status.MERGED:
            yield LineClaim(item.merged_into, at.render())
        elif item.status in STRUCK:
            # A line from when it was already over is the one that says so, and remains true.
            says_so = number and item.until and day_of_log(at.path) >= item.until
            why = "" if says_so else _WORDS.get(item.status, str(item.status))
            yield LineClaim(item.id, at.render(), why, "" if says_so else item.superseded_by, item.until)
        elif reworded:
            yield LineClaim(item.id, at.render(), "corrected", item.id)
        else:
            yield LineClaim(item.id, at.render())


_PUT = f"INSERT INTO claims(file, {', '.join(CLAIM_COLUMNS)}) VALUES (?, {', '.join('?' * len(CLAIM_COLUMNS))})"  # noqa: S608  our own columns
_MOVE = "UPDATE claims SET start_line = ?, end_line = ? WHERE id = ?"
_UNPLACED = -1


def put_claims(connection: sqlite3.Connection, file: int | None, claims: Iterable[LineClaim]) -> None:
    """Insert a file's claims; `place_claims` finds their lines.

    Args:
        connection: the index, in a transaction.
        file: the file's number.
        claims: what the file claims.
    """
    placed = ((claim, at) for claim in claims if (at := Evidence.parse(claim.cited)))
    connection.executemany(_PUT, ((file, *claim, at.path, _UNPLACED, _UNPLACED) for claim, at in placed))


def place_claims(connection: sqlite3.Connection, root: Path, changed: Collection[str]) -> None:
    """Find the lines of claims that are new or whose log changed: lines move when somebody inserts text above them.

    Args:
        connection: the index, in a transaction.
        root: the memory.
        changed: the logs whose lines may have moved.
    """
    columns, quotes = ", ".join(CLAIM_COLUMNS), Quotes(root)
    rows = connection.execute(
        f"SELECT id, {columns} FROM claims WHERE start_line = ? OR path IN (SELECT value FROM json_each(?))",  # noqa: S608  ours
        (_UNPLACED, json.dumps(list(changed))),
    ).fetchall()
    for number, *row in rows:
        start, end = row[-2:]
        at = Evidence.parse(row[1])
        found = quotes.found(at) if at else None
        lines = (found.start_line, found.end_line) if found and found.quote is not None else (0, 0)
        if lines != (start, end):
            connection.execute(_MOVE, (*lines, number))
