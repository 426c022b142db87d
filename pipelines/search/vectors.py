"""Vectors by embedded text: one per text, one byte per number, in `.curate/vectors-MODEL-N`.

`.rows` contains the numbers and `.keys` the texts' keys. Both only grow, so that readers need no lock, and the next
writer cuts off an incomplete end; vectors without a text are dropped when N is incremented. They are separate files, so
that a rebuild of the index, a renamed file or a moved item requires no embedding. Every vector has a checksum: a
damaged one is made again.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pipelines.store.layout import PRIVATE
from pipelines.store.state import read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


_NAMED: Final = struct.Struct("<16sf")
_ENTRY: Final = _NAMED.size + 4
"""A key, the factor of its numbers, and the checksum of all three."""
_LARGEST: Final = 127
REFUSED: Final = "refused.json"
FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class VectorModel(NamedTuple):
    """The model of a vector; vectors of two models are never compared. `dimension` is the count of its numbers."""

    name: str
    dimension: int

    @property
    def files(self) -> str:
        """The path of its vector files, up to their number."""
        return f"{PRIVATE}/vectors-{hashlib.sha256(f'{self.name} {self.dimension}'.encode()).hexdigest()[:8]}-"


def packed(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return vectors in stored form: their numbers, and the factor that gives each row length one again.

    One byte per number is as good as floats: on two long conversations (230 questions), the shares of evidence found
    are equal to three decimals, and by meaning alone differ by at most 0.002.
    """
    import numpy as np  # noqa: PLC0415  not needed to search by words alone

    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    numbers = np.rint(vectors * (_LARGEST / np.where(largest > 0, largest, 1))).astype(np.int8)
    lengths = np.linalg.norm(numbers.astype(np.float32), axis=1)
    return numbers, np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def unpacked(numbers: NDArray[np.int8], factors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return stored vectors in comparable form, each of length one, or zero.

    A damaged factor may give NaN; a comparison notices it, and vectors without a unit do no harm.
    """
    import numpy as np  # noqa: PLC0415  as above

    vectors = numbers.astype("f4")
    with np.errstate(invalid="ignore", over="ignore"):
        vectors *= factors[:, None]
    return vectors


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """The stored vectors of a model, each at its place.

    Args:
        model: their model.
        number: the number of its files; 0 if there are none yet.
        entries: key, factor and checksum of each, as bytes.
        rows: the numbers of each.
    """

    model: VectorModel
    number: int
    entries: NDArray[np.uint8]
    rows: NDArray[np.int8]

    def find(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Return the places of the existing, undamaged vectors, by key."""
        if not keys:
            return {}
        import numpy as np  # noqa: PLC0415  as above

        heads = self.entries[:, :8].copy().view("<u8")[:, 0]
        wanted = np.unique(np.frombuffer(b"".join(keys), "<u8")[::2])
        nearest = np.searchsorted(wanted[:-1], heads)
        found = ((self.key(place), place) for place in np.flatnonzero(wanted[nearest] == heads).tolist())
        asked = set(keys)
        return {key: place for key, place in found if key in asked and self.is_sound(place)}

    def vectors(self, places: slice | Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors at some places."""
        return unpacked(self.rows[places], self.factors(places))

    def factors(self, places: slice | Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the factors of the numbers at some places."""
        return self.entries[places, 16:20].copy().view("<f4")[:, 0]

    def key(self, place: int) -> bytes:
        """Return the key of the vector at a place."""
        return self.entries[place, :16].tobytes()

    def is_sound(self, place: int) -> bool:
        """Return whether a vector is undamaged."""
        entry = self.entries[place].tobytes()
        return zlib.crc32(self.rows[place].tobytes(), zlib.crc32(entry[:-4])) == int.from_bytes(entry[-4:], "little")


def count_kept(root: Path, model: VectorModel, number: int) -> int:
    """Return the number of vectors in some files."""
    rows, keys = (path.stat().st_size if path.exists() else 0 for path in _paths(root, model, number))
    return min(rows // model.dimension, keys // _ENTRY)


def load(root: Path, model: VectorModel, number: int | None = None) -> StoredVectors:
    """Return the stored vectors of a model; there may be none.

    Args:
        root: the memory.
        model: the model.
        number: the number of the files; by default the newest.

    Raises:
        OSError: the disk refuses.
    """
    import numpy as np  # noqa: PLC0415  as above

    if number is None:
        beginning = (root / model.files).name
        found = (path.stem.removeprefix(beginning) for path in (root / PRIVATE).glob(f"{beginning}*.keys"))
        number = max((int(one) for one in found if one.isdecimal()), default=0)
    (rows, keys), count = _paths(root, model, number), count_kept(root, model, number)
    if not count:
        return StoredVectors(model, number, np.empty((0, _ENTRY), "u1"), np.empty((0, model.dimension), "i1"))
    # As plain arrays: memmap arrays are slower at each step.
    entries = np.asarray(np.memmap(keys, "u1", "r", shape=(count, _ENTRY)))
    return StoredVectors(model, number, entries, np.asarray(np.memmap(rows, "i1", "r", shape=(count, model.dimension))))


def keep(root: Path, model: VectorModel, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
    """Append vectors, shape (n, dimension), under their keys.

    The caller holds the index's writer lock. A kill leaves complete vectors, and perhaps an incomplete end.

    Raises:
        OSError: the disk refuses.
    """
    _write(root, load(root, model), keys, *packed(vectors))


def reclaim(root: Path, kept: StoredVectors, live: set[bytes]) -> StoredVectors:
    """Copy undamaged vectors that a text still has into new files, and return them.

    Args:
        root: the memory, whose writer lock is held.
        kept: the existing vectors.
        live: the keys of the texts.
    """
    there = {kept.key(place): place for place in range(len(kept.rows)) if kept.is_sound(place)}
    places = sorted(place for key, place in there.items() if key in live)
    new = StoredVectors(kept.model, kept.number + 1, kept.entries[:0], kept.rows[:0])
    _write(root, new, [kept.key(place) for place in places], kept.rows[places], kept.factors(places))
    return load(root, kept.model)


def _write(
    root: Path, after: StoredVectors, keys: Sequence[bytes], numbers: NDArray[np.int8], factors: NDArray[np.float32]
) -> None:
    """Append vectors; keys come last, because a vector without a key is overwritten."""
    entries = bytearray()
    for key, row, factor in zip(keys, numbers, factors.tolist(), strict=True):
        named = _NAMED.pack(key, factor)
        entries += named + zlib.crc32(row.tobytes(), zlib.crc32(named)).to_bytes(4, "little")
    width = after.model.dimension
    for path, data, size in zip(
        _paths(root, after.model, after.number), (numbers.tobytes(), bytes(entries)), (width, _ENTRY), strict=True
    ):
        with os.fdopen(os.open(path, FLAGS, 0o600), "r+b") as file:
            file.truncate(len(after.rows) * size)
            file.seek(0, os.SEEK_END)
            file.write(data)


def _paths(root: Path, model: VectorModel, number: int) -> tuple[Path, Path]:
    beginning = root / f"{model.files}{number}"
    return beginning.with_suffix(".rows"), beginning.with_suffix(".keys")


def refused(root: Path, model: VectorModel | None = None) -> dict[bytes, tuple[float, str]]:
    """Return the texts that a model refused, by key: the time, in seconds since the epoch, and the message.

    Without a model, those of the model that embedded last.
    """
    recorded: dict[str, Any] = read_record(root, REFUSED)
    try:
        of_model = model is None or recorded["model"] == list(model)
        return {bytes.fromhex(one): (since, why) for one, since, why in recorded["texts"] if of_model}
    except (ValueError, TypeError, KeyError):
        return {}


def keep_refused(root: Path, model: VectorModel, texts: Mapping[bytes, tuple[float, str]]) -> None:
    """Record which texts a model refused; the caller holds the index's writer lock.

    Raises:
        NotWritable: the disk refuses.
    """
    if texts or (root / PRIVATE / REFUSED).exists():
        write_record(root, REFUSED, {"model": model, "texts": [(one.hex(), *why) for one, why in texts.items()]})
