"""What a second reader is asked, and what becomes of the rulings by its verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.extract.claims import Verdict
from pipelines.extract.extraction import Candidate, Operation, OperationKind, Place
from pipelines.review.existing_items import KnownItems
from pipelines.review.review import Ruling
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
    return Ruling(Operation(kind, (HELD.id,), "", how, places=PLACES, by="a:1"), proposed, HOME)


def left(ruling: Ruling, *verdicts: Verdict, held: Item = HELD) -> list[Ruling]:
    known = KnownItems([(HOME, held)])
    return judged([ruling], posed([ruling], known), verdicts, known)[0]


def added(one: Candidate = NEW, held: Item = HELD) -> tuple[list[Ruling], KnownItems]:
    """Return the ruling on a new item of the page of a held one, and the items after it."""
    by = context([(HOME, held)], home=HOME)
    return rulings([one], by), by.known


# ---------------------------------------------------------------- what is asked


def test_an_item_is_asked_about_with_its_days_its_lines_and_what_is_around_them() -> None:
    told = replace(NEW, since="2026-04-01", on="2026-05-01", closed=Status.ENDED, beside=("before it: The gate?",))
    [one] = posed([Ruling(Operation(KINDS.ADD), told, HOME)], KnownItems([]))
    assert (one.claim.kind, one.claim.text) == ("item", f"{NEW.text} (from 2026-04-01, on 2026-05-01, over ended)")
    assert one.claim.quotes == ("- Ines painted the gate red, so they say.",)
    assert one.claim.context == ("The yard", "project Alpha", "Tue 2026-03-10", "before it: The gate?")


def test_a_line_s_own_words_are_asked_about_only_for_a_day() -> None:
    own = replace(NEW, text="Ines painted the gate red, so they say.", type=ItemType.TODO)
    assert posed([Ruling(Operation(KINDS.ADD), own, HOME)], KnownItems([])) == []
    dated = replace(own, due="2026-04-03")
    [one] = posed([Ruling(Operation(KINDS.ADD), dated, HOME)], KnownItems([]))
    assert one.claim.text.endswith("(due 2026-04-03)")


@pytest.mark.parametrize(
    ("kind", "named", "says"),
    [
        (KINDS.CLOSE, "close", " no longer holds"),
        (KINDS.RETRACT, "retract", " was a mistake and never held"),
        (KINDS.QUESTION, "doubt", " is in doubt"),
        (KINDS.UPDATE, "update", " is changed to: The gate is blue."),
        (KINDS.SUPERSEDE, "replace", " is replaced by: The gate is blue."),
    ],
)
def test_what_is_done_to_an_item_is_asked_about_by_its_name(kind: OperationKind, named: str, says: str) -> None:
    ruling = on_held(kind, "The gate is blue." if kind in {KINDS.UPDATE, KINDS.SUPERSEDE} else "")
    asked = posed([ruling], KnownItems([(HOME, HELD)]))
    assert (asked[-1].claim.kind, asked[-1].claim.text) == (named, f"Fact: {HELD.text}{says}")


def test_what_the_rules_found_is_asked_of_nobody() -> None:
    ruling = on_held(KINDS.CLOSE)
    by_rules = replace(ruling, operation=replace(ruling.operation, by="rules@forms"))
    found, known = added(replace(NEW, by="rules@1"))
    assert posed([by_rules, *found], known) == []


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


def test_what_is_linked_replaced_or_on_another_page_is_no_pair() -> None:
    linked = replace(NEW, links=(("related", HELD.id),))
    for one in (linked, replace(NEW, replaces=(HELD.id,))):
        found, known = added(one)
        assert [each for each in posed(found, known) if each.other] == []
    elsewhere = context([("Projects/beta.md", HELD)], home=HOME)
    assert [each for each in posed(rulings([NEW], elsewhere), elsewhere.known) if each.other] == []


def test_two_new_items_of_a_day_are_a_pair_once() -> None:
    by = context(home=HOME)
    found = rulings([NEW, replace(NEW, text="The gate of the yard is blue.")], by)
    assert [(one.ruling, one.other) for one in posed(found, by.known) if one.other] == [(1, "n1")]


# ---------------------------------------------------------------- what becomes of it


@pytest.mark.parametrize("kind", [KINDS.CLOSE, KINDS.RETRACT, KINDS.QUESTION, KINDS.UPDATE])
def test_only_what_is_supported_is_done(kind: OperationKind) -> None:
    ruling = on_held(kind, "The gate is blue." if kind is KINDS.UPDATE else "")
    assert left(ruling, Verdict.SUPPORTED) == [ruling]
    assert left(ruling, Verdict.UNSUPPORTED) == []
    noted = [KINDS.CONFIRM] if kind is KINDS.CLOSE else []
    assert [one.kind for one in left(ruling, Verdict.UNSURE)] == noted, "what may be over is noted, and stays"


@pytest.mark.parametrize(
    ("says", "does", "kind", "confidence"),
    [
        (Verdict.SUPPORTED, Verdict.SUPPORTED, KINDS.SUPERSEDE, Confidence.HIGH),
        (Verdict.SUPPORTED, Verdict.UNSURE, KINDS.ADD, Confidence.HIGH),
        (Verdict.SUPPORTED, Verdict.UNSUPPORTED, KINDS.ADD, Confidence.HIGH),
        (Verdict.UNSURE, Verdict.SUPPORTED, KINDS.ADD, Confidence.LOW),
        (Verdict.UNSUPPORTED, Verdict.SUPPORTED, None, None),
    ],
)
def test_an_item_takes_a_place_only_if_it_and_that_are_supported(
    says: Verdict, does: Verdict, kind: OperationKind | None, confidence: Confidence | None
) -> None:
    found = left(on_held(KINDS.SUPERSEDE, NEW.text), says, does)
    assert [(one.kind, one.candidate and one.candidate.confidence) for one in found] == (
        [(kind, confidence)] * bool(kind)
    )


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
    [one] = judged(found, posed(found, known), [Verdict.SUPPORTED, verdict], known)[0]
    assert (one.kind, bool(one.asks)) == (kind, asks)
    assert one.operation.ids == ((HELD.id,) if kind is not KINDS.ADD else ())


@pytest.mark.parametrize("held", [replace(HELD, trust=Trust.OWNER), replace(HELD, extra=(("source", "Rui"),))])
def test_what_a_person_told_the_agent_ends_no_others_word_by_a_pair(held: Item) -> None:
    found, known = added(replace(NEW, source="Joana"), held)
    [one] = judged(found, posed(found, known), [Verdict.SUPPORTED, Verdict.REPLACES], known)[0]
    assert (one.kind, bool(one.asks)) == (KINDS.SUPERSEDE, True)


def test_an_item_that_is_unsure_is_added_whatever_its_pair() -> None:
    found, known = added()
    [one] = judged(found, posed(found, known), [Verdict.UNSURE, Verdict.REPLACES], known)[0]
    assert (one.kind, one.operation.ids) == (KINDS.ADD, ())


def test_an_item_that_is_over_closes_the_open_one_that_it_repeats() -> None:
    todo = Item(ItemType.TODO, "Paint the gate of the yard", "k000002", Status.OPEN, "2026-03-01", trust=Trust.SELF)
    done = replace(NEW, type=ItemType.TODO, text="The gate of the yard was painted", closed=Status.DONE)
    found, known = added(done, todo)
    [one] = judged(found, posed(found, known), [Verdict.SUPPORTED, Verdict.SAME], known)[0]
    assert (one.kind, one.operation.ids, one.operation.how) == (KINDS.CLOSE, (todo.id,), Status.DONE)
    owned = replace(todo, trust=Trust.OWNER)
    found, known = added(done, owned)
    [one] = judged(found, posed(found, known), [Verdict.SUPPORTED, Verdict.SAME], known)[0]
    assert (one.kind, bool(one.asks)) == (KINDS.CLOSE, True)


def test_what_is_not_supported_is_counted() -> None:
    found, known = added()
    verdicts = [Verdict.UNSURE, Verdict.CONFLICT]
    assert judged(found, posed(found, known), verdicts, known)[1] == {"claims": 2, "unsure": 1, "conflict": 1}
