"""The priority of an item, which decides what a full document keeps."""

from __future__ import annotations

import math
from datetime import date

from pipelines.store.item import Confidence, Item, ItemType, Trust

USUAL = {
    ItemType.RULE: (1.0, 720), ItemType.DECISION: (0.8, 360), ItemType.FACT: (0.8, 360), ItemType.RISK: (0.6, 180),
    ItemType.TODO: (0.5, 90),
}  # fmt: skip
"""The weight of each type, and its half-life in days."""
CONFIDENCE = {Confidence.HIGH: 1.0, Confidence.MEDIUM: 0.7, Confidence.LOW: 0.4, Confidence.SPECULATIVE: 0.2}
TRUST = {Trust.OWNER: 1.0, Trust.SELF: 0.8, Trust.EXTERNAL: 0.5, Trust.UNTRUSTED: 0.2}
FLOOR = 0.2


def priority(item: Item, newest: str, usual: tuple[float, float] | None = None) -> float:
    """Return type weight × confidence × trust × recency, between 0 and 1; pinned items get 1 plus the first three.

    Recency halves with each half-life since the last confirmation, down to its floor: old items sink in the order, but
    are not forgotten. Pinned items do not fade, and come first; those that a person put last come last.

    Args:
        item: the item.
        newest: the latest day of any log. Log dates decide, not the clock, so that a replay agrees.
        usual: other values than those of its type.
    """
    weight, half_life = usual or USUAL[item.type]
    worth = weight * CONFIDENCE[item.confidence] * TRUST[item.trust]
    if item.pinned:
        return 1 + worth
    if item.last:
        return worth * _LAST
    try:
        age = max(0, (date.fromisoformat(newest) - date.fromisoformat(item.confirmed or item.since)).days)
    except ValueError:
        age = 0
    half_life /= _FADES if item.confidence is Confidence.SPECULATIVE else 1
    return worth * max(FLOOR, math.pow(0.5, age / half_life))


_LAST = 0.001
_FADES = 4
"""Speculative items fade this many times as fast."""


def days_after(one: str, other: str) -> int:
    """Return how many days the other day is after the one; a million if either cannot be read."""
    try:
        return (date.fromisoformat(other) - date.fromisoformat(one)).days
    except ValueError:
        return 1_000_000
