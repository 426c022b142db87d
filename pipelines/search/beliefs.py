"""What the memory believes governs what is found: an item stands for its lines, and what overruled a line comes first.

While an item is believed, it stands for the lines that it rests on. Once it was superseded, corrected or retracted, or
is over, they are *overruled*: whoever finds one is told by what. So are the lines of what a person rejected, or was
never asked to believe.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.search.candidates import fitting_units
from pipelines.store.item import fold

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping

    from pipelines.search.candidates import Place, Question


class Overruled(NamedTuple):
    """Why a line is not believed: by which item, if by one, since which day, and what that item says."""

    by: str
    why: str
    since: str
    text: str = ""

    def __str__(self) -> str:
        """Return it as a part of a sentence: `superseded on 2026-03-05 by k56e0a1: Fact: …`."""
        on = f" on {self.since}" if self.since else ""
        return f"{self.why}{on}" + (f" by {self.by}" if self.by else "") + (f": {fold(self.text)}" if self.text else "")


REJECTED, HELD_BACK = "rejected", "held back"
"""Why lines are not even shown, unless asked for: a person said no, or was not asked yet."""


_ABOUT: Final = """
    SELECT units.id, claims.item, claims.why, claims.successor, claims.since
    FROM json_each(?) AS wanted JOIN units INDEXED BY idx_units_placed ON units.id = wanted.value
    JOIN files ON files.id = units.file
    JOIN claims ON claims.path = files.path AND claims.start_line <= units.end_line
        AND claims.end_line >= units.start_line
    ORDER BY units.id, claims.successor = '', claims.item, claims.cited
"""
_NEXT: Final = (
    "SELECT successor FROM claims WHERE item = ? AND why = 'superseded' AND successor != ''"
    " AND (? = '' OR since <= ?) ORDER BY cited LIMIT 1"
)
_ITEMS: Final = "SELECT id, item, text FROM units WHERE item IN (SELECT value FROM json_each(?))"
_EVIDENCE: Final = """
    SELECT claims.item, units.id FROM json_each(?) AS wanted JOIN claims ON claims.item = wanted.value
    JOIN files ON files.path = claims.path
    JOIN units ON units.file = files.id AND units.start_line <= claims.end_line AND units.end_line >= claims.start_line
    WHERE claims.why IN (SELECT value FROM json_each(?)) ORDER BY files.path, units.start_line, units.id
"""


_TOLD: Final = """
    SELECT told.id, line.id FROM json_each(?) AS wanted
    JOIN units AS told INDEXED BY idx_units_told ON told.id = wanted.value AND told.cites != ''
    JOIN json_each('["' || replace(told.cites, char(31), '","') || '"]') AS cited
    JOIN claims ON claims.item = cited.value AND claims.why NOT IN (?, ?)
    JOIN files ON files.path = claims.path
    JOIN units AS line ON line.file = files.id AND line.start_line <= claims.end_line
        AND line.end_line >= claims.start_line AND line.date = told.date
    GROUP BY told.id, line.id ORDER BY files.path, line.start_line, line.id
"""


class Governed(NamedTuple):
    """What was found, as the memory thinks of it: the scores of what may be a hit, and which of it is overruled."""

    scores: dict[int, float]
    places: dict[int, Place]
    overruled: dict[int, Overruled]


def govern(
    connection: sqlite3.Connection, scores: Mapping[int, float], question: Question, *, flat: bool, all_lines: bool
) -> Governed:
    """Let beliefs govern what was found.

    An item that is believed stands for its lines that were found, and has the best of their scores; so has what
    overruled a line. Lines that were rejected or held back are no hits. An episode found by what is overruled now comes
    behind what overruled it.

    Args:
        connection: the index.
        scores: the units that were found.
        question: what is looked for.
        flat: whether lines stay hits beside their items.
        all_lines: whether what was rejected or held back is a hit, too.
    """
    governed = Governed(dict(scores), {}, {})
    claims = _claims_about(connection, scores, question)
    if not claims:
        return governed
    day = question.filters.as_of
    over = evidence_of(connection, {item for found in claims.values() for item, why, *_ in found if why}, "")
    saying = {unit for units in over.values() for unit in units}
    claims |= _claims_about(connection, saying - scores.keys(), question)
    ends = {one: _last(connection, one, day) for found in claims.values() for *_, one, _ in found if one}
    named = {item for found in claims.values() for item, *_ in found} | set(ends.values())
    rows = connection.execute(_ITEMS, (json.dumps(sorted(named)),)).fetchall()
    texts = {item: text for _, item, text in rows}
    fitting = fitting_units(connection, [*(unit for unit, *_ in rows), *saying], question)
    units = {item: unit for unit, item, _ in rows if unit in fitting}
    instead = dict[int, float]()
    for line, found in claims.items():
        against = [claim for claim in found if claim[1]]
        if line not in scores or not against:
            continue
        if any(why in {REJECTED, HELD_BACK} for _, why, *_ in against) and not all_lines:
            del governed.scores[line]
            continue
        item, why, successor, since = against[0]
        last = ends.get(successor, "")
        governed.overruled[line] = Overruled(last, why, since, texts.get(last, ""))
        for unit in [units[last]] if last in units else over.get(item, ()):
            if unit in fitting and unit != line:
                governed.scores[unit] = max(scores[line], governed.scores.get(unit, 0.0))
                governed.places[unit] = fitting[unit]
                instead[line] = max(governed.scores[unit], instead.get(line, 0.0))
    governed.scores.update(_episodes_behind(connection, scores, instead))
    for line in () if flat else [line for line in claims if line in governed.scores.keys() - governed.overruled.keys()]:
        standing = [unit for item, *_ in claims[line] if (unit := units.get(item)) in governed.scores]
        if best := max(standing, key=lambda one: (governed.scores[one], one), default=None):
            governed.scores[best] = max(governed.scores.pop(line), governed.scores[best])
    return governed


def _episodes_behind(
    connection: sqlite3.Connection, scores: Mapping[int, float], instead: Mapping[int, float]
) -> dict[int, float]:
    """Return lower scores of episodes whose nearest line is overruled, given the score of what stands instead of it."""
    told = lines_told(connection, scores) if instead else {}
    nearest = {one: max(lines, key=lambda line: scores.get(line, 0.0)) for one, lines in told.items()}
    return {one: min(scores[one], instead[line] * (1 - 1e-6)) for one, line in nearest.items() if line in instead}


def _claims_about(
    connection: sqlite3.Connection, units: Collection[int], question: Question
) -> dict[int, list[tuple[str, str, str, str]]]:
    """Return by line what is claimed of it: item, why it is overruled on the day that is asked for, by what, since."""
    if connection.execute("SELECT 1 FROM claims LIMIT 1").fetchone() is None:
        return {}
    claims: dict[int, list[tuple[str, str, str, str]]] = {}
    day = question.filters.as_of
    for unit, item, *against in connection.execute(_ABOUT, (json.dumps(list(units)),)):
        not_yet = day and against[-1] > day
        why, successor, since = ("", "", "") if not_yet else against
        claims.setdefault(unit, []).append((item, why, successor, since))
    return claims


def _last(connection: sqlite3.Connection, item: str, day: str) -> str:
    """Return what stands on a day, or now, at the end of a chain of items that superseded each other."""
    seen = {item}
    while (found := connection.execute(_NEXT, (item, day, day)).fetchone()) and found[0] not in seen:
        item = found[0]
        seen.add(item)
    return item


def evidence_of(connection: sqlite3.Connection, items: Collection[str], *whys: str) -> dict[str, list[int]]:
    """Return by item the units of logs that it rests on, in order.

    Args:
        connection: the index.
        items: the ids of the items.
        whys: only lines that are overruled for one of these reasons, or that stand, by an empty one.
    """
    units: dict[str, list[int]] = {}
    for item, unit in connection.execute(_EVIDENCE, (json.dumps(sorted(items)), json.dumps(whys))):
        units.setdefault(item, []).append(unit)
    return {item: list(dict.fromkeys(found)) for item, found in units.items()}


def lines_told(connection: sqlite3.Connection, units: Collection[int]) -> dict[int, list[int]]:
    """Return by episode, of some units, those of its day's log on which the items rest that it cites, in order."""
    told: dict[int, list[int]] = {}
    for episode, line in connection.execute(_TOLD, (json.dumps(list(units)), REJECTED, HELD_BACK)):
        told.setdefault(episode, []).append(line)
    return told
