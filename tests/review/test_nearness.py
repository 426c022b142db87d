"""Neighbours by words: no look-up walks through all that is held."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pipelines.review.existing_items import KnownItems
from pipelines.search.embed import embed_index
from pipelines.store.item import Item, ItemType, Status
from tests.making import candidate
from tests.search.bag import Bag

if TYPE_CHECKING:
    from types import FrameType

    from tests.conftest import Memory

PLACE = "Areas/general.md"
FACT = ItemType.FACT
SAID = candidate("A boat, a boat, a boat", FACT)


def test_items_get_their_vectors_before_everything_else(memory: Memory) -> None:
    memory.write("Logs/2026-03-11.md", "- Fact: The red vessel sails\n" + "- a line of a long day\n" * 300)
    memory.curate("run", "--now", "2026-03-12T02:00")
    bag = Bag("test:other")
    embed_index(memory.root, bag)
    assert bag.asked[0].startswith("Fact: The red vessel sails")


def calls(known: KnownItems) -> int:
    """Return how many functions of Python's one look-up enters."""
    entered = 0

    def count(_frame: FrameType, event: str, _what: object) -> None:
        nonlocal entered
        entered += event == "call"

    known.near(SAID, PLACE)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        known.near(SAID, PLACE)
    finally:
        sys.setprofile(before)
    return entered


def test_a_look_up_does_not_walk_through_all_that_is_held() -> None:
    """Of what shares a common word, of what is open, and of what is closed alike."""
    work = []
    for count in (500, 4000):
        held = [
            Item(kind, f"Boat {at} of many", f"k{at:010x}", status, "2026-01-01")
            for at in range(count)
            for kind, status in ((FACT, Status.LIVE), (ItemType.TODO, Status.OPEN), (FACT, Status.SUPERSEDED))
        ]
        work.append(calls(KnownItems((PLACE, item) for item in held)))
    assert work[1] <= work[0] * 1.1
