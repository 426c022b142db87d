"""A file's rows in the index: put in, brought up to date, taken out."""

from __future__ import annotations

from dataclasses import astuple
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from pipelines.search.chunk_context import grams, surround
from pipelines.search.damage import SUMMED_UNIT, row_sum
from pipelines.search.embed import key_of
from pipelines.search.read_files import read_file
from pipelines.search.schema import SEPARATOR

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pipelines.search.chunk_context import Placed
    from pipelines.search.indexed_files import Stamp

    Value = str | int | bytes | None


_NEW_FILE: Final = (
    "INSERT INTO files(size, mtime_ns, ctime_ns, beside, checked_ns, sha256, reason, note, crc, path)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_FILE: Final = (
    "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, beside = ?, checked_ns = ?, sha256 = ?, reason = ?,"
    " note = ?, crc = ? WHERE path = ?"
)
_UNIT: Final = f"INSERT INTO units({', '.join(SUMMED_UNIT)}, crc) VALUES ({', '.join('?' * (len(SUMMED_UNIT) + 1))})"  # noqa: S608


def put(connection: sqlite3.Connection, root: Path, path: str, stamp: Stamp, checked_ns: int) -> None:
    """Read a file and bring its rows up to date; one that cannot be read is recorded with the reason.

    Rows stay as they are before the first one that differs and after the last: handing a row to the full-text search
    takes several times as long as making it. A file that vanished has no rows afterwards.

    Args:
        connection: the index, in a transaction.
        root: the memory.
        path: the file, relative to the memory.
        stamp: what the disk told of it before it was read.
        checked_ns: when that was, in nanoseconds of the epoch.
    """
    read = read_file(root, path, stamp.beside)
    if read is None:
        take_out(connection, path)
        return
    crc = row_sum((path, read.sha256, read.reason, read.note))
    file = _put_file(connection, (*astuple(stamp), checked_ns, read.sha256, read.reason, read.note, crc, path))
    placed, passages = surround(path, read.units)
    _put_units(connection, file, placed, _put_passages(connection, file, passages))


def _put_file(connection: sqlite3.Connection, row: tuple[str | int, ...]) -> int:
    found = connection.execute("SELECT id FROM files WHERE path = ?", row[-1:]).fetchone()
    if found:
        connection.execute(_FILE, row)
        return int(found[0])
    return connection.execute(_NEW_FILE, row).lastrowid or 0


def _put_passages(connection: sqlite3.Connection, file: int, texts: Sequence[str]) -> list[int]:
    """Bring a file's passages up to date, and return their numbers in order."""
    there = connection.execute("SELECT id, text FROM passages WHERE file = ? ORDER BY place", (file,)).fetchall()
    head, tail = _kept([text for _, text in there], texts)
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


_THERE: Final = (
    "SELECT id, file, start_line, end_line, first_passage, last_passage, crc FROM units WHERE file = ?"
    " ORDER BY start_line, id"
)
_MOVE: Final = (
    "UPDATE units SET file = ?, start_line = ?, end_line = ?, first_passage = ?, last_passage = ?, crc = ? WHERE id = ?"
)
_PLACED: Final = 5
"""The first values of a unit's row, which say where it stands; what follows is what it says."""


def _put_units(connection: sqlite3.Connection, file: int, placed: Sequence[Placed], passages: Sequence[int]) -> None:
    """Bring a file's units up to date.

    Numbers rise within a line, so that they order what stands in it in every index that holds it, and none is given
    twice.
    """
    there = connection.execute(_THERE, (file,)).fetchall()
    rows = [(file, *_values(one, passages)) for one in placed]
    head, tail = _kept_units(there, rows)
    connection.executemany("DELETE FROM units WHERE id = ?", ((one[0],) for one in there[head : len(there) - tail]))
    fresh = rows[head : len(rows) - tail]
    numbered = [(number, *row) for number, row in enumerate(fresh, _new_units(connection, len(fresh)))]
    connection.executemany(_UNIT, ((*row, row_sum(row)) for row in numbered))
    last = zip(there[len(there) - tail :], rows[len(rows) - tail :], strict=True)
    moved = ((number, row) for (number, *old, _), row in last if tuple(old) != row[:_PLACED])
    connection.executemany(_MOVE, ((*row[:_PLACED], row_sum((number, *row)), number) for number, row in moved))


def _kept_units(there: Sequence[tuple[int, ...]], rows: Sequence[tuple[Value, ...]]) -> tuple[int, int]:
    """Return how many units at the head stay as they are, and how many at the end say what they said."""
    head = _same(row_sum((one[0], *row)) == one[-1] for one, row in zip(there, rows, strict=False))
    left = zip(reversed(there[head:]), reversed(rows[head:]), strict=False)
    tail = _same(row_sum((*one[:-1], *row[_PLACED:])) == one[-1] for one, row in left)
    while tail and len(rows) > tail and rows[-tail][1] == rows[-tail - 1][1]:
        tail -= 1  # what comes new into a line has higher numbers than what stood there
    return head, tail


def _kept(there: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many are the same at the head, and how many of the others at the end."""
    head = _same(one == other for one, other in zip(there, new, strict=False))
    left = zip(reversed(there[head:]), reversed(new[head:]), strict=False)
    return head, _same(one == other for one, other in left)


def _same(told: Iterable[bool]) -> int:
    """Return how many of the first are the same."""
    return sum(1 for _ in takewhile(bool, told))


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


def _values(placed: Placed, numbers: Sequence[int]) -> tuple[Value, ...]:
    unit = placed.unit
    passages = (None if n is None else numbers[n] for n in (placed.first_passage, placed.last_passage))
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
        *(unit.trust, unit.confidence, unit.status, unit.item, unit.record, unit.title, headings),
        *(unit.text, grams(unit.text), placed.about, placed.around),
    )
