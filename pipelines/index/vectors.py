"""Vectors as they were made, in `.curate/vectors.db`: each known by its model and by what was embedded.

A file of its own, so that rebuilding the index embeds nothing anew, nor does a renamed file or a moved item. Every
vector carries a checksum: one that a disk has changed is made again rather than believed. It is a cache: when it is
damaged or gone, the next `curate index` fills it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.memory.layout import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

VECTORS: Final = f"{PRIVATE}/vectors.db"

_FORMAT: Final = 1
_TABLES: Final = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS models(id INTEGER PRIMARY KEY, name TEXT, dimension INTEGER, UNIQUE(name, dimension));
    CREATE TABLE IF NOT EXISTS vectors(
        id INTEGER PRIMARY KEY, model INTEGER NOT NULL, key BLOB NOT NULL, crc INTEGER NOT NULL, vector BLOB NOT NULL,
        UNIQUE(model, key)
    );
    PRAGMA user_version = {_FORMAT};
    COMMIT;
"""
_ASKED: Final = 500
_SPARE: Final = 10_000  # so few vectors are not worth the work of dropping them


@dataclass(frozen=True, slots=True)
class Model:
    """Who made a vector: vectors of two models are never compared. `dimension` is how many numbers it has."""

    name: str
    dimension: int


@contextlib.contextmanager
def vector_store(root: Path) -> Iterator[sqlite3.Connection]:
    """Open the vectors to read and write; a damaged file is set aside for a new one.

    Raises:
        sqlite3.Error: the disk refuses.
    """
    path = root / VECTORS
    try:
        connection = _open(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        connection = _open(path)
    with contextlib.closing(connection):
        yield connection


def _open(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != _FORMAT:
            if version:
                raise sqlite3.DatabaseError(f"format {version}")
            connection.execute("PRAGMA page_size = 16384")  # ten vectors of 384 numbers a page, and little left over
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_TABLES)
        connection.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def has_vectors(root: Path) -> bool:
    """Return whether anything was ever embedded here."""
    return (root / VECTORS).is_file()


def fetch(store: sqlite3.Connection, model: Model, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return the vectors that are there and sound, little-endian float32, by key."""
    found: dict[bytes, bytes] = {}
    for some in _batches(list(dict.fromkeys(keys))):
        marks = ",".join("?" * len(some))
        rows = store.execute(
            "SELECT key, crc, vector FROM vectors"  # noqa: S608  question marks
            f" WHERE model = (SELECT id FROM models WHERE name = ? AND dimension = ?) AND key IN ({marks})",
            (model.name, model.dimension, *some),
        )
        found |= {key: vector for key, crc, vector in rows if _sound(model, crc, vector)}
    return found


def _batches(keys: list[bytes]) -> Iterator[list[bytes]]:
    for at in range(0, len(keys), _ASKED):
        yield keys[at : at + _ASKED]


def _sound(model: Model, crc: int, vector: bytes) -> bool:
    return len(vector) == 4 * model.dimension and zlib.crc32(vector) == crc


def forget_others(store: sqlite3.Connection, live: AbstractSet[bytes]) -> None:
    """Drop vectors of texts that stand nowhere any more, once they are more than those that do."""
    (held,) = store.execute("SELECT count(DISTINCT key) FROM vectors").fetchone()
    if held > 2 * len(live) + _SPARE:
        dead = [(number,) for number, key in store.execute("SELECT id, key FROM vectors") if key not in live]
        store.execute("BEGIN IMMEDIATE")
        store.executemany("DELETE FROM vectors WHERE id = ?", dead)
        store.execute("COMMIT")
        store.execute("VACUUM")


def keep(store: sqlite3.Connection, model: Model, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
    """Write vectors, shape (n, dimension), under their keys; all or none of them."""
    rows = [row.astype("<f4").tobytes() for row in vectors]
    store.execute("BEGIN IMMEDIATE")
    try:
        store.execute("INSERT OR IGNORE INTO models(name, dimension) VALUES (?, ?)", (model.name, model.dimension))
        (number,) = store.execute(
            "SELECT id FROM models WHERE name = ? AND dimension = ?", (model.name, model.dimension)
        ).fetchone()
        store.executemany(
            "INSERT OR REPLACE INTO vectors(model, key, crc, vector) VALUES (?, ?, ?, ?)",
            ((number, key, zlib.crc32(row), row) for key, row in zip(keys, rows, strict=True)),
        )
        store.execute("COMMIT")
    except BaseException:
        store.execute("ROLLBACK")
        raise
