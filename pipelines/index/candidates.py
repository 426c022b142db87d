"""Who may be an answer: the units that the two legs bring, as far as they stand in the index and fit what is asked."""

from __future__ import annotations

import functools
import heapq
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import IndexUnusable
from pipelines.index.legs import allowed_units, by_words, passage_scores
from pipelines.index.matrix import open_matrix
from pipelines.index.scanning import exact, nearest, scan
from pipelines.index.vectors import Model
from pipelines.memory.layout import SESSIONS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.index.filters import Filters
    from pipelines.index.matrix import Matrix

# Below this many rows, handing the scan to another thread takes longer than it saves.
_LARGE: Final = 5_000
MOST_MISSING: Final = 0.5
_NO_COSINE: Final = 1.01


class Place(NamedTuple):
    """Where a candidate stands, and what its rank may hang on."""

    path: str
    line: int
    date: str
    trust: str
    confidence: str
    first_passage: int | None
    last_passage: int | None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Units with their raw scores: BM25 with surroundings, cosine. Each of both has a place; others have none."""

    places: dict[int, Place]
    words: dict[int, float]
    meaning: dict[int, float]


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: FTS5 terms (may be empty), a vector of length one with its matrix (or neither), filters.

    `neighbours` and `passages` are the ranking's: how much a unit's surroundings count by words.
    """

    terms: str
    filters: Filters
    stale: Collection[str]
    vector: NDArray[np.float32] | None = None
    matrix: Matrix | None = None
    neighbours: float = 0.5
    passages: float = 0.5


def matrix_for(root: Path, connection: sqlite3.Connection, embedder: str, dimension: int) -> Matrix | None:
    """Return what a vector of this embedder and of this many numbers may be compared with, or None where nothing is.

    While more units lack a vector than have one, nothing is: what is not embedded would be found too seldom.
    """
    (build,) = connection.execute("SELECT build FROM marks").fetchone()
    matrix = open_matrix(root, build)
    if matrix is None or matrix.stamp.model != Model(embedder, dimension):
        return None
    if len(matrix.stamp.missing) > len(matrix.rows) * MOST_MISSING:
        return None
    return matrix


def candidates(connection: sqlite3.Connection, question: Question, count: int) -> Candidates:
    """Return at least `count` units by words and `count` by meaning, where there are so many.

    Whoever is found by words has its cosine, too: a score must not count for nothing because of where a list was cut.

    Raises:
        IndexUnusable: what is there cannot have been written.
    """
    places = _Places(connection, question)
    if question.vector is None or question.matrix is None:
        return _by_words(places, _holding(places, count), count)
    allowed = allowed_units(connection, question.filters)
    meaning = _Meaning(question.matrix, question.vector, allowed)
    if len(question.matrix.rows) < _LARGE or not question.terms:
        near = meaning.nearest(count)
        own = _holding(places, count)
    else:
        scanning = _scanner().submit(meaning.nearest, count)
        own = _holding(places, count)
        near = scanning.result()
    places.look_up((*own, *near.units))  # both legs' at once
    return _with_meaning(places, _by_words(places, own, count), meaning, near, count)


@functools.cache
def _scanner() -> ThreadPoolExecutor:
    """Return the thread that scans while another looks for words. It stays: a new one a query costs what it saves."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  a search by words alone needs none

    return ThreadPoolExecutor(1, "scan")


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A question's vector, what it is compared with, and which units may be found (None for all)."""

    matrix: Matrix
    vector: NDArray[np.float32]
    allowed: list[int] | None

    def nearest(self, wanted: int) -> _Near:
        """Return the `wanted` nearest, and all that are as near as the last.

        Raises:
            IndexUnusable: what is there cannot have been written.
        """
        scanned = scan(self.matrix, self.vector, self.allowed, wanted)
        if len(scanned.cosines) and not scanned.cosines.max() < _NO_COSINE:  # so that what is no number is caught, too
            raise IndexUnusable("its vectors are damaged")
        units = nearest(scanned, wanted)
        return _Near(units, exact(self.matrix, self.vector, units), scanned.whole and wanted >= len(scanned.units))


class _Near(NamedTuple):
    """The nearest units with their cosines, which some have none of, and whether these are all that may be found."""

    units: list[int]
    cosines: dict[int, float]
    all: bool


class _Places:
    """Where candidates stand; each is looked up once. Those that are hidden, no more or stale have no place."""

    def __init__(self, connection: sqlite3.Connection, question: Question) -> None:
        self.connection, self.question = connection, question
        self._looked_up = set[int]()
        self._there: dict[int, Place] = {}

    def look_up(self, units: Iterable[int]) -> None:
        """Look up all of some units whose places are not known yet.

        Raises:
            IndexUnusable: what stands there cannot have been written.
        """
        new = set(units) - self._looked_up
        if new:
            self._looked_up |= new
            self._there |= _places(self.connection, new, self.question)

    def of(self, units: Collection[int]) -> dict[int, Place]:
        """Return the places of those of some units that have one.

        Raises:
            IndexUnusable: what stands there cannot have been written.
        """
        self.look_up(units)
        there = self._there
        return {unit: there[unit] for unit in units if unit in there}


def _holding(places: _Places, count: int) -> dict[int, float]:
    question = places.question
    return by_words(places.connection, question.terms, question.filters, count, question.neighbours)


def _by_words(places: _Places, own: dict[int, float], count: int) -> Candidates:
    """Return those that hold the words, given the best `count` of all that do, with what stands around them."""
    question, wanted = places.question, count
    # What is hidden or stale takes up room among the best: look further where it did.
    while len(there := places.of(own)) < count and len(own) >= wanted:
        wanted *= 4
        own = _holding(places, wanted)
    around = {passage for place in there.values() for passage in (place.first_passage, place.last_passage) if passage}
    passages = passage_scores(places.connection, question.terms, around)
    words = {
        unit: own[unit] + question.passages * max(passages.get(place[-2] or 0, 0.0), passages.get(place[-1] or 0, 0.0))
        for unit, place in there.items()
    }
    return Candidates(there, words, {})


def _with_meaning(places: _Places, found: Candidates, meaning: _Meaning, near: _Near, count: int) -> Candidates:
    """Return those found by words and, with theirs, the cosines of the nearest, given the first `count` of these."""
    wanted = count
    # Rows of units that are no more take up room among the nearest: look further where they did.
    while len(there := places.of(near.cosines)) < count and not near.all:
        wanted *= 4
        near = meaning.nearest(wanted)
    cosines = near.cosines | exact(meaning.matrix, meaning.vector, list(found.words.keys() - near.cosines.keys()))
    living = {unit: cosines[unit] for unit in there}
    if len(living) > count:
        # How far it was looked hangs on rows of units that are no more.
        bar = heapq.nlargest(count, living.values())[-1]
        living = {unit: cosine for unit, cosine in living.items() if cosine >= bar}
    living |= {unit: cosines[unit] for unit in found.words if unit in cosines}
    return Candidates(found.places | there, found.words, living)


_PLACES: Final = """
    SELECT units.id, files.path, start_line, date, trust, confidence, first_passage, last_passage
    FROM units INDEXED BY idx_units_placed JOIN files ON files.id = units.file
    WHERE units.id IN (SELECT value FROM json_each(?)) AND
"""


def _places(connection: sqlite3.Connection, units: Iterable[int], question: Question) -> dict[int, Place]:
    """Return where units stand; those that are hidden, no more, or in a file that changed since have no place.

    Raises:
        IndexUnusable: what stands there cannot have been written.
    """
    listed = f"[{','.join(map(str, units))}]"
    rows = connection.execute(_PLACES + question.filters.told, (listed,)).fetchall()
    if any(set(map(type, column)) != {kind} for column, kind in zip(list(zip(*rows, strict=True))[1:], _KINDS)):  # noqa: B905  what follows is not ranked by
        raise IndexUnusable("it is damaged (a row is not as it was written)")
    return {row[0]: Place._make(row[1:]) for row in rows if row[1] not in question.stale}


_KINDS: Final = (str, int, str, str, str)


def told_in_logs(connection: sqlite3.Connection, places: Mapping[int, Place], filters: Filters) -> set[int]:
    """Return those of some units that are turns of which a log tells: who finds the log's line need not find them.

    They are found by who does not ask for logs.
    """
    turns = {unit: place for unit, place in places.items() if place.path.startswith(f"{SESSIONS}/")}
    if not turns or (filters.sources and "log" not in filters.sources):
        return set()
    asked = json.dumps(sorted({f"{place.path}:{place.line}" for place in turns.values()}))
    found = {record for (record,) in connection.execute(_TOLD, (asked,))}
    return {unit for unit, place in turns.items() if f"{place.path}:{place.line}" in found}


_TOLD: Final = "SELECT record FROM units WHERE record != '' AND record IN (SELECT value FROM json_each(?))"


def add_places(connection: sqlite3.Connection, units: Iterable[int], question: Question) -> dict[int, Place]:
    """Return where units stand that neither leg has to bring, as far as they fit what is asked."""
    allowed = allowed_units(connection, question.filters)
    wanted = units if allowed is None else set(units) & set(allowed)
    return _places(connection, wanted, question)
