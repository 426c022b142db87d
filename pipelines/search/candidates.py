"""The candidates for an answer: the units found by words and by meaning that match the filters."""

from __future__ import annotations

import functools
import heapq
import json
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import IndexUnusable
from pipelines.search.binary_vectors import exact, nearest, scan
from pipelines.search.filters import NOT_NEVER, Filters
from pipelines.search.schema import DAMAGED_ROW
from pipelines.store.layout import EPISODES, LOGS, SESSIONS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.matrix import Matrix
    from pipelines.search.rank import Ranking
    from pipelines.store.document import Document


# Below this number of rows, moving the scan to another thread takes longer than it saves.
_LARGE: Final = 5_000
_NO_COSINE: Final = 1.01
# Rows beyond the last one wanted to check for ties: short lines of common words often have the same score.
_LEEWAY: Final = 50

# A unit's own words have full weight; those about it (headings, date, path, labels) half.
_MATCHED: Final = (
    "SELECT rowid AS id, -bm25(units_fts, 1.0, 1.0, 0.5, ?) AS score FROM units_fts WHERE units_fts MATCH ?"
)
_MATCHED_AND_FITTING: Final = (
    f"SELECT units.id, found.score FROM ({_MATCHED}) AS found"  # noqa: S608  our own words
    " JOIN units INDEXED BY idx_units_placed ON units.id = found.id JOIN files ON files.id = units.file WHERE "
)
# The plus keeps SQLite from looking up each row separately: one pass computes BM25 for just those rows.
_PASSAGES: Final = (
    "SELECT rowid, -bm25(passages_fts) FROM passages_fts"
    " WHERE passages_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
)
# Uses only the index with all columns for ranking and filters: the texts in the table are a hundred times larger.
FITTING: Final = (
    "SELECT units.id FROM units INDEXED BY idx_units_placed CROSS JOIN files ON files.id = units.file WHERE "
)
"""To be followed by a condition over `units` and `files`: selects the units that match it."""
_PLACES: Final = """
    SELECT units.id, files.path, start_line, first_passage, last_passage, hidden AND ?2 = '',
        units.trust != 'owner' AND files.path GLOB 'Sessions/*' OR files.path GLOB 'Episodes/*'
    FROM units INDEXED BY idx_units_placed LEFT JOIN files ON files.id = units.file
    WHERE units.id IN (SELECT value FROM json_each(?1)) AND
"""
_RECORDS: Final = """
    SELECT units.record, files.path FROM units INDEXED BY idx_units_record JOIN files ON files.id = units.file
    WHERE units.record != '' AND units.record IN (SELECT value FROM json_each(?)) AND
"""
# Capture writes only the beginning of a long turn into the log.
_CUT: Final = """
    SELECT record, group_concat(text, ' ') FROM units WHERE record IN (SELECT value FROM json_each(?))
    GROUP BY record HAVING max(text GLOB '*more characters in the transcript)')
"""
_TEXTS: Final = "SELECT id, text FROM units WHERE id IN (SELECT value FROM json_each(?))"
# Rules, and what is believed about the owner, apply whatever the question.
_RULES: Final = (
    "SELECT id FROM units WHERE item != '' AND types = 'Rule' UNION"
    " SELECT units.id FROM files JOIN units ON units.file = files.id WHERE files.path = 'USER.md' AND item != ''"
)
_GIVEN: Final = 3
# A rule seldom shares words with what it governs. Of 38 rules, the right one was among the nearest three for all 32
# questions, and for 30 of them at least half as near as the nearest unit.
_BEARING: Final = 0.5


class CandidatePlace(NamedTuple):
    """A candidate's path and line, its first and last passage, and whether it no longer holds, or only retells.

    Episodes retell, and so do the replies of an agent or a program in a transcript.
    """

    path: str
    line: int
    first_passage: int | None
    last_passage: int | None
    is_past: int
    retells: int


_KINDS: Final[tuple[set[type], ...]] = ({str}, {int}, {int, type(None)}, {int, type(None)}, {int}, {int})


Candidates = tuple[dict[int, CandidatePlace], dict[int, float], dict[int, float]]
"""The places of all candidates, and the raw scores by words (BM25 with surroundings) and by meaning (cosine)."""


class IndexQuestion(NamedTuple):
    """What to search for: FTS5 terms (may be empty), a unit vector with its matrix (or neither), and filters."""

    terms: str
    filters: Filters
    stale: Collection[str]
    ranking: Ranking
    near: tuple[Matrix, NDArray[np.float32]] | None = None


def candidates(connection: sqlite3.Connection, question: IndexQuestion, count: int) -> Candidates:
    """Return at least `count` units by words and `count` by meaning, if there are so many, and past ones as near.

    Units found by words get their cosine, too: a list's cut must not set a score to nothing.

    Raises:
        IndexUnusable: the index is damaged.
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
    # Rows of deleted units may be among the nearest: if so, search further.
    while len(_holding(there := places.of(cosines))) < count and not is_all:
        wanted *= 4
        cosines, is_all = near(wanted)
    cosines |= exact(matrix, vector, list(words.keys() - cosines.keys()))
    living = {unit: cosines[unit] for unit in there}
    if len(now := _holding(there)) > count:
        # How far the search went depends on rows of deleted units.
        bar = heapq.nlargest(count, (cosines[unit] for unit in now))[-1]
        living = {unit: cosine for unit, cosine in living.items() if cosine >= bar}
    living |= {unit: cosines[unit] for unit in words if unit in cosines}
    return there_by_words | there, words, living


def fitting_units(
    connection: sqlite3.Connection, units: Collection[int], question: IndexQuestion
) -> dict[int, CandidatePlace]:
    """Return the places of those units that match the filters, whether they were found or not."""
    condition, values = question.filters.condition()
    fitting = f"{FITTING}units.id IN (SELECT value FROM json_each(?)) AND {condition}"  # noqa: S608  our own words
    rows = connection.execute(fitting, (json.dumps(list(units)), *values))
    return Places(connection, question).of([unit for (unit,) in rows])


def bearing_rules(connection: sqlite3.Connection, question: IndexQuestion, best: float) -> dict[int, CandidatePlace]:
    """Return the rules, and beliefs about the owner, that are most relevant by meaning, nearest first.

    Args:
        connection: the index.
        question: the question; without a vector, none is relevant.
        best: the cosine of the nearest unit.
    """
    if question.near is None:
        return {}
    cosines = exact(*question.near, [unit for (unit,) in connection.execute(_RULES)])
    near = {unit: cosine for unit, cosine in cosines.items() if cosine > 0 and cosine >= _BEARING * best}
    there = fitting_units(connection, near, question) if near else {}
    order = sorted((-near[unit], place[:2], unit) for unit, place in there.items())
    return {unit: there[unit] for *_, unit in order[:_GIVEN]}


def allowed_units(connection: sqlite3.Connection, filters: Filters) -> list[int] | None:
    """Return the units that match the filters, what no longer holds among them, or None for all."""
    if not filters.any:
        return None
    condition, values = filters.condition(past=True)
    return [unit for (unit,) in connection.execute(FITTING + condition, values)]


@functools.cache
def _scanner() -> ThreadPoolExecutor:
    """Return the thread for scans beside the search by words. It is kept: one per query would not pay off."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  a search by words alone needs none

    return ThreadPoolExecutor(1, "scan")


def _nearest(
    matrix: Matrix, vector: NDArray[np.float32], allowed: list[int] | None, wanted: int
) -> tuple[dict[int, float], bool]:
    """Return the cosines of the `wanted` nearest units and all ties, and whether these are all there are.

    Raises:
        IndexUnusable: the vectors are damaged.
    """
    scanned = scan(matrix, vector, allowed, wanted)
    units, cosines, whole = scanned
    if len(cosines) and not cosines.max() < _NO_COSINE:  # also catches NaN
        raise IndexUnusable("its vectors are damaged")
    return exact(matrix, vector, nearest(scanned, wanted)), whole and wanted >= len(units)


def _matching(connection: sqlite3.Connection, question: IndexQuestion, count: int) -> dict[int, float]:
    """Return the `count` best units by words, and all ties with the last, with their scores."""
    if not question.terms:
        return {}
    query = _MATCHED
    values: tuple[str | float, ...] = (question.ranking.neighbours, question.terms)
    if question.filters.any:
        condition, more = question.filters.condition(past=True)
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


def _holding(places: Mapping[int, CandidatePlace]) -> list[int]:
    """Return the units that still hold: what is past takes nobody's place."""
    return [unit for unit, place in places.items() if not place.is_past]


def _by_words(
    connection: sqlite3.Connection, question: IndexQuestion, places: Places, own: dict[int, float], count: int
) -> Candidates:
    """Return the units found by words, given the best `count` matches, scored with their surroundings."""
    wanted = count
    # Hidden or stale units may be among the best: if so, search further.
    while len(_holding(there := places.of(own))) < count and len(own) >= wanted:
        wanted *= 4
        own = _matching(connection, question, wanted)
    # Scoring all matching passages would take as long as finding units, so score only those around the units found.
    around = {passage for *_, first, last, _, _ in there.values() for passage in (first, last) if passage is not None}
    asked = (question.terms, json.dumps(list(around)))
    passages = dict(connection.execute(_PASSAGES, asked).fetchall()) if question.terms else {}
    scores = {
        unit: own[unit] + question.ranking.passages * max(passages.get(first or 0, 0.0), passages.get(last or 0, 0.0))
        for unit, (*_, first, last, _, _) in there.items()
    }
    return there, scores, {}


class Places:
    """Looks up the places of candidates, each once. Deleted and stale units, and those never to be found, have none."""

    def __init__(self, connection: sqlite3.Connection, question: IndexQuestion) -> None:
        """Store the arguments."""
        self._connection, self._stale, self._as_of = connection, question.stale, question.filters.as_of
        self._query = _PLACES + NOT_NEVER
        self._known: dict[int, CandidatePlace | None] = {}

    def of(self, units: Collection[int]) -> dict[int, CandidatePlace]:
        """Return the places of those units that have one.

        Raises:
            IndexUnusable: a row is damaged.
        """
        if new := set(units) - self._known.keys():
            rows = self._connection.execute(self._query, (json.dumps(list(new)), self._as_of)).fetchall()
            columns = list(zip(*rows, strict=True))[1:]
            if not all(kinds.issuperset(map(type, column)) for kinds, column in zip(_KINDS, columns, strict=False)):
                raise IndexUnusable(DAMAGED_ROW)
            self._known |= dict.fromkeys(new)
            self._known |= {row[0]: CandidatePlace(*row[1:]) for row in rows if row[1] not in self._stale}
        return {unit: place for unit in units if (place := self._known[unit])}


def repeated_in_logs(
    connection: sqlite3.Connection, places: Mapping[int, CandidatePlace], question: IndexQuestion
) -> set[int]:
    """Return those units that are turns repeated in a log, since the log's line is enough.

    They stay if that line does not match the filters or its file is stale (a log is the agent's word, and the owner's
    own words are in the turn), or if the log has only the beginning of the turn and they are not in it.
    """
    turns = {unit: f"{one.path}:{one.line}" for unit, one in places.items() if one.path.startswith(f"{SESSIONS}/")}
    if not turns or (question.filters.sources and "log" not in question.filters.sources):
        return set()
    condition, values = question.filters.condition()
    rows = connection.execute(_RECORDS + condition, (json.dumps(list(turns.values())), *values))
    found = {record for record, path in rows if path not in question.stale}
    repeated = {unit for unit, record in turns.items() if record in found}
    if cut := dict(connection.execute(_CUT, (json.dumps(sorted({turns[unit] for unit in repeated})),))):
        beyond = [unit for unit in repeated if turns[unit] in cut]
        texts = connection.execute(_TEXTS, (json.dumps(beyond),)).fetchall()
        repeated -= {unit for unit, text in texts if not {*text.split()} <= {*cut[turns[unit]].split()}}
    return repeated


_LIKENESS: Final = f"""
    SELECT units.id, files.path, item, text, units.date FROM units JOIN files ON files.id = units.file
    WHERE units.id IN (SELECT value FROM json_each(?))
    AND (item <> '' OR files.path GLOB '{LOGS}/*' OR files.path GLOB '{EPISODES}/*')
"""  # noqa: S608  names of folders


def repeated_in_copies(root: Path, connection: sqlite3.Connection, units: Iterable[int]) -> set[int]:
    """Return those units that a copy of a file repeats: an item, or what was said on a day, in a second file.

    The documents say in which of them an item stands; of other files, the one with the shortest name stays.
    """
    places: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for unit, path, item, text, date in connection.execute(_LIKENESS, (json.dumps(list(units)),)):
        places.setdefault((item,) if item else (text, date), {}).setdefault(path, []).append(unit)
    twice = {key: found for key, found in places.items() if len(found) > 1}
    documents: Mapping[str, Document] = {}
    if any(len(key) == 1 for key in twice):
        from pipelines.store.snapshot import read_documents  # noqa: PLC0415  few indexes have copies

        documents = read_documents(root)
    repeated = set[int]()
    for key, found in twice.items():
        stands = [path for path in found if path in documents and key[0] in documents[path].held]
        kept = min(stands or found, key=lambda path: (len(path), path))
        repeated |= {unit for path, group in found.items() if path != kept for unit in group}
    return repeated


_TWICE: Final = "SELECT 1 FROM units WHERE item > '' GROUP BY item HAVING count(*) > 1 LIMIT 1"


def copied_pages(root: Path, connection: sqlite3.Connection) -> frozenset[str]:
    """Return the pages that are copies of others as a whole; they are looked for only if an item stands twice."""
    if connection.execute(_TWICE).fetchone() is None:
        return frozenset()
    from pipelines.store.snapshot import COPIED, FileWarning, read_documents  # noqa: PLC0415  as above

    warnings: list[FileWarning] = []
    read_documents(root, warnings)
    return frozenset(one.path for one in warnings if one.kind == COPIED)
