"""What a second reader does not support is not carried out, whatever the operation is called."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from pipelines.extract.claims import Verdict, Verified
from pipelines.extract.extraction import Candidate, Operation, OperationKind, Place
from pipelines.review.existing_items import KnownItems
from pipelines.review.review import Ruling
from pipelines.review.verification import verified
from pipelines.store.item import Confidence, Item, ItemType, Status
from tests.making import entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.claims import Claim

HOME = "Projects/alpha.md"
HELD = Item(ItemType.FACT, "The gate is green.", "k000001", since="2026-03-01")
LINE = entry("- Ines painted the gate red, so they say.")
PLACES = (Place(LINE, LINE.start_line, LINE.end_line, "Ines painted the gate red"),)
KINDS = OperationKind


@dataclass
class Says:
    """A verifier with one answer to all, or with one for each kind of claim."""

    verdict: Verdict
    of: dict[str, Verdict] = field(default_factory=dict)
    asked: list[Claim] = field(default_factory=list)

    def verify(self, claims: Sequence[Claim], *, again: bool = False) -> Verified:
        self.asked += [] if again else claims
        found = tuple(self.of.get(claim.kind, self.verdict) for claim in claims)
        return Verified(found, ("",) * len(found))


def left(ruling: Ruling, verifier: Says) -> list[Ruling]:
    known = KnownItems([(HOME, HELD)])
    return verified([ruling], [], known, lambda _: "", verifier, "2026-03-12").rulings


def on_held(kind: OperationKind, found: str = "", confidence: Confidence = Confidence.HIGH) -> Ruling:
    proposed = Candidate(ItemType.FACT, found, PLACES, confidence, "", "a:1", id="n1") if found else None
    how = Status.ENDED if kind is KINDS.CLOSE else None
    return Ruling(Operation(kind, (HELD.id,), "", how, places=PLACES, by="a:1"), proposed, HOME)


@pytest.mark.parametrize("kind", [KINDS.CLOSE, KINDS.RETRACT, KINDS.QUESTION, KINDS.CONFIRM])
def test_nothing_is_said_of_what_is_held_that_the_line_does_not_say(kind: OperationKind) -> None:
    verifier = Says(Verdict.UNSUPPORTED)
    assert left(on_held(kind), verifier) == []
    assert [claim.kind for claim in verifier.asked] == [kind]
    assert left(on_held(kind), Says(Verdict.SUPPORTED)) == [on_held(kind)]


def test_what_is_said_to_confirm_is_verified_by_itself() -> None:
    """What is called a confirmation and is none is filed beside the item, to be verified by the next night."""
    ruling = on_held(KINDS.CONFIRM, "The gate is blue.")
    assert left(ruling, Says(Verdict.SUPPORTED)) == [ruling]
    for verdict in (Verdict.UNSUPPORTED, Verdict.UNSURE):
        [added] = left(ruling, Says(Verdict.SUPPORTED, {"confirm": verdict}))
        assert added.kind is KINDS.ADD
        assert added.candidate is not None
        assert (added.candidate.unverified, added.candidate.confidence) == (True, Confidence.MEDIUM)
    [same] = left(on_held(KINDS.CONFIRM, "the gate is green"), verifier := Says(Verdict.SUPPORTED))
    assert same.kind is KINDS.CONFIRM
    assert verifier.asked == [], "the same words need no confirmation"


def test_what_is_certain_is_ignored_only_where_a_second_reader_agrees() -> None:
    ruling = on_held(KINDS.IGNORE, "Ines painted the gate red, so they say.")
    [added] = left(ruling, Says(Verdict.SUPPORTED, {"ignore": Verdict.UNSUPPORTED}))
    assert (added.kind, added.candidate) == (KINDS.ADD, ruling.candidate)
    for answers in ({}, {"ignore": Verdict.UNSURE}, {"ignore": Verdict.UNSUPPORTED, "item": Verdict.UNSUPPORTED}):
        assert left(ruling, Says(Verdict.SUPPORTED, answers)) == [ruling]
    guess = on_held(KINDS.IGNORE, "Ines painted the gate red.", Confidence.LOW)
    assert left(guess, verifier := Says(Verdict.UNSUPPORTED)) == [guess]
    assert verifier.asked == []


def test_of_a_line_s_own_words_only_a_false_day_is_dropped() -> None:
    line = entry("- Pay the sailmaker by 9 May, who wrote on 3 April.")
    text = line.text.removeprefix("- ")
    place = Place(line, line.start_line, line.end_line, text)
    told = Candidate(ItemType.TODO, text, (place,), Confidence.HIGH, "", "a:1", due="2026-04-03", id="n1")
    ruling = Ruling(Operation(KINDS.ADD, places=(place,), by="a:1"), told, HOME)
    verifier = Says(Verdict.UNSUPPORTED)
    assert left(ruling, verifier) == [replace(ruling, candidate=replace(told, due=""))]
    assert "due: 2026-04-03" in verifier.asked[0].context
    assert left(ruling, Says(Verdict.SUPPORTED)) == [ruling]
    undated, verifier = replace(ruling, candidate=replace(told, due="")), Says(Verdict.UNSUPPORTED)
    assert (left(undated, verifier), verifier.asked) == ([undated], [])
