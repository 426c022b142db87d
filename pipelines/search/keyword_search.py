"""The leg of a search that goes by words, and who may be found at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import IndexUnusable
from pipelines.store.layout import SESSIONS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pipelines.search.filters import Filters


# Rows past the last one wanted that are looked at for the same score: short lines of common words often tie.
_LEEWAY: Final = 50
# A unit's own words count whole; those about it (headings, date, path, labels) count half.
_MATCHED: Final = (
    "SELECT rowid AS id, -bm25(units_fts, 1.0, 1.0, 0.5, ?) AS score FROM units_fts WHERE units_fts MATCH ?"
)
# The plus keeps SQLite from looking each row up by itself: BM25 is reckoned for those rows alone, as all are passed by.
_PASSAGES: Final = (
    "SELECT rowid, -bm25(passages_fts) FROM passages_fts"
    " WHERE passages_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
)


def by_words(
    connection: sqlite3.Connection, terms: str, filters: Filters, count: int, neighbours: float
) -> dict[int, float]:
    """Return the `count` units that hold the words best, and all that are as good as the last, with their scores.

    Args:
        connection: the index, open to read.
        terms: an FTS5 expression, or an empty string.
        filters: what may be found.
        count: how many candidates are looked at.
        neighbours: how much a word beside a unit counts against one in it.
    """
    return dict(_best(connection, *_units_query(terms, filters, neighbours), count)) if terms else {}


def passage_scores(connection: sqlite3.Connection, terms: str, passages: Iterable[int]) -> dict[int, float]:
    """Return the scores of those of some passages that hold a word of an FTS5 expression.

    Asked for are those around the units that were found: scoring all that hold a word takes as long as finding units.
    """
    listed = f"[{','.join(map(str, passages))}]"
    return dict(connection.execute(_PASSAGES, (terms, listed)).fetchall()) if terms else {}


def _units_query(terms: str, filters: Filters, neighbours: float) -> tuple[str, tuple[str | float, ...]]:
    if not filters.any:
        return _MATCHED, (neighbours, terms)
    condition, values = filters.condition()
    joined = (
        f"SELECT units.id, found.score FROM ({_MATCHED}) AS found"  # noqa: S608  our own words
        " JOIN units INDEXED BY idx_units_placed ON units.id = found.id"
        f" JOIN files ON files.id = units.file WHERE {condition}"
    )
    return joined, (neighbours, terms, *values)


def _best(
    connection: sqlite3.Connection, query: str, values: tuple[str | float, ...], count: int
) -> list[tuple[int, float]]:
    """Return the rows with the best scores, and never a part of those that score the same."""
    limit = count + _LEEWAY
    ordered = f"SELECT * FROM ({query}) ORDER BY 2 DESC LIMIT {limit:d}"  # noqa: S608  ours
    rows: list[tuple[int, float]] = connection.execute(ordered, values).fetchall()
    if len(rows) <= count:
        return rows
    bar = rows[count - 1][1]
    if len(rows) == limit and rows[-1][1] == bar:
        return [row for row in connection.execute(query, values) if row[1] >= bar]
    return [row for row in rows if row[1] >= bar]


def allowed_units(connection: sqlite3.Connection, filters: Filters) -> list[int] | None:
    """Return the units that fit the filters, or None where all do."""
    if not filters.any:
        return None
    condition, values = filters.condition()
    return [unit for (unit,) in connection.execute(fitting(condition), values)]


def fitting(condition: str) -> str:
    """Return the SQL that finds the units of which a condition over `units` and `files` is true."""
    # Row by row of the index that holds all that filters look at: the texts beside it are a hundred times as much.
    return (
        "SELECT units.id FROM units INDEXED BY idx_units_placed"  # noqa: S608  our own words
        f" CROSS JOIN files ON files.id = units.file WHERE {condition}"
    )


# ---------------------------------------- where candidates stand
# by numbers for all of them, and by name for those few whose order hangs on it.


_DAMAGED: Final = "it is damaged (a row is not as it was written)"


Standing = tuple[int, int | None, int | None]
"""Where a candidate stands, by numbers: its file, and the first and the last passage that it belongs to."""


class Place(NamedTuple):
    """Where a candidate stands, and what its rank may hang on."""

    path: str
    line: int
    date: str
    trust: str
    confidence: str


class Standings:
    """Where candidates stand; each is looked up once. Those that are hidden, no more or stale stand nowhere."""

    def __init__(self, connection: sqlite3.Connection, filters: Filters, stale: Collection[str]) -> None:
        """Look nothing up yet."""
        self._connection = connection
        self._query = _STANDINGS + filters.told
        self._stale = _files(connection, stale) if stale else frozenset[int]()
        self._looked_up = set[int]()
        self._there: dict[int, Standing] = {}

    def look_up(self, units: Iterable[int]) -> None:
        """Look up all of some units of which it is not known yet.

        Raises:
            IndexUnusable: what stands there cannot have been written.
        """
        new = set(units) - self._looked_up
        if new:
            self._looked_up |= new
            rows = self._connection.execute(self._query, (_listed(new),)).fetchall()
            _check(rows, _NUMBERS)
            self._there |= {row[0]: row[1:] for row in rows if row[1] not in self._stale}

    def of(self, units: Collection[int]) -> dict[int, Standing]:
        """Return where those of some units stand that stand anywhere.

        Raises:
            IndexUnusable: what stands there cannot have been written.
        """
        self.look_up(units)
        there = self._there
        return {unit: there[unit] for unit in units if unit in there}


def read_places(connection: sqlite3.Connection, units: Iterable[int]) -> dict[int, Place]:
    """Return the places of units, each of which stands somewhere.

    Raises:
        IndexUnusable: what stands there cannot have been written, or one stands in a file that is not there.
    """
    wanted = set(units)
    rows = connection.execute(_PLACES, (_listed(wanted),)).fetchall()
    _check(rows, _NAMES)
    if len(rows) != len(wanted):
        raise IndexUnusable(_DAMAGED)
    return {row[0]: Place._make(row[1:]) for row in rows}


def told_in_logs(
    connection: sqlite3.Connection, standings: Mapping[int, Standing], filters: Filters, stale: Collection[str]
) -> set[int]:
    """Return those of some units that are turns of which a log tells: who finds the log's line need not find them.

    They are found where that line does not fit what is asked for, or its file is stale: a log is nobody's word but the
    agent's, and what its owner said stands in the turn.
    """
    files = _listed({file for file, _, _ in standings.values()})
    sessions = {file for (file,) in connection.execute(_SESSIONS, (files,))}
    if not sessions or (filters.sources and "log" not in filters.sources):
        return set()
    turns = read_places(connection, (unit for unit, (file, _, _) in standings.items() if file in sessions))
    asked = json.dumps(sorted({f"{place.path}:{place.line}" for place in turns.values()}))
    condition, values = filters.condition()
    rows = connection.execute(_TOLD + condition, (asked, *values))
    found = {record for record, path in rows if path not in stale}
    return {unit for unit, place in turns.items() if f"{place.path}:{place.line}" in found}


def _files(connection: sqlite3.Connection, paths: Collection[str]) -> frozenset[int]:
    return frozenset(file for (file,) in connection.execute(_PATHS, (json.dumps(list(paths)),)))


def _listed(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"


def _check(rows: Sequence[tuple[object, ...]], kinds: Sequence[frozenset[type]]) -> None:
    columns = list(zip(*rows, strict=True))[1:]
    if columns and not all(kind.issuperset(map(type, column)) for column, kind in zip(columns, kinds, strict=True)):
        raise IndexUnusable(_DAMAGED)


_WHOLE: Final = frozenset({int})
_PASSAGE: Final = frozenset({int, type(None)})
_TEXT: Final = frozenset({str})
_NUMBERS: Final = (_WHOLE, _PASSAGE, _PASSAGE)
_NAMES: Final = (_TEXT, _WHOLE, _TEXT, _TEXT, _TEXT)

# All from the index that holds what ranking and filters ask for: the texts beside it are a hundred times as much.
_STANDINGS: Final = """
    SELECT id, file, first_passage, last_passage FROM units INDEXED BY idx_units_placed
    WHERE id IN (SELECT value FROM json_each(?)) AND
"""
_PLACES: Final = """
    SELECT units.id, files.path, start_line, date, trust, confidence
    FROM units INDEXED BY idx_units_placed JOIN files ON files.id = units.file
    WHERE units.id IN (SELECT value FROM json_each(?))
"""
_PATHS: Final = "SELECT id FROM files WHERE path IN (SELECT value FROM json_each(?))"
_SESSIONS: Final = f"SELECT id FROM files WHERE id IN (SELECT value FROM json_each(?)) AND path GLOB '{SESSIONS}/*'"  # noqa: S608  ours
_TOLD: Final = """
    SELECT units.record, files.path FROM units INDEXED BY idx_units_record JOIN files ON files.id = units.file
    WHERE units.record != '' AND units.record IN (SELECT value FROM json_each(?)) AND
"""
