"""Who may be an answer: the units found by words and by meaning that are in the index and fit the filters."""

from __future__ import annotations

import functools
import heapq
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import IndexUnusable
from pipelines.search.binary_vectors import exact, nearest, scan
from pipelines.search.matrix import embedded_units, open_matrix
from pipelines.search.schema import DAMAGED_ROW
from pipelines.search.vectors import Model
from pipelines.store.layout import SESSIONS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.filters import Filters
    from pipelines.search.matrix import Matrix
    from pipelines.search.rank import Ranking


# Below this many rows, handing the scan to another thread takes longer than it saves.
_LARGE: Final = 5_000
_NO_COSINE: Final = 1.01
# Rows past the last one wanted that are looked at for the same score: short lines of common words often tie.
_LEEWAY: Final = 50

# A unit's own words count whole; those about it (headings, date, path, labels) count half.
_MATCHED: Final = (
    "SELECT rowid AS id, -bm25(units_fts, 1.0, 1.0, 0.5, ?) AS score FROM units_fts WHERE units_fts MATCH ?"
)
_MATCHED_AND_FITTING: Final = (
    f"SELECT units.id, found.score FROM ({_MATCHED}) AS found"  # noqa: S608  our own words
    " JOIN units INDEXED BY idx_units_placed ON units.id = found.id JOIN files ON files.id = units.file WHERE "
)
# The plus keeps SQLite from looking each row up by itself: BM25 is reckoned for those rows alone, as all are passed by.
_PASSAGES: Final = (
    "SELECT rowid, -bm25(passages_fts) FROM passages_fts"
    " WHERE passages_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
)
# All from the index that holds what ranking and filters ask for: the texts beside it are a hundred times as much.
FITTING: Final = (
    "SELECT units.id FROM units INDEXED BY idx_units_placed CROSS JOIN files ON files.id = units.file WHERE "
)
"""Before a condition over `units` and `files`: the units of which it is true."""
_PLACES: Final = """
    SELECT units.id, files.path, start_line, first_passage, last_passage
    FROM units INDEXED BY idx_units_placed LEFT JOIN files ON files.id = units.file
    WHERE units.id IN (SELECT value FROM json_each(?)) AND
"""
_RECORDS: Final = """
    SELECT units.record, files.path FROM units INDEXED BY idx_units_record JOIN files ON files.id = units.file
    WHERE units.record != '' AND units.record IN (SELECT value FROM json_each(?)) AND
"""
# What holds whatever is asked: rules, and what is held of the owner.
_RULES: Final = (
    "SELECT id FROM units WHERE item != '' AND types = 'Rule' UNION"
    " SELECT units.id FROM files JOIN units ON units.file = files.id WHERE files.path = 'USER.md' AND item != ''"
)
_GIVEN: Final = 3
# A rule seldom has the words of what it governs: of 38, the right one was among the first three for each of 32
# questions, and for 30 of them at least half as near as the nearest unit.
_BEARING: Final = 0.5


class Place(NamedTuple):
    """Where a candidate stands, and the first and the last passage that it belongs to."""

    path: str
    line: int
    first_passage: int | None
    last_passage: int | None


_KINDS: Final[tuple[set[type], ...]] = ({str}, {int}, {int, type(None)}, {int, type(None)})


Candidates = tuple[dict[int, Place], dict[int, float], dict[int, float]]
"""Where each stands, and the raw scores of those found by words (BM25 with surroundings) and by meaning (cosine)."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: FTS5 terms (may be empty), a vector of length one with its matrix (or neither), filters."""

    terms: str
    filters: Filters
    stale: Collection[str]
    ranking: Ranking
    near: tuple[Matrix, NDArray[np.float32]] | None = None


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
    places = Places(connection, question)
    if question.near is None:
        return _by_words(connection, question, places, _matching(connection, question, count), count)
    matrix, vector = question.near
    near = functools.partial(_nearest, matrix, vector, allowed_units(connection, question.filters))
    if len(matrix.places) < _LARGE or not question.terms:
        cosines, is_all = near(count)
        own = _matching(connection, question, count)
    else:
        scanning = _scanner().submit(near, count)
        own = _matching(connection, question, count)
        cosines, is_all = scanning.result()
    places.of((*own, *cosines))  # both are looked up at once
    there_by_words, words, _ = _by_words(connection, question, places, own, count)
    wanted = count
    # Rows of units that are no more take up room among the nearest: look further where they did.
    while len(there := places.of(cosines)) < count and not is_all:
        wanted *= 4
        cosines, is_all = near(wanted)
    cosines |= exact(matrix, vector, list(words.keys() - cosines.keys()))
    living = {unit: cosines[unit] for unit in there}
    if len(living) > count:
        # How far it was looked hangs on rows of units that are no more.
        bar = heapq.nlargest(count, living.values())[-1]
        living = {unit: cosine for unit, cosine in living.items() if cosine >= bar}
    living |= {unit: cosines[unit] for unit in words if unit in cosines}
    return there_by_words | there, words, living


def fitting_units(connection: sqlite3.Connection, units: Collection[int], question: Question) -> dict[int, Place]:
    """Return the places of those of some units, which nobody has to have found, that fit what is asked."""
    condition, values = question.filters.condition()
    fitting = f"{FITTING}units.id IN (SELECT value FROM json_each(?)) AND {condition}"  # noqa: S608  our own words
    rows = connection.execute(fitting, (json.dumps(list(units)), *values))
    return Places(connection, question).of([unit for (unit,) in rows])


def bearing_rules(connection: sqlite3.Connection, question: Question, best: float) -> dict[int, Place]:
    """Return the rules, and what is held of the owner, that bear on a question most by meaning, nearest first.

    Args:
        connection: the index.
        question: what is asked; without a vector, none bears on it.
        best: the cosine of the unit that is nearest of all.
    """
    if question.near is None:
        return {}
    cosines = exact(*question.near, [unit for (unit,) in connection.execute(_RULES)])
    near = {unit: cosine for unit, cosine in cosines.items() if cosine > 0 and cosine >= _BEARING * best}
    there = fitting_units(connection, near, question) if near else {}
    order = sorted((-near[unit], place[:2], unit) for unit, place in there.items())
    return {unit: there[unit] for *_, unit in order[:_GIVEN]}


def allowed_units(connection: sqlite3.Connection, filters: Filters) -> list[int] | None:
    """Return the units that fit the filters, or None where all do."""
    if not filters.any:
        return None
    condition, values = filters.condition()
    return [unit for (unit,) in connection.execute(FITTING + condition, values)]


@functools.cache
def _scanner() -> ThreadPoolExecutor:
    """Return the thread that scans while another looks for words. It stays: a new one a query costs what it saves."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  a search by words alone needs none

    return ThreadPoolExecutor(1, "scan")


def _nearest(
    matrix: Matrix, vector: NDArray[np.float32], allowed: list[int] | None, wanted: int
) -> tuple[dict[int, float], bool]:
    """Return the cosines of the `wanted` nearest, and all that are as near, and whether these are all there are.

    Raises:
        IndexUnusable: what is there cannot have been written.
    """
    scanned = scan(matrix, vector, allowed, wanted)
    units, cosines, whole = scanned
    if len(cosines) and not cosines.max() < _NO_COSINE:  # so that what is no number is caught, too
        raise IndexUnusable("its vectors are damaged")
    return exact(matrix, vector, nearest(scanned, wanted)), whole and wanted >= len(units)


def _matching(connection: sqlite3.Connection, question: Question, count: int) -> dict[int, float]:
    """Return the `count` units that hold the words best, and all that are as good as the last, with their scores."""
    if not question.terms:
        return {}
    query = _MATCHED
    values: tuple[str | float, ...] = (question.ranking.neighbours, question.terms)
    if question.filters.any:
        condition, more = question.filters.condition()
        query, values = _MATCHED_AND_FITTING + condition, (*values, *more)
    limit = count + _LEEWAY
    ordered = f"SELECT * FROM ({query}) ORDER BY 2 DESC LIMIT {limit:d}"  # noqa: S608  ours
    rows: list[tuple[int, float]] = connection.execute(ordered, values).fetchall()
    if len(rows) > count:
        bar = rows[count - 1][1]
        if len(rows) == limit and rows[-1][1] == bar:
            rows = connection.execute(query, values).fetchall()
        rows = [row for row in rows if row[1] >= bar]
    return dict(rows)


def _by_words(
    connection: sqlite3.Connection, question: Question, places: Places, own: dict[int, float], count: int
) -> Candidates:
    """Return those that hold the words, given the best `count` of all that do, with what stands around them."""
    wanted = count
    # What is hidden or stale takes up room among the best: look further where it did.
    while len(there := places.of(own)) < count and len(own) >= wanted:
        wanted *= 4
        own = _matching(connection, question, wanted)
    # Scoring all passages that hold a word would take as long as finding units: these stand around what was found.
    around = {passage for *_, first, last in there.values() for passage in (first, last) if passage is not None}
    asked = (question.terms, json.dumps(list(around)))
    passages = dict(connection.execute(_PASSAGES, asked).fetchall()) if question.terms else {}
    scores = {
        unit: own[unit] + question.ranking.passages * max(passages.get(first or 0, 0.0), passages.get(last or 0, 0.0))
        for unit, (*_, first, last) in there.items()
    }
    return there, scores, {}


class Places:
    """Where candidates stand; each is looked up once. Those that are hidden, no more or stale stand nowhere."""

    def __init__(self, connection: sqlite3.Connection, question: Question) -> None:
        """Look nothing up yet."""
        self._connection, self._stale = connection, question.stale
        self._query = _PLACES + question.filters.visible
        self._known: dict[int, Place | None] = {}

    def of(self, units: Collection[int]) -> dict[int, Place]:
        """Return where those of some units stand that stand anywhere.

        Raises:
            IndexUnusable: what stands there cannot have been written.
        """
        if new := set(units) - self._known.keys():
            rows = self._connection.execute(self._query, (json.dumps(list(new)),)).fetchall()
            columns = list(zip(*rows, strict=True))[1:]
            if not all(kinds.issuperset(map(type, column)) for kinds, column in zip(_KINDS, columns, strict=False)):
                raise IndexUnusable(DAMAGED_ROW)
            self._known |= dict.fromkeys(new)
            self._known |= {row[0]: Place(*row[1:]) for row in rows if row[1] not in self._stale}
        return {unit: place for unit in units if (place := self._known[unit])}


def repeated_in_logs(connection: sqlite3.Connection, places: Mapping[int, Place], question: Question) -> set[int]:
    """Return those of some units that are turns of which a log tells: who finds the log's line need not find them.

    They are found where that line does not fit what is asked for, or its file is stale: a log is nobody's word but the
    agent's, and what its owner said stands in the turn.
    """
    turns = {unit: f"{one.path}:{one.line}" for unit, one in places.items() if one.path.startswith(f"{SESSIONS}/")}
    if not turns or (question.filters.sources and "log" not in question.filters.sources):
        return set()
    condition, values = question.filters.condition()
    rows = connection.execute(_RECORDS + condition, (json.dumps(list(turns.values())), *values))
    found = {record for record, path in rows if path not in question.stale}
    return {unit for unit, record in turns.items() if record in found}
