"""Taught forms in a night's review: each closes exactly its one item, asks where it must, and else does nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.store.item import Item, ItemType, Status, Trust
from tests.making import candidate, entry
from tests.review.ruling import context, rulings, told

ALPHA, BETA = "Projects/alpha.md", "Projects/beta.md"
DAY = "2026-03-10"
TODO = Item(ItemType.TODO, "Ask legal about the data agreement", "k1111111111", Status.OPEN, "2026-03-01")
RISK = Item(ItemType.RISK, "The disk of the staging server fills up", "k2222222222", since="2026-03-01")
RULE = Item(ItemType.RULE, "Test every deploy by hand", "k3333333333", since="2026-03-01")
LIMIT = Item(ItemType.FACT, "The API allows 100 requests per minute", "k4444444444", since="2026-03-01")
OPEN = Item(ItemType.FACT, "Who signs the contract?", "k5555555555", since="2026-03-01", page_section="questions")
ALL = [(ALPHA, replace(one, trust=Trust.SELF)) for one in (TODO, RISK, RULE, LIMIT, OPEN)]


@pytest.mark.parametrize(
    ("line", "ident", "how"),
    [
        ("- Done: asked legal about the data agreement", TODO.id, Status.DONE),
        ("- 14:10 [x] ask legal about the data agreement", TODO.id, Status.DONE),
        ("- Anna: Done: the data agreement", TODO.id, Status.DONE),
        ("- ask legal about the data agreement - DONE", TODO.id, Status.DONE),
        ("- Todo done: k1111", TODO.id, Status.DONE),
        ("- Cleaned the desk. Done: asked legal about the data agreement.", TODO.id, Status.DONE),
        ("- Dropped: ask legal about the data agreement", TODO.id, Status.DROPPED),
        ("- Resolved: the disk of the staging server", RISK.id, Status.RESOLVED),
        ("- Occurred: the disk of the staging server fills up", RISK.id, Status.OCCURRED),
        ("- No longer: test every deploy by hand", RULE.id, Status.ENDED),
        ("- Answered: who signs the contract?", OPEN.id, Status.ANSWERED),
    ],
)
def test_a_form_closes_exactly_its_one_item(line: str, ident: str, how: Status) -> None:
    by = context(ALL)
    [ruling] = rulings([], by, lines=[entry(line)])
    assert (told([ruling]), ruling.operation.how, ruling.candidate) == ([("close", (ident,))], how, None)
    ended = {item.id for _, item in ALL} - {item.id for _, item in by.known.held()}
    assert ended == {ident}


@pytest.mark.parametrize(
    "line",
    [
        "- asked legal about the data agreement",
        "- Done: asked legal about the coffee machine",
        "- [ ] ask legal about the data agreement",
        "- the data agreement is almost done",
        "- Done: not the data agreement",
        "- Done: the disk of the staging server",
        "- Done: k9999",
        "- all done for today",
    ],
)
def test_in_doubt_nothing_is_done(line: str) -> None:
    assert rulings([], context(ALL), lines=[entry(line)]) == []


def test_of_two_alike_none_is_closed() -> None:
    other = (BETA, replace(TODO, id="k6666666666", trust=Trust.SELF))
    assert rulings([], context([*ALL, other]), lines=[entry(f"- Done: {TODO.text}")]) == []


def test_no_earlier_day_closes_anything() -> None:
    line = f"- Done: {TODO.text}"
    assert rulings([], context(ALL), lines=[entry(line, day="2026-02-01")]) == []
    assert told(rulings([], context(ALL), lines=[entry(line, day="2026-03-01")])) == [("close", (TODO.id,))]


def test_what_is_closed_is_closed_once() -> None:
    lines = [entry(f"- Done: {TODO.text}", line=at, day=day) for at, day in ((3, DAY), (4, DAY), (3, "2026-03-11"))]
    assert told(rulings([], context(ALL), lines=lines)) == [("close", (TODO.id,))]


def test_a_form_closes_what_an_earlier_day_of_the_run_brought() -> None:
    young = candidate("Order the chairs", ItemType.TODO, of=entry("- Todo: Order the chairs", day="2026-03-09"))
    found = rulings([young], context(), lines=[entry("- Done: ordered the chairs")])
    assert told(found) == [("add", ()), ("close", ("n1",))]


@pytest.mark.parametrize("set_by", list(Trust))
@pytest.mark.parametrize("word", list(Trust))
def test_words_close_what_rests_on_no_more_than_they_do(set_by: Trust, word: Trust) -> None:
    held = [(ALPHA, replace(TODO, trust=set_by))]
    found = told(rulings([], context(held, word=word), lines=[entry(f"- Done: {TODO.text}")]))
    if word is Trust.UNTRUSTED:
        assert found == [], "nobody's word does nothing"
    else:
        assert found == [("close" if word.reaches(set_by) else "ask", (TODO.id,))]


# ---------------------------------------------------------------- corrections


@pytest.mark.parametrize(
    "said",
    [
        "The API allows 1,000 requests per minute, not 100",
        "The API allows 1,000 requests per minute",
        "“100 requests per minute” is wrong, it is 1,000",
    ],
)
def test_a_correction_takes_the_place_of_the_one_item_that_it_speaks_of(said: str) -> None:
    by = context(ALL, home=ALPHA)
    [ruling] = rulings([], by, lines=[entry(f"- Correction: {said}")])
    assert told([ruling]) == [("update", (LIMIT.id,))]
    assert ruling.candidate is not None
    text = "The API allows 1,000 requests per minute" if said.startswith("The") else said
    assert (ruling.candidate.text, ruling.candidate.type, ruling.document) == (text, ItemType.FACT, ALPHA)
    assert LIMIT.id not in {item.id for _, item in by.known.held()}


@pytest.mark.parametrize(
    ("said", "home"),
    [
        ("The API allows 1,000 requests per minute", BETA),
        ("The office is in Bern", ALPHA),
    ],
)
def test_a_correction_of_nothing_that_its_document_holds_is_asked_about(said: str, home: str) -> None:
    [ruling] = rulings([], context(ALL, home=home), lines=[entry(f"- Correction: {said}")])
    assert (ruling.kind, ruling.operation.ids, ruling.asks != "") == ("add", (), True)


def test_a_correction_that_two_items_could_mean_is_asked_about() -> None:
    twin = (ALPHA, replace(LIMIT, id="k6666666666", text="The API allows 500 requests per minute"))
    by = context([*ALL, twin], home=ALPHA)
    assert told(rulings([], by, lines=[entry("- Correction: The API allows 1,000 requests per minute")])) == [
        ("ask", (LIMIT.id, "k6666666666"))
    ]


def test_a_correction_of_what_is_trusted_more_is_asked_about() -> None:
    held = [(ALPHA, replace(LIMIT, trust=Trust.OWNER))]
    by = context(held, home=ALPHA)
    found = rulings([], by, lines=[entry("- Correction: The API allows 1,000 requests per minute")])
    assert told(found) == [("ask", (LIMIT.id,))]
    assert [item.id for _, item in by.known.held()] == [LIMIT.id]
