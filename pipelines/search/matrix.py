"""The data for fast scans: which vector belongs to which unit, and the vectors' signs, each in a file to be mapped.

A unit number is never reused within a build of the index, so a writer can append while readers continue, and readers
drop deleted units. `.curate/matrix.json` records the build of the index and the vectors for which the files are valid;
anything else is rebuilt.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
import zlib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import IndexUnusable
from pipelines.search.binary_vectors import signs_of, words_of
from pipelines.search.schema import NEVER, STAMP
from pipelines.search.vectors import FLAGS, StoredVectors, VectorModel, count_kept, load, reclaim
from pipelines.store.files import replace_synced
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import private
from pipelines.store.state import read_record, write_record

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray


_BLOCK: Final = 65_536
_PIECE: Final = 256
SPARE: Final = 1000
"""The limit of idle vectors, beyond a quarter of the number of units, before their space is reclaimed."""
_UNUSED_SECONDS: Final = 30 * 24 * 3600
"""How long vectors of another model are kept, in case somebody switches back."""
_WITHOUT_PLACES: Final = """
    SELECT id, key FROM units WHERE id IN (SELECT value FROM json_each(?))
    UNION ALL SELECT id, key FROM units WHERE id > ? AND hidden < 2
"""
# The partial index answers the second.
_COUNTED: Final = f"SELECT count(*) FROM units UNION ALL SELECT count(*) FROM units WHERE hidden AND hidden >= {NEVER}"  # noqa: S608


@dataclass(frozen=True, slots=True)
class MatrixStamp:
    """What the matrix was made from.

    Args:
        build: the build of the index with its units.
        name: the model's name.
        dimension: numbers per vector.
        number: the number of the vector files.
        vectors: the number of vectors.
        units: the last unit processed.
        missing: units without a vector yet.
        sum: the checksum of the units' places.
    """

    build: str
    name: str
    dimension: int
    number: int = 0
    vectors: int = 0
    units: int = 0
    missing: tuple[int, ...] = ()
    sum: int = 0

    @property
    def model(self) -> VectorModel:
        """The model of the vectors."""
        return VectorModel(self.name, self.dimension)

    @property
    def file(self) -> str:
        """The file of the units' places: 32 bits per unit, -1 without a vector. Other places get another file."""
        return f"{PRIVATE}/matrix-{self.build}-{self.sum:08x}.places"

    @property
    def signs(self) -> str:
        """The file of the signs, in the order of the vectors."""
        return f"{self.model.files}{self.number}.bits"


@dataclass(frozen=True)
class Matrix:
    """The vectors to scan. `places` has the position of each unit's vector, shape (units + 1,), or -1.

    `signs` are those of all vectors, shape (vectors, words), or None if missing.
    """

    stamp: MatrixStamp
    kept: StoredVectors
    places: NDArray[np.int64]
    signs: NDArray[np.uint64] | None = None

    asked: list[None] = field(default_factory=list)

    def cosines(self, question: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of all vectors with a question, in the order of their places.

        The first call compares them piece by piece; later ones unpack all vectors, which takes longer once.
        """
        import numpy as np  # noqa: PLC0415  not needed to search by words alone

        # Row by row: a matrix product would start a thread per processor, and wait for the slowest.
        with np.errstate(invalid="ignore", over="ignore"):  # damaged vectors without a unit do no harm
            if self.asked:
                known: NDArray[np.float32] = np.vecdot(self._vectors, question)
                return known
            self.asked.append(None)
            pieces = (self.kept.vectors(slice(at, at + _PIECE)) for at in range(0, len(self.kept.rows), _PIECE))
            found: NDArray[np.float32] = np.concatenate(
                [np.empty(0, np.float32), *(np.vecdot(piece, question) for piece in pieces)]
            )
            return found

    @functools.cached_property
    def _vectors(self) -> NDArray[np.float32]:
        return self.kept.vectors(slice(None))


def read_stamp(root: Path) -> MatrixStamp | None:
    """Return the stamp of the matrix, or None if there is no usable one."""
    stamp = _written(root)
    try:
        if stamp and (root / stamp.file).stat().st_size == 4 * (stamp.units + 1):
            return stamp if count_kept(root, stamp.model, stamp.number) >= stamp.vectors else None
    except OSError:
        pass
    return None


def _written(root: Path) -> MatrixStamp | None:
    raw: dict[str, Any] = read_record(root, STAMP)
    try:
        return MatrixStamp(**raw | {"missing": tuple(raw["missing"])})
    except (TypeError, KeyError):
        return None


def open_matrix(root: Path, build: str) -> Matrix | None:
    """Map the matrix of a build of the index, or return None if there is none yet.

    Raises:
        IndexUnusable: it is damaged.
    """
    for _ in range(2):  # a writer may delete the files of a stamp just after it is read
        with contextlib.suppress(OSError):
            seen = (root / PRIVATE / STAMP).stat()
            matrix = _mapped(root, seen.st_mtime_ns, seen.st_ino)
            return matrix if matrix and matrix.stamp.build == build else None
    return None


@functools.lru_cache(maxsize=1)
def _mapped(root: Path, _mtime_ns: int, _inode: int) -> Matrix | None:
    """Map the matrix once per stamp: a new mapping would page everything in again."""
    stamp = read_stamp(root)
    return _map(root, stamp) if stamp else None


def _map(root: Path, stamp: MatrixStamp) -> Matrix:
    """Map the files of a stamp.

    Raises:
        IndexUnusable: they are damaged.
    """
    import numpy as np  # noqa: PLC0415  not needed to search by words alone

    kept, places = load(root, stamp.model, stamp.number), _places(root, stamp)
    kept = replace(kept, entries=kept.entries[: stamp.vectors], rows=kept.rows[: stamp.vectors])
    signs = np.memmap(root / stamp.signs, "<u8", "r", shape=_shape(stamp)) if _has_signs(root, stamp) else None
    return Matrix(stamp, kept, places, None if signs is None else np.asarray(signs))


def _places(root: Path, stamp: MatrixStamp) -> NDArray[np.int64]:
    import numpy as np  # noqa: PLC0415  as above

    raw = (root / stamp.file).read_bytes()
    if zlib.crc32(raw) != stamp.sum:
        raise IndexUnusable("its vectors are damaged")
    return np.frombuffer(raw, "<i4").astype(np.int64)


def _shape(stamp: MatrixStamp) -> tuple[int, int]:
    return stamp.vectors, words_of(stamp.dimension)


def _has_signs(root: Path, stamp: MatrixStamp) -> bool:
    path, (count, words) = root / stamp.signs, _shape(stamp)
    return bool(count) and path.is_file() and path.stat().st_size >= 8 * count * words


def fits(root: Path, index: sqlite3.Connection) -> bool:
    """Return whether the matrix covers all units of the index."""
    build, last = index.execute("SELECT build, last_unit FROM marks").fetchone()
    stamp = read_stamp(root)
    return stamp is not None and (stamp.build, stamp.units) == (build, last)


def embedded_units(index: sqlite3.Connection, stamp: MatrixStamp) -> tuple[int, int]:
    """Return how many units have a vector in a matrix of this build of the index, and how many lack one.

    This counts units, not places, which include those of deleted units.
    """
    (later,) = index.execute("SELECT count(*) FROM units WHERE id > ?", (stamp.units,)).fetchone()
    (units,), (never,) = index.execute(_COUNTED).fetchall()
    missing = min(units - never, len(stamp.missing) + later)
    return units - never - missing, missing


def drop_damaged(root: Path) -> None:
    """Check every vector and its signs, and delete a damaged matrix; `follow` rebuilds it."""
    stamp = read_stamp(root)
    if stamp is None:
        return
    with contextlib.suppress(OSError, IndexUnusable):
        matrix = _map(root, stamp)
        is_signed = matrix.signs is not None and (matrix.signs == signs_of(matrix.kept.rows)).all()
        if is_signed and all(map(matrix.kept.is_sound, range(stamp.vectors))):
            return
    for path in (stamp.file, stamp.signs):
        (root / path).unlink(missing_ok=True)


def follow(root: Path, index: sqlite3.Connection, model: VectorModel | None = None) -> MatrixStamp | None:
    """Update the matrix from the index and the existing vectors; nothing is embedded.

    Vectors of deleted texts are dropped once there are many.

    Args:
        root: the memory, whose writer lock is held.
        index: the index, open to read.
        model: whose vectors to use; by default those of the current matrix.

    Returns:
        The new stamp; None if nothing was ever embedded.

    Raises:
        OSError: the disk refuses.
    """
    written, old = _written(root), read_stamp(root)
    model = model or (written.model if written else None)
    if model is None:
        return None
    kept = load(root, model)
    (units,) = index.execute("SELECT count(*) FROM units").fetchone()
    if len(kept.rows) > units + units // 4 + SPARE:
        kept = reclaim(root, kept, {key for (key,) in index.execute("SELECT key FROM units")})
    build, last = index.execute("SELECT build, last_unit FROM marks").fetchone()
    if old and ((old.build, old.model, old.number) != (build, kept.model, kept.number) or not _has_signs(root, old)):
        old = None
    stamp, none = old, MatrixStamp(build, *kept.model, kept.number)
    if stamp is None or stamp.units < last or stamp.missing:
        try:
            stamp = _extend(root, index, kept, old or none, last)
        except IndexUnusable:
            stamp = _extend(root, index, kept, none, last)
    if stamp != old:
        write_record(root, STAMP, asdict(stamp))
    _drop_others(root, stamp)
    return stamp


def _extend(root: Path, index: sqlite3.Connection, kept: StoredVectors, stamp: MatrixStamp, last: int) -> MatrixStamp:
    """Write the places of new units and of those that now have vectors, and the signs of new vectors.

    Raises:
        IndexUnusable: the existing files are damaged.
    """
    import numpy as np  # noqa: PLC0415  as above

    places, missing = np.full(last + 1, -1, "<i4"), list[int]()
    if stamp.units:
        places[: stamp.units + 1] = _places(root, stamp)
    units = index.execute(_WITHOUT_PLACES, (json.dumps(stamp.missing), stamp.units))
    while rows := units.fetchmany(_BLOCK):
        found = kept.find([key for _, key in rows])
        missing += [unit for unit, key in rows if key not in found]
        for unit, key in rows:
            places[unit] = found.get(key, -1)
    if not stamp.vectors:
        (root / stamp.signs).unlink(missing_ok=True)  # never truncate what a reader may have mapped
    with os.fdopen(os.open(root / stamp.signs, FLAGS, 0o600), "r+b") as signs:
        signs.truncate(8 * stamp.vectors * words_of(stamp.dimension))
        signs.seek(0, os.SEEK_END)
        signs.write(signs_of(kept.rows[stamp.vectors :]).tobytes())
    raw = places.tobytes()
    new = replace(stamp, vectors=len(kept.rows), units=last, missing=tuple(missing), sum=zlib.crc32(raw))
    with private(root) as folder:
        replace_synced(folder, Path(new.file).name, raw)
    return new


def _drop_others(root: Path, stamp: MatrixStamp) -> None:
    """Delete what is no longer needed: other places, older files, and those of earlier versions."""
    used = {*(root / PRIVATE).glob(f"{Path(stamp.signs).stem}.*"), root / stamp.file, root / PRIVATE / STAMP}
    old, own = time.time() - _UNUSED_SECONDS, root / stamp.model.files
    for path in {*(root / PRIVATE).glob("matrix*"), *(root / PRIVATE).glob("vectors*")} - used:
        other = path.name.startswith("vectors-") and not path.name.startswith(own.name)
        with contextlib.suppress(OSError):
            if not other or path.stat().st_mtime < old:
                path.unlink()


def matrix_for(root: Path, connection: sqlite3.Connection, embedder: str, dimension: int) -> Matrix | None:
    """Return the matrix for vectors of this embedder and dimension, or None if there is none to use."""
    (build,) = connection.execute("SELECT build FROM marks").fetchone()
    matrix = open_matrix(root, build)
    return matrix if matrix and matrix.stamp.model == VectorModel(embedder, dimension) else None
