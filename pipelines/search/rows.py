"""A file's rows in the index: inserted, updated, deleted."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from pipelines.search.chunk_context import grams, surround
from pipelines.search.claimed_lines import put_claims
from pipelines.search.embed import embedded_text, key
from pipelines.search.read_files import read_file
from pipelines.search.schema import SEPARATOR, SUMMED_UNIT, row_sum

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pipelines.search.indexed_files import FileStamp

    Value = str | int | bytes | None


_STAMPED: Final = ("size", "mtime_ns", "ctime_ns", "beside", "checked_ns", "sha256", "reason", "note", "crc")
_FILE: Final = f"""
    INSERT INTO files(path, {", ".join(_STAMPED)}) VALUES (?{", ?" * len(_STAMPED)})
    ON CONFLICT(path) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _STAMPED)}
"""  # noqa: S608  our own columns
_UNIT: Final = f"INSERT INTO units({', '.join(SUMMED_UNIT)}, crc) VALUES ({', '.join('?' * (len(SUMMED_UNIT) + 1))})"  # noqa: S608  as above
_THERE: Final = (
    "SELECT id, file, start_line, end_line, first_passage, last_passage, crc FROM units WHERE file = ?"
    " ORDER BY start_line, id"
)
_MOVE: Final = (
    "UPDATE units SET file = ?, start_line = ?, end_line = ?, first_passage = ?, last_passage = ?, crc = ? WHERE id = ?"
)
_PLACED: Final = 5
"""The number of values at the start of a unit's row that give its place; the others are its content."""


def put(connection: sqlite3.Connection, root: Path, path: str, stamp: FileStamp, checked_ns: int) -> None:
    """Read a file and update its rows; an unreadable file is recorded with the reason.

    Only rows between the first and the last difference are rewritten: full-text indexing a row takes several times as
    long as making it. A file that vanished has no rows afterwards.

    Args:
        connection: the index, in a transaction.
        root: the memory.
        path: the file, relative to the memory.
        stamp: its metadata from before it was read.
        checked_ns: the time of that, in nanoseconds since the epoch.
    """
    read = read_file(root, path, stamp.beside)
    if read is None:
        take_out(connection, path)
        return
    crc = row_sum((path, read.sha256, read.reason, read.note))
    connection.execute(_FILE, (path, *stamp, checked_ns, read.sha256, read.reason, read.note, crc))
    (file,) = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    placed, passages = surround(path, read.units)
    numbers = _put_passages(connection, file, passages)
    rows: list[tuple[Value, ...]] = []
    for unit, about, around, *between in placed:
        embedded = embedded_text(unit.text, unit.title, unit.headings, unit.date, unit.status)
        first, last = (None if n is None else numbers[n] for n in between)
        types, tags, headings, cites = map(SEPARATOR.join, (unit.types, unit.tags, unit.headings, unit.cites))
        rows.append(
            (
                *(file, unit.start_line, unit.end_line, first, last, unit.hidden, key(embedded), unit.date, unit.until),
                *(types, unit.project, tags, unit.trust, unit.confidence, unit.status, unit.item, cites),
                *(
                    unit.confidence_reason,
                    unit.source,
                    "".join(f"{SEPARATOR}{one}{SEPARATOR}" for one in unit.meta),
                    unit.record,
                    unit.title,
                    headings,
                    unit.text,
                    grams(unit.text),
                    about,
                    around,
                ),
            )
        )
    _put_units(connection, file, rows)
    put_claims(connection, file, read.claims)


def take_out(connection: sqlite3.Connection, path: str) -> None:
    """Delete a file's rows, if it has any."""
    found = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    if found:
        connection.execute("DELETE FROM units WHERE file = ?", found)
        connection.execute("DELETE FROM passages WHERE file = ?", found)
        connection.execute("DELETE FROM claims WHERE file = ?", found)
        connection.execute("DELETE FROM files WHERE id = ?", found)


def _put_passages(connection: sqlite3.Connection, file: int, texts: Sequence[str]) -> list[int]:
    """Update a file's passages, and return their numbers in order."""
    there = connection.execute("SELECT id, text FROM passages WHERE file = ? ORDER BY place", (file,)).fetchall()
    head, tail = _kept(there, texts, lambda old, text: old[1] == text)
    gone, last = there[head : len(there) - tail], there[len(there) - tail :]
    connection.executemany("DELETE FROM passages WHERE id = ?", ((number,) for number, _ in gone))
    (highest,) = connection.execute("SELECT max(id) FROM passages").fetchone()
    fresh = list(enumerate(texts[head : len(texts) - tail], (highest or 0) + 1))
    new = ((number, file, place, text) for place, (number, text) in enumerate(fresh, head))
    connection.executemany("INSERT INTO passages(id, file, place, text) VALUES (?, ?, ?, ?)", new)
    if len(there) != len(texts):
        moved = ((place, number) for place, (number, _) in enumerate(last, len(texts) - tail))
        connection.executemany("UPDATE passages SET place = ? WHERE id = ?", moved)
    return [number for number, _ in (*there[:head], *fresh, *last)]


def _put_units(connection: sqlite3.Connection, file: int, rows: Sequence[tuple[Value, ...]]) -> None:
    """Update a file's units.

    Numbers ascend within a line, so that they order its units in every index, and are never reused.
    """
    there = connection.execute(_THERE, (file,)).fetchall()
    head, tail = _kept(
        there,
        rows,
        lambda old, row: row_sum((old[0], *row)) == old[-1],
        lambda old, row: row_sum((*old[:-1], *row[_PLACED:])) == old[-1],  # the same content elsewhere
    )
    while tail and len(rows) > tail and rows[-tail][1] == rows[-tail - 1][1]:
        tail -= 1  # new units in a line get higher numbers than its existing ones
    connection.executemany("DELETE FROM units WHERE id = ?", ((old[0],) for old in there[head : len(there) - tail]))
    (given,) = connection.execute("SELECT last_unit FROM marks").fetchone()
    fresh = [(number, *row) for number, row in enumerate(rows[head : len(rows) - tail], given + 1)]
    connection.execute("UPDATE marks SET last_unit = ?", (given + len(fresh),))
    connection.executemany(_UNIT, ((*row, row_sum(row)) for row in fresh))
    last = zip(there[len(there) - tail :], rows[len(rows) - tail :], strict=True)
    moved = ((number, row) for (number, *old, _), row in last if tuple(old) != row[:_PLACED])
    connection.executemany(_MOVE, ((*row[:_PLACED], row_sum((number, *row)), number) for number, row in moved))


def _kept(
    there: Sequence[Any],
    new: Sequence[Any],
    stays: Callable[[Any, Any], bool],
    moves: Callable[[Any, Any], bool] | None = None,
) -> tuple[int, int]:
    """Return how many are the same at the head, and how many of the others at the end."""
    head = sum(1 for _ in takewhile(lambda pair: stays(*pair), zip(there, new, strict=False)))
    left = zip(reversed(there[head:]), reversed(new[head:]), strict=False)
    return head, sum(1 for _ in takewhile(lambda pair: (moves or stays)(*pair), left))
