"""Beliefs govern search results: an item represents its lines, and what overruled a line comes before it.

A believed item represents the log lines it is based on. Once it is superseded, corrected, retracted or over, those
lines are *overruled*: whoever finds one sees what overruled it. The same applies to the lines of items that a person
rejected, or has not been asked about yet.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from pipelines.search.candidates import CandidatePlace, IndexQuestion, Scores, fitting_units, rows_of
from pipelines.search.schema import HELD_BACK, REJECTED
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Collection
    from sqlite3 import Connection


class Overruled(NamedTuple):
    """Why a line is not believed: the overruling item, if any, the day, and that item's text."""

    by: str
    why: str
    since: str
    text: str

    def __str__(self) -> str:
        """Return it as a clause: `superseded on 2026-03-05 by k56e0a1: Fact: …`."""
        on = f" on {self.since}" if self.since else ""
        return f"{self.why}{on}" + (f" by {self.by}" if self.by else "") + (f": {fold(self.text)}" if self.text else "")

    def to_json(self) -> dict[str, str]:
        """Return it for JSON; whoever wants the text asks for the item."""
        return {"by": self.by, "why": self.why, "since": self.since}


_ABOUT = """
    SELECT units.id, claims.item, claims.why, claims.successor, claims.since
    FROM json_each(?) AS wanted JOIN units INDEXED BY idx_units_placed ON units.id = wanted.value
    JOIN files ON files.id = units.file
    JOIN claims ON claims.path = files.path AND claims.start_line <= units.end_line
        AND claims.end_line >= units.start_line
    ORDER BY files.path, units.start_line, units.id, claims.successor = '', claims.item, claims.cited, claims.why
"""
_PAST = """
    SELECT units.id, units.item, ifnull(claims.why, 'past'), ifnull(claims.successor, ''), ifnull(claims.since, '')
    FROM json_each(?) AS wanted JOIN units INDEXED BY idx_units_placed ON units.id = wanted.value AND units.hidden
    LEFT JOIN claims ON claims.item = units.item AND units.item != '' AND claims.why != ''
    ORDER BY units.id, claims.successor = '', claims.cited, claims.why
"""
_NEXT = """
    SELECT successor FROM claims WHERE item = ? AND why = 'superseded' AND successor != ''
    AND (? = '' OR since <= ?) ORDER BY cited, successor LIMIT 1
"""
# The order of files, never that of unit numbers: those depend on when a file was indexed.
_ITEMS = """
    SELECT units.id, item, text FROM units JOIN files ON files.id = units.file
    WHERE item IN (SELECT value FROM json_each(?)) ORDER BY files.path, units.start_line, units.id
"""
_EVIDENCE = """
    SELECT claims.item, units.id FROM json_each(?) AS wanted JOIN claims ON claims.item = wanted.value
    JOIN files ON files.path = claims.path
    JOIN units ON units.file = files.id AND units.start_line <= claims.end_line AND units.end_line >= claims.start_line
    WHERE claims.why IN (SELECT value FROM json_each(?)) ORDER BY files.path, units.start_line, units.id
"""


_OVER_SINCE = """
    SELECT told.id, claims.item, claims.why, claims.successor, claims.since FROM json_each(?) AS wanted
    JOIN units AS told INDEXED BY idx_units_told ON told.id = wanted.value AND told.cites != ''
    JOIN json_each('["' || replace(told.cites, char(31), '","') || '"]') AS cited
    JOIN claims ON claims.item = cited.value AND claims.why IN ('superseded', 'ended', 'retracted')
    WHERE ? = '' OR claims.since <= ? GROUP BY told.id, claims.item ORDER BY told.id, cited.key
"""


_TWICE = 0.3
"""The share of the lower score, of an item and its line, that is added to the higher one: both of them answer."""
_About = tuple[str, str, str, str]
"""An item, why it does not hold or an empty string, by what it is overruled, since when."""


class Governed(NamedTuple):
    """Search results after beliefs are applied: the scores and places of hits, and which are overruled."""

    scores: dict[int, float]
    places: dict[int, CandidatePlace]
    overruled: dict[int, Overruled]


def apply_beliefs(connection: Connection, scores: Scores, question: IndexQuestion, *, all_lines: bool) -> Governed:
    """Apply beliefs to what was found: believed items that were found represent their lines, and get their scores.

    The item that overruled a line gets its score, unless the line was found for what still holds. An item that no
    longer holds gives its own to what overruled it. Rejected and held-back lines are no hits.

    Args:
        connection: the index.
        scores: the units that were found.
        question: the question.
        all_lines: whether rejected and held-back lines are hits, too.
    """
    day = question.filters.as_of
    past = {} if day else _claims(connection, _PAST, scores, "")
    claims = _claims(connection, _ABOUT, scores, day) | past
    unwanted = set() if all_lines else {REJECTED, HELD_BACK}
    rejected = {line for line, found in claims.items() if any(why in unwanted for _, why, *_ in found)}
    governed = Governed({unit: score for unit, score in scores.items() if unit not in rejected | past.keys()}, {}, {})
    over = evidence_of(connection, {item for found in claims.values() for item, why, *_ in found if why}, "")
    saying = {unit for units in over.values() for unit in units}
    claims |= _claims(connection, _ABOUT, saying - scores.keys(), day)
    ends = {one: _end_of_chain(connection, one, day) for found in claims.values() for *_, one, _ in found if one}
    named = {item for found in claims.values() for item, *_ in found} | set(ends.values())
    # Of an item that stands twice, the place that was found counts: the other one was left out as a copy.
    rows = sorted(rows_of(connection, _ITEMS, sorted(named)), key=lambda row: row[0] in scores)
    texts = {item: text for _, item, text in rows}
    fitting = fitting_units(connection, [*(unit for unit, *_ in rows), *saying], question)
    units = {item: unit for unit, item, _ in rows if unit in fitting}
    own = {item: scores.get(unit, 0.0) for unit, item, _ in rows}
    for line, found in claims.items():
        against = [claim for claim in found if claim[1]]
        if line not in scores or line in rejected or not against:
            continue
        item, why, successor, since = against[0]
        last = ends.get(successor, "")
        if line not in past:
            governed.overruled[line] = Overruled(last, why, since, texts.get(last, ""))
        # A line may say two things: who finds it for what holds does not ask for what is over.
        holding = max((own.get(one, 0.0) for one, reason, *_ in found if not reason), default=0.0)
        if holding > max(own.get(item, 0.0), own.get(last, 0.0)):
            continue
        for unit in [units[last]] if last in units else over.get(item, ()):
            if unit in fitting and unit != line:
                governed.scores[unit] = max(scores[line], governed.scores.get(unit, 0.0))
                governed.places[unit] = fitting[unit]
    for line in [line for line in claims if line in governed.scores]:
        there = [unit for item, why, *_ in claims[line] if not why and (unit := units.get(item))]
        standing = [unit for unit in there if unit in scores] or (there if line in governed.overruled else [])
        for unit in standing:
            less, more = sorted((scores.get(unit, 0.0), governed.scores[line]))
            governed.scores[unit] = max(more + _TWICE * less, governed.scores.get(unit, 0.0))
        if standing:  # the line says two things: if one is over, it hangs below what holds, else below what was found
            del governed.scores[line]
            governed.overruled.pop(line, None)
        governed.places.update((unit, fitting[unit]) for unit in standing)
    return governed


def _claims(connection: Connection, selection: str, units: Collection[int], day: str) -> dict[int, list[_About]]:
    """Return the claims about each unit: item, why it is overruled on a day or now, by what, since when."""
    claims = dict[int, list[_About]]()
    for unit, item, *against in rows_of(connection, selection, units):
        not_yet = day and against[-1] > day
        why, successor, since = ("", "", "") if not_yet else against
        claims.setdefault(unit, []).append((item, why, successor, since))
    return claims


def _end_of_chain(connection: Connection, item: str, day: str) -> str:
    """Return the end of a chain of superseded items, on a day or now."""
    seen = {item}
    while (found := connection.execute(_NEXT, (item, day, day)).fetchone()) and found[0] not in seen:
        item = found[0]
        seen.add(item)
    return item


def evidence_of(connection: Connection, items: Collection[str], *whys: str) -> dict[str, list[int]]:
    """Return the log units that each item is based on, in order.

    Args:
        connection: the index.
        items: the ids of the items.
        whys: return only lines overruled for one of these reasons; an empty one stands for lines not overruled.
    """
    units = dict[str, list[int]]()
    for item, unit in rows_of(connection, _EVIDENCE, sorted(items), json.dumps(whys)):
        units.setdefault(item, []).append(unit)
    return {item: list(dict.fromkeys(found)) for item, found in units.items()}


def over_since(connection: Connection, units: Collection[int], day: str) -> dict[int, tuple[Overruled, ...]]:
    """Return for each episode among the units what it tells that no longer holds, on a day or now."""
    found = rows_of(connection, _OVER_SINCE, units, day, day).fetchall()
    ends = {item: _end_of_chain(connection, successor, day) if successor else "" for _, item, _, successor, _ in found}
    texts = {item: text for _, item, text in rows_of(connection, _ITEMS, sorted({*ends, *ends.values()}))}
    over = dict[int, tuple[Overruled, ...]]()
    for unit, item, why, _, since in found:
        told = texts.get(ends[item] or item, "")
        over[unit] = (*over.get(unit, ()), Overruled(ends[item], why, since, told))
    return over
