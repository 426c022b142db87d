"""A file's rows in the index: inserted, updated, deleted."""

from __future__ import annotations

from collections import defaultdict
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pipelines.search.chunk_context import grams, normalised, surround
from pipelines.search.claimed_lines import put_claims
from pipelines.search.embed import key_of_unit
from pipelines.search.read_files import read_file
from pipelines.search.schema import AS_SAID, SEPARATOR, UNIT_COLUMNS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.search.indexed_files import FileStamp

    Row = tuple[Any, ...]


_STAMPED = ("size", "mtime_ns", "ctime_ns", "beside", "checked_ns", "sha256", "reason", "note", "meta")
_FILE = f"""
    INSERT INTO files(path, {", ".join(_STAMPED)}) VALUES (?{", ?" * len(_STAMPED)})
    ON CONFLICT(path) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _STAMPED)}
"""  # noqa: S608  our own columns
_UNIT = f"INSERT INTO units({', '.join(UNIT_COLUMNS)}) VALUES ({', '.join('?' * len(UNIT_COLUMNS))})"  # noqa: S608  as above
_SEARCHED = 4
"""The number of values at the end of a unit's row that are indexed by their words."""
_OTHERS = UNIT_COLUMNS[1:-_SEARCHED]
_THERE = f"SELECT {', '.join(UNIT_COLUMNS)} FROM units WHERE file = ? ORDER BY start_line DESC, id DESC"  # noqa: S608  as above
_MOVED = ("start_line", "end_line")
"""What alone changes in most rows of a changed file; to write the others, too, touches more of SQLite's indexes."""
_MOVE = f"UPDATE units SET {', '.join(f'{column} = ?' for column in _MOVED)} WHERE id = ?"  # noqa: S608  as above
_MOVING = itemgetter(*map(UNIT_COLUMNS[1:].index, _MOVED))
_STAYING = itemgetter(*(at for at, column in enumerate(UNIT_COLUMNS[1:]) if column not in _MOVED))
_CHANGE = f"UPDATE units SET {', '.join(f'{column} = ?' for column in _OTHERS)} WHERE id = ?"  # noqa: S608  as above
_LASTING = itemgetter(*map(UNIT_COLUMNS[1:].index, ("hidden", "key")), slice(-_SEARCHED, None))
"""What a unit's number stands for: its words, and what decides on its vector."""


def put(connection: sqlite3.Connection, root: Path, path: str, stamp: FileStamp, checked_ns: int) -> None:
    """Read a file and update its rows; an unreadable file is recorded with the reason.

    Only rows with other words are indexed anew, since that takes several times as long as making a row. A file that
    vanished has no rows afterwards.

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
    front = read.units[0].meta if read.units else ()  # the same for all units of a file
    found = (read.sha256, read.reason, read.note, "".join(f"{SEPARATOR}{one}{SEPARATOR}" for one in front))
    connection.execute(_FILE, (path, *stamp, checked_ns, *found))
    (file,) = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    placed, passages = surround(path, read.units)
    numbers = _put_passages(connection, file, passages)
    rows: list[Row] = []
    for unit, about, around, *between in placed:
        first, last = (None if n is None else numbers[n] for n in between)
        meta = "".join(f"{SEPARATOR}{normalised(one)}{SEPARATOR}{AS_SAID}{one}" for one in unit.said)
        types, tags, headings, cites = map(SEPARATOR.join, (unit.types, unit.tags, unit.headings, unit.cites))
        rows.append(
            (
                *(
                    file,
                    unit.start_line,
                    unit.end_line,
                    first,
                    last,
                    unit.hidden,
                    key_of_unit(unit),
                    unit.date,
                    unit.until,
                ),
                *(types, unit.project, tags, unit.trust, unit.confidence, unit.status, unit.item, cites),
                *(unit.confidence_reason, unit.source, unit.record, meta, unit.title, headings),
                *(unit.text, grams(unit.text), about, around),
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


def _put_units(connection: sqlite3.Connection, file: int, rows: Sequence[Row]) -> None:
    """Update a file's units. One with the same words keeps its number, wherever it is now.

    Numbers ascend within a line, so that they order its units in every index.
    """
    there: dict[Row, list[Row]] = defaultdict(list)
    for old in connection.execute(_THERE, (file,)):
        there[_LASTING(old[1:])].append(old)
    (given,) = connection.execute("SELECT ifnull(max(id), 0) FROM units").fetchone()
    fresh: list[Row] = []
    changed: list[Row] = []
    moved: list[Row] = []
    line, last = 0, 0
    for row in rows:
        line, last = row[1], last if row[1] == line else 0
        if (same := there[_LASTING(row)]) and same[-1][0] > last:
            last, *old = same.pop()
            if tuple(old) != row:
                if _STAYING(old) == _STAYING(row):
                    moved.append((*_MOVING(row), last))
                else:
                    changed.append((*row[:-_SEARCHED], last))
        else:
            last = given = given + 1
            fresh.append((last, *row))
    gone = [(number,) for left in there.values() for number, *_ in left]
    connection.executemany("DELETE FROM units WHERE id = ?", gone)
    connection.executemany(_CHANGE, changed)
    connection.executemany(_MOVE, moved)
    connection.executemany(_UNIT, fresh)


def _kept(there: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many are the same at the head, and how many of the others at the end."""
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(there, new, strict=False)))
    left = zip(reversed(there[head:]), reversed(new[head:]), strict=False)
    return head, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], left))
