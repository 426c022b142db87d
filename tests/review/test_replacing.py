"""What a new item that names others in its place may do: each rule by itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipelines.extract.extraction import Candidate, Operation, OperationKind
from pipelines.review.rulings import Ruling
from pipelines.store.item import Item, ItemType, Status, Trust
from tests.making import candidate, entry, place
from tests.review.ruling import context, rulings, told

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


JOANA = "Joana"


@pytest.mark.parametrize(
    ("held", "does"),
    [
        (changed(source=JOANA), "supersede"),
        (changed(page_section="questions"), "supersede"),
        (HOST, "ask"),
        (changed(source="Rui"), "ask"),
        (changed(trust=Trust.OWNER), "ask"),
    ],
)
def test_what_a_person_told_the_agent_replaces_their_own_word_and_answers_questions(held: Item, does: str) -> None:
    assert told(ruled([held], replace(NEW, source="Joana"))) == [(does, (HOST.id,))]
