"""A file's rows in the index: put in whole, taken out whole."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Final

from pipelines.index.damage import SUMMED_UNIT, row_sum
from pipelines.index.meaning import key_of
from pipelines.index.reading import read_file
from pipelines.index.schema import SEPARATOR
from pipelines.index.surroundings import surround
from pipelines.index.words import grams

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from pipelines.index.sources import Stamp
    from pipelines.index.surroundings import Placed

_FILE: Final = (
    "INSERT INTO files(path, size, mtime_ns, ctime_ns, beside, checked_ns, sha256, reason, note, crc)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_UNIT: Final = f"INSERT INTO units({', '.join(SUMMED_UNIT)}, crc) VALUES ({', '.join('?' * (len(SUMMED_UNIT) + 1))})"  # noqa: S608


def put(connection: sqlite3.Connection, root: Path, path: str, stamp: Stamp, checked_ns: int) -> None:
    """Read a file and add its rows; one that cannot be read is recorded with the reason, one that vanished is not.

    Args:
        connection: the index, in a transaction.
        root: the memory.
        path: the file, relative to the memory; it has no rows yet.
        stamp: what the disk told of it before it was read.
        checked_ns: when that was, in nanoseconds of the epoch.
    """
    read = read_file(root, path, stamp.beside)
    if read is None:
        return
    told = (read.sha256, read.reason, read.note)
    row = (path, *astuple(stamp), checked_ns, *told, row_sum((path, *told)))
    file = connection.execute(_FILE, row).lastrowid
    # Numbers rise within a file, so that they order its units in every index that holds it.
    placed, passages = surround(path, read.units)
    unit, passage = _new_units(connection, len(placed)), _next_passage(connection)
    rows = ((unit + n, file, *_values(one, passage)) for n, one in enumerate(placed))
    connection.executemany(_UNIT, ((*row, row_sum(row)) for row in rows))
    texts = ((passage + n, file, text) for n, text in enumerate(passages))
    connection.executemany("INSERT INTO passages(id, file, text) VALUES (?, ?, ?)", texts)


def take_out(connection: sqlite3.Connection, path: str) -> None:
    """Remove a file's rows, if it has any."""
    found = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    if found:
        connection.execute("DELETE FROM units WHERE file = ?", found)
        connection.execute("DELETE FROM passages WHERE file = ?", found)
        connection.execute("DELETE FROM files WHERE id = ?", found)


def _new_units(connection: sqlite3.Connection, count: int) -> int:
    """Take `count` numbers that no unit ever had, and return the first."""
    (last,) = connection.execute("SELECT last_unit FROM marks").fetchone()
    connection.execute("UPDATE marks SET last_unit = ?", (last + count,))
    return int(last) + 1


def _next_passage(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("SELECT max(id) FROM passages").fetchone()
    return (last or 0) + 1


def _values(placed: Placed, first_passage: int) -> tuple[str | int | bytes | None, ...]:
    unit = placed.unit
    passages = (None if n is None else n + first_passage for n in (placed.first_passage, placed.last_passage))
    lists = (SEPARATOR.join(values) for values in (unit.types, unit.tags, unit.headings))
    types, tags, headings = lists
    return (
        *(
            unit.start_line,
            unit.end_line,
            *passages,
            unit.hidden,
            key_of(unit),
            unit.date,
            unit.until,
            types,
            unit.project,
            tags,
        ),
        *(unit.trust, unit.confidence, unit.status, unit.item, unit.title, headings),
        *(unit.text, grams(unit.text), placed.about, placed.around),
    )
