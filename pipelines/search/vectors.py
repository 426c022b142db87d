"""Vectors as they were made, in `.curate/vectors.db`: each known by its model and by what was embedded.

A file of its own, so that rebuilding the index embeds nothing anew, nor does a renamed file or a moved item. Every
vector carries a checksum: one that a disk has changed is made again rather than believed. It is a cache: when it is
damaged or gone, the next `curate index` fills it.
"""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import VectorsDamaged
from pipelines.search.schema import BUSY_SECONDS, FAULTS, is_broken, open_private, remove_database, transaction
from pipelines.store.layout import PRIVATE

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
_MODEL: Final = "(SELECT id FROM models WHERE name = ? AND dimension = ?)"
_ASKED: Final = 500
_SPARE: Final = 10_000  # so few vectors are not worth the work of dropping them


class Model(NamedTuple):
    """Who made a vector: vectors of two models are never compared. `dimension` is how many numbers it has."""

    name: str
    dimension: int


@contextlib.contextmanager
def vector_store(root: Path) -> Iterator[sqlite3.Connection]:
    """Open the vectors to read and write; a damaged file makes room for a new one.

    Raises:
        VectorsDamaged: the file turned out to be damaged and is gone; the next opening begins anew.
        sqlite3.Error: the disk refuses.
    """
    path = root / VECTORS
    try:
        connection = _open(path)
    except FAULTS as error:
        if not is_broken(error):
            raise
        remove_database(path)
        connection = _open(path)
    with contextlib.closing(connection):
        try:
            yield connection
        except VectorsDamaged:
            remove_database(path)
            raise


@contextlib.contextmanager
def _damage_raised() -> Iterator[None]:
    """Tell damage of the vectors from damage of the index, which is often read at the same time.

    Raises:
        VectorsDamaged: what SQLite says comes to this.
    """
    try:
        yield
    except FAULTS as error:
        if is_broken(error):
            raise VectorsDamaged(str(error)) from error
        raise


def _open(path: Path) -> sqlite3.Connection:
    connection = open_private(path, BUSY_SECONDS)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != _FORMAT:
            if version:
                raise sqlite3.DatabaseError(f"format {version}")
            connection.execute("PRAGMA page_size = 16384")  # ten vectors of 384 numbers a page, and little left over
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_TABLES)
        connection.execute("PRAGMA synchronous = NORMAL")
    except FAULTS:
        connection.close()
        raise
    return connection


def has_vectors(root: Path) -> bool:
    """Return whether anything was ever embedded here."""
    return (root / VECTORS).is_file()


@_damage_raised()
def last_model(store: sqlite3.Connection) -> Model | None:
    """Return the model that came last, or None where nothing was ever embedded.

    Raises:
        VectorsDamaged: the vectors cannot be read.
    """
    row = store.execute("SELECT name, dimension FROM models ORDER BY id DESC LIMIT 1").fetchone()
    return Model(*row) if row else None


@_damage_raised()
def fetch(store: sqlite3.Connection, model: Model, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return the vectors that are there and sound, little-endian float32, by key.

    Raises:
        VectorsDamaged: they cannot be read.
    """
    found: dict[bytes, bytes] = {}
    wanted = list(dict.fromkeys(keys))
    for some in (wanted[at : at + _ASKED] for at in range(0, len(wanted), _ASKED)):
        marks = ",".join("?" * len(some))
        rows = store.execute(
            # The key is read from the row, not from the list that led there: so a list that leads astray finds nothing.
            f"SELECT key, crc, vector FROM vectors WHERE +model = {_MODEL} AND id IN"  # noqa: S608  question marks
            f" (SELECT id FROM vectors WHERE model = {_MODEL} AND key IN ({marks}))",
            (*model, *model, *some),
        )
        found |= {
            key: vector
            for key, crc, vector in rows
            if isinstance(vector, bytes) and len(vector) == 4 * model.dimension and zlib.crc32(vector) == crc
        }
    return found


@_damage_raised()
def forget_others(store: sqlite3.Connection, live: AbstractSet[bytes]) -> None:
    """Drop vectors of texts that stand nowhere any more, once they are more than those that do."""
    (held,) = store.execute("SELECT count(DISTINCT key) FROM vectors").fetchone()
    if held > 2 * len(live) + _SPARE:
        dead = [(number,) for number, key in store.execute("SELECT id, key FROM vectors") if key not in live]
        with transaction(store):
            store.executemany("DELETE FROM vectors WHERE id = ?", dead)
        store.execute("VACUUM")


@_damage_raised()
def keep(store: sqlite3.Connection, model: Model, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
    """Write vectors, shape (n, dimension), under their keys; all or none of them.

    Raises:
        VectorsDamaged: the file is damaged.
        sqlite3.Error: the disk refuses.
    """
    rows = [row.astype("<f4").tobytes() for row in vectors]
    with transaction(store):
        store.execute("INSERT OR IGNORE INTO models(name, dimension) VALUES (?, ?)", model)
        (number,) = store.execute(f"SELECT {_MODEL}", model).fetchone()
        store.executemany(
            "INSERT OR REPLACE INTO vectors(model, key, crc, vector) VALUES (?, ?, ?, ?)",
            ((number, key, zlib.crc32(row), row) for key, row in zip(keys, rows, strict=True)),
        )
