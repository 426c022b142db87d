"""Vectors by embedded text, one byte per number, in `.curate/vectors-MODEL-DIMENSION`.

A record has a text's key and the numbers of its vector. Records are only appended, so that readers need no lock; the
next writer cuts off an incomplete one. The file is apart from the index, whose units have keys, too: a rebuild of the
index, a renamed file or a moved item requires no embedding, and each vector is used as soon as it is there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import time
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.store.files import replace_synced
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import private_folder
from pipelines.store.state import read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


_LARGEST = 127
_HEAD = 12
"""The bytes of a record before its numbers: the key, and a factor that gives them length one again."""
_PIECE = 512
"""Vectors compared at a time: their floats fit into the processor's cache."""
SPARE = 1000
"""The limit of vectors without a text, beyond a quarter of the others, before their space is reclaimed."""
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


class StoredVectors:
    """The stored vectors of a model, each at its place.

    Args:
        records: an array of keys, factors and numbers.
    """

    def __init__(self, records: NDArray[Any]) -> None:
        import numpy as np  # noqa: PLC0415  as above

        self.keys: NDArray[np.int64] = np.ascontiguousarray(records["key"])
        # Whatever is in the file, a comparison stays a number, and none outshines all others.
        self._factors = np.clip(np.nan_to_num(records["factor"]), 0, 1 / _LARGEST)
        self._rows: NDArray[np.int8] = records["row"]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.keys)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {key: place for place, key in enumerate(self.keys.tolist())}

    def vectors(self, places: slice | Sequence[int]) -> NDArray[np.float32]:
        """Return the vectors at some places."""
        found: NDArray[np.float32] = self._rows[places].astype("f4") * self._factors[places, None]
        return found

    def exact(self, question: NDArray[np.float32], keys: Iterable[int]) -> dict[int, float]:
        """Return the cosines of a question with some texts, by their keys; those without a vector are left out.

        They are computed one by one: a scan's rounding depends on the row's position, but the same words must have the
        same score everywhere.
        """
        at = {key: self._places[key] for key in keys if key in self._places}
        scores = (self.vectors(list(at.values())) * question).sum(axis=1).tolist()
        return dict(zip(at, scores, strict=True))

    def cosines(self, question: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of a question, a vector of length one, with all vectors.

        Row by row: a matrix product would start a thread per processor, and wait for the slowest.
        """
        import numpy as np  # noqa: PLC0415  as above

        found: NDArray[np.float32] = np.empty(len(self), np.float32)
        floats = np.empty((_PIECE, self._rows.shape[1]), np.float32)
        for at in range(0, len(self), _PIECE):
            piece = self._rows[at : at + _PIECE]
            floats[: len(piece)] = piece
            np.vecdot(floats[: len(piece)], question, out=found[at : at + _PIECE])
        found *= self._factors
        return found


def nearest(cosines: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the positions of the `count` largest, and of all ties with the last of them."""
    import numpy as np  # noqa: PLC0415  as above

    if len(cosines) <= count:
        return np.arange(len(cosines))
    last = len(cosines) - count
    return np.flatnonzero(cosines >= float(np.partition(cosines, last)[last]) - 1e-6)


def load(root: Path, model: VectorModel) -> StoredVectors:
    """Return the stored vectors of a model; there may be none."""
    with contextlib.suppress(OSError):
        found = (root / PRIVATE / model.file).stat()
        return _mapped(root, model, found.st_mtime_ns, found.st_size, found.st_ino)
    return _mapped(root, model, 0, 0, 0)


@lru_cache(maxsize=1)
def _mapped(root: Path, model: VectorModel, _mtime_ns: int, size: int, _inode: int) -> StoredVectors:
    """Map the file once per state: a new mapping would page everything in again."""
    import numpy as np  # noqa: PLC0415  as above

    kind = np.dtype([("key", "<i8"), ("factor", "<f4"), ("row", "i1", (model.dimension,))])
    if not (count := size // kind.itemsize):
        return StoredVectors(np.empty(0, kind))
    # As a plain array: memmap arrays are slower at each step.
    return StoredVectors(np.asarray(np.memmap(root / PRIVATE / model.file, kind, "r", shape=count)))


def kept_keys(root: Path, model: VectorModel) -> set[int]:
    """Return the keys of the stored vectors."""
    return set(load(root, model).keys.tolist())


def keep(root: Path, model: VectorModel, keys: Sequence[int], vectors: NDArray[np.float32]) -> None:
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


def tidy(root: Path, model: VectorModel, live: set[int]) -> None:
    """Drop the vectors that no text has any more, once there are many, and the files that nobody has used for a month.

    Args:
        root: the memory, whose writer lock is held.
        model: the model in use.
        live: the keys of the texts.

    Raises:
        OSError: the disk refuses.
    """
    used, size = root / PRIVATE / model.file, _HEAD + model.dimension
    if used.exists() and used.stat().st_size // size > len(live) + len(live) // 4 + SPARE:
        data = used.read_bytes()
        records = (data[at : at + size] for at in range(0, len(data) - size + 1, size))
        kept = {key: one for one in records if (key := int.from_bytes(one[:8], "little", signed=True)) in live}
        replace_synced(private_folder(root) / model.file, b"".join(kept.values()))
    for path in {*used.parent.glob("vectors-*")} - {used}:
        with contextlib.suppress(OSError):
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
