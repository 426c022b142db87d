"""Where things stand in the two drawings of an audit's page: the timeline, and the links. Numbers only, no markup."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from pipelines.store.item import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pipelines.queries.item_graph import Edge, Holding


WIDTH: Final = 1000
LABELS: Final = 420
ROW: Final = 22
TOP: Final = 26
_RIGHT: Final = 985
_TICKS: Final = 5
_SHORT: Final = 58
_THIN: Final = 3.0
_AXIS: Final = LABELS + 24
_LINKED_ROW: Final = 30
_LANE: Final = 34.0
_WORDS: Final = 80
_LETTERS: Final = 13


@dataclass(frozen=True, slots=True)
class Tick:
    """A day on the axis."""

    x: float
    day: str


@dataclass(frozen=True, slots=True)
class Bar:
    """How long an item held.

    Args:
        holding: the item.
        label: its text, cut.
        y: the middle of its row.
        x: where it began to hold.
        width: how long it held.
        confirmed: where it was last confirmed, or None.
        weak: whether it stands on weak ground.
    """

    holding: Holding
    label: str
    y: float
    x: float
    width: float
    confirmed: float | None
    weak: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    """The timeline: its height, its axis and a bar an item, the earliest first."""

    height: float
    ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """An item that has links."""

    holding: Holding
    label: str
    y: float


@dataclass(frozen=True, slots=True)
class Arc:
    """A link: a curve from one row to another, and where its kind is written."""

    edge: Edge
    path: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """The links: their height, the items in order of days, and the curves between them."""

    height: float
    nodes: tuple[Node, ...]
    arcs: tuple[Arc, ...]


def timeline(holdings: Sequence[Holding], newest: str, weak: Collection[str]) -> Timeline:
    """Return the timeline of those items that tell since when they hold.

    Args:
        holdings: the items.
        newest: the day up to which the memory tells.
        weak: the places (`PATH:LINE`) of the items that stand on weak ground.
    """
    dated = [one for one in holdings if _number(one.item.since) is not None]
    dated.sort(key=lambda one: (one.item.since, one.path, one.line))
    told = (day for one in dated for day in (one.item.since, one.item.until, one.item.confirmed, newest))
    days = [number for day in told if (number := _number(day)) is not None]
    if not days:
        return Timeline(TOP, (), ())
    first, last = min(days), max(*days, min(days) + 1)

    def at(day: str) -> float | None:
        number = _number(day)
        return None if number is None else round(LABELS + (number - first) / (last - first) * (_RIGHT - LABELS), 1)

    bars = []
    for row, one in enumerate(dated):
        begin, confirmed = min(at(one.item.since) or LABELS, _RIGHT - _THIN), at(one.item.confirmed)
        width = max(_THIN, (at(one.item.until) or _end(one, at(newest), confirmed)) - begin)
        y = TOP + ROW * (row + 0.5)
        bars.append(Bar(one, _cut(one.item.text), y, begin, round(width, 1), confirmed, one.place in weak))
    return Timeline(TOP + ROW * len(bars) + 8, tuple(_ticks(first, last)), tuple(bars))


def drawing(holdings: Sequence[Holding], edges: Sequence[Edge]) -> Drawing:
    """Return the links between items; items without one are left out."""
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    shown = sorted((one for one in holdings if one.item.id in ends), key=lambda one: (one.item.since, one.item.id))
    nodes = tuple(Node(one, _cut(one.item.text), TOP + _LINKED_ROW * (row + 0.5)) for row, one in enumerate(shown))
    rows = {node.holding.item.id: node.y for node in nodes}
    drawn = [edge for edge in edges if edge.source in rows and edge.target in rows]
    drawn.sort(key=lambda edge: abs(rows[edge.source] - rows[edge.target]))
    step = min(_LANE, (_RIGHT - _WORDS - _AXIS) / (len(drawn) or 1))
    arcs: list[Arc] = []
    for lane, edge in enumerate(drawn):
        arcs.append(_arc(edge, rows[edge.source], rows[edge.target], _AXIS + _LANE + step * lane, arcs))
    return Drawing(TOP + _LINKED_ROW * len(nodes) + 8, nodes, tuple(arcs))


def _arc(edge: Edge, begin: float, end: float, top: float, others: Sequence[Arc]) -> Arc:
    """Return a curve whose outermost point is at `top`, its word where none of the others stands."""
    out = _AXIS + (top - _AXIS) / 0.75  # how far the handles of such a curve reach
    lift = _LINKED_ROW / 3 if begin == end else 0  # an item that names itself
    first, last = f"{begin - lift:.1f}", f"{end + lift:.1f}"
    path = f"M{_AXIS},{first} C{out:.1f},{first} {out:.1f},{last} {_AXIS + 7},{last}"
    x, middle = round(top + 5, 1), (begin + end) / 2 + 4
    places = (round(middle + sign * _LETTERS * away, 1) for away in range(len(others) + 1) for sign in (1, -1))
    free = (y for y in places if not any(abs(y - one.y) < _LETTERS and abs(x - one.x) < _WORDS for one in others))
    return Arc(edge, path, x, next(free, middle))


def _end(one: Holding, newest: float | None, confirmed: float | None) -> float:
    """Return until where an item is drawn that names no end: what holds, to the newest day; else to its last word."""
    return (newest if one.item.active or one.item.status is Status.ARCHIVED else confirmed) or LABELS


def _ticks(first: int, last: int) -> list[Tick]:
    span = last - first
    days = sorted({first + round(span * part / (_TICKS - 1)) for part in range(_TICKS)})
    return [
        Tick(round(LABELS + (day - first) / span * (_RIGHT - LABELS), 1), date.fromordinal(day).isoformat())
        for day in days
    ]


def _number(day: str) -> int | None:
    try:
        return date.fromisoformat(day[:10]).toordinal() if day else None
    except ValueError:
        return None


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1].rstrip()}…"
