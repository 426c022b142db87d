"""Search by words and by meaning over small units, each scored with its context; only the unit is returned."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from pipelines.search.beliefs import Governed, apply_beliefs, evidence_of, over_since
from pipelines.search.candidates import (
    CandidatePlace,
    IndexQuestion,
    Places,
    Scores,
    bearing_rules,
    candidates,
    fitting_units,
    repeated_in_copies,
    repeated_in_logs,
    rows_of,
)
from pipelines.search.chunk_context import (
    day_words,
    has_one_of,
    identifiers,
    match_expression,
    match_terms,
    names_by_number,
    unlabelled,
    unspaced_pairs,
)
from pipelines.search.filters import Filters, resolved
from pipelines.search.hits import Found, Hit, held_words, is_close, read_hits, reads
from pipelines.search.rank import newer_first, weighted, whole_first, worth
from pipelines.store.item import ItemType, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path
    from sqlite3 import Connection

    from pipelines.search.embedders.embedder import Floats


CANDIDATES = 100
"""The minimum of units found by words, and by meaning."""
CANDIDATES_A_HIT = 10
"""Units found by words, and by meaning, per requested hit: with three, recall was half a point lower."""
# The number of hits before the relevant rules, which then follow in their own order.
_BEFORE_RULES = 5
_STEP = 1e-6
# An item named by its id comes before everything that merely contains its words.
_NAMED_SCORE = 1000.0
_NAMED = "SELECT id FROM units WHERE item >= :prefix AND item < :prefix || 'g'"
# The share of meaning. A question that the model cannot read is answered by words; what is only near follows.
_HALF, _UNREAD = 0.5, 0.05
_TEXTS = """
SELECT units.id, text FROM units JOIN files ON files.id = units.file
WHERE units.id IN (SELECT value FROM json_each(?)) AND path NOT GLOB 'Episodes/*'
"""
"""Those of some units that may say what holds: an episode tells of its day."""
_EPISODES = "SELECT units.id, date FROM units JOIN files ON files.id = units.file WHERE path GLOB 'Episodes/*'"


class SearchRequest(NamedTuple):
    """How to answer a question.

    Args:
        filters: what may be found.
        vector: the question's vector, length one; None searches by words alone.
        embedder: the embedder of the vector; it is not compared with another one's.
        overruled: whether rejected and held-back lines are found, too.
    """

    filters: Filters = Filters()
    vector: Floats | None = None
    embedder: str = ""
    overruled: bool = False


def answer(
    root: Path, connection: Connection, query: str, limit: int, stale: Collection[str], asked: SearchRequest
) -> tuple[list[Hit], Found]:
    """Answer a question: the best hits, best first; equal scores in order of path and line.

    Any text is a valid question; words that occur nowhere find nothing. Superseded, retracted, merged and waiting items
    are left out. All questions to one connection see the state of the index at the first one.

    Args:
        root: the memory.
        connection: its index, from `reading`.
        query: a question in plain words, or names, ids, file names, `#tag`; `project:NAME` and `type:TYPE` filter. One
            that only filters finds all that matches, newest first.
        limit: the maximum number of hits.
        stale: files to leave out, because they changed since.
        asked: filters and the question's vector.

    Returns:
        The hits, and how much was found: "little" if none is close to the question, "nothing" if there is none.

    Raises:
        IndexUnusable: the index cannot be read.
    """
    question, query = _question(root, connection, query, stale, asked)
    # What may be found: by words, by meaning, and by id, since the full text is tokenised and stemmed.
    places, words, meaning = candidates(connection, question, max(CANDIDATES, CANDIDATES_A_HIT * limit))
    terms = match_terms(unlabelled(query)) or match_terms(query)  # labels alone, if nothing else is asked
    named = _named(connection, query, terms, question)
    twice = repeated_in_logs(connection, places, question) | repeated_in_copies(root, connection, places | named)
    named = {unit: place for unit, place in named.items() if unit not in twice}
    held = held_words(connection, terms, words)
    if question.near is None:
        fused = words
    else:
        fused = weighted(words, meaning, _HALF if reads(asked.embedder, query) else _UNREAD)
    scores = {unit: score for unit, score in fused.items() if score > 0 and unit not in twice}
    # What is believed speaks for what was said.
    governed = apply_beliefs(connection, scores, question, all_lines=asked.overruled)
    places |= governed.places
    if not question.is_listing:
        worths = {unit: worth(places[unit], question.filters.as_of) for unit in governed.scores}
        governed.scores.update({unit: score * worths[unit] for unit, score in governed.scores.items()})
    governed.scores.update(whole_first(governed.scores, held, len(terms), places))
    governed.scores.update(newer_first(governed.scores, places))
    governed.scores.update(exact := _named_by_number(connection, query, governed.scores))
    rules = bearing_rules(connection, question, max(meaning.values(), default=0.0))
    governed.scores.update(_rule_scores(rules, governed.scores) | dict.fromkeys(named, _NAMED_SCORE))
    order = _best(governed, scores, places | rules | named, limit)
    # Character pairs are not words: most of those across word boundaries occur nowhere.
    is_found = bool(named or exact or question.is_listing or (words and unspaced_pairs(query)))
    is_found = is_found or is_close(terms, held, meaning, asked.embedder)
    found: Found = "nothing" if not order else "yes" if is_found else "little"
    return _shown(connection, governed, order, asked.filters.as_of), found


def _named_by_number(connection: Connection, query: str, scores: Scores) -> Scores:
    """Return higher scores for units that have what a question names by a number: none below one without it."""
    if not (named := names_by_number(query)):
        return {}
    having = {unit for unit, text in rows_of(connection, _TEXTS, scores) if has_one_of(named, text)}
    floor = max((score for unit, score in scores.items() if unit not in having), default=0.0)
    return {unit: floor + scores[unit] for unit in having}


def _question(
    root: Path, connection: Connection, query: str, stale: Collection[str], asked: SearchRequest
) -> tuple[IndexQuestion, str]:
    """Return what to search for, with the vectors to compare with the question's, and the question without filters."""
    filters, query = resolved(asked.filters, connection, query)
    near = None
    if asked.vector is not None and (query.strip() or not filters.any):
        from pipelines.search.vectors import VectorModel, cosines  # noqa: PLC0415  words alone need none

        near = cosines(root, VectorModel(asked.embedder, len(asked.vector)), asked.vector) or None
    return IndexQuestion(match_expression(query), filters, stale, near), query


def _named(
    connection: Connection, query: str, asked: Collection[str], question: IndexQuestion
) -> dict[int, CandidatePlace]:
    """Return the items that a question names by id, and the episodes of a day if it asks of nothing else.

    Such a day is “23 Feb” or “February 2026”; `asked` are the terms of the question.
    """
    units = [unit for prefix in identifiers(query) for (unit,) in connection.execute(_NAMED, {"prefix": prefix})]
    if len(asked) in range(2, 6) and any(map(str.isdigit, "".join(asked))):
        for unit, day in connection.execute(_EPISODES):
            said = day_words(day)
            if set(asked).issubset(match_terms(f"{day} {said} {said.partition(' ')[2][:3]}")):
                units.append(unit)
    return fitting_units(connection, units, question) if units else {}


def _rule_scores(rules: Collection[int], scores: Scores) -> dict[int, float]:
    """Return the scores that move rules, in their order, directly after the first hits; none moves down."""
    behind = heapq.nlargest(_BEFORE_RULES, scores.values())[-1] if scores else 0.0
    wanted = {unit: behind * (1 - number * _STEP) for number, unit in enumerate(rules, 1)}
    return {unit: score for unit, score in wanted.items() if score > scores.get(unit, 0.0)}


def _best(governed: Governed, own: Scores, places: Places, limit: int) -> list[int]:
    """Return the best units in order; overruled ones come last, and take at most a third of the places.

    A line that says two things gives its score to two items: the one nearer to the question by its own words is first.
    Of equals, the newer is first.
    """
    newest = sorted(
        sorted(governed.scores, key=lambda unit: (places[unit][:2], unit)),
        key=lambda unit: places[unit].date,
        reverse=True,
    )
    ranked = sorted(newest, key=lambda unit: (-governed.scores[unit], -own.get(unit, 0.0)))
    standing = [unit for unit in ranked if unit not in governed.overruled]
    room = max(limit // 3, limit - len(standing))
    last = [unit for unit in ranked[:limit] if unit in governed.overruled][:room]
    return [*standing[: limit - len(last)], *last]


def _shown(connection: Connection, governed: Governed, units: Sequence[int], day: str) -> list[Hit]:
    """Return units as hits, each with the lines behind it, or with what overruled it, on a day or now."""
    hits = read_hits(connection, {unit: governed.scores[unit] for unit in units})
    below = evidence_of(connection, [hit.item for hit in hits if hit.item], "", "corrected")
    over = over_since(connection, units, day) if any(hit.cites for hit in hits) else {}
    lines = list(dict.fromkeys(unit for units in below.values() for unit in units))
    read = dict(zip(lines, read_hits(connection, dict.fromkeys(lines, 0.0)), strict=True))
    return [
        hit._replace(
            status=(Status.OPEN if ItemType.TODO in hit.types else Status.LIVE) if day and hit.until else hit.status,
            overruled=governed.overruled.get(unit),
            over_since=over.get(unit, ()),
            evidence=tuple(read[line] for line in below.get(hit.item, ())),
        )
        for unit, hit in zip(units, hits, strict=True)
    ]
