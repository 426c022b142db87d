"""Vectors by embedded text, one byte per number, in `.curate/vectors-MODEL-DIMENSION`.

A record has a text's key and the numbers of its vector. Records are only appended, so that readers need no lock; the
next writer cuts off an incomplete one. The file is apart from the index, whose units have keys, too: a rebuild of the
index, a renamed file or a moved item requires no embedding, and each vector is used as soon as it is there.
"""

from __future__ import annotations

import hashlib
import os
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.store.layout import PRIVATE
from pipelines.store.state import read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pipelines.search.embedders.embedder import Floats


_LARGEST = 127
_HEAD = 12
"""The bytes of a record before its numbers: the key, and a factor that gives them length one again."""
_PIECE = 512
"""Vectors compared at a time: their floats fit into the processor's cache."""
_UNUSED_SECONDS = 30 * 24 * 3600
"""How long vectors of another model are kept, in case somebody switches back."""
RECORD = "vectors.json"
"""Which model embedded last."""


class VectorModel(NamedTuple):
    """The model of a vector; vectors of two models are never compared. `dimension` is the count of its numbers."""

    name: str
    dimension: int

    @property
    def file(self) -> str:
        """The name of its file in the derived folder."""
        return f"vectors-{hashlib.sha256(self.name.encode()).hexdigest()[:8]}-{self.dimension}"


def stored_vectors(root: Path, model: VectorModel) -> NDArray[Any]:
    """Map the stored vectors of a model, each with its key and factor; there may be none."""
    import numpy as np  # noqa: PLC0415  takes 70 ms, which a search without vectors saves

    kind = np.dtype([("key", "<i8"), ("factor", "<f4"), ("row", "i1", (model.dimension,))])
    path = root / PRIVATE / model.file
    with suppress(OSError):
        if count := path.stat().st_size // kind.itemsize:
            # As a plain array: memmap arrays are slower at each step.
            return np.asarray(np.memmap(path, kind, "r", shape=count))
    return np.empty(0, kind)


def cosines(root: Path, model: VectorModel, question: Floats) -> dict[int, float]:
    """Return the cosines of a question, a vector of length one, with all stored vectors of a model, by their keys.

    Row by row: a matrix product would start a thread per processor, and its rounding depends on the row's position.
    """
    import numpy as np  # noqa: PLC0415  as above

    stored = stored_vectors(root, model)
    found = np.empty(len(stored), np.float32)
    for at in range(0, len(stored), _PIECE):
        found[at : at + _PIECE] = np.vecdot(stored["row"][at : at + _PIECE].astype("f4"), question)
    # Whatever is in the file, a comparison stays a number, and none outshines all others.
    found *= np.clip(np.nan_to_num(stored["factor"]), 0, 1 / _LARGEST)
    return dict(zip(stored["key"].tolist(), found.tolist(), strict=True))


def kept_keys(root: Path, model: VectorModel) -> set[int]:
    """Return the keys of the stored vectors."""
    return set(stored_vectors(root, model)["key"].tolist())


def keep(root: Path, model: VectorModel, keys: Sequence[int], vectors: Floats) -> None:
    """Append vectors of length one, shape (n, dimension), under their keys.

    One byte per number is as good as floats: on two long conversations (230 questions), the shares of evidence found
    are equal to three decimals, and by meaning alone differ by at most 0.002.

    The caller holds the index's writer lock. A kill leaves whole records, and perhaps an incomplete one.

    Raises:
        OSError: the disk refuses.
    """
    import numpy as np  # noqa: PLC0415  as above

    numbers = np.rint(vectors * (_LARGEST / np.abs(vectors).max(axis=1, keepdims=True))).astype(np.int8)
    factors = 1 / np.linalg.norm(numbers.astype(np.float32), axis=1)
    records = [
        struct.pack("<qf", key, factor) + row.tobytes() for key, row, factor in zip(keys, numbers, factors, strict=True)
    ]
    size, flags = _HEAD + model.dimension, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(root / PRIVATE / model.file, flags, 0o600), "r+b") as file:
        file.truncate(file.seek(0, os.SEEK_END) // size * size)
        file.seek(0, os.SEEK_END)
        file.write(b"".join(records))


def drop_unused(root: Path, model: VectorModel) -> None:
    """Remove the vectors of other models than the one in use that nobody has used for a month."""
    for path in {*(root / PRIVATE).glob("vectors-*")} - {root / PRIVATE / model.file}:
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _UNUSED_SECONDS:
                path.unlink()


def used_model(root: Path) -> VectorModel | None:
    """Return the model that embedded last, or None if nothing was ever embedded."""
    found: dict[str, Any] = read_record(root, RECORD)
    try:
        return VectorModel(str(found["model"][0]), int(found["model"][1]))
    except (ValueError, TypeError, LookupError):
        return None


def note_model(root: Path, model: VectorModel) -> None:
    """Record that a model embeds here; the caller holds the index's writer lock.

    Raises:
        NotWritable: the disk refuses.
    """
    record = {"model": list(model)}
    if read_record(root, RECORD) != record:
        write_record(root, RECORD, record)
