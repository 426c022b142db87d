"""What an item rests on, whatever people and models linked."""

import pytest

from pipelines.errors import UnknownItem
from pipelines.store.template import named_item
from tests.queries.making import beliefs


def test_what_an_item_rests_on_is_shown_to_its_end_and_a_cycle_once() -> None:
    held = beliefs()
    assert [one.item.id[:2] for one in held.reached("k1111111111", held.grounds)] == ["k2", "k4"]


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
