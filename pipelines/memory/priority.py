"""How much an item deserves its place: the order in which documents keep what they cannot keep whole."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Final

from pipelines.memory.items import Confidence, ItemType, Trust

if TYPE_CHECKING:
    from pipelines.memory.items import Item

_TYPE: Final = {
    ItemType.RULE: 1.0,
    ItemType.DECISION: 0.8,
    ItemType.FACT: 0.8,
    ItemType.RISK: 0.6,
    ItemType.TODO: 0.5,
}
_HALF_LIFE_DAYS: Final = {
    ItemType.RULE: 720,
    ItemType.DECISION: 360,
    ItemType.FACT: 360,
    ItemType.RISK: 180,
    ItemType.TODO: 90,
}
_CONFIDENCE: Final = {
    Confidence.HIGH: 1.0,
    Confidence.MEDIUM: 0.7,
    Confidence.LOW: 0.4,
    Confidence.SPECULATIVE: 0.2,
}
_TRUST: Final = {Trust.OWNER: 1.0, Trust.SELF: 0.8, Trust.EXTERNAL: 0.5, Trust.UNTRUSTED: 0.2}
_FLOOR: Final = 0.2


def priority(item: Item, newest: str) -> float:
    """Return type weight × confidence × trust × recency, between 0 and 1; of what a person pinned, 1 more than that.

    Recency halves once a half-life since the last confirmation, and never falls below a fifth: what is old fades in
    the order, and is not forgotten. What is pinned does not fade, and comes before all that is not.

    Args:
        item: the item.
        newest: the latest day that any log speaks of. Log dates decide, not the clock, so that a replay agrees.
    """
    worth = _TYPE[item.type] * _CONFIDENCE[item.confidence] * _TRUST[item.trust]
    if item.pinned:
        return 1 + worth
    age = _days_between(item.confirmed or item.since, newest)
    recency = max(_FLOOR, math.pow(0.5, age / _HALF_LIFE_DAYS[item.type]))
    return worth * recency


def _days_between(earlier: str, later: str) -> int:
    try:
        return max(0, (date.fromisoformat(later) - date.fromisoformat(earlier)).days)
    except ValueError:
        return 0
