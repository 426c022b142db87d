"""Links by rule: an id that is named, and what only looks like one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pipelines.extract.extraction import Operation, OperationKind
from pipelines.night.file_items import promote
from pipelines.review.item_links import linkable, with_named_links
from pipelines.review.review import Ruling
from pipelines.store.document import Block, Document, edited
from pipelines.store.item import Item, ItemType, Status
from tests.making import candidate, entry, place

if TYPE_CHECKING:
    from pipelines.extract.extraction import Candidate

TEAMS = Item(ItemType.FACT, "Two teams already run PostgreSQL in production.", "k1111111111", since="2026-03-01")
COST = Item(ItemType.RISK, "The cloud bill grows by 12% a month.", "k2222222222", since="2026-03-01")
OLD = Item(ItemType.FACT, "The audit happens every spring.", "k3333333333", status=Status.SUPERSEDED)
ALPHA = "Projects/alpha.md"
HELD = [(ALPHA, one) for one in (TEAMS, COST, OLD)]


def ties(*candidates: Candidate) -> list[tuple[tuple[str, str], ...]]:
    rulings = [ruling("add", one, number) for number, one in enumerate(candidates, 1)]
    return [one.candidate.links for one in with_named_links(rulings, HELD) if one.candidate]


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
    assert ties(candidate(text)) == [(found,) if found else ()]


def test_an_id_in_an_entry_of_several_candidates_belongs_to_the_lines_that_name_it() -> None:
    of = entry(f"- Decision: Pay early.\n  Decision: Pay late, see {COST.id}.", line=3)
    early, late = (candidate(text, at=place(of, text, (at, at))) for at, text in ((3, "Pay early."), (4, "Pay late.")))
    assert ties(early, late) == [(), (("related", COST.id),)]
    assert ties(early) == [(("related", COST.id),)]


def test_only_what_becomes_an_item_is_linked_and_what_a_model_named_stays() -> None:
    text = f"Pay in advance, see {COST.id}."
    named = replace(candidate(text), links=(("because", TEAMS.id),))
    rulings = [ruling("add", named, 1), ruling("confirm", candidate(text), 2, TEAMS.id)]
    new, known = (one.candidate for one in with_named_links(rulings, HELD))
    assert new
    assert known
    assert (new.links, known.links) == ((("related", COST.id), ("because", TEAMS.id)), ())


def test_what_is_closed_waits_or_is_private_is_shown_to_no_model() -> None:
    private = Item(ItemType.FACT, "My doctor is <private>Dr. Wu</private>.", "k5555555555")
    held = [*HELD, ("Review.md", TEAMS), ("Archives/2025.md", COST), (ALPHA, private)]
    assert [one.id for _, one in linkable(held)] == [TEAMS.id, COST.id]


# ---------------------------------------------------------------- as promoted


def ruling(kind: str, one: Candidate, number: int, *ids: str) -> Ruling:
    operation = Operation(OperationKind(kind), ids, places=one.places)
    return Ruling(operation, replace(one, id=f"n{number}"), ALPHA)


def test_links_are_those_of_what_is_new_and_a_cycle_harms_nothing() -> None:
    document = edited(Document(ALPHA, "# Alpha\n"), add=[Block(TEAMS)])
    links = (("because", TEAMS.id), ("related", "k9999999999"))
    rulings = [
        ruling("add", replace(candidate("Buy the first."), links=links), 1),
        ruling("add", replace(candidate("Buy the second."), links=(("because", "n1"), ("because", "n9"))), 2),
        ruling("confirm", replace(candidate(TEAMS.text, ItemType.FACT), links=(("because", COST.id),)), 3, TEAMS.id),
        ruling("ignore", replace(candidate("Nothing."), links=links), 4),
    ]
    promoted = promote(rulings, {ALPHA: document})
    first, second = (item for _, item in promoted.added.values())
    assert first.links == (("because", (TEAMS.id,)),)
    assert second.links == (("because", (first.id,)),), "a temporary id means the item that it became"
    [kept] = [p.item for p in promoted.documents[ALPHA].items if p.item.id == TEAMS.id]
    assert (kept.links, kept.confirmed) == ((), "2026-03-10"), "what stands gains evidence, and no link"


def test_the_links_of_a_candidate_stand_in_its_comment_and_keep_what_was_true() -> None:
    document = edited(Document(ALPHA, "# Alpha\n"), add=[Block(TEAMS)])
    linked = replace(candidate("Buy."), links=(("because", TEAMS.id),))
    newer = candidate("Three teams run PostgreSQL now.", ItemType.FACT)
    promoted = promote([ruling("add", linked, 1), ruling("supersede", newer, 2, TEAMS.id)], {ALPHA: document})
    (_, item), (_, after) = promoted.added.values()
    assert item.links == (("because", (TEAMS.id,)),)
    assert after.links == (("supersedes", (TEAMS.id,)),)
    assert f"because={TEAMS.id}" in promoted.documents[ALPHA].text


def test_what_two_operations_supersede_is_superseded_by_what_came_last() -> None:
    document = edited(Document(ALPHA, "# Alpha\n"), add=[Block(TEAMS)])
    second, third = (candidate(f"{count} teams run PostgreSQL now.", ItemType.FACT) for count in ("Three", "Four"))
    rulings = [ruling("supersede", second, 1, TEAMS.id), ruling("supersede", third, 2, "n1")]
    promoted = promote(rulings, {ALPHA: document})
    by_text = {p.item.text: p.item for p in promoted.documents[ALPHA].items}
    old, between, now = by_text[TEAMS.text], by_text[second.text], by_text[third.text]
    assert (old.superseded_by, between.superseded_by, now.status) == (between.id, now.id, Status.LIVE)
    assert [p.section for p in promoted.documents[ALPHA].items] == ["Facts", "History", "History"]
