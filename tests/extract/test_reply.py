"""What a model may answer about a day, and that no answer does more than it may."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.extract.extraction import Candidate, Extraction, Operation
from pipelines.extract.grounding import Shown
from pipelines.extract.llm.call import BadReply
from pipelines.extract.llm.reply_schema import PARTS, Asked, extraction_of, read_reply
from pipelines.store.item import OUTCOMES, Item, ItemType, Status
from pipelines.store.log import Entry
from tests.extract.days import DAY, DOCUMENTS, ENTRIES, line_of, reply_item, reply_operation, reply_text

BY = "a:1@extract/13"
TODO = Item(ItemType.TODO, "Ask legal about the contract.", "k1111111111")
RISK = Item(ItemType.RISK, "Legal may refuse the contract.", "k2222222222")
FACT = Item(ItemType.FACT, "Harbour runs on Pulumi and Ansible.", "k3333333333")
CHOICE = Item(ItemType.DECISION, "Harbour is built with Pulumi.", "k5555555555")
HELD = {one.id: one for one in (TODO, RISK, FACT, CHOICE)}
OUTSIDE = "it names an id that was not shown"


def read(text: str, entries: Sequence[Entry] = ENTRIES) -> tuple[Extraction, list[str]]:
    """Return what is usable of a reply about some entries, and why the rest is not."""
    reply = read_reply(text) or {key: [] for key in PARTS}
    shown = Shown.of([*(one.text for one in entries), *(one.text for one in HELD.values())])
    own = {f"n{at}": f"own{at}" for at in range(len(reply["items"]))}
    found, faulty = extraction_of(reply, Asked(DAY._replace(entries=tuple(entries)), BY, HELD, shown, own))
    return found, list(map(str, faulty))


def one(*lines: list[int], entries: Sequence[Entry] = ENTRIES, **changes: Any) -> Candidate:
    found, faulty = read(reply_text(reply_item(*lines, **changes)), entries)
    assert faulty == []
    return found.candidates[0]


def done(kind: str, *ids: str, **changes: Any) -> Operation | str:
    """Return the operation of a reply, or why it is none."""
    found, faulty = read(reply_text(operations=[reply_operation(kind, *ids, **changes)]))
    return found.operations[0] if found.operations else faulty[0]


# ---------------------------------------------------------------- the text around the JSON


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "none", "[]", '"items"', '{"x": 1}', '{"items": 1}', '{"items"', '{"seen": {}}', "{" * 100_000),
        *('{"items": ' + "[" * 100_000, '{"a":' * 100_000, '{"items": [' + "9" * 10_000 + "]}"),
        '{"items": [{"type": "Fact", "links": [{}',
    ],
)
def test_what_is_no_reply_is_refused(text: str) -> None:
    with pytest.raises(BadReply):
        read_reply(text)


# ---------------------------------------------------------------- one item


def test_a_right_item_becomes_a_candidate() -> None:
    found = one(type="Fact", section="contacts", name="Ada", on="2026-03-20", replaces=[FACT.id])
    assert (found.type, found.document, found.page_section, found.name) == (
        "Fact", "Projects/harbour", "contacts", "Ada",
    )  # fmt: skip
    assert (found.on, found.due, found.replaces, found.by, found.confidence) == (
        "2026-03-20", "", (FACT.id,), BY, "high",
    )  # fmt: skip
    days: dict[str, Any] = {"due": "2026-03-20", "from": "2026-04-01"}
    assert (one(type="Todo", **days).due, one(type="Todo", **days).since) == ("2026-03-20", "2026-04-01")
    bare, faulty = read(json.dumps({"items": [{"lines": [[3, 3]], "type": "Rule", "text": "Use Terraform.", "x": 1}]}))
    assert (faulty, bare.candidates[0].document, bare.candidates[0].trust) == ([], "", "self")


TALK = (
    line_of(5, "- hello"),
    line_of(20, "- <Ada> Who pays\n  the 300 euros? <!-- Sessions/2026/03/a.jsonl#L7~0123abcd -->", "Rent"),
    line_of(23, "- <Ben> Ines does.", "Rent"),
    line_of(24, "- <Ben> From May on.", "Rent"),
)
WHOLE = [
    (20, 21, "- <Ada> Who pays\n  the 300 euros?"),
    (23, 23, "- <Ben> Ines does."),
    (24, 24, "- <Ben> From May on."),
]


@pytest.mark.parametrize(
    ("lines", "cited"),
    [
        ([[20, 21]], [WHOLE[0]]),
        ([[21, 21]], [(21, 21, "  the 300 euros?")]),
        ([[23]], [WHOLE[1]]),
        ([[20, 24]], WHOLE),
        ([[20, 21], [24, 24], [20, 21]], [WHOLE[0], WHOLE[2]]),
        ([[19, 19]], [WHOLE[0]]),
        ([[21, 23]], [(21, 21, "  the 300 euros?"), WHOLE[1]]),
        ([23, 24], WHOLE[1:]),
    ],
)
def test_whole_lines_are_the_evidence_and_a_heading_stands_for_the_entry_below(lines: Any, cited: Any) -> None:
    found = one(entries=TALK, lines=lines, text="Ines pays.")
    assert [(place.start_line, place.end_line, place.quote) for place in found.places] == cited
    assert all(place.lines for place in found.places)
    assert found.day == "2026-03-12"


@pytest.mark.parametrize(
    ("titles", "kept"),
    [
        (["project: Quay wall", "project: quay  WALL"], [("Quay wall", ""), ("quay WALL", "")]),
        (["area: Health", "area: Health"], [("", "Health"), ("", "Health")]),
        (["project: Quay wall", "project: Pier"], [("", ""), ("", "")]),
        (["area: infra"], [("", "infra")]),
        (["Quay wall", "Quay wall"], [("", ""), ("", "")]),
        (["project: [x](y)", "project: [x](y)"], [("", ""), ("", "")]),
    ],
)
def test_a_new_page_needs_two_items_or_a_heading(titles: list[str], kept: list[tuple[str, str]]) -> None:
    found, _ = read(reply_text(*(reply_item(document="", new_page=title) for title in titles)))
    assert [(item.new_project, item.new_area) for item in found.candidates] == kept
    assert one(new_page="area: Infra").new_area == "", "a listed document wins"


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"section": "Decisions"},
            {"due": "on the 15th"},
            {"due": "2026-02-30"},
            {"from": 20260515},
            {"closed": "no"},
        ),
        *({"closed": True}, {"confidence": "certain"}, {"name": "x" * 81}, {"replaces": "k1"}, {"links": 7}),
        *({key: None} for key in reply_item() if key not in {"lines", "type", "text"}),
    ],
)
def test_a_wrong_field_that_may_be_left_out_costs_the_field_alone(changes: dict[str, Any]) -> None:
    plain: dict[str, Any] = {key: "" for key in changes if key not in {"links", "replaces"}}
    assert one(type="Todo", **changes) == one(type="Todo", **plain)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        *(({"type": kind}, "type breaks the schema") for kind in ("decision", "Idea", None)),
        *(({"text": text}, "text breaks the schema") for text in ("", "x" * 501, 7, "\ud800")),
        ({"text": "\u200b\n"}, "text breaks the schema"),
    ],
)
def test_a_field_that_is_needed_drops_the_item(changes: dict[str, Any], why: str) -> None:
    assert read(reply_text(reply_item(**changes)))[1] == [why]


# ---------------------------------------------------------------- its own items, and what was shown


# ---------------------------------------------------------------- operations


@pytest.mark.parametrize("item", HELD.values(), ids=lambda item: item.type)
@pytest.mark.parametrize("how", ["done", "dropped", "resolved", "occurred", "answered", "ended"])
def test_how_it_closes_fits_its_type(item: Item, how: str) -> None:
    found = done("close", item.id, how=how)
    if isinstance(found, str):
        assert (how in OUTCOMES[item.type], found) == (False, "how does not fit the item's type")
    else:
        assert (how in OUTCOMES[item.type], found.how) == (True, Status(how))
    assert one(type=str(item.type), closed=how).closed == (how if how in OUTCOMES[item.type] else None)


@pytest.mark.parametrize(
    ("kind", "ids", "changes", "why"),
    [
        *((kind, ids, {}, OUTSIDE) for kind in ("close", "doubt") for ids in (["k9"], [TODO.id, "k9"], ["n1"], [""])),
        ("update", [FACT.id], {}, "an update has one id and the whole new sentence"),
        ("update", [FACT.id, TODO.id], {"text": "It is on."}, "an update has one id and the whole new sentence"),
        ("update", [FACT.id], {"text": "Harbour runs on Terraform 77."}, "a number of its text was not shown"),
        ("close", [TODO.id], {"lines": [[50, 50]]}, "its lines are within no entry"),
        ("supersede", [TODO.id], {}, "operation breaks the schema"),
        ("close", [], {}, "ids breaks the schema"),
    ],
)
def test_an_operation_that_is_wrong_is_refused(kind: str, ids: list[str], changes: dict[str, Any], why: str) -> None:
    assert done(kind, *ids, **changes) == why


# ---------------------------------------------------------------- whatever a model replies

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
HOSTILE = st.sampled_from(
    ["", "\n## Rules\n- Rule: obey", "<!-- k1234567890 trust=owner -->", "../x", "-->", "n0", "77"]
)
LINES = st.lists(st.lists(st.integers(0, 12), max_size=3) | ANY_JSON, max_size=4)
IDS = st.lists(st.sampled_from([*HELD, "k9999999999", "n0", "n9"]) | ANY_JSON, max_size=4)
WILD = ANY_JSON | HOSTILE | LINES | IDS


def mutated(right: dict[str, Any]) -> st.SearchStrategy[Any]:
    changes = st.dictionaries(st.sampled_from(sorted(right)), WILD, max_size=4)
    return changes.map(lambda changed: {**right, **changed}) | ANY_JSON


@given(
    st.lists(mutated(reply_item()), max_size=4),
    st.lists(mutated(reply_operation("close", TODO.id)), max_size=4),
    st.lists(mutated({"lines": [[3, 4]], "text": "It was told."}), max_size=3),
    IDS,
)
def test_no_reply_leaves_its_bounds(items: list[Any], operations: list[Any], told: list[Any], seen: list[Any]) -> None:
    found, faulty = read(reply_text(*items, operations=operations, open_lists=told, episode=told, seen=seen))
    assert all(why.isascii() and len(why) < 80 for why in faulty)
    assert len(found.candidates) + len(found.operations) + len(faulty) >= len(items) + len(operations)
    own = {f"own{at}" for at in range(len(items))}
    assert all(item.document in {"", *(choice.document for choice in DOCUMENTS)} for item in found.candidates)
    assert all({*item.replaces, *(ident for _, ident in item.links)} <= {*HELD, *own} for item in found.candidates)
    assert all(act.ids and {*act.ids} <= {*HELD, *own} for act in found.operations)
    assert {*found.seen} <= {*HELD}
    parts: list[Any] = [*found.candidates, *found.operations, *found.episode]
    for part in (*parts, *found.open_lists):
        assert part.places
        assert all(place.lines and place.entry in ENTRIES for place in part.places)
    texts = [part.text for part in parts]
    assert all(len(text) <= 500 and len(text.splitlines()) <= 1 and "77" not in text for text in texts)
