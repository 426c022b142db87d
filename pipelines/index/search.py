"""Search: BM25 over small units, each scored together with its surroundings, the small unit alone given back."""

from __future__ import annotations

import heapq
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pipelines.index.schema import SEPARATOR
from pipelines.index.store import reading
from pipelines.index.words import identifiers, match_expression
from pipelines.memory.layout import LOGS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator
    from pathlib import Path

# A unit's own words count whole; those about it (headings, date, path, labels), its neighbours' and its best passage's
# count half. Measured on conversations; anything between a quarter and one comes out within a point.
_PASSAGE_WEIGHT: Final = 0.5
_UNITS: Final = """
    SELECT units.id, units.file, units.start_line, units.first_passage, units.last_passage, found.score
    FROM (
        SELECT rowid AS id, -bm25(units_fts, 1.0, 1.0, 0.5, 0.5) AS score FROM units_fts WHERE units_fts MATCH ?
    ) AS found JOIN units ON units.id = found.id
    WHERE NOT units.hidden
"""
# An item that the question names by its id comes before everything that merely holds its words.
_NAMED_SCORE: Final = 1000.0
_PASSAGES: Final = "SELECT rowid, -bm25(passages_fts) FROM passages_fts WHERE passages_fts MATCH ?"
_NAMED: Final = """
    SELECT id, file, start_line FROM units WHERE item >= :prefix AND item < :prefix || 'g' AND NOT hidden
"""
_SHOWN: Final = """
    SELECT files.path, start_line, end_line, text, date, headings, types, project, tags, trust, confidence, status, item
    FROM units JOIN files ON files.id = units.file WHERE units.id = ?
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """One unit that was found.

    Args:
        path: the file, relative to the memory, with `/`.
        start_line: first line, counted from 1.
        end_line: last line, inclusive.
        text: what stands there; an item as its label and sentence.
        score: the higher, the better; comparable within one query only.
        date: a log's day, an item's `since`, a document's `updated`; may be empty.
        headings: the headings above, outermost first.
        types: the types of the items in it.
        project: the project's title, or empty.
        tags: its `#tag` words.
        trust: owner, self, external or untrusted.
        confidence: high, medium, low, speculative, or empty.
        status: an item's status, or empty.
        item: an item's id, or empty.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    score: float
    date: str
    headings: tuple[str, ...]
    types: tuple[str, ...]
    project: str
    tags: tuple[str, ...]
    trust: str
    confidence: str
    status: str
    item: str

    @property
    def kind(self) -> Literal["log", "document"]:
        """Whether it tells what happened (a log) or what is held to be so (a document)."""
        return "log" if self.path.startswith(f"{LOGS}/") else "document"

    def to_json(self) -> dict[str, Any]:
        """Return it as what `json` can write."""
        return asdict(self) | {"kind": self.kind, "score": round(self.score, 6)}


def search(root: Path, query: str, limit: int, stale: Collection[str] = ()) -> list[Hit]:
    """Return what best answers a question, best first; equal scores in order of path and line.

    Any text is a fair question, and words that nothing holds find nothing. Superseded, retracted, merged and waiting
    items stay out.

    Args:
        root: the memory.
        query: a question in plain words, or names, ids, file names, `#tag`, `project:NAME`, `type:TYPE`.
        limit: how many hits at most.
        stale: files whose rows are not to be believed, because they changed since.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    with reading(root) as connection:
        files = connection.execute("SELECT id, path FROM files WHERE reason = ''")
        believed = {file: path for file, path in files if path not in stale}
        scored = {unit: key for key, unit in _matching(connection, match_expression(query))}
        scored |= {unit: key for key, unit in _named(connection, query)}
        keyed = (
            (-score, believed[file], line, unit) for unit, (score, file, line) in scored.items() if file in believed
        )
        return [_hit(connection, unit, -score) for score, _, _, unit in heapq.nsmallest(limit, keyed)]


_Candidate = tuple[tuple[float, int, int], int]  # score, file and line; the unit


def _matching(connection: sqlite3.Connection, terms: str) -> Iterator[_Candidate]:
    if not terms:
        return
    passages = dict(connection.execute(_PASSAGES, (terms,)).fetchall())
    for unit, file, line, first, last, score in connection.execute(_UNITS, (terms,)):
        surrounding = max(passages.get(first, 0.0), passages.get(last, 0.0))
        yield (score + _PASSAGE_WEIGHT * surrounding, file, line), unit


def _named(connection: sqlite3.Connection, query: str) -> Iterator[_Candidate]:
    """Yield the items whose ids a question names: a stemmed, tokenised text is no place to look for those."""
    for prefix in identifiers(query):
        for unit, file, line in connection.execute(_NAMED, {"prefix": prefix}):
            yield (_NAMED_SCORE, file, line), unit


def _hit(connection: sqlite3.Connection, unit: int, score: float) -> Hit:
    path, start, end, text, date, headings, types, project, tags, *rest = connection.execute(_SHOWN, (unit,)).fetchone()
    lists = [tuple(value.split(SEPARATOR)) if value else () for value in (headings, types, tags)]
    return Hit(path, start, end, text, score, date, lists[0], lists[1], project, lists[2], *rest)
