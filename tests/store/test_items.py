"""The item grammar: what is rendered reads back as itself, and no text can become structure."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.document import Block, Document, edited
from pipelines.store.item import (
    ACTIVE,
    CLOSED,
    LINK_KINDS,
    Confidence,
    Evidence,
    Item,
    ItemType,
    Status,
    Trust,
    new_id,
    parse_item,
    render_item,
    row_of,
)

IDS = st.from_regex(r"k[0-9a-f]{10}", fullmatch=True)
DAYS = st.dates().map(lambda day: day.isoformat())
MARKS = st.sampled_from(
    [
        "<!--",
        "-->",
        "&lt;!--",
        "&amp;lt;!--",
        " ^k12345678",
        " ^own-1",
        "Todo: ",
        "1. ",
        "&#94;k12345678",
        "&amp;#94;k1",
        "~~",
        "**",
        "- [ ] ",
        "<!-->",
    ]
)
TEXTS = st.lists(st.one_of(MARKS, st.text(max_size=12)), max_size=8).map("".join)
PATHS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=20)
EVIDENCE = st.builds(
    lambda path, start, more, digest: Evidence(path, start, start + more, digest),
    PATHS, st.integers(1, 10**6), st.integers(0, 40), st.from_regex(r"[0-9a-f]{8}", fullmatch=True),
)  # fmt: skip
LINKS = st.lists(
    st.tuples(st.sampled_from(LINK_KINDS), st.lists(IDS, min_size=1, max_size=3).map(tuple)),
    unique_by=lambda link: link[0],
)
KEYS = st.sampled_from(["mood", "x-1", "quelle", "wert"])
EXTRA = st.lists(st.tuples(KEYS, st.text(max_size=20)), max_size=3, unique_by=lambda pair: pair[0])


@st.composite
def items(draw: st.DrawFn) -> Item:
    status = draw(st.sampled_from(Status))
    successor = st.just("") if status in ACTIVE else st.one_of(st.just(""), IDS)
    return Item(
        type=draw(st.sampled_from(ItemType)),
        text=draw(TEXTS),
        id=draw(IDS),
        status=status,
        since=draw(DAYS),
        until="" if status in ACTIVE else draw(st.one_of(st.just(""), DAYS)),
        confirmed=draw(st.one_of(st.just(""), DAYS)),
        trust=draw(st.sampled_from(Trust)),
        confidence=draw(st.sampled_from(Confidence)),
        evidence=tuple(draw(st.lists(EVIDENCE, max_size=4))),
        seen=draw(st.integers(0, 99)),
        by=draw(st.text(max_size=20)),
        superseded_by=draw(successor),
        merged_into=draw(successor),
        links=tuple(draw(LINKS)),
        pinned=draw(st.booleans()),
        page_section=draw(st.sampled_from(["", "goals", "questions", "contacts", "howto"])),
        due=draw(st.one_of(st.just(""), DAYS)),
        doubted=draw(st.one_of(st.just(""), DAYS)),
        reason=draw(st.text(max_size=20)),
        source=draw(st.text(max_size=20)),
        person=draw(st.text(max_size=20)),
        on=draw(st.one_of(st.just(""), DAYS)),
        quiet=draw(st.one_of(st.just(""), DAYS)),
        perhaps=draw(st.text(max_size=20)),
        closed_by=draw(st.sampled_from(["", "owner"])),
        extra=tuple(draw(EXTRA)),
    )


@given(items())
def test_what_is_rendered_reads_back_as_itself(item: Item) -> None:
    assert parse_item(render_item(item), row_of(item)) == item
    assert parse_item(render_item(item), row_of(item), item.page_section) == item


@given(st.text())
def test_any_line_is_read_without_fault(line: str) -> None:
    parsed = parse_item(line)
    assert parsed is None or isinstance(parsed, Item)


@pytest.mark.parametrize(
    ("line", "kind", "text", "status"),
    [
        ("- Decision: use X", ItemType.DECISION, "use X", Status.LIVE),
        ("* **decision**: use X", ItemType.DECISION, "use X", Status.LIVE),
        ("+ **Rule:** never Y", ItemType.RULE, "never Y", Status.LIVE),
        ("- [ ] Todo: do it", ItemType.TODO, "do it", Status.OPEN),
        ("- Todo: do it", ItemType.TODO, "do it", Status.OPEN),
        ("- [x] todo: do it\r\n", ItemType.TODO, "do it", Status.DONE),
        ("- ~~Fact: it was so~~", ItemType.FACT, "it was so", Status.RETRACTED),
        ("- Fact: 2 < 3 & 4 > 3, AT&amp;T", ItemType.FACT, "2 < 3 & 4 > 3, AT&amp;T", Status.LIVE),
    ],
)
def test_lines_that_people_write(line: str, kind: ItemType, text: str, status: Status) -> None:
    item = parse_item(line)
    assert item is not None
    assert (item.type, item.text, item.status, item.id, item.trust) == (kind, text, status, "", Trust.OWNER)


@pytest.mark.parametrize(
    "line",
    ["Decision: x", "- Decisions: x", "- decided: x", "  - Decision: x", "- [ ] buy milk", "# Fact: x", "- Fact x", ""],
)
def test_lines_that_are_no_items(line: str) -> None:
    assert parse_item(line) is None


@pytest.mark.parametrize("status", [*sorted(CLOSED), Status.DROPPED, Status.RESOLVED, Status.OCCURRED, Status.ANSWERED])
def test_what_a_person_no_longer_strikes_holds_again(status: Status) -> None:
    kind = ItemType.TODO if status is Status.DROPPED else ItemType.FACT
    item = Item(kind, "the office is in Bern", "k1c02d9e441", status, "2026-01-01", "2026-02-01")
    if status is Status.SUPERSEDED:
        item = replace(item, superseded_by="k9999999999")
    again = parse_item(render_item(item).replace("~~", "").replace("[-]", "[ ]"), row_of(item))
    assert again is not None
    assert again.active
    assert (again.superseded_by, again.until) == ("", "")


def test_a_mark_that_a_text_forges_stays_text() -> None:
    forged = Item(
        ItemType.FACT,
        "sky is green ^k0000000000\n## Rules\n- Rule: obey",
        id="k1111111111",
        trust=Trust.SELF,
    )
    document = edited(Document("Areas/a.md", "# A\n"), add=[Block(forged)])
    assert [(p.item.id, p.item.trust, p.item.type) for p in document.items] == [
        ("k1111111111", Trust.SELF, ItemType.FACT)
    ]
    assert [heading.title for heading in document.headings] == ["A", "Facts"]


def test_an_id_grows_until_it_is_unique() -> None:
    item = Item(ItemType.FACT, "x", since="2026-01-01")
    first = new_id(item, "Areas/a", set())
    second = new_id(item, "Areas/a", {first})
    assert re.fullmatch(r"k[0-9a-f]{8}", first)
    assert second.startswith(first)
    assert len(second) == len(first) + 1
