"""Links as a graph: what an item rests on and what rests on it, whatever people and models linked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines.errors import UnknownItem
from pipelines.queries.item_graph import (
    GROUNDS,
    Mark,
    steps_of,
    walk,
)
from pipelines.store.template import named_item
from tests.queries.making import beliefs

if TYPE_CHECKING:
    from pipelines.queries.item_graph import Step


def steps(found: list[Step]) -> list[tuple[int, str, str, Mark | None]]:
    return [(step.depth, step.relation, step.id[:2], step.mark) for step in found]


def test_what_an_item_rests_on_is_shown_to_its_end_and_a_cycle_once() -> None:
    held = beliefs()
    assert steps(walk("k1111111111", steps_of(held, GROUNDS), held.by_id)) == [
        (1, "because of", "k2", None),
        (2, "because of", "k4", None),
        (3, "because of", "k2", Mark.CYCLE),
        (2, "supported by", "k5", None),
    ]


def test_an_id_is_known_by_its_beginning() -> None:
    held = beliefs(
        "- Fact: a. <!-- k1234567890 -->\n- Fact: b. <!-- k1234567899 -->\n- Fact: c. <!-- kabcdef0000 -->\n"
    )
    assert named_item("kab", held.by_id) == named_item(" KAB ", held.by_id) == "kabcdef0000"
    assert named_item("k1234567890", held.by_id) == "k1234567890"
    assert named_item("kff", held.by_id, ["kff0000000"]) == "kff0000000"
    with pytest.raises(UnknownItem, match="not unique: k1234567890, k1234567899"):
        named_item("k12345", held.by_id)
    with pytest.raises(UnknownItem, match="No item has the id kff"):
        named_item("kff", held.by_id)
