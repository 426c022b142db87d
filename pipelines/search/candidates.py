"""The candidates for an answer: the units found by words and by meaning that match the filters."""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.layout import SESSIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path
    from sqlite3 import Connection, Cursor

    from pipelines.search.filters import Filters


# A unit's own words have full weight; those about it (headings, date, path, labels) half, those beside it a quarter.
_MATCHED = """
    SELECT units.id, found.score, units.hidden AND ? = '' FROM
        (SELECT rowid AS id, -bm25(units_fts, 1.0, 1.0, 0.5, 0.25) AS score FROM units_fts WHERE units_fts MATCH ?)
        AS found
    JOIN units INDEXED BY idx_units_placed ON units.id = found.id JOIN files ON files.id = units.file WHERE
"""
_EMBEDDED = """
    SELECT units.id, units.key, units.hidden AND ? = '' FROM units INDEXED BY idx_units_placed
    CROSS JOIN files ON files.id = units.file WHERE units.key != 0 AND
"""
_LISTED = "SELECT units.id, 1.0 FROM units INDEXED BY idx_units_placed CROSS JOIN files ON files.id = units.file WHERE "
_PASSAGE = 0.5
"""The share of its best passage's score (eight units) that a unit gets by words."""
# The plus keeps SQLite from looking up each row separately: one pass computes BM25 for just those rows.
_PASSAGES = """
    SELECT rowid, -bm25(passages_fts) FROM passages_fts
    WHERE passages_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""
# Uses only the index with all columns for ranking and filters: the texts in the table are a hundred times larger.
_PLACES = """
    SELECT units.id, files.path, start_line, first_passage, last_passage,
        CASE WHEN files.path GLOB 'Episodes/*' THEN 3
            WHEN files.path GLOB 'Sessions/*' AND units.trust != 'owner' THEN 2
            ELSE files.path GLOB 'Logs/*' OR files.path GLOB 'Sessions/*' END,
        units.date, units.until, units.types, units.status, units.key
    FROM units INDEXED BY idx_units_placed CROSS JOIN files ON files.id = units.file
    WHERE units.id IN (SELECT value FROM json_each(?)) AND
"""
_RECORDS = """
    SELECT units.record FROM units INDEXED BY idx_units_record JOIN files ON files.id = units.file
    WHERE units.record != '' AND units.record IN (SELECT value FROM json_each(?)) AND
"""
# Capture writes only the beginning of a long turn into the log.
_CUT = """
    SELECT record, group_concat(text, ' ') FROM units WHERE record IN (SELECT value FROM json_each(?))
    GROUP BY record HAVING max(text GLOB '*more characters in the transcript)')
"""
_TEXTS = "SELECT id, text FROM units WHERE id IN (SELECT value FROM json_each(?))"
# Rules, and what is believed about the owner, apply whatever the question.
_RULES = """
    SELECT id, key FROM units WHERE item != '' AND types = 'Rule' UNION
    SELECT units.id, key FROM files JOIN units ON units.file = files.id WHERE files.path = 'USER.md' AND item != ''
"""
_GIVEN = 3
# A rule seldom shares words with what it governs. Of 38 rules, the right one was among the nearest three for all 32
# questions, and for 30 of them at least half as near as the nearest unit.
_BEARING = 0.5


WRITTEN, SAID, ECHOED, RETOLD = range(4)
"""What a unit is: an item or a document's text; a log's line or the owner's turn; another's turn; an episode."""


class CandidatePlace(NamedTuple):
    """A candidate's path and line, its first and last passage, and what ranks it.

    `key` is that of its vector.
    """

    path: str
    line: int
    first_passage: int | None
    last_passage: int | None
    kind: int
    date: str
    until: str
    types: str
    status: str
    key: int


Scores = Mapping[int, float]
Places = Mapping[int, CandidatePlace]
"""What is known of units, by their numbers."""


class IndexQuestion(NamedTuple):
    """What to search for.

    Args:
        terms: FTS5 terms; may be empty.
        filters: what may be found.
        stale: files to leave out.
        near: the cosines of the question with all vectors, by key; None without an embedder.
    """

    terms: str
    filters: Filters
    stale: Collection[str]
    near: Scores | None

    @property
    def is_listing(self) -> bool:
        """Whether it only filters."""
        return not self.terms and self.near is None and self.filters.any

    def condition(self, *, past: bool = False) -> tuple[str, tuple[str, ...]]:
        """Return the WHERE condition and its values; `past` as for `Filters.condition`."""
        condition, values = self.filters.condition(past=past)
        stale = json.dumps(list(self.stale))
        return f"{condition} AND files.path NOT IN (SELECT value FROM json_each(?))", (*values, stale)  # noqa: S608  ours


def rows_of(connection: Connection, statement: str, wanted: Iterable[object], *values: str) -> Cursor:
    """Return what a statement selects, whose first value is a list of what is wanted."""
    return connection.execute(statement, (json.dumps(list(wanted)), *values))


def candidates(
    connection: Connection, question: IndexQuestion, count: int
) -> tuple[dict[int, CandidatePlace], Scores, Scores]:
    """Return at least `count` units by words and `count` by meaning, if there are so many, and past ones as near.

    Units found by words get their cosine, too: a list's cut must not set a score to nothing.

    Returns:
        The places of all candidates, and the raw scores by words (BM25 with surroundings) and by meaning (cosine).
    """
    condition, values = question.condition(past=True)
    day, near = question.filters.as_of, question.near
    words, meaning = dict[int, float](), dict[int, float]()
    if question.is_listing:
        only, these = question.condition()
        newest = f"{_LISTED}{only} ORDER BY units.date DESC, files.path, start_line LIMIT {count:d}"
        words = dict(connection.execute(newest, these).fetchall())
    elif question.terms:
        found = connection.execute(_MATCHED + condition, (day, question.terms, *values)).fetchall()
        words = _best(found, count)
    if near is not None:
        rows = connection.execute(_EMBEDDED + condition, (day, *values))
        meaning = _best([(unit, near[key], is_past) for unit, key, is_past in rows if key in near], count)
    there = fitting_units(connection, words.keys() | meaning.keys(), question, past=True)
    if question.terms:
        # Scoring all matching passages would take as long as finding units, so score only those around the units found.
        around = {one for unit in words for one in (there[unit].first_passage, there[unit].last_passage) if one}
        asked = (question.terms, json.dumps(list(around)))
        passages: dict[int | None, float] = dict(connection.execute(_PASSAGES, asked).fetchall())
        for unit in words:
            sides = (there[unit].first_passage, there[unit].last_passage)
            words[unit] += _PASSAGE * max(passages.get(one, 0.0) for one in sides)
    meaning |= {unit: near[there[unit].key] for unit in words if near and there[unit].key in near}
    return there, words, meaning


def _best(found: Sequence[tuple[int, float, int]], count: int) -> dict[int, float]:
    """Return the scores of the best: of `count` that still hold, and of all as good as the last of them.

    What is past takes nobody's place.
    """
    best = heapq.nlargest(count, (score for _, score, is_past in found if not is_past))
    bar = best[-1] if len(best) == count else -math.inf
    return {unit: score for unit, score, _ in found if score >= bar}


def fitting_units(
    connection: Connection, units: Collection[int], question: IndexQuestion, *, past: bool = False
) -> dict[int, CandidatePlace]:
    """Return the places of those units that match the filters, whether they were found or not; or also past ones."""
    condition, values = question.condition(past=past)
    rows = rows_of(connection, _PLACES + condition, units, *values)
    found = {unit: CandidatePlace(*row) for unit, *row in rows}
    return {unit: found[unit] for unit in units if unit in found}


def bearing_rules(connection: Connection, question: IndexQuestion, best: float) -> dict[int, CandidatePlace]:
    """Return the rules, and beliefs about the owner, that are most relevant by meaning, nearest first.

    Args:
        connection: the index.
        question: the question; without a vector, none is relevant.
        best: the cosine of the nearest unit.
    """
    if question.near is None:
        return {}
    near = ((unit, question.near.get(key, 0.0)) for unit, key in connection.execute(_RULES))
    bearing = {unit: cosine for unit, cosine in near if cosine > 0 and cosine >= _BEARING * best}
    there = fitting_units(connection, bearing, question) if bearing else {}
    order = sorted((-bearing[unit], place[:2], unit) for unit, place in there.items())
    return {unit: there[unit] for *_, unit in order[:_GIVEN]}


def repeated_in_logs(connection: Connection, places: Places, question: IndexQuestion) -> set[int]:
    """Return those units that are turns repeated in a log, since the log's line is enough.

    They stay if that line does not match the filters or its file is stale (a log is the agent's word, and the owner's
    own words are in the turn), or if the log has only the beginning of the turn and they are not in it.
    """
    turns = {unit: f"{one.path}:{one.line}" for unit, one in places.items() if one.path.startswith(f"{SESSIONS}/")}
    if not turns or (question.filters.sources and "log" not in question.filters.sources):
        return set()
    condition, values = question.condition()
    found = {record for (record,) in rows_of(connection, _RECORDS + condition, turns.values(), *values)}
    repeated = {unit for unit, record in turns.items() if record in found}
    if cut := dict(rows_of(connection, _CUT, sorted({turns[unit] for unit in repeated}))):
        beyond = [unit for unit in repeated if turns[unit] in cut]
        texts = rows_of(connection, _TEXTS, beyond).fetchall()
        repeated -= {unit for unit, text in texts if not {*text.split()} <= {*cut[turns[unit]].split()}}
    return repeated


_ITEMS = """
    SELECT units.item, files.path, units.id FROM units JOIN files ON files.id = units.file
    WHERE units.item != '' AND units.id IN (SELECT value FROM json_each(?))
"""


def repeated_in_copies(root: Path, connection: Connection, units: Iterable[int]) -> set[int]:
    """Return those units that are items in a copy of their page; the documents say where an item stands."""
    places = dict[str, dict[str, int]]()
    for item, path, unit in rows_of(connection, _ITEMS, units):
        places.setdefault(item, {})[path] = unit
    twice = {item: found for item, found in places.items() if len(found) > 1}
    if not twice:
        return set()
    from pipelines.store.snapshot import read_documents  # noqa: PLC0415  few indexes have copies

    held = {path: document.held for path, document in read_documents(root).items()}
    return {unit for item, found in twice.items() for path, unit in found.items() if item not in held.get(path, ())}
