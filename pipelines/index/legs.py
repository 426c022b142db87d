"""The two legs of a search: who scores by words, and who by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.index.filters import Filters
    from pipelines.index.matrix import Matrix

# A unit's own words count whole; those about it (headings, date, path, labels) count half.
_MATCHED: Final = (
    "SELECT rowid AS id, -bm25(units_fts, 1.0, 1.0, 0.5, ?) AS score FROM units_fts WHERE units_fts MATCH ?"
)
_PASSAGES: Final = "SELECT rowid, -bm25(passages_fts) FROM passages_fts WHERE passages_fts MATCH ?"


def by_words(
    connection: sqlite3.Connection, terms: str, filters: Filters, count: int, neighbours: float
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the `count` units and the `count` passages that hold the words best, with their scores.

    All that are as good as the last are there, too.

    Args:
        connection: the index, open to read.
        terms: an FTS5 expression, or an empty string.
        filters: what may be found; passages are not narrowed down.
        count: how many candidates are looked at.
        neighbours: how much a word beside a unit counts against one in it.
    """
    if not terms:
        return {}, {}
    own = _best(connection, *_units_query(terms, filters, neighbours), count)
    return dict(own), dict(_best(connection, _PASSAGES, (terms,), count))


def _units_query(terms: str, filters: Filters, neighbours: float) -> tuple[str, tuple[str | float, ...]]:
    if not filters.any:
        return _MATCHED, (neighbours, terms)
    condition, values = filters.condition()
    joined = (
        f"SELECT units.id, found.score FROM ({_MATCHED}) AS found JOIN units ON units.id = found.id"  # noqa: S608  ours
        f" JOIN files ON files.id = units.file WHERE {condition}"
    )
    return joined, (neighbours, terms, *values)


def _best(
    connection: sqlite3.Connection, query: str, values: tuple[str | float, ...], count: int
) -> list[tuple[int, float]]:
    """Return the rows with the best scores, and never a part of those that score the same."""
    ordered = f"SELECT * FROM ({query}) ORDER BY 2 DESC LIMIT {count + 1:d}"  # noqa: S608  ours
    rows: list[tuple[int, float]] = connection.execute(ordered, values).fetchall()
    if len(rows) > count and rows[-1][1] == rows[-2][1]:
        rows = [row for row in connection.execute(query, values) if row[1] >= rows[-1][1]]
    return rows


def allowed_units(connection: sqlite3.Connection, filters: Filters) -> list[int] | None:
    """Return the units that fit the filters, or None where all do."""
    if not filters.any:
        return None
    condition, values = filters.condition()
    found = f"SELECT units.id FROM units JOIN files ON files.id = units.file WHERE {condition}"  # noqa: S608  ours
    return [unit for (unit,) in connection.execute(found, values)]


def scan(matrix: Matrix, question: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosine of every unit with a question, by unit number; the interpreter is free meanwhile."""
    return matrix.rows @ question


def nearest(
    matrix: Matrix, cosines: NDArray[np.float32], question: NDArray[np.float32], allowed: list[int] | None, count: int
) -> dict[int, float]:
    """Return the `count` units nearest in meaning with their cosines, and all that are as near as the last.

    The cosines given back are computed anew for the few, one by one: a scan adds up in an order that hangs on where a
    row stands, and the same words must score the same wherever they are.
    """
    import numpy as np  # noqa: PLC0415  a search by words alone needs none

    if allowed is not None:
        rows = np.asarray([unit for unit in allowed if unit < len(cosines)], np.int64)
        cosines = cosines[rows]
    if len(cosines) > count:
        bar = _bar(cosines, count)
        picked = np.flatnonzero(cosines >= bar - 1e-6)
    else:
        picked = np.arange(len(cosines))
    units = picked if allowed is None else rows[picked]
    return exact(matrix, question, units.tolist())


def _bar(cosines: NDArray[np.float32], count: int) -> float:
    """Return a cosine that at least `count` reach: the best of blocks first, for that is quicker than sorting all."""
    import numpy as np  # noqa: PLC0415  as above

    size = max(1, len(cosines) // (8 * count))
    whole = len(cosines) // size * size
    heads = np.concatenate([cosines[:whole].reshape(-1, size).max(axis=1), cosines[whole:]])
    least = float(np.partition(heads, len(heads) - count)[len(heads) - count])
    few = cosines[cosines >= least]
    return float(np.partition(few, len(few) - count)[len(few) - count])


def exact(matrix: Matrix, question: NDArray[np.float32], units: list[int]) -> dict[int, float]:
    """Return the cosines of some units, each added up in the same order wherever its row stands."""
    import numpy as np  # noqa: PLC0415  as above

    known = [unit for unit in units if unit < len(matrix.rows)]
    rows = np.asarray(matrix.rows[np.asarray(known, np.int64)])
    scores = (rows * question).sum(axis=1)
    there: list[bool] = np.any(rows, axis=1).tolist()
    return {unit: score for unit, score, has in zip(known, scores.tolist(), there, strict=True) if has}
