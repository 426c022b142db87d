"""What a second reader is asked, and what becomes of the rulings by its verdicts."""

from dataclasses import replace

import pytest

from pipelines.extract.claims import Verdict
from pipelines.extract.extraction import Candidate, Operation, OperationKind, Place
from pipelines.review.rulings import KnownItems, Ruling
from pipelines.review.verification import judged, posed
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust
from tests.making import entry
from tests.review.ruling import context, rulings

HOME = "Projects/alpha.md"
HELD = Item(ItemType.FACT, "The gate of the yard is green.", "k000001", since="2026-03-01", trust=Trust.SELF)
LINE = entry("- Ines painted the gate red, so they say.", headings=["The yard"], project="Alpha")
PLACES = (Place.whole(LINE),)
KINDS = OperationKind
NEW = Candidate(ItemType.FACT, "The gate of the yard is red.", PLACES, Confidence.HIGH, "", "a:1", id="n1")


def on_held(kind: OperationKind, text: str = "") -> Ruling:
    how = Status.ENDED if kind is KINDS.CLOSE else None
    proposed = replace(NEW, text=text) if text else None
    return Ruling(Operation(kind, (HELD.id,), "", how, places=PLACES, by="a:1"), proposed)


def left(ruling: Ruling, *verdicts: Verdict, held: Item = HELD) -> list[Ruling]:
    known = KnownItems([(HOME, held)])
    return judged([ruling], posed([ruling], known), verdicts, known)


def added(one: Candidate = NEW, held: Item = HELD) -> tuple[list[Ruling], KnownItems]:
    """Return the ruling on a new item of the page of a held one, and the items after it."""
    by = context([(HOME, held)], home=HOME)
    return rulings([one], by), by.known


# ---------------------------------------------------------------- what is asked


@pytest.mark.parametrize(
    ("held", "is_pair"),
    [
        (HELD, True),
        (replace(HELD, type=ItemType.TODO, status=Status.OPEN), True),
        (replace(HELD, text="Otto tends the garden."), False),
        (replace(HELD, status=Status.ENDED), False),
        (replace(HELD, trust=Trust.EXTERNAL), False),
    ],
)
def test_a_new_item_is_paired_with_what_stands_near_it_on_its_page(held: Item, is_pair: bool) -> None:  # noqa: FBT001
    found, known = added(held=held)
    assert bool([one for one in posed(found, known) if one.other]) is is_pair


# ---------------------------------------------------------------- what becomes of it


@pytest.mark.parametrize("kind", [KINDS.CLOSE, KINDS.RETRACT, KINDS.QUESTION, KINDS.UPDATE])
def test_only_what_is_supported_is_done(kind: OperationKind) -> None:
    ruling = on_held(kind, "The gate is blue." if kind is KINDS.UPDATE else "")
    assert left(ruling, Verdict.SUPPORTED) == [ruling]
    assert left(ruling, Verdict.UNSUPPORTED) == []
    noted = [KINDS.CONFIRM] if kind is KINDS.CLOSE else []
    assert [one.kind for one in left(ruling, Verdict.UNSURE)] == noted, "what may be over is noted, and stays"


@pytest.mark.parametrize(
    ("verdict", "kind", "asks"),
    [
        (Verdict.SAME, KINDS.CONFIRM, False),
        (Verdict.REPLACES, KINDS.SUPERSEDE, False),
        (Verdict.CONFLICT, KINDS.SUPERSEDE, True),
        (Verdict.BOTH, KINDS.ADD, False),
    ],
)
def test_a_pair_is_one_item_two_or_a_question(verdict: Verdict, kind: OperationKind, asks: bool) -> None:  # noqa: FBT001
    found, known = added()
    [one] = judged(found, posed(found, known), [Verdict.SUPPORTED, verdict], known)
    assert (one.kind, bool(one.asks)) == (kind, asks)
    assert one.operation.ids == ((HELD.id,) if kind is not KINDS.ADD else ())


@pytest.mark.parametrize("held", [replace(HELD, trust=Trust.OWNER), replace(HELD, source="Rui")])
def test_what_a_person_told_the_agent_ends_no_others_word_by_a_pair(held: Item) -> None:
    found, known = added(replace(NEW, source="Joana"), held)
    [one] = judged(found, posed(found, known), [Verdict.SUPPORTED, Verdict.REPLACES], known)
    assert (one.kind, bool(one.asks)) == (KINDS.SUPERSEDE, True)


def test_an_item_that_is_over_closes_the_open_one_that_it_repeats() -> None:
    todo = Item(ItemType.TODO, "Paint the gate of the yard", "k000002", Status.OPEN, "2026-03-01", trust=Trust.SELF)
    done = replace(NEW, type=ItemType.TODO, text="The gate of the yard was painted", closed=Status.DONE)
    found, known = added(done, todo)
    [one] = judged(found, posed(found, known), [Verdict.SUPPORTED, Verdict.SAME], known)
    assert (one.kind, one.operation.ids, one.operation.how) == (KINDS.CLOSE, (todo.id,), Status.DONE)
    owned = replace(todo, trust=Trust.OWNER)
    found, known = added(done, owned)
    [one] = judged(found, posed(found, known), [Verdict.SUPPORTED, Verdict.SAME], known)
    assert (one.kind, bool(one.asks)) == (KINDS.CLOSE, True)
