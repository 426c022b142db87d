"""The drawings on the pages, as numbers for a template: growth, how long items held, what rests on what.

The text beside a drawing says the same; only the drawings shorten texts.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.store.document import Document, kept_with_document
from pipelines.store.item import ItemType, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pipelines.queries.item_graph import Holding, Step


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a drawing.

    Args:
        x: its left edge.
        y: its upper edge.
        width: its width.
        height: its height.
        kind: its class in the stylesheet.
        text: its label, a line or two.
        title: its tooltip.
        item: the item that it links to, or empty.
    """

    x: float
    y: float
    width: float
    height: float
    kind: str
    text: str = ""
    title: str = ""
    item: str = ""


def cut(text: str, most: int) -> str:
    """Return a text shortened to some number of characters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


# ---------------------------------------- growth: items by type and week


WEEKS: Final = 12
_HEIGHT = 60
_STEP = 22
_BAR = 16


def growth(documents: Iterable[Document], today: str) -> list[Box]:
    """Return a bar for each of the last weeks, stacked by the number of new items of each type.

    Args:
        documents: every document.
        today: the memory's day.
    """
    monday = date.fromisoformat(today) - timedelta(days=date.fromisoformat(today).weekday())
    first = monday - timedelta(weeks=WEEKS - 1)
    weeks: dict[int, Counter[ItemType]] = {}
    for document in documents:
        for (day, kind), count in _learnt_in(document).items():
            if first.isoformat() <= day <= today and (number := _day(day)):
                weeks.setdefault((number - first.toordinal()) // 7, Counter())[kind] += count
    most = max((one.total() for one in weeks.values()), default=1)
    bars = []
    for week, found in sorted(weeks.items()):
        top, begins = _HEIGHT, (first + timedelta(weeks=week)).isoformat()
        for kind in ItemType:
            if count := found[kind]:
                height = max(1, round(count * _HEIGHT / most))
                top -= height
                said = f"{count} {kind.lower()}{'' if count == 1 else 's'} in the week of {begins}"
                bars.append(Box(week * _STEP, top, _BAR, height, kind.lower(), title=said))
    return bars


@kept_with_document
def _learnt_in(document: Document) -> Counter[tuple[str, ItemType]]:
    """Return how many items of each type a document learnt on each day."""
    return Counter((one.item.learnt, one.item.type) for one in document.items if one.item.id)


# ---------------------------------------- how long items held


WIDTH: Final = 720
_LABELS = 320
_RIGHT = 705
_ROW = 22
_TOP = 26
_TICKS = 4
_THIN = 3.0
_LABEL = 42


@dataclass(frozen=True, slots=True)
class Timeline:
    """Items as bars over days: the height, the days with their positions, and a bar for each item."""

    height: int
    ticks: Sequence[tuple[float, str]]
    bars: Sequence[Box]


def timeline(holdings: Iterable[Holding], newest: str, weak: Collection[str]) -> Timeline | None:
    """Return the timeline of the items with a first day; None if there are none.

    Args:
        holdings: the items.
        newest: the last day that the memory covers.
        weak: the ids of poorly supported items.
    """
    dated = sorted((one.item for one in holdings if _day(one.item.since)), key=lambda item: (item.since, item.id))
    told = (_day(day) for item in dated for day in (item.since, item.until, item.confirmed, newest))
    days = [day for day in told if day]
    if not days:
        return None
    first, last = min(days), max(*days, min(days) + 1)

    def x_of(day: int) -> float:
        return round(_LABELS + (day - first) / (last - first) * (_RIGHT - _LABELS), 1)

    bars = []
    for row, item in enumerate(dated):
        begin = min(x_of(_day(item.since)), _RIGHT - _THIN)
        # Without an end, a live item lasts to the newest day, and any other to the day it was last confirmed.
        lasts = item.active or item.status is Status.ARCHIVED
        end = _day(item.until) or (_day(newest) if lasts else _day(item.confirmed)) or first
        kind = "weak" if item.id in weak else "held" if item.active else "past"
        said = f"{item.since} to {item.until or ('today' if lasts else item.confirmed)}: {item.text}"
        width = round(max(_THIN, x_of(end) - begin), 1)
        bars.append(Box(begin, _TOP + _ROW * row, width, _ROW - 8, kind, cut(item.text, _LABEL), said, item.id))
    marked = sorted({first + round((last - first) * part / (_TICKS - 1)) for part in range(_TICKS)})
    ticks = [(x_of(day), date.fromordinal(day).isoformat()) for day in marked]
    return Timeline(_TOP + _ROW * len(bars) + 8, ticks, bars)


def _day(text: str) -> int:
    """Return the number of a day, or 0 if the text is not one."""
    try:
        return date.fromisoformat(text[:10]).toordinal() if text else 0
    except ValueError:
        return 0


# ---------------------------------------- what an item rests on, and what depends on it


_COLUMN = 216
_GAP = 36
_NODE = 52
_LINE = 64
_NODE_TEXT = 27
_MOST = 12


@dataclass(frozen=True, slots=True)
class Web:
    """An item with what it rests on to its left, and what depends on it to its right.

    Args:
        width: the width.
        height: the height.
        nodes: the items.
        lines: x and y of both ends, from the middle of one node's right edge to that of another's left.
    """

    width: int
    height: int
    nodes: Sequence[Box]
    lines: Sequence[tuple[float, float, float, float]]


def web(middle: Holding, below: Sequence[Step], above: Sequence[Step]) -> Web | None:
    """Return the drawing of an item's nearest links, at most `_MOST` on either side; None if it has none.

    Args:
        middle: the item.
        below: what it rests on and what it replaced.
        above: what depends on it and what replaced it.
    """
    sides = [list({one.id: one for one in steps if one.depth == 1}.values())[:_MOST] for steps in (below, above)]
    if not any(sides):
        return None
    height = _LINE * max(1, *map(len, sides))
    columns = [column for column, steps in ((0, sides[0]), (1, [middle]), (2, sides[1])) if steps]
    place = {column: index * (_COLUMN + _GAP) for index, column in enumerate(columns)}
    centre = height / 2
    nodes = [_node(middle, middle.item.id, place[1], centre, "this item")]
    lines = []
    for column, steps in ((0, sides[0]), (2, sides[1])):
        for row, step in enumerate(steps):
            y = height * (row + 0.5) / len(steps)
            nodes.append(_node(step.holding, step.id, place[column], y, step.relation))
            near, far = (place[1], place[0] + _COLUMN) if not column else (place[1] + _COLUMN, place[2])
            lines.append((float(near), centre, float(far), y))
    return Web(place[columns[-1]] + _COLUMN, height, nodes, lines)


def _node(holding: Holding | None, ident: str, x: float, y: float, relation: str) -> Box:
    text = holding.item.text if holding else f"{ident} (no longer exists)"
    kind = holding.item.type.lower() if holding and holding.item.active else "past"
    link = ident if holding else ""
    first, _, rest = textwrap.fill(text, _NODE_TEXT).partition("\n")
    said = f"{first}\n{cut(' '.join(rest.split()), _NODE_TEXT)}"
    return Box(x, y - _NODE / 2, _COLUMN, _NODE, kind, said, f"{relation}: {text}", link)
