"""An audit as one page of HTML: no script, nothing loaded, and nothing in it that a memory could forge.

Where things stand in its two drawings, the timeline and the links, is worked out here, as numbers; the markup is the
template's, `audit.html`.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Final

from pipelines.store.item import Status
from pipelines.templating import render

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pipelines.queries.audit import Audit
    from pipelines.queries.item_graph import Edge, Holding

    Drawing = dict[str, Any]


_WIDTH: Final = 1000
_LABELS: Final = 420
_ROW: Final = 22
_TOP: Final = 26
_RIGHT: Final = 985
_TICKS: Final = 5
_SHORT: Final = 58
_THIN: Final = 3.0
_AXIS: Final = _LABELS + 24
_LINKED_ROW: Final = 30
_LANE: Final = 34.0
_WORDS: Final = 80
_LETTERS: Final = 13


def page_of(audit: Audit) -> str:
    """Return the page of an audit, whole.

    A policy in it forbids a browser to load or run anything, also where an escape were missing; texts are cut in the
    drawings alone.
    """
    groups = [
        ("Low confidence", audit.unsure),
        ("Without evidence", audit.unproven),
        ("Not confirmed for long", audit.faded),
        ("Resting on what is over", audit.outdated),
    ]
    weak = {one.place for _, found in groups for one, _ in found}
    weak |= {side.place for one, other, _ in audit.disputes for side in (one, other)}
    return render(
        "audit.html",
        escaped=True,
        audit=audit,
        gone={one.place for one in audit.past},
        groups=groups,
        weak=len(weak | {one.place for one in audit.waiting}),
        timeline=_timeline((*audit.current, *audit.past, *audit.archived), audit.newest, weak),
        links=_links(audit.holdings, audit.edges),
        width=_WIDTH,
        labels=_LABELS,
    )


def _timeline(holdings: Iterable[Holding], newest: str, weak: Collection[str]) -> Drawing:
    """Return the timeline of those items that tell since when they hold: its height, its days, and a bar an item.

    Of a bar, `confirmed` is where the item was last confirmed, or None.

    Args:
        holdings: the items.
        newest: the day up to which the memory tells.
        weak: the places (`PATH:LINE`) of the items that stand on weak ground.
    """
    dated = [one for one in holdings if _number(one.item.since) is not None]
    dated.sort(key=lambda one: (one.item.since, one.path, one.line))
    dates = (day for one in dated for day in (one.item.since, one.item.until, one.item.confirmed, newest))
    days = [number for day in dates if (number := _number(day)) is not None]
    if not days:
        return {"height": _TOP, "ticks": [], "bars": []}
    first, last = min(days), max(*days, min(days) + 1)

    def x_of(number: int) -> float:
        return round(_LABELS + (number - first) / (last - first) * (_RIGHT - _LABELS), 1)

    def at(day: str) -> float | None:
        number = _number(day)
        return None if number is None else x_of(number)

    bars = []
    for row, one in enumerate(dated):
        begin, confirmed = min(at(one.item.since) or _LABELS, _RIGHT - _THIN), at(one.item.confirmed)
        # Of an item that names no end: what holds lasts to the newest day, else it lasted to its last word.
        lasts = one.item.active or one.item.status is Status.ARCHIVED
        end = at(one.item.until) or (at(newest) if lasts else confirmed) or _LABELS
        bars.append(
            {
                "holding": one,
                "label": _cut(one.item.text),
                "y": _TOP + _ROW * (row + 0.5),
                "x": begin,
                "width": round(max(_THIN, end - begin), 1),
                "confirmed": confirmed,
                "weak": one.place in weak,
            }
        )
    marked = sorted({first + round((last - first) * part / (_TICKS - 1)) for part in range(_TICKS)})
    ticks = [{"x": x_of(day), "day": date.fromordinal(day).isoformat()} for day in marked]
    return {"height": _TOP + _ROW * len(bars) + 8, "ticks": ticks, "bars": bars}


def _links(holdings: Iterable[Holding], edges: Sequence[Edge]) -> Drawing:
    """Return the links between items: their height, the linked items in order of days, and curves between them."""
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    shown = sorted((one for one in holdings if one.item.id in ends), key=lambda one: (one.item.since, one.item.id))
    rows = [_TOP + _LINKED_ROW * (row + 0.5) for row in range(len(shown))]
    nodes = [{"holding": one, "label": _cut(one.item.text), "y": y} for one, y in zip(shown, rows, strict=True)]
    row_of = {one.item.id: y for one, y in zip(shown, rows, strict=True)}
    drawn = [edge for edge in edges if edge.source in row_of and edge.target in row_of]
    drawn.sort(key=lambda edge: abs(row_of[edge.source] - row_of[edge.target]))
    step = min(_LANE, (_RIGHT - _WORDS - _AXIS) / (len(drawn) or 1))
    arcs: list[Drawing] = []
    for lane, edge in enumerate(drawn):
        arcs.append(_arc(edge, row_of[edge.source], row_of[edge.target], _AXIS + _LANE + step * lane, arcs))
    return {"height": _TOP + _LINKED_ROW * len(nodes) + 8, "nodes": nodes, "arcs": arcs}


def _arc(edge: Edge, begin: float, end: float, top: float, others: Sequence[Drawing]) -> Drawing:
    """Return a curve whose outermost point is at `top`, its word where none of the others stands."""
    out = _AXIS + (top - _AXIS) / 0.75  # how far the handles of such a curve reach
    lift = _LINKED_ROW / 3 if begin == end else 0  # an item that names itself
    first, last = f"{begin - lift:.1f}", f"{end + lift:.1f}"
    path = f"M{_AXIS},{first} C{out:.1f},{first} {out:.1f},{last} {_AXIS + 7},{last}"
    x, middle = round(top + 5, 1), (begin + end) / 2 + 4
    places = (round(middle + sign * _LETTERS * away, 1) for away in range(len(others) + 1) for sign in (1, -1))
    taken = [other["y"] for other in others if abs(x - other["x"]) < _WORDS]
    free = (y for y in places if all(abs(y - other) >= _LETTERS for other in taken))
    return {"edge": edge, "path": path, "x": x, "y": next(free, middle)}


def _number(day: str) -> int | None:
    try:
        return date.fromisoformat(day[:10]).toordinal() if day else None
    except ValueError:
        return None


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1].rstrip()}…"
