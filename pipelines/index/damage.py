"""What tells that the index was damaged: a checksum a row, and what SQLite and its full-text search know of themselves.

SQLite notices a torn page and FTS5 a word that no text holds, but a bit that turns one day into another, or moves a
line, is all the same to them. So every row carries the checksum of what was written, and a hit's is compared before it
is shown.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from pipelines.errors import IndexUnusable
from pipelines.index.schema import schema_sum

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

SUMMED_UNIT: Final = (
    *("id", "file", "start_line", "end_line", "first_passage", "last_passage", "hidden", "key", "date", "until"),
    *("types", "project", "tags", "trust", "confidence", "status", "item", "record", "title", "headings"),
    *("text", "grams", "about", "around"),
)
"""The columns of a unit, in the order in which they are written and summed."""

_SUMMED_FILE: Final = ("path", "sha256", "reason", "note")  # a wrong stamp makes the file be read again, no more
_BETWEEN: Final = "\x1e"


def row_sum(values: Sequence[str | int | bytes | None]) -> int:
    """Return the checksum of a row's values, as `_told_by` has SQLite put them together."""
    told = [one if type(one) is str else _told(one) for one in values]  # most are, and there are many
    return zlib.crc32(_BETWEEN.join(told).encode())


def _told(value: str | int | bytes | None) -> str:
    if value is None:
        return ""
    return value.hex().upper() if isinstance(value, bytes) else str(value)


def _told_by(columns: Sequence[str]) -> str:
    """Return the SQL expression for the bytes that `row_sum` sums, as a blob, so that no decoding can fail."""
    told = (f"hex({one})" if one == "key" else f"ifnull({one}, '')" for one in columns)
    return f"CAST({' || char(30) || '.join(told)} AS BLOB)"


_ROWS: Final = (
    f"SELECT crc, {_told_by(SUMMED_UNIT)} FROM units",  # noqa: S608  our own columns
    f"SELECT crc, {_told_by(_SUMMED_FILE)} FROM files",  # noqa: S608  as above
)
# Rows that lead nowhere, or to one another's file. Numbers are never given twice, so none is past the last one given.
_ASTRAY: Final = """
    SELECT 1 FROM units WHERE file NOT IN (SELECT id FROM files)
    UNION ALL SELECT 1 FROM passages WHERE file NOT IN (SELECT id FROM files)
    UNION ALL SELECT 1 FROM units JOIN passages ON passages.id IN (first_passage, last_passage)
        WHERE passages.file != units.file
    UNION ALL SELECT 1 FROM marks WHERE last_unit < (SELECT ifnull(max(id), 0) FROM units)
    UNION ALL SELECT 1 WHERE (SELECT count(*) FROM marks) != 1
    LIMIT 1
"""


def check_whole(connection: sqlite3.Connection) -> None:
    """Look at every row and every word of the index.

    Args:
        connection: the index, open to write: FTS5 takes its check as a command.

    Raises:
        IndexUnusable: something in it is not as it was written.
        sqlite3.Error: SQLite cannot even read it.
    """
    (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if answer != "ok":
        raise IndexUnusable(f"it is damaged ({answer})")
    if connection.execute("SELECT tables FROM marks").fetchone() != (schema_sum(connection),):
        raise IndexUnusable("it is damaged (its tables are not as they were made)")
    for table in ("units_fts", "passages_fts"):
        # With rank 1 the words are compared with the texts they stand for.
        connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")  # noqa: S608  ours
    for query in _ROWS:
        for crc, told in connection.execute(query):
            _check_row(crc, told)
    if connection.execute(_ASTRAY).fetchone():
        raise IndexUnusable("it is damaged (rows that belong together are apart)")


def _check_row(crc: object, told: object) -> None:
    if not isinstance(told, bytes) or zlib.crc32(told) != crc:
        raise IndexUnusable("it is damaged (a row is not as it was written)")
