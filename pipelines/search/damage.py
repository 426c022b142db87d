"""How the index fares: whether it is damaged, how far it follows the files, and what of it has vectors."""

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


# Rows that lead nowhere, or to one another's file. Numbers are never given twice, so none is past the last one given.
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
    for table, columns in (("units", SUMMED_UNIT), ("files", SUMMED_FILE), ("claims", SUMMED_CLAIM)):
        for crc, values in connection.execute(f"SELECT crc, {summed(columns)} FROM {table}"):  # noqa: S608  as above
            if not isinstance(values, bytes) or zlib.crc32(values) != crc:
                raise IndexUnusable(DAMAGED_ROW)
    if connection.execute(_ASTRAY).fetchone():
        raise IndexUnusable("it is damaged (rows that belong together are apart)")


State = Literal["current", "behind", "missing", "damaged", "older", "newer"]

_BRINGS: Final = "the next run, search or `curate index` brings it up to date."
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
    """What is known of the index.

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


def index_facts(root: Path) -> IndexFacts:
    """Return how the index of a memory fares. Nothing is written, and nothing that is wrong with it is raised.

    It is cheap whatever the memory holds: every file is looked at from outside, and nothing of the index is read but
    its list of files. Damage inside is looked for by `curate index`, which reads all of it.
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
    """Return the earliest day that anything in the index is of, or an empty string where nothing has one.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    with reading(root) as connection:
        (day,) = connection.execute("SELECT min(date) FROM units WHERE date != ''").fetchone()
        return str(day or "")
