"""Who may be an answer: the units that the two legs bring, as far as they stand in the index and fit what is asked."""

from __future__ import annotations

import functools
import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import IndexUnusable
from pipelines.search.binary_vectors import exact, nearest, scan
from pipelines.search.keyword_search import Standings, allowed_units, by_words, passage_scores
from pipelines.search.matrix import embedded_units, open_matrix
from pipelines.search.vectors import Model

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.filters import Filters
    from pipelines.search.keyword_search import Standing
    from pipelines.search.matrix import Matrix


# Below this many rows, handing the scan to another thread takes longer than it saves.
_LARGE: Final = 5_000
_NO_COSINE: Final = 1.01


@dataclass(frozen=True, slots=True)
class Candidates:
    """Units with their raw scores: BM25 with surroundings, cosine. Each of both stands somewhere; others do not."""

    standings: dict[int, Standing]
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
    build, last = connection.execute("SELECT build, last_unit FROM marks").fetchone()
    matrix = open_matrix(root, build)
    if matrix is None or matrix.stamp.model != Model(embedder, dimension):
        return None
    if matrix.stamp.missing or matrix.stamp.units < last:  # else all have one
        present, missing = embedded_units(connection, matrix.stamp)
        return matrix if missing <= present else None
    return matrix


def candidates(connection: sqlite3.Connection, question: Question, count: int) -> Candidates:
    """Return at least `count` units by words and `count` by meaning, where there are so many.

    Whoever is found by words has its cosine, too: a score must not count for nothing because of where a list was cut.

    Raises:
        IndexUnusable: what is there cannot have been written.
    """
    standings = Standings(connection, question.filters, question.stale)
    words = _Words(connection, question)
    if question.vector is None or question.matrix is None:
        return _by_words(words, standings, words.holding(count), count)
    allowed = allowed_units(connection, question.filters)
    meaning = _Meaning(question.matrix, question.vector, allowed)
    if len(question.matrix.rows) < _LARGE or not question.terms:
        near = meaning.nearest(count)
        own = words.holding(count)
    else:
        scanning = _scanner().submit(meaning.nearest, count)
        own = words.holding(count)
        near = scanning.result()
    standings.look_up((*own, *near.units))  # both legs' at once
    return _with_meaning(standings, _by_words(words, standings, own, count), meaning, near, count)


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


@dataclass(frozen=True, slots=True)
class _Words:
    """A question's words, and the index in which they are looked for."""

    connection: sqlite3.Connection
    question: Question

    def holding(self, count: int) -> dict[int, float]:
        """Return the `count` units that hold the words best, and all that are as good as the last."""
        asked = self.question
        return by_words(self.connection, asked.terms, asked.filters, count, asked.neighbours)

    def around(self, standings: Iterable[Standing]) -> dict[int, float]:
        """Return the scores of the passages that units stand in."""
        around = {passage for standing in standings for passage in standing[1:] if passage is not None}
        return passage_scores(self.connection, self.question.terms, around)


def _by_words(words: _Words, standings: Standings, own: dict[int, float], count: int) -> Candidates:
    """Return those that hold the words, given the best `count` of all that do, with what stands around them."""
    wanted = count
    # What is hidden or stale takes up room among the best: look further where it did.
    while len(there := standings.of(own)) < count and len(own) >= wanted:
        wanted *= 4
        own = words.holding(wanted)
    passages, share = words.around(there.values()), words.question.passages
    scores = {
        unit: own[unit] + share * max(passages.get(first or 0, 0.0), passages.get(last or 0, 0.0))
        for unit, (_, first, last) in there.items()
    }
    return Candidates(there, scores, {})


def _with_meaning(standings: Standings, found: Candidates, meaning: _Meaning, near: _Near, count: int) -> Candidates:
    """Return those found by words and, with theirs, the cosines of the nearest, given the first `count` of these."""
    wanted = count
    # Rows of units that are no more take up room among the nearest: look further where they did.
    while len(there := standings.of(near.cosines)) < count and not near.all:
        wanted *= 4
        near = meaning.nearest(wanted)
    cosines = near.cosines | exact(meaning.matrix, meaning.vector, list(found.words.keys() - near.cosines.keys()))
    living = {unit: cosines[unit] for unit in there}
    if len(living) > count:
        # How far it was looked hangs on rows of units that are no more.
        bar = heapq.nlargest(count, living.values())[-1]
        living = {unit: cosine for unit, cosine in living.items() if cosine >= bar}
    living |= {unit: cosines[unit] for unit in found.words if unit in cosines}
    return Candidates(found.standings | there, found.words, living)


def standing_units(connection: sqlite3.Connection, units: Iterable[int], question: Question) -> list[int]:
    """Return those of some units, which neither leg has to bring, that stand in the index and fit what is asked."""
    allowed = allowed_units(connection, question.filters)
    wanted = units if allowed is None else set(units) & set(allowed)
    return list(Standings(connection, question.filters, question.stale).of(list(wanted)))
