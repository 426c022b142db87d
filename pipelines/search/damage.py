"""The state of the index: whether it is damaged, how far it is up to date, and how much of it has vectors."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from pipelines.errors import IndexUnusable
from pipelines.search.indexed_files import CLAIMING, compare, recorded, scan
from pipelines.search.matrix import embedded_units, read_stamp
from pipelines.search.schema import (
    DAMAGED_ROW,
    INDEX,
    SUMMED_CLAIM,
    SUMMED_FILE,
    SUMMED_UNIT,
    VERSION,
    OtherVersion,
    reading,
    schema_sum,
    summed,
)

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


# Rows that refer to missing rows, or to rows of another file, and numbers beyond the last one assigned.
_ASTRAY: Final = """
    SELECT 1 FROM units WHERE file NOT IN (SELECT id FROM files)
    UNION ALL SELECT 1 FROM passages WHERE file NOT IN (SELECT id FROM files)
    UNION ALL SELECT 1 FROM claims WHERE file NOT IN (SELECT id FROM files)
    UNION ALL SELECT 1 FROM units JOIN passages ON passages.id IN (first_passage, last_passage)
        WHERE passages.file != units.file
    UNION ALL SELECT 1 FROM marks WHERE last_unit < (SELECT ifnull(max(id), 0) FROM units)
    UNION ALL SELECT 1 WHERE (SELECT count(*) FROM marks) != 1
    LIMIT 1
"""


def check_whole(connection: sqlite3.Connection) -> None:
    """Check every row and every word of the index.

    Args:
        connection: the index, open to write: FTS5's check is a command.

    Raises:
        IndexUnusable: something in it is damaged.
        sqlite3.Error: SQLite cannot read it.
    """
    (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if answer != "ok":
        raise IndexUnusable(f"it is damaged ({answer})")
    if connection.execute("SELECT tables FROM marks").fetchone() != (schema_sum(connection),):
        raise IndexUnusable("it is damaged (its tables have changed)")
    for table in ("units_fts", "passages_fts"):
        # Rank 1 compares the indexed words with their texts.
        connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")  # noqa: S608  ours
    for table, columns in (("units", SUMMED_UNIT), ("files", SUMMED_FILE), ("claims", SUMMED_CLAIM)):
        for crc, values in connection.execute(f"SELECT crc, {summed(columns)} FROM {table}"):  # noqa: S608  as above
            if not isinstance(values, bytes) or zlib.crc32(values) != crc:
                raise IndexUnusable(DAMAGED_ROW)
    if connection.execute(_ASTRAY).fetchone():
        raise IndexUnusable("it is damaged (rows do not match)")


State = Literal["current", "behind", "missing", "damaged", "older", "newer"]

_BRINGS: Final = "the next run, search or `curate index` updates it."
_SENTENCES = {
    "missing": "There is none yet; the next run, search or `curate index` builds it.",
    "damaged": "It is damaged; the next run, search or `curate index` rebuilds it from the files.",
    "older": "An older version of memcurate wrote it; the next run, search or `curate index` rebuilds it.",
    "newer": "A newer version of memcurate wrote it; install that version to use it. This one would rebuild it.",
}


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """The vectors of the index.

    Args:
        model: the model that made them.
        dimension: numbers per vector.
        present: units with a vector.
        missing: units without one yet.
    """

    model: str
    dimension: int
    present: int
    missing: int


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """The state of the index.

    Args:
        state: whether it is usable and up to date.
        sentence: what is wrong and what to do if it is not current; else empty.
        files: files in it.
        units: units in it.
        behind: files added, changed or deleted since.
        vectors: None if nothing was ever embedded, or not for this build of the index.
    """

    state: State
    sentence: str = ""
    files: int = 0
    units: int = 0
    behind: int = 0
    vectors: VectorFacts | None = None


def index_facts(root: Path) -> IndexFacts:
    """Return the state of a memory's index. Writes nothing, and raises nothing for a broken index.

    Cheap for any memory: it checks only the files' metadata and the index's list of files. `curate index` reads all of
    the index to find damage inside it.
    """
    try:
        with reading(root) as connection:
            return _facts(root, connection)
    except OtherVersion as other:
        state: State = "newer" if other.version > VERSION else "older"
    except IndexUnusable:
        state = "damaged" if (root / INDEX).is_file() else "missing"
    return IndexFacts(state, _SENTENCES[state])


def _facts(root: Path, connection: sqlite3.Connection) -> IndexFacts:
    known = recorded(connection)
    behind = len(compare(root, scan(root)[0], known).stale)
    (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
    files = "1 file" if behind == 1 else f"{behind:,} files"
    stamp, vectors = read_stamp(root), None
    if stamp and connection.execute("SELECT build FROM marks").fetchone() == (stamp.build,):
        vectors = VectorFacts(stamp.name, stamp.dimension, *embedded_units(connection, stamp))
    return IndexFacts(
        state="behind" if behind else "current",
        sentence=f"{files} changed since; {_BRINGS}" if behind else "",
        files=sum(not reason for path, (*_, reason) in known.items() if path not in CLAIMING),
        units=units,
        behind=behind,
        vectors=vectors,
    )


def first_day(root: Path) -> str:
    """Return the earliest date in the index, or an empty string if there is none.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    with reading(root) as connection:
        (day,) = connection.execute("SELECT min(date) FROM units WHERE date != ''").fetchone()
        return str(day or "")
