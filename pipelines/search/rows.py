"""A file's rows in the index: inserted, updated, deleted."""

from __future__ import annotations

from itertools import takewhile
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


def put(connection: sqlite3.Connection, root: Path, path: str, stamp: FileStamp, checked_ns: int) -> None:
    """Read a file and update its rows; an unreadable file is recorded with the reason.

    Rows before the first change stay, since logs and transcripts grow at their ends; the others are made anew. A file
    that vanished has none afterwards.

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
    numbers = _put_rows(connection, "passages", ("file", "text"), file, [(file, text) for text in passages])
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
    _put_rows(connection, "units", UNIT_COLUMNS[1:], file, rows)
    put_claims(connection, file, read.claims)


def take_out(connection: sqlite3.Connection, path: str) -> None:
    """Delete a file's rows, if it has any."""
    found = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    if found:
        connection.execute("DELETE FROM units WHERE file = ?", found)
        connection.execute("DELETE FROM passages WHERE file = ?", found)
        connection.execute("DELETE FROM claims WHERE file = ?", found)
        connection.execute("DELETE FROM files WHERE id = ?", found)


def _put_rows(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], file: int, rows: Sequence[Row]
) -> list[int]:
    """Make the rows of a file in a table these ones, and return their numbers, which ascend."""
    names = ", ".join(columns)
    there = connection.execute(f"SELECT id, {names} FROM {table} WHERE file = ? ORDER BY id", (file,))  # noqa: S608  ours
    numbers = [old[0] for old, _ in takewhile(lambda pair: pair[0][1:] == pair[1], zip(there, rows, strict=False))]
    last = numbers[-1] if numbers else 0
    connection.execute(f"DELETE FROM {table} WHERE file = ? AND id > ?", (file, last))  # noqa: S608  as above
    put = f"INSERT INTO {table}({names}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608  as above
    connection.executemany(put, rows[len(numbers) :])
    return [number for (number,) in connection.execute(f"SELECT id FROM {table} WHERE file = ? ORDER BY id", (file,))]  # noqa: S608  as above
