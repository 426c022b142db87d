"""A file's rows in the index: made anew whenever the file changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipelines.search.chunk_context import grams, normalised, surround
from pipelines.search.claimed_lines import put_claims
from pipelines.search.embed import key_of_unit
from pipelines.search.read_files import read_file
from pipelines.search.schema import AS_SAID, SEPARATOR, UNIT_COLUMNS

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from pipelines.search.chunk_context import UnitInContext
    from pipelines.search.indexed_files import FileStamp


_STAMPED = ("path", "size", "mtime_ns", "ctime_ns", "beside", "ids", "rows", "reason", "meta")
_FILE = f"INSERT INTO files({', '.join(_STAMPED)}) VALUES ({', '.join('?' * len(_STAMPED))})"  # noqa: S608  our own columns
_UNIT = f"INSERT INTO units({', '.join(UNIT_COLUMNS[1:])}) VALUES (:{', :'.join(UNIT_COLUMNS[1:])})"  # noqa: S608  as above


def put(connection: sqlite3.Connection, root: Path, path: str, stamp: FileStamp) -> None:
    """Read a file and make its rows anew; an unreadable file is recorded with the reason, a vanished one has no rows.

    Args:
        connection: the index, in a transaction.
        root: the memory.
        path: the file, relative to the memory.
        stamp: its metadata from before it was read.
    """
    take_out(connection, path)
    read = read_file(root, path, stamp.beside)
    if read is None:
        return
    front = read.units[0].meta if read.units else ()  # the same for all units of a file
    meta = "".join(f"{SEPARATOR}{one}{SEPARATOR}" for one in front)
    file = connection.execute(_FILE, (path, *stamp, *read.rests, read.reason, meta)).lastrowid
    placed, passages = surround(path, read.units)
    (last,) = connection.execute("SELECT ifnull(max(id), 0) FROM passages").fetchone()
    numbered = ((number, file, text) for number, text in enumerate(passages, last + 1))
    connection.executemany("INSERT INTO passages(id, file, text) VALUES (?, ?, ?)", numbered)
    connection.executemany(_UNIT, (_row(one, last + 1) | {"file": file} for one in placed))
    put_claims(connection, file, read.claims)


def _row(placed: UnitInContext, first: int) -> dict[str, Any]:
    """Return a unit by the names of the columns, given the number of its file's first passage."""
    unit, about, around, *between = placed
    told = {name: SEPARATOR.join(one) if isinstance(one, tuple) else one for name, one in unit._asdict().items()}
    first_passage, last_passage = (number if number is None else first + number for number in between)
    return told | {
        "first_passage": first_passage,
        "last_passage": last_passage,
        "key": key_of_unit(unit),
        "length": len(unit.text),
        "meta": "".join(f"{SEPARATOR}{normalised(one)}{SEPARATOR}{AS_SAID}{one}" for one in unit.said),
        "grams": grams(unit.text),
        "about": about,
        "around": around,
    }


def take_out(connection: sqlite3.Connection, path: str) -> None:
    """Delete a file's rows, if it has any."""
    found = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    if found:
        for table in ("units", "passages", "claims"):
            connection.execute(f"DELETE FROM {table} WHERE file = ?", found)  # noqa: S608  ours
        connection.execute("DELETE FROM files WHERE id = ?", found)
