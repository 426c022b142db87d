"""Links by rule: an id that is named, a reason that something states; and what only looks like one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.extract.extraction import Candidate
from pipelines.night.choose_document import Catalog
from pipelines.night.file_items import promote
from pipelines.review.item_links import Tie, find_ties, linkable
from pipelines.review.review import Verdict, VerdictKind
from pipelines.store.document import Block, Document, edited
from pipelines.store.item import Item, ItemType, Status
from tests.making import candidate, entry

TEAMS = Item(ItemType.FACT, "Two teams already run PostgreSQL in production.", "k1111111111", since="2026-03-01")
COST = Item(ItemType.RISK, "The cloud bill grows by 12% a month.", "k2222222222", since="2026-03-01")
OLD = Item(ItemType.FACT, "The audit happens every spring.", "k3333333333", status=Status.SUPERSEDED)
ALPHA = "Projects/alpha.md"
HELD = [(ALPHA, one) for one in (TEAMS, COST, OLD)]


def ties(*candidates: Candidate) -> list[tuple[str, str | Candidate]]:
    return [(one.kind, one.target) for one in find_ties(candidates, HELD)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Use PostgreSQL for orders because two teams already run PostgreSQL in production.", ("because", TEAMS.id)),
        ("Use PostgreSQL for orders, because two of our teams already run it in production.", ("because", TEAMS.id)),
        ("Use PostgreSQL for orders, because three of our teams already run it in production.", None),
        ("Buy reserved instances given that the cloud bill grows by 12% a month.", ("because", COST.id)),
        ("Buy reserved instances because the cloud bill grows by 15% a month.", None),
        ("Buy no reserved instances because the cloud bill never grows by 12% a month.", None),
        ("Book the room because the audit happens every spring.", None),
        ("Archive old tables so that the cloud bill grows by 12% a month at most.", None),
        ("Train everybody so that two teams already run PostgreSQL in production.", ("supports", TEAMS.id)),
        ("Use it because of them.", None),
        ("Two teams already run PostgreSQL in production, because two teams already run PostgreSQL.", None),
    ],
)
def test_a_reason_is_a_link_where_exactly_one_item_states_it(text: str, found: tuple[str, str] | None) -> None:
    assert ties(candidate(text)) == ([found] if found else [])


def test_a_reason_that_two_items_state_in_different_ways_is_none() -> None:
    other = Item(ItemType.FACT, "Two teams of Ines already run PostgreSQL in production.", "k4444444444")
    one = candidate("Use PostgreSQL because two teams already run PostgreSQL in production.")
    assert find_ties([one], HELD)
    assert not find_ties([one], [*HELD, (ALPHA, other)])


def test_a_candidate_of_the_same_night_can_be_the_reason() -> None:
    why = candidate("The gateway drops packets over 1400 bytes.", ItemType.FACT)
    one = candidate("Lower the MTU because the gateway drops packets over 1400 bytes.")
    assert ties(why, one) == [("because", why)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Pay in advance, see {COST.id}.", ("related", COST.id)),
        (f"Pay in advance because of {COST.id}.", ("because", COST.id)),
        (f"Pay in advance (because of [[{COST.id}]]).", ("because", COST.id)),
        ("Pay in advance, see k22222222.", ("related", COST.id)),
        ("Pay in advance, see k2222.", None),
        ("Pay in advance, see k9999999999.", None),
        (f"Pay in advance, see https://example.org/{COST.id}.", None),
        (f"Pay in advance <!-- superseded-by={COST.id} -->", None),
        ("Pay in advance, see [[Projects/alpha]].", None),
    ],
)
def test_an_id_that_is_named_is_a_link(text: str, found: tuple[str, str] | None) -> None:
    assert ties(candidate(text)) == ([found] if found else [])


def test_an_id_in_an_entry_of_several_candidates_belongs_to_the_lines_that_name_it() -> None:
    of = entry(f"- Decision: Pay early.\n  Decision: Pay late, see {COST.id}.", line=3)
    early, late = (
        Candidate(ItemType.DECISION, text, of, at, at, text, candidate("x").confidence, "test", "test@1")
        for at, text in ((3, "Pay early."), (4, "Pay late."))
    )
    assert [(one.source, one.target) for one in find_ties([early, late], HELD)] == [(late, COST.id)]
    assert [one.target for one in find_ties([early], HELD)] == [COST.id]


def test_what_is_closed_waits_or_is_private_is_shown_to_no_model() -> None:
    private = Item(ItemType.FACT, "My doctor is <private>Dr. Wu</private>.", "k5555555555")
    held = [*HELD, ("Review.md", TEAMS), ("Archives/2025.md", COST), (ALPHA, private)]
    assert [one.id for one in linkable(held)] == [TEAMS.id, COST.id]


# ---------------------------------------------------------------- as promoted


def test_ties_become_links_of_what_is_new_and_a_cycle_harms_nothing() -> None:
    document = edited(Document(ALPHA, "# Alpha\n"), add=[Block(TEAMS)])
    one, other = candidate("Buy the first."), candidate("Buy the second.")
    known = candidate(TEAMS.text, ItemType.FACT)
    verdicts = [
        Verdict(VerdictKind.ADD, one, ALPHA),
        Verdict(VerdictKind.ADD, other, ALPHA),
        Verdict(VerdictKind.DUPLICATE, known, ALPHA, TEAMS.id),
        Verdict(VerdictKind.NOISE, candidate("Nothing."), ALPHA),
    ]
    told = [
        Tie(one, "because", other),
        Tie(other, "because", one),
        Tie(one, "because", known),
        Tie(one, "related", one),
        Tie(one, "related", candidate("Nothing.")),
        Tie(one, "related", "k9999999999"),
        Tie(known, "because", one),
    ]
    promoted = promote(verdicts, Catalog({ALPHA: document}), told)
    first, second = (item for _, item in promoted.added.values())
    assert first.links == (("because", (second.id, TEAMS.id)),)
    assert second.links == (("because", (first.id,)),)
    [kept] = [p.item for p in promoted.documents[ALPHA].items if p.item.id == TEAMS.id]
    assert (kept.links, kept.confirmed) == ((), "2026-03-10"), "what stands gains evidence, and no link"


def test_the_links_of_a_candidate_stand_in_its_comment_and_lead_to_what_took_the_place() -> None:
    document = edited(Document(ALPHA, "# Alpha\n"), add=[Block(TEAMS)])
    linked = replace(candidate("Buy."), links=(("because", TEAMS.id),))
    newer = candidate("Three teams run PostgreSQL now.", ItemType.FACT)
    verdicts = [
        Verdict(VerdictKind.ADD, linked, ALPHA),
        Verdict(VerdictKind.SUPERSEDE, newer, ALPHA, TEAMS.id),
    ]
    promoted = promote(verdicts, Catalog({ALPHA: document}))
    (_, item), (_, after) = promoted.added.values()
    assert item.links == (("because", (after.id,)),)
    assert f"because={after.id}" in promoted.documents[ALPHA].text
