"""Give the units of the index their vectors: what was embedded before is found again, only what is new is asked for."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import CurateError, ModelFailed, VectorsDamaged
from pipelines.index.matrix import follow
from pipelines.index.meaning import embedded_text, key
from pipelines.index.schema import SEPARATOR
from pipelines.index.store import reading, writer_lock
from pipelines.index.vectors import Model, fetch, keep, vector_store

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.models.embedding import Embedder

BATCH: Final = 64
"""Texts a call: a failing call costs no more than these, and each call's vectors are kept at once."""
PATIENCE: Final = 60.0
_WANTED: Final = (
    "SELECT id, key, text, title, headings, date, status FROM units"
    " WHERE hidden < 2 AND (status != '') = ? AND id > ? ORDER BY id LIMIT 4096"
)


@dataclass(frozen=True, slots=True)
class VectorReport:
    """What giving vectors came to.

    Args:
        embedder: the model's name.
        embedded: texts that were embedded now.
        missing: units that are found by their words alone until the next time.
        faults: why batches failed, each sentence once.
    """

    embedder: str
    embedded: int
    missing: int
    faults: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as what `json` can write."""
        return asdict(self)


def embed_index(root: Path, embedder: Embedder, patience: float = PATIENCE, seconds: float = math.inf) -> VectorReport:
    """Embed what has no vector of this embedder yet, and make the matrix that searches scan.

    The index stays free for others while texts are embedded. A batch that fails stops no other: its units are found by
    their words alone, and are tried again the next time. Where another embedder made the vectors so far, those stay in
    use until the new ones are all asked for.

    Args:
        root: the memory; its index is there.
        embedder: what makes vectors.
        patience: seconds to wait for another process that writes the index.
        seconds: after these no further batch is begun; what is left waits for the next time.

    Raises:
        IndexUnusable: there is no index.
        LockHeld: another process still writes it.
        VectorsDamaged: they were damaged, and so are the new ones.
        sqlite3.Error: the disk refuses.
    """
    try:
        return _embed(root, embedder, patience, seconds)
    except VectorsDamaged:
        return _embed(root, embedder, patience, seconds)  # what was damaged is gone


def _embed(root: Path, embedder: Embedder, patience: float, seconds: float) -> VectorReport:
    model = Model(embedder.name, embedder.dimension)
    faults: dict[str, None] = {}
    embedded, until = 0, time.monotonic() + seconds
    with vector_store(root) as store:
        with reading(root) as index:
            wanted = dict(_wanted(index, store, model))
        keys = list(wanted)
        for some in (keys[at : at + BATCH] for at in range(0, len(keys), BATCH)):
            if time.monotonic() >= until:
                break
            try:
                vectors = _vectors(embedder, model, [wanted[one] for one in some])
            except CurateError as fault:
                faults[fault.sentence] = None
                continue
            keep(store, model, some, vectors)
            embedded += len(some)
    with writer_lock(root, patience), reading(root) as index:
        useful = embedded or not faults
        stamp = follow(root, index, model if useful else None)
    missing = len(stamp.missing) if stamp and stamp.model == model else len(wanted) - embedded
    return VectorReport(model.name, embedded, missing, tuple(faults))


def _wanted(index: sqlite3.Connection, store: sqlite3.Connection, model: Model) -> Iterator[tuple[bytes, str]]:
    """Yield the texts without a vector, by key: items first, for the review compares what is new with their vectors."""
    for is_item in (True, False):
        yield from _wanted_of(index, store, model, is_item=is_item)


def _wanted_of(
    index: sqlite3.Connection, store: sqlite3.Connection, model: Model, *, is_item: bool
) -> Iterator[tuple[bytes, str]]:
    last = 0
    while rows := index.execute(_WANTED, (is_item, last)).fetchall():
        last = rows[-1][0]
        there = fetch(store, model, [row[1] for row in rows])
        for _, known, text, title, headings, date, status in rows:
            if known not in there:
                embedded = embedded_text(text, title, headings.split(SEPARATOR) if headings else (), date, status)
                yield key(embedded), embedded


def _vectors(embedder: Embedder, model: Model, texts: list[str]) -> NDArray[np.float32]:
    """Ask the embedder, and believe it only what can be compared: finite vectors of length one.

    Raises:
        ModelFailed: what came is of no use.
    """
    import numpy as np  # noqa: PLC0415  only who embeds needs it

    vectors = np.asarray(embedder.embed_documents(texts), np.float32)
    if vectors.shape != (len(texts), model.dimension) or not np.isfinite(vectors).all():
        raise ModelFailed(model.name, f"gave vectors that are of no use (shape {vectors.shape})")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, 1e-12)
    return unit
