"""Priority: what is surer, more trusted and confirmed later counts more; what is pinned does not fade."""

from __future__ import annotations

import pytest

from pipelines.store.item import Confidence, Item, ItemType, Trust
from pipelines.store.priority import priority

DAY = "2026-01-01"


def item(kind: ItemType = ItemType.FACT, trust: Trust = Trust.OWNER, *, pinned: bool = False) -> Item:
    return Item(
        kind, "Otto tends the garden", "k1111111111", since=DAY, trust=trust, confidence=Confidence.HIGH, pinned=pinned
    )


def test_it_halves_with_each_half_life_and_stops_at_the_floor() -> None:
    assert priority(item(), DAY) == pytest.approx(0.8)
    assert priority(item(), "2026-12-27") == pytest.approx(0.4)
    assert priority(item(), "2036-01-01") == pytest.approx(0.16)
    assert priority(item(pinned=True), "2036-01-01") == pytest.approx(1.8)


def test_type_and_trust_count() -> None:
    assert priority(item(ItemType.RULE), DAY) > priority(item(), DAY) > priority(item(ItemType.TODO), DAY)
    assert priority(item(trust=Trust.SELF), DAY) < priority(item(), DAY)
