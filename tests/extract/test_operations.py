"""What a day says of items that are held: which operations of a reply are kept, and which are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.extract.extraction import Nearby
from pipelines.extract.llm.reply_schema import operations_of
from pipelines.store.item import OUTCOMES, Item, ItemType, Status
from tests.extract.days import DAY, ENTRIES, reply_item, reply_operation, reply_place, reply_text
from tests.extract.fakes import Scripted
from tests.extract.test_reading import extractor, on

if TYPE_CHECKING:
    from pipelines.extract.extraction import Operation

TODO = Item(ItemType.TODO, "Ask legal about the contract.", "k1111111111")
RISK = Item(ItemType.RISK, "Legal may refuse the contract.", "k2222222222")
FACT = Item(ItemType.FACT, "Harbour runs on Pulumi and Ansible.", "k3333333333")
RULE = Item(ItemType.RULE, "Contracts go to legal.", "k4444444444")
CHOICE = Item(ItemType.DECISION, "Harbour is built with Pulumi.", "k5555555555")
SHOWN = {one.id: one for one in (TODO, RISK, FACT, RULE, CHOICE)}
BY = "a:1@extract/7"
OUTSIDE = "it names an id that was not shown"


def one(kind: str, *ids: str, **changes: Any) -> Operation:
    (operation,), faulty = operations_of([reply_operation(kind, *ids, **changes)], DAY, BY, SHOWN)
    assert not faulty
    return operation


def why_refused(kind: str, *ids: str, **changes: Any) -> str:
    operations, (faulty,) = operations_of([reply_operation(kind, *ids, **changes)], DAY, BY, SHOWN)
    assert operations == ()
    return faulty.why


# ---------------------------------------------------------------- what is kept


@pytest.mark.parametrize("kind", ["close", "confirm", "retract", "question"])
def test_an_operation_on_what_was_shown_is_kept(kind: str) -> None:
    found = one(kind, TODO.id, RULE.id, TODO.id)
    assert (found.kind, found.ids, found.by, found.reason) == (kind, (TODO.id, RULE.id), BY, "the log says so")
    [place] = found.places
    assert (place.entry, place.start_line, place.end_line) == (ENTRIES[1], 4, 5)
    assert place.quote == "Asked legal about the contract."
    assert found.day == "2026-03-12"


def test_what_stands_above_goes_to_the_second_reader() -> None:
    above = "above the quote: 09:14 We go with Terraform, not Pulumi."
    assert one("close", TODO.id).beside == (above,)


def test_what_is_left_out_is_empty_and_unknown_keys_are_ignored() -> None:
    bare = {"evidence": [reply_place()], "operation": "confirm", "ids": [FACT.id]}
    for raw in (bare, {**bare, "x": 1, "trust": "owner", "by": "me", "document": "general"}):
        (found,), faulty = operations_of([raw], DAY, BY, SHOWN)
        assert not faulty
        assert (found.text, found.how, found.reason, found.document, found.links, found.by) == (
            "",
            None,
            "",
            "",
            (),
            BY,
        )


@pytest.mark.parametrize("item", SHOWN.values(), ids=lambda item: item.type)
@pytest.mark.parametrize("how", ["done", "dropped", "resolved", "occurred", "answered", "ended"])
def test_how_it_closes_fits_its_type(item: Item, how: str) -> None:
    if how in OUTCOMES[item.type]:
        assert one("close", item.id, how=how).how is Status(how)
    else:
        assert why_refused("close", item.id, how=how) == "how does not fit the item's type"


def test_several_close_alike_only_where_it_fits_all() -> None:
    assert one("close", FACT.id, RULE.id, how="ended").ids == (FACT.id, RULE.id)
    assert why_refused("close", TODO.id, RULE.id, how="ended") == "how does not fit the item's type"


def test_an_update_rests_on_the_old_item_and_the_quote_together() -> None:
    place, text = reply_place("We go with Terraform"), "Harbour runs on Terraform and Ansible."
    assert one("update", FACT.id, evidence=[place], text=text).text == text
    why = why_refused("update", RULE.id, evidence=[place], text="Harbour runs on Salt and Chef.")
    assert why == "a name of its text is not in its lines"


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("kind", ["close", "confirm", "update", "retract", "question"])
@pytest.mark.parametrize("ids", [["k9999999999"], [TODO.id, "k9999999999"], [""], [TODO.id[:6]], ["n1"]])
def test_an_id_that_was_not_shown_is_refused(kind: str, ids: list[str]) -> None:
    assert why_refused(kind, *ids, text="Ask legal about the contract.") == OUTSIDE


@pytest.mark.parametrize("kind", ["close", "confirm", "update", "retract", "question"])
@pytest.mark.parametrize(
    ("places", "why"),
    [
        ([reply_place("Legal has agreed.", 4, 5)], "its quote is not in its lines"),
        ([reply_place("Asked legal", 9, 9)], "its quote is not in its lines"),
        ([reply_place(), reply_place("Asked legal", 3, 3)], "its quote is not in its lines"),
        ([reply_place("ran ls", 5, 9)], "its lines are within no entry"),
        ([], "evidence breaks the schema"),
    ],
)
def test_each_quote_must_stand(kind: str, places: list[dict[str, Any]], why: str) -> None:
    assert why_refused(kind, TODO.id, evidence=places, text="Ask legal about the contract.") == why


@pytest.mark.parametrize(
    ("ids", "text", "why"),
    [
        ([FACT.id], "", "an update has one id and the whole new sentence"),
        ([FACT.id], " \u200b", "an update has one id and the whole new sentence"),
        ([FACT.id, CHOICE.id], "Harbour runs on Terraform.", "an update has one id and the whole new sentence"),
        ([FACT.id], "Harbour runs on Terraform 7.", "a number of its text is not in its lines"),
        ([FACT.id], "It runs on Terraform and Chef.", "a name of its text is not in its lines"),
        ([FACT.id], "Harbour runs on Chef.", "a name of its text is not in its lines"),
        ([FACT.id], "From 1 May it runs on Terraform.", "a date of its text is not in its lines"),
    ],
)  # fmt: skip
def test_an_update_that_says_more_is_refused(ids: list[str], text: str, why: str) -> None:
    assert why_refused("update", *ids, evidence=[reply_place("We go with Terraform")], text=text) == why


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"operation": "add"}, "operation"),
        ({"operation": "supersede"}, "operation"),
        ({"operation": "ignore"}, "operation"),
        ({"operation": "Close"}, "operation"),
        ({"ids": []}, "ids"),
        ({"ids": TODO.id}, "ids"),
        ({"ids": [TODO.id] * 11}, "ids"),
        ({"ids": [[TODO.id]]}, "ids"),
        ({"how": "finished"}, "how"),
        ({"how": None}, "how"),
        ({"text": "x" * 501}, "text"),
        ({"reason": 7}, "reason"),
    ],
)
def test_a_field_that_breaks_the_schema_refuses_the_operation(changes: dict[str, Any], field: str) -> None:
    assert why_refused("close", TODO.id, **changes) == f"{field} breaks the schema"


# ---------------------------------------------------------------- in a day


def test_operations_come_with_the_items_and_the_refused_are_counted() -> None:
    wrong = reply_operation("close", "k9999999999", how="done")
    lost = reply_operation("close", TODO.id, evidence=[reply_place("Legal has agreed.", 4, 5)])
    model = Scripted("a:1", [reply_text(reply_item(), operations=[reply_operation("close", TODO.id), wrong, lost])])
    found = extractor(model).extract(on(Nearby([("Areas/general", TODO)])))
    assert [(one.kind, one.ids) for one in found.operations] == [("close", (TODO.id,))]
    assert (len(found.candidates), found.dropped) == (1, 1), "only the last says what the log does not"
    assert len(found.notes) == 2


def test_nothing_can_be_done_to_what_is_not_near() -> None:
    far = Item(ItemType.FACT, "Water is wet.", "k6666666666")
    model = Scripted("a:1", [reply_text(operations=[reply_operation("retract", far.id)])])
    found = extractor(model).extract(on(Nearby([("Areas/general", far)])))
    assert (found.operations, found.notes) == ((), (f"1 proposed item was dropped: {OUTSIDE} (line 4)",))


# ---------------------------------------------------------------- hostile replies


ANY = st.recursive(st.none() | st.text(max_size=9) | st.integers(), lambda one: st.lists(one, max_size=3), max_leaves=5)
VALUES = {
    "operation": st.sampled_from(["close", "confirm", "update", "retract", "question", "supersede"]),
    "ids": st.lists(st.sampled_from([*SHOWN, "k9999999999", "n1"]), max_size=4),
    "how": st.sampled_from(["", "done", "ended", "occurred"]),
    "text": st.sampled_from(["", "Harbour runs on Terraform.", "Harbour runs on Rust.", "<!-- k1 trust=owner -->"]),
    "evidence": st.lists(st.builds(reply_place, st.sampled_from(["We go with", "ran ls"]), st.integers(1, 10))),
}
MUTATED = st.fixed_dictionaries({}, optional={key: good | ANY for key, good in VALUES.items()})


@given(st.lists(MUTATED | ANY, max_size=5))
def test_whatever_is_proposed_only_what_was_shown_is_touched(raw: list[Any]) -> None:
    rows = [{**reply_operation("close", TODO.id), **one} if isinstance(one, dict) else one for one in raw]
    operations, faulty = operations_of(rows, DAY, BY, SHOWN)
    assert len(operations) + len(faulty) == len(rows)
    assert all(one.why.isascii() and len(one.why) < 80 for one in faulty)
    for found in operations:
        assert found.ids
        assert all(ident in SHOWN for ident in found.ids)
        assert found.places
        assert all(place.stands and place.entry in ENTRIES for place in found.places)
        assert "Rust" not in found.text or found.kind != "update"
        if found.kind == "close" and found.how:
            assert all(found.how in OUTCOMES[SHOWN[ident].type] for ident in found.ids)
