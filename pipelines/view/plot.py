"""How a memory grows: items by type and week, as a small drawing that needs no script."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.store.item import ItemType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipelines.store.item import Item


WEEKS: Final = 12
HEIGHT, STEP, WIDTH = 60, 22, 16


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a week's bar: its place, its height, its type and how many items it stands for."""

    x: int
    y: int
    height: int
    type: str
    count: int
    week: str


def weeks_of(items: Iterable[tuple[str, Item]], today: str) -> list[Bar]:
    """Return the bars of the last weeks: how many items of each type each of them brought.

    Args:
        items: every item, with its document's path.
        today: the memory's day.
    """
    monday = date.fromisoformat(today) - timedelta(days=date.fromisoformat(today).weekday())
    first = monday - timedelta(weeks=WEEKS - 1)
    counts: dict[int, Counter[ItemType]] = {}
    for _, item in items:
        if item.learnt >= first.isoformat() and item.learnt <= today:
            week = (date.fromisoformat(item.learnt) - first).days // 7
            counts.setdefault(week, Counter())[item.type] += 1
    most = max((one.total() for one in counts.values()), default=1)
    bars = []
    for week, found in sorted(counts.items()):
        top, begins = HEIGHT, (first + timedelta(weeks=week)).isoformat()
        for kind in ItemType:
            if count := found[kind]:
                height = max(1, round(count * HEIGHT / most))
                top -= height
                bars.append(Bar(week * STEP, top, height, kind.lower(), count, begins))
    return bars
