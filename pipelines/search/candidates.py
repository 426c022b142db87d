"""The candidates for an answer: the units found by words and by meaning that match the filters."""

from __future__ import annotations

import heapq
import json
from typing import TYPE_CHECKING, NamedTuple

from pipelines.search.filters import NOT_NEVER, Filters
from pipelines.store.layout import EPISODES, LOGS, NOTES, SESSIONS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.rank import Ranking
    from pipelines.search.vectors import StoredVectors
    from pipelines.store.document import Document


# Rows beyond the last one wanted to check for ties: short lines of common words often have the same score.
_LEEWAY = 50

# A unit's own words have full weight; those about it (headings, date, path, labels) half.
_MATCHED = "SELECT rowid AS id, -bm25(units_fts, 1.0, 1.0, 0.5, ?) AS score FROM units_fts WHERE units_fts MATCH ?"
_MATCHED_AND_FITTING = (
    f"SELECT units.id, found.score FROM ({_MATCHED}) AS found"  # noqa: S608  our own words
    " JOIN units INDEXED BY idx_units_placed ON units.id = found.id JOIN files ON files.id = units.file WHERE "
)
# The plus keeps SQLite from looking up each row separately: one pass computes BM25 for just those rows.
_PASSAGES = (
    "SELECT rowid, -bm25(passages_fts) FROM passages_fts"
    " WHERE passages_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
)
_LISTED = "SELECT units.id, 1.0 FROM units INDEXED BY idx_units_placed CROSS JOIN files ON files.id = units.file WHERE "
_BY_KEYS = (
    "SELECT units.id, units.key FROM units JOIN files ON files.id = units.file"
    " WHERE units.key IN (SELECT value FROM json_each(?)) AND "
)
# Uses only the index with all columns for ranking and filters: the texts in the table are a hundred times larger.
_PLACES = """
    SELECT units.id, files.path, start_line, first_passage, last_passage, hidden AND ?2 = '',
        CASE WHEN files.path GLOB 'Episodes/*' THEN 3
            WHEN files.path GLOB 'Sessions/*' AND units.trust != 'owner' THEN 2
            ELSE files.path GLOB 'Logs/*' OR files.path GLOB 'Sessions/*' END,
        units.date, units.until, units.types, units.status, units.key, units.length
    FROM units INDEXED BY idx_units_placed CROSS JOIN files ON files.id = units.file
    WHERE units.id IN (SELECT value FROM json_each(?1)) AND
"""
_RECORDS = """
    SELECT units.record, files.path FROM units INDEXED BY idx_units_record JOIN files ON files.id = units.file
    WHERE units.record != '' AND units.record IN (SELECT value FROM json_each(?)) AND
"""
# Capture writes only the beginning of a long turn into the log.
_CUT = """
    SELECT record, group_concat(text, ' ') FROM units WHERE record IN (SELECT value FROM json_each(?))
    GROUP BY record HAVING max(text GLOB '*more characters in the transcript)')
"""
_TEXTS = "SELECT id, text FROM units WHERE id IN (SELECT value FROM json_each(?))"
# Rules, and what is believed about the owner, apply whatever the question.
_RULES = (
    "SELECT id, key FROM units WHERE item != '' AND types = 'Rule' UNION"
    " SELECT units.id, key FROM files JOIN units ON units.file = files.id WHERE files.path = 'USER.md' AND item != ''"
)
_GIVEN = 3
# A rule seldom shares words with what it governs. Of 38 rules, the right one was among the nearest three for all 32
# questions, and for 30 of them at least half as near as the nearest unit.
_BEARING = 0.5


WRITTEN, SAID, ECHOED, RETOLD = range(4)
"""What a unit is: an item or a document's text; a log's line or the owner's turn; another's turn; an episode."""


class CandidatePlace(NamedTuple):
    """A candidate's path and line, its first and last passage, whether it no longer holds, and what ranks it.

    `key` is that of its vector, `length` the number of its characters.
    """

    path: str
    line: int
    first_passage: int | None
    last_passage: int | None
    is_past: int
    kind: int
    date: str
    until: str
    types: str
    status: str
    key: int
    length: int


Candidates = tuple[dict[int, CandidatePlace], dict[int, float], dict[int, float]]
"""The places of all candidates, and the raw scores by words (BM25 with surroundings) and by meaning (cosine)."""


Near = tuple["StoredVectors", "NDArray[np.float32]"]
"""The stored vectors, and the question's, of length one."""


class IndexQuestion(NamedTuple):
    """What to search for: FTS5 terms (may be empty), a unit vector with those to compare (or neither), and filters."""

    terms: str
    filters: Filters
    stale: Collection[str]
    ranking: Ranking
    near: Near | None = None

    @property
    def is_listing(self) -> bool:
        """Whether it only filters."""
        return not self.terms and self.near is None and self.filters.any


def candidates(connection: sqlite3.Connection, question: IndexQuestion, count: int) -> Candidates:
    """Return at least `count` units by words and `count` by meaning, if there are so many, and past ones as near.

    Units found by words get their cosine, too: a list's cut must not set a score to nothing.
    """
    if question.near is None:
        return *_by_words(connection, question, count), {}
    from threading import Thread  # noqa: PLC0415  a search by words alone needs none

    vectors, asked = question.near
    found = list["NDArray[np.float32]"]()
    # SQLite and numpy let other threads run: with a second processor, the scan costs no time of its own.
    scan = Thread(target=lambda: found.append(vectors.cosines(asked)))
    scan.start()
    there_by_words, words = _by_words(connection, question, count)
    scan.join()
    (scanned,), wanted = found, count
    cosines = _nearest(connection, question, question.near, scanned, wanted)
    # Units that do not fit, and those that are deleted, may be among the nearest: if so, search further.
    while len(_holding(there := _places(connection, question, cosines))) < count and wanted < len(scanned):
        wanted *= 4
        cosines = _nearest(connection, question, question.near, scanned, wanted)
    cosines |= _exact(question.near, {unit: there_by_words[unit].key for unit in words.keys() - cosines.keys()})
    living = {unit: cosines[unit] for unit in there}
    if len(now := _holding(there)) > count:
        # How far the search went depends on deleted units.
        bar = heapq.nlargest(count, (cosines[unit] for unit in now))[-1]
        living = {unit: cosine for unit, cosine in living.items() if cosine >= bar}
    living |= {unit: cosines[unit] for unit in words if unit in cosines}
    return there_by_words | there, words, living


def fitting_units(
    connection: sqlite3.Connection, units: Collection[int], question: IndexQuestion
) -> dict[int, CandidatePlace]:
    """Return the places of those units that match the filters, whether they were found or not."""
    return _places(connection, question, units, *question.filters.condition())


def bearing_rules(connection: sqlite3.Connection, question: IndexQuestion, best: float) -> dict[int, CandidatePlace]:
    """Return the rules, and beliefs about the owner, that are most relevant by meaning, nearest first.

    Args:
        connection: the index.
        question: the question; without a vector, none is relevant.
        best: the cosine of the nearest unit.
    """
    if question.near is None:
        return {}
    cosines = _exact(question.near, dict(connection.execute(_RULES).fetchall()))
    bearing = {unit: cosine for unit, cosine in cosines.items() if cosine > 0 and cosine >= _BEARING * best}
    there = fitting_units(connection, bearing, question) if bearing else {}
    order = sorted((-bearing[unit], place[:2], unit) for unit, place in there.items())
    return {unit: there[unit] for *_, unit in order[:_GIVEN]}


def _nearest(
    connection: sqlite3.Connection, question: IndexQuestion, near: Near, scanned: NDArray[np.float32], wanted: int
) -> dict[int, float]:
    """Return the fitting units of the `wanted` nearest vectors and of all ties, with their cosines."""
    from pipelines.search.vectors import nearest  # noqa: PLC0415  a search by words alone needs none

    keys = near[0].keys[nearest(scanned, wanted)].tolist()
    condition, values = question.filters.condition(past=True)
    return _exact(near, dict(connection.execute(_BY_KEYS + condition, (json.dumps(keys), *values)).fetchall()))


def _exact(near: Near, keys: Mapping[int, int]) -> dict[int, float]:
    vectors, asked = near
    known = vectors.exact(asked, keys.values())
    return {unit: known[key] for unit, key in keys.items() if key in known}


def _matching(connection: sqlite3.Connection, question: IndexQuestion, count: int) -> dict[int, float]:
    """Return the `count` best units by words, and all ties with the last, with their scores."""
    if question.is_listing:
        condition, found = question.filters.condition()
        newest = f"{_LISTED}{condition} ORDER BY units.date DESC, files.path, start_line LIMIT {count:d}"
        return dict(connection.execute(newest, found).fetchall())
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
    connection: sqlite3.Connection, question: IndexQuestion, count: int
) -> tuple[dict[int, CandidatePlace], dict[int, float]]:
    """Return at least `count` units found by words, scored with their surroundings."""
    own, wanted = _matching(connection, question, count), count
    # Hidden or stale units may be among the best: if so, search further.
    while len(_holding(there := _places(connection, question, own))) < count and len(own) >= wanted:
        wanted *= 4
        own = _matching(connection, question, wanted)
    # Scoring all matching passages would take as long as finding units, so score only those around the units found.
    around = {passage for _, _, first, last, *_ in there.values() for passage in (first, last) if passage is not None}
    asked = (question.terms, json.dumps(list(around)))
    passages = dict(connection.execute(_PASSAGES, asked).fetchall()) if question.terms else {}
    scores = {
        unit: own[unit] + question.ranking.passages * max(passages.get(first or 0, 0.0), passages.get(last or 0, 0.0))
        for unit, (_, _, first, last, *_) in there.items()
    }
    return there, scores


def _places(
    connection: sqlite3.Connection,
    question: IndexQuestion,
    units: Collection[int],
    condition: str = NOT_NEVER,
    values: tuple[str, ...] = (),
) -> dict[int, CandidatePlace]:
    """Return the places of those units that a condition admits. Deleted and stale ones have none."""
    rows = connection.execute(_PLACES + condition, (json.dumps(list(units)), question.filters.as_of, *values))
    found = {row[0]: CandidatePlace(*row[1:]) for row in rows if row[1] not in question.stale}
    return {unit: found[unit] for unit in units if unit in found}


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


_LIKENESS = f"""
    SELECT units.id, files.path, item, text, units.date FROM units JOIN files ON files.id = units.file
    WHERE units.id IN (SELECT value FROM json_each(?))
    AND (item <> '' OR files.path GLOB '{LOGS}/*' OR files.path GLOB '{NOTES}/*' OR files.path GLOB '{EPISODES}/*')
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
