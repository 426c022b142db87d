"""What a new item that names others in its place may do: each rule by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.extract.extraction import Operation, OperationKind
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust
from tests.making import candidate, entry, place
from tests.review.ruling import context, rulings, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.extraction import Candidate
    from pipelines.review.review import Ruling

ALPHA = "Projects/alpha.md"
FACT = ItemType.FACT
HOST = Item(FACT, "The billing jobs are hosted by Hetzner", "k1111111111", since="2026-03-01", trust=Trust.SELF)
NEW = replace(candidate("Scaleway hosts the billing jobs", FACT), by="a:1", replaces=(HOST.id,))
KINDS = OperationKind


def changed(**changes: Any) -> Item:
    return replace(HOST, **changes)


def ruled(held: Sequence[Item], *found: Candidate, word: Trust = Trust.SELF) -> list[Ruling]:
    return rulings(found, context([(ALPHA, one) for one in held], home=ALPHA, word=word))


def said(kind: OperationKind, ident: str = HOST.id, day: str = "2026-03-10") -> Operation:
    how = Status.ENDED if kind is KINDS.CLOSE else None
    places = (place(entry("- No more Hetzner", day=day)),)
    return Operation(kind, (ident,), "The billing jobs have no host", how, places=places, by="a:1")


@pytest.mark.parametrize("kind", list(ItemType))
def test_an_item_of_any_type_may_be_replaced(kind: ItemType) -> None:
    assert told(ruled([changed(type=kind)], NEW)) == [("supersede", (HOST.id,))]


@pytest.mark.parametrize("confidence", [Confidence.LOW, Confidence.SPECULATIVE])
def test_what_is_barely_believed_replaces_nothing(confidence: Confidence) -> None:
    assert told(ruled([HOST], replace(NEW, confidence=confidence))) == [("add", ())]


def test_an_old_item_is_replaced_once_and_what_took_its_place_if_both_cannot_be_true() -> None:
    first, second, apart = (
        replace(candidate(text, FACT, of=entry(f"- {text}", line=line)), by="a:1", replaces=(HOST.id,))
        for line, text in enumerate(("The port is 8081", "The port is 8082", "The admin page has a port of its own"), 7)
    )
    assert told(ruled([HOST], first, second)) == [("supersede", (HOST.id,)), ("supersede", ("n1",))]
    assert told(ruled([HOST], first, apart)) == [("supersede", (HOST.id,)), ("add", ())]


def test_what_was_learnt_later_is_not_ended_by_an_older_line() -> None:
    later = changed(since="2026-03-20")
    for kind in (KINDS.RETRACT, KINDS.CLOSE, KINDS.QUESTION, KINDS.UPDATE):
        assert rulings([], context([(ALPHA, later)]), [said(kind)]) == [], kind
    [ruling] = ruled([later], NEW)
    assert (told([ruling]), ruling.overtaken_by) == ([("add", ())], later.id)


@pytest.mark.parametrize(("trust", "over"), [(Trust.SELF, (HOST.id,)), (Trust.OWNER, ())])
def test_a_late_log_changes_no_history_that_is_trusted_more(trust: Trust, over: tuple[str, ...]) -> None:
    later = replace(HOST, id="k9999999999", text="OVH hosts them", since="2026-03-20")
    first = changed(status=Status.SUPERSEDED, superseded_by=later.id, trust=trust)
    [ruling] = ruled([first, later], NEW)
    assert (told([ruling]), ruling.overtaken_by) == ([("add", over)], later.id)


@pytest.mark.parametrize("kind", [KINDS.SUPERSEDE, KINDS.CLOSE, KINDS.RETRACT, KINDS.UPDATE])
@pytest.mark.parametrize("word", list(Trust))
def test_what_is_trusted_less_asks(kind: OperationKind, word: Trust) -> None:
    by = context([(ALPHA, HOST)], home=ALPHA, word=word)
    is_new = kind is KINDS.SUPERSEDE
    found = told(rulings([replace(NEW, trust=word)] if is_new else [], by, [] if is_new else [said(kind)]))
    if word is Trust.UNTRUSTED:
        assert found == ([("add", ())] if is_new else []), "nobody's word does nothing"
    else:
        assert found == [(kind if word.reaches(Trust.SELF) else "ask", (HOST.id,))]
    assert (HOST.id in {item.id for _, item in by.known.held()}) == (not word.reaches(Trust.SELF))


JOANA = (("source", "Joana"),)


@pytest.mark.parametrize(
    ("held", "does"),
    [
        (changed(extra=JOANA), "supersede"),
        (changed(page_section="questions"), "supersede"),
        (HOST, "ask"),
        (changed(extra=(("source", "Rui"),)), "ask"),
        (changed(trust=Trust.OWNER), "ask"),
    ],
)
def test_what_a_person_told_the_agent_replaces_their_own_word_and_answers_questions(held: Item, does: str) -> None:
    assert told(ruled([held], replace(NEW, source="Joana"))) == [(does, (HOST.id,))]
