"""What makes scanning fast: all vectors of the index in one memory-mapped file, row N the vector of unit N.

A unit's number is never given twice within one build of the index, so a row never changes its meaning: a writer appends
while readers go on, and who reads drops the rows of units that are no more. `.curate/matrix.json` says what the file is
of; whatever does not fit it is made anew from `vectors.db`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import zlib
from dataclasses import asdict, dataclass, replace
from typing import IO, TYPE_CHECKING, Final

from pipelines.search.binary_vectors import signs_of, words_of
from pipelines.search.schema import NEVER
from pipelines.search.vectors import Model, fetch, has_vectors, last_model, vector_store
from pipelines.store.layout import PRIVATE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


STAMP: Final = f"{PRIVATE}/matrix.json"
_BLOCK: Final = 8192
SUMMED: Final = 1024
"""Rows a checksum: what is added to the matrix has it read no more than this again."""
_WITHOUT_ROWS: Final = """
    SELECT id, key FROM units WHERE id IN (SELECT value FROM json_each(?))
    UNION ALL SELECT id, key FROM units WHERE id > ? AND hidden < 2
"""
# The partial index answers the second.
_COUNTED: Final = f"SELECT count(*) FROM units UNION ALL SELECT count(*) FROM units WHERE hidden AND hidden >= {NEVER}"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the matrix is of.

    Args:
        build: the build of the index whose units it numbers.
        name: the model's name.
        dimension: numbers a row.
        units: the last unit that was looked at.
        missing: units that have no vector yet; their rows are zero.
        sums: the checksum of each `SUMMED` rows, the last of fewer.
    """

    build: str
    name: str
    dimension: int
    units: int = 0
    missing: tuple[int, ...] = ()
    sums: tuple[int, ...] = ()

    @property
    def model(self) -> Model:
        """Who made the vectors."""
        return Model(self.name, self.dimension)

    @property
    def file(self) -> str:
        """The matrix's file; another build or another model has another."""
        return f"{PRIVATE}/matrix-{self.build}-{hashlib.sha256(self.name.encode()).hexdigest()[:8]}.f32"

    @property
    def signs(self) -> str:
        """The file of the signs beside it."""
        return self.file.removesuffix(".f32") + ".bits"


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors to scan: row N is the vector of unit N, or zero. `rows` has shape (units + 1, dimension).

    `signs` are their signs, shape (units + 1, words), or None where they are not there.
    """

    stamp: Stamp
    rows: NDArray[np.float32]
    signs: NDArray[np.uint64] | None = None


def read_stamp(root: Path) -> Stamp | None:
    """Return what the matrix is of, or None where there is none that can be used."""
    try:
        raw = json.loads((root / STAMP).read_text("utf-8"))
        stamp = Stamp(**raw | {"missing": tuple(raw["missing"]), "sums": tuple(raw["sums"])})
        size = (root / stamp.file).stat().st_size
        return stamp if size >= (stamp.units + 1) * stamp.dimension * 4 else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def open_matrix(root: Path, build: str) -> Matrix | None:
    """Map the matrix of a build of the index, or return None where there is none yet."""
    try:
        seen = (root / STAMP).stat()
    except OSError:
        return None
    matrix = _mapped(root, seen.st_mtime_ns, seen.st_ino)
    return matrix if matrix and matrix.stamp.build == build else None


@functools.lru_cache(maxsize=1)
def _mapped(root: Path, _mtime_ns: int, _inode: int) -> Matrix | None:
    """Map the matrix once for as long as its stamp stays: a new mapping pays for each page again."""
    stamp = read_stamp(root)
    try:
        return _map(root, stamp) if stamp else None
    except (OSError, ValueError):
        return None


def _map(root: Path, stamp: Stamp) -> Matrix:
    """Map the vectors, and their signs where these are there whole: a search goes without them, too."""
    import numpy as np  # noqa: PLC0415  a search by words alone needs none

    count, signs = stamp.units + 1, None
    if _has_signs(root, stamp):
        signs = np.memmap(root / stamp.signs, "<u8", "r", shape=(count, words_of(stamp.dimension)))
    # As a plain array: one that knows of its file takes longer at each step.
    return Matrix(stamp, np.asarray(np.memmap(root / stamp.file, "<f4", "r", shape=(count, stamp.dimension))), signs)


def _has_signs(root: Path, stamp: Stamp) -> bool:
    try:
        return (root / stamp.signs).stat().st_size == (stamp.units + 1) * words_of(stamp.dimension) * 8
    except OSError:
        return False


def fits(root: Path, index: sqlite3.Connection) -> bool:
    """Return whether the matrix covers all units of the index."""
    build, last = index.execute("SELECT build, last_unit FROM marks").fetchone()
    stamp = read_stamp(root)
    return stamp is not None and (stamp.build, stamp.units) == (build, last)


def embedded_units(index: sqlite3.Connection, stamp: Stamp) -> tuple[int, int]:
    """Return how many units have a vector in a matrix of this build of the index, and how many lack one.

    Units are counted, not rows: those of units that are no more tell nothing of those that are.
    """
    (later,) = index.execute("SELECT count(*) FROM units WHERE id > ?", (stamp.units,)).fetchone()
    (units,), (never,) = index.execute(_COUNTED).fetchall()
    missing = min(units - never, len(stamp.missing) + later)
    return units - never - missing, missing


def drop_damaged(root: Path) -> None:
    """Look at every row and its signs, and drop a matrix that is not as it was written; `follow` makes it anew."""
    stamp = read_stamp(root)
    if stamp is None:
        return
    with (root / stamp.file).open("rb") as file:
        sound = len(stamp.sums) == len(_blocks(stamp)) and all(
            _sum(file, stamp, block) == stamp.sums[block] for block in _blocks(stamp)
        )
    if not sound or not _are_signs_sound(_map(root, stamp)):
        (root / STAMP).unlink(missing_ok=True)


def _are_signs_sound(matrix: Matrix) -> bool:
    rows, signs = matrix.rows, matrix.signs
    blocks = (slice(first, first + _BLOCK) for first in range(0, len(rows), _BLOCK))
    return signs is not None and all((signs[block] == signs_of(rows[block])).all() for block in blocks)


def _blocks(stamp: Stamp) -> range:
    return range(-(-(stamp.units + 1) // SUMMED))


def _sum(file: IO[bytes], stamp: Stamp, block: int) -> int:
    """Return the checksum of a block of rows as they are in the file now."""
    first, after = block * SUMMED, min((block + 1) * SUMMED, stamp.units + 1)
    file.seek(first * 4 * stamp.dimension)
    return zlib.crc32(file.read((after - first) * 4 * stamp.dimension))


def follow(root: Path, index: sqlite3.Connection, model: Model | None = None) -> Stamp | None:
    """Bring the matrix up to date with the index and with the vectors that are there; nothing is embedded.

    Args:
        root: the memory, whose writer lock is held.
        index: the index, open to read.
        model: whose vectors; without it, those that the matrix was made of so far.

    Returns:
        What the matrix is of now; None where nothing was ever embedded.
    """
    old = read_stamp(root)
    model = model or (old.model if old else None)
    if model is None and has_vectors(root):
        with vector_store(root) as store:
            model = last_model(store)
    if model is None:
        return None
    build, last = index.execute("SELECT build, last_unit FROM marks").fetchone()
    if old is None or (old.build, old.model) != (build, model) or not _has_signs(root, old):
        old = Stamp(build, *model)
    elif old.units == last and not old.missing:
        return old
    try:
        stamp = _extend(root, index, old, last)
    except _Damaged:
        stamp = _extend(root, index, Stamp(build, *model), last)
    _write_stamp(root, stamp)
    _drop_others(root, stamp)
    return stamp


def _extend(root: Path, index: sqlite3.Connection, stamp: Stamp, last: int) -> Stamp:
    """Write the rows of new units, and of those whose vectors have come.

    Raises:
        _Damaged: where they belong, the matrix is not as it was written.
    """
    import numpy as np  # noqa: PLC0415  as above

    width, missing = 4 * stamp.dimension, list[int]()
    signs_width = 8 * words_of(stamp.dimension)
    written = dict.fromkeys(range(stamp.units // SUMMED, last // SUMMED + 1))
    new = replace(stamp, units=last)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    if not stamp.units:
        for name in (stamp.file, stamp.signs):
            (root / name).unlink(missing_ok=True)  # never cut short what a reader may have mapped
    with (
        vector_store(root) as store,
        os.fdopen(os.open(root / stamp.file, flags, 0o600), "r+b") as file,
        os.fdopen(os.open(root / stamp.signs, flags, 0o600), "r+b") as signs,
    ):
        if stamp.units:
            _compare(file, stamp, written)
        units = index.execute(_WITHOUT_ROWS, (json.dumps(stamp.missing), stamp.units))
        while rows := units.fetchmany(_BLOCK):
            found = fetch(store, stamp.model, [key for _, key in rows])
            missing += [unit for unit, key in rows if key not in found]
            here = {unit: found[key] for unit, key in rows if key in found}
            _compare(file, stamp, {unit // SUMMED for unit in here} - written.keys())
            written |= dict.fromkeys(unit // SUMMED for unit in here)
            vectors = np.frombuffer(b"".join(here.values()), "<f4").reshape(-1, stamp.dimension)
            for (unit, vector), bits in zip(here.items(), signs_of(vectors), strict=True):
                file.seek(unit * width)
                file.write(vector)
                signs.seek(unit * signs_width)
                signs.write(bits.tobytes())
        file.truncate((last + 1) * width)
        signs.truncate((last + 1) * signs_width)  # rows that were never written have none set
        file.flush()
        sums = dict(enumerate(stamp.sums)) | {block: _sum(file, new, block) for block in written}
    return replace(new, missing=tuple(missing), sums=tuple(sums[block] for block in sorted(sums)))


class _Damaged(Exception):
    """Raised when rows are not as they were written."""


def _compare(file: IO[bytes], stamp: Stamp, blocks: Iterable[int]) -> None:
    """Look at blocks before anything is written into them: their new checksums must not vouch for damage.

    Raises:
        _Damaged: one is not as it was written.
    """
    for block in blocks:
        if block in _blocks(stamp) and (block >= len(stamp.sums) or _sum(file, stamp, block) != stamp.sums[block]):
            raise _Damaged


def _write_stamp(root: Path, stamp: Stamp) -> None:
    aside = (root / STAMP).with_suffix(".new")
    aside.unlink(missing_ok=True)
    aside.touch(0o600, exist_ok=False)
    aside.write_text(json.dumps(asdict(stamp)), "utf-8")
    aside.replace(root / STAMP)


def _drop_others(root: Path, stamp: Stamp) -> None:
    for path in (root / PRIVATE).glob("matrix-*"):
        if path not in {root / stamp.file, root / stamp.signs}:
            with contextlib.suppress(OSError):
                path.unlink()
