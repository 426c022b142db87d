"""The leg of a search that goes by words, and who may be found at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from pipelines.index.filters import Filters

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
