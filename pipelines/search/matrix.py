"""What makes scanning fast: which vector is which unit's, and the vectors' signs, each in a file to be mapped.

A unit's number is never given twice within one build of the index, so its place never changes its meaning: a writer
appends while readers go on, and whoever reads drops the units that are no more. `.curate/matrix.json` says which build
of the index and which vectors the files are of; whatever does not fit it is made anew.
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
from pipelines.search.found import chance_keys, nearest_by_chance
from pipelines.search.schema import NEVER
from pipelines.search.vectors import FLAGS, Model, count_kept, load, reclaim
from pipelines.store.files import replace_synced
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import private
from pipelines.store.state import read_record, write_record

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.found import Near
    from pipelines.search.vectors import Kept


STAMP: Final = "matrix.json"
_BLOCK: Final = 65_536
_PIECE: Final = 256
SPARE: Final = 1000
"""So many vectors may lie idle, beyond a quarter of the units there are, before their room is reclaimed."""
_UNUSED_SECONDS: Final = 30 * 24 * 3600
"""So long the vectors of another model are kept, for whoever goes back to it."""
_WITHOUT_PLACES: Final = """
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
        dimension: numbers a vector.
        number: which files the vectors are in.
        vectors: how many there were.
        units: the last unit that was looked at.
        missing: units that have no vector yet.
        sum: the checksum of the units' places.
        chance: how near the units come to questions that have nothing to do with them.
    """

    build: str
    name: str
    dimension: int
    number: int = 0
    vectors: int = 0
    units: int = 0
    missing: tuple[int, ...] = ()
    sum: int = 0
    chance: tuple[Near, ...] = ()

    @property
    def model(self) -> Model:
        """Who made the vectors."""
        return Model(self.name, self.dimension)

    @property
    def file(self) -> str:
        """The file of the units' places: 32 bits a unit, -1 where it has no vector. Other places have another file."""
        return f"{PRIVATE}/matrix-{self.build}-{self.sum:08x}.places"

    @property
    def signs(self) -> str:
        """The file of the signs, in the order of the vectors."""
        return f"{self.model.files}{self.number}.bits"


@dataclass(frozen=True)
class Matrix:
    """The vectors to scan. `places` says at which place each unit's stands, shape (units + 1,), or -1.

    `signs` are those of all vectors, shape (vectors, words), or None where they are not there.
    """

    stamp: Stamp
    kept: Kept
    places: NDArray[np.int64]
    signs: NDArray[np.uint64] | None = None

    asked: list[None] = field(default_factory=list)

    def cosines(self, question: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of all vectors with a question, in the order of their places.

        Whoever asks once compares them piece by piece; for whoever asks again they are made ready, which takes longer.
        """
        import numpy as np  # noqa: PLC0415  a search by words alone needs none

        # Row by row: a product of matrices would wake a thread for each processor, and wait for the slowest.
        with np.errstate(invalid="ignore", over="ignore"):  # a damaged vector that no unit has does no harm
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


def read_stamp(root: Path) -> Stamp | None:
    """Return what the matrix is of, or None where there is none that can be used."""
    stamp = _written(root)
    try:
        if stamp and (root / stamp.file).stat().st_size == 4 * (stamp.units + 1):
            return stamp if count_kept(root, stamp.model, stamp.number) >= stamp.vectors else None
    except OSError:
        pass
    return None


def _written(root: Path) -> Stamp | None:
    raw: dict[str, Any] = read_record(root, STAMP)
    try:
        return Stamp(**raw | {"missing": tuple(raw["missing"]), "chance": tuple(map(tuple, raw["chance"]))})
    except (TypeError, KeyError):
        return None


def has_vectors(root: Path) -> bool:
    """Return whether anything was ever embedded here."""
    return (root / PRIVATE / STAMP).is_file()


def open_matrix(root: Path, build: str) -> Matrix | None:
    """Map the matrix of a build of the index, or return None where there is none yet.

    Raises:
        IndexUnusable: it is not as it was written.
    """
    for _ in range(2):  # a writer may drop what a stamp named between one look and the next
        with contextlib.suppress(OSError):
            seen = (root / PRIVATE / STAMP).stat()
            matrix = _mapped(root, seen.st_mtime_ns, seen.st_ino)
            return matrix if matrix and matrix.stamp.build == build else None
    return None


@functools.lru_cache(maxsize=1)
def _mapped(root: Path, _mtime_ns: int, _inode: int) -> Matrix | None:
    """Map the matrix once for as long as its stamp stays: a new mapping pays for each page again."""
    stamp = read_stamp(root)
    return _map(root, stamp) if stamp else None


def _map(root: Path, stamp: Stamp) -> Matrix:
    """Map what a stamp is of.

    Raises:
        IndexUnusable: it is not as it was written.
    """
    import numpy as np  # noqa: PLC0415  a search by words alone needs none

    kept, places = load(root, stamp.model, stamp.number), _places(root, stamp)
    kept = replace(kept, entries=kept.entries[: stamp.vectors], rows=kept.rows[: stamp.vectors])
    signs = np.memmap(root / stamp.signs, "<u8", "r", shape=_shape(stamp)) if _has_signs(root, stamp) else None
    return Matrix(stamp, kept, places, None if signs is None else np.asarray(signs))


def _places(root: Path, stamp: Stamp) -> NDArray[np.int64]:
    import numpy as np  # noqa: PLC0415  as above

    raw = (root / stamp.file).read_bytes()
    if zlib.crc32(raw) != stamp.sum:
        raise IndexUnusable("its vectors are damaged")
    return np.frombuffer(raw, "<i4").astype(np.int64)


def _shape(stamp: Stamp) -> tuple[int, int]:
    return stamp.vectors, words_of(stamp.dimension)


def _has_signs(root: Path, stamp: Stamp) -> bool:
    path, (count, words) = root / stamp.signs, _shape(stamp)
    return bool(count) and path.is_file() and path.stat().st_size >= 8 * count * words


def fits(root: Path, index: sqlite3.Connection) -> bool:
    """Return whether the matrix covers all units of the index."""
    build, last = index.execute("SELECT build, last_unit FROM marks").fetchone()
    stamp = read_stamp(root)
    return stamp is not None and (stamp.build, stamp.units) == (build, last)


def embedded_units(index: sqlite3.Connection, stamp: Stamp) -> tuple[int, int]:
    """Return how many units have a vector in a matrix of this build of the index, and how many lack one.

    Units are counted, not places: those of units that are no more tell nothing of those that are.
    """
    (later,) = index.execute("SELECT count(*) FROM units WHERE id > ?", (stamp.units,)).fetchone()
    (units,), (never,) = index.execute(_COUNTED).fetchall()
    missing = min(units - never, len(stamp.missing) + later)
    return units - never - missing, missing


def drop_damaged(root: Path) -> None:
    """Look at every vector and its signs, and drop a matrix that is not as it was written; `follow` makes it anew."""
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


def follow(root: Path, index: sqlite3.Connection, model: Model | None = None) -> Stamp | None:
    """Bring the matrix up to date with the index and with the vectors that are there; nothing is embedded.

    Vectors of texts that stand nowhere any more are left behind, once they are many.

    Args:
        root: the memory, whose writer lock is held.
        index: the index, open to read.
        model: whose vectors; without it, those that the matrix was made of so far.

    Returns:
        What the matrix is of now; None where nothing was ever embedded.

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
        kept = reclaim(root, kept, {key for (key,) in index.execute("SELECT key FROM units")} | {*chance_keys()})
    build, last = index.execute("SELECT build, last_unit FROM marks").fetchone()
    if old and ((old.build, old.model, old.number) != (build, kept.model, kept.number) or not _has_signs(root, old)):
        old = None
    stamp, none = old, Stamp(build, *kept.model, kept.number)
    if old is None or old.units < last or old.missing:
        try:
            stamp = _extend(root, index, kept, old := old or none, last)
        except IndexUnusable:
            stamp = _extend(root, index, kept, old := none, last)
    new = (*range(old.units + 1, last + 1), *old.missing)
    stamp = replace(stamp or old, chance=nearest_by_chance(index, kept, _places(root, stamp or old), old.chance, new))
    if stamp == old:
        return old
    write_record(root, STAMP, asdict(stamp))
    _drop_others(root, stamp)
    return stamp


def _extend(root: Path, index: sqlite3.Connection, kept: Kept, stamp: Stamp, last: int) -> Stamp:
    """Write the places of new units and of those whose vectors have come, and the signs of new vectors.

    Raises:
        IndexUnusable: what was written before is damaged.
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
        (root / stamp.signs).unlink(missing_ok=True)  # never cut short what a reader may have mapped
    with os.fdopen(os.open(root / stamp.signs, FLAGS, 0o600), "r+b") as signs:
        signs.truncate(8 * stamp.vectors * words_of(stamp.dimension))
        signs.seek(0, os.SEEK_END)
        signs.write(signs_of(kept.rows[stamp.vectors :]).tobytes())
    raw = places.tobytes()
    new = replace(stamp, vectors=len(kept.rows), units=last, missing=tuple(missing), sum=zlib.crc32(raw))
    with private(root) as folder:
        replace_synced(folder, Path(new.file).name, raw)
    return new


def _drop_others(root: Path, stamp: Stamp) -> None:
    """Drop what is no longer of use: other places and older files, and what an earlier version left."""
    used = {*(root / PRIVATE).glob(f"{Path(stamp.signs).stem}.*"), root / stamp.file, root / PRIVATE / STAMP}
    old, own = time.time() - _UNUSED_SECONDS, root / stamp.model.files
    for path in {*(root / PRIVATE).glob("matrix*"), *(root / PRIVATE).glob("vectors*")} - used:
        other = path.name.startswith("vectors-") and not path.name.startswith(own.name)
        with contextlib.suppress(OSError):
            if not other or path.stat().st_mtime < old:
                path.unlink()
