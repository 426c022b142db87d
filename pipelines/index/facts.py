"""What the index is, at a glance: whether it can be used, how far it follows the files, and what of it has vectors.

Cheap whatever the memory holds: every file is looked at from outside, and nothing of the index is read but its list of
files. Damage inside is looked for by `curate index`, which reads all of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from pipelines.errors import IndexUnusable
from pipelines.index.changes import compare, recorded
from pipelines.index.matrix import embedded_units, read_stamp
from pipelines.index.schema import VERSION
from pipelines.index.sources import scan
from pipelines.index.store import INDEX, reading, version_of
from pipelines.index.vectors import has_vectors

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

State = Literal["current", "behind", "missing", "damaged", "older", "newer"]

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
    """What can be told of the index.

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

    def to_json(self) -> dict[str, Any]:
        """Return it as what `json` can write."""
        return asdict(self)


def index_facts(root: Path) -> IndexFacts:
    """Return how the index of a memory fares. Nothing is written, and nothing that is wrong with it is raised."""
    try:
        with reading(root) as connection:
            return _facts(root, connection)
    except IndexUnusable:
        state = _unusable(root)
        return IndexFacts(state, _SENTENCES[state])


def _facts(root: Path, connection: sqlite3.Connection) -> IndexFacts:
    known = recorded(connection)
    behind = len(compare(root, scan(root), known).stale)
    (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
    sentence = ""
    if behind:
        files = "1 file" if behind == 1 else f"{behind:,} files"
        sentence = f"{files} changed since; the next run, search or `curate index` brings it up to date."
    return IndexFacts(
        state="behind" if behind else "current",
        sentence=sentence,
        files=sum(not one.reason for one in known.values()),
        units=units,
        behind=behind,
        vectors=_vectors(root, connection),
    )


def _vectors(root: Path, connection: sqlite3.Connection) -> VectorFacts | None:
    stamp = read_stamp(root) if has_vectors(root) else None
    if stamp is None or connection.execute("SELECT build FROM marks").fetchone() != (stamp.build,):
        return None
    return VectorFacts(stamp.name, stamp.dimension, *embedded_units(connection, stamp))


def _unusable(root: Path) -> State:
    if not (root / INDEX).is_file():
        return "missing"
    version = version_of(root / INDEX)
    if version is None or version == VERSION:
        return "damaged"
    return "newer" if version > VERSION else "older"


def first_day(root: Path) -> str:
    """Return the earliest day that anything in the index is of, or an empty string where nothing has one.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    with reading(root) as connection:
        (day,) = connection.execute("SELECT min(date) FROM units WHERE date != ''").fetchone()
        return str(day or "")
