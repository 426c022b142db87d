"""What tells that the index was damaged: a checksum a row, and what SQLite and its full-text search know of themselves.

SQLite notices a torn page and FTS5 a word that no text holds, but a bit that turns one day into another, or moves a
line, is all the same to them. So every row carries the checksum of what was written, and a hit's is compared before it
is shown.
"""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pipelines.errors import IndexUnusable
from pipelines.search.indexed_files import compare, recorded, scan
from pipelines.search.matrix import embedded_units, read_stamp
from pipelines.search.schema import INDEX, VERSION, reading, schema_sum, version_of
from pipelines.search.vectors import has_vectors

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path


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


# ---------------------------------------- what the index is
# at a glance: whether it can be used, how far it follows the files, and what of it has vectors.
#
# Cheap whatever the memory holds: every file is looked at from outside, and nothing of the index is read but its list
# of files. Damage inside is looked for by `curate index`, which reads all of it.


State = Literal["current", "behind", "missing", "damaged", "older", "newer"]

_SENTENCES = {
    "missing": "There is none yet; the next run, search or `curate index` builds it.",
    "damaged": "It is damaged; the next run, search or `curate index` builds it anew from the files.",
    "older": "An older version of memcurate wrote it; the next run, search or `curate index` builds it anew.",
    "newer": "A newer version of memcurate wrote it; to use it, install that version. This one would build it anew.",
}


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """The vectors that stand ready to be compared.

    Args:
        model: who made them.
        dimension: how many numbers each has.
        present: units that have one.
        missing: units that have none yet.
    """

    model: str
    dimension: int
    present: int
    missing: int


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What can be told of the index.

    Args:
        state: whether it can be used, and whether any file changed since.
        sentence: what to know and to do where it is not current; else empty.
        files: files in it.
        units: units in it.
        behind: files that were added, changed or taken away since.
        vectors: None where nothing was ever embedded, or not for this build of the index.
    """

    state: State
    sentence: str = ""
    files: int = 0
    units: int = 0
    behind: int = 0
    vectors: VectorFacts | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as what `json` can write."""
        return asdict(self)


def index_facts(root: Path) -> IndexFacts:
    """Return how the index of a memory fares. Nothing is written, and nothing that is wrong with it is raised."""
    try:
        with reading(root) as connection:
            return _facts(root, connection)
    except IndexUnusable:
        state = _unusable(root)
        return IndexFacts(state, _SENTENCES[state])


def _facts(root: Path, connection: sqlite3.Connection) -> IndexFacts:
    known = recorded(connection)
    behind = len(compare(root, scan(root), known).stale)
    (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
    sentence = ""
    if behind:
        files = "1 file" if behind == 1 else f"{behind:,} files"
        sentence = f"{files} changed since; the next run, search or `curate index` brings it up to date."
    return IndexFacts(
        state="behind" if behind else "current",
        sentence=sentence,
        files=sum(not one.reason for one in known.values()),
        units=units,
        behind=behind,
        vectors=_vectors(root, connection),
    )


def _vectors(root: Path, connection: sqlite3.Connection) -> VectorFacts | None:
    stamp = read_stamp(root) if has_vectors(root) else None
    if stamp is None or connection.execute("SELECT build FROM marks").fetchone() != (stamp.build,):
        return None
    return VectorFacts(stamp.name, stamp.dimension, *embedded_units(connection, stamp))


def _unusable(root: Path) -> State:
    if not (root / INDEX).is_file():
        return "missing"
    version = version_of(root / INDEX)
    if version is None or version == VERSION:
        return "damaged"
    return "newer" if version > VERSION else "older"


def first_day(root: Path) -> str:
    """Return the earliest day that anything in the index is of, or an empty string where nothing has one.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    with reading(root) as connection:
        (day,) = connection.execute("SELECT min(date) FROM units WHERE date != ''").fetchone()
        return str(day or "")
