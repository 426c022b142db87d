"""What a second word on candidates may do: each rule by itself, and what it cannot have known of the night."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.extract.extraction import DocumentChoice, Operation, OperationKind
from pipelines.extract.llm.model_reviewer import Reviewed
from pipelines.review.llm_review import ModelReview
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust
from tests.making import candidate, entry
from tests.review.ruling import context, rulings, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.extraction import Candidate
    from pipelines.extract.llm.call import Place
    from pipelines.extract.llm.model_reviewer import Check, Posed
    from pipelines.review.review import Ruling

ALPHA, BETA, GENERAL = "Projects/alpha.md", "Projects/beta.md", "Areas/general.md"
FACT = ItemType.FACT
HOST = Item(FACT, "The billing jobs are hosted by Hetzner", "k1111111111", since="2026-03-01", trust=Trust.SELF)
NEW = candidate("Scaleway hosts the billing jobs", FACT)
CHOICES = (DocumentChoice("alpha", "Alpha", "project", "Projects/alpha"),)


@dataclass
class Says:
    """A reviewer that says the same of every candidate, and keeps what it was asked and what broke a rule."""

    operations: tuple[Operation, ...]
    broken: list[str] = field(default_factory=list)
    shown: list[tuple[str, ...]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def review(self, posed: Sequence[Posed], _: Sequence[DocumentChoice], check: Check, place: Place) -> Reviewed:
        self.places.append(place)
        self.shown += [tuple(item["id"] for item in one.neighbours) for one in posed]
        good = {}
        for one in posed:
            mine = tuple(replace(each, places=one.candidate.places, by="a:1") for each in self.operations)
            if faults := [fault for each in mine if (fault := check(one, each))]:
                self.broken += faults
            else:
                good[one.candidate.id] = mine
        return Reviewed(good, len(posed) - len(good))


def doing(kind: str, *ids: str, **more: object) -> Says:
    return Says((Operation(OperationKind(kind), ids or (HOST.id,), **more),))  # type: ignore[arg-type]  # mixed values


def weighed(says: Says, held: Sequence[tuple[str, Item]], *found: Candidate, home: str = ALPHA) -> list[Ruling]:
    return rulings(found, context(held, home=home, second=ModelReview(says, CHOICES)))


def changed(**changes: Any) -> Item:
    return replace(HOST, **changes)


@pytest.mark.parametrize(
    ("says", "place", "held", "rule"),
    [
        (doing("supersede"), BETA, HOST, "What holds in one document"),
        (doing("retract"), BETA, HOST, "What holds in one document"),
        (doing("close", how=Status.ENDED), BETA, HOST, "What holds in one document"),
        (doing("confirm"), BETA, HOST, "What holds in one document"),
        (doing("supersede"), ALPHA, changed(type=ItemType.TODO), "A Fact does not supersede a Todo."),
        (doing("confirm"), ALPHA, changed(type=ItemType.RISK), "A Fact does not confirm a Risk."),
        (doing("close", how=Status.DONE), ALPHA, HOST, "`how` for a Fact is one of: ended, answered."),
        (doing("update"), ALPHA, HOST, "the whole new sentence"),
        (doing("update", text="Scaleway hosts 9 billing jobs"), ALPHA, HOST, "a number: 9"),
        (doing("add", document="gamma"), ALPHA, HOST, "`document` must be an id of the list"),
    ],
)
def test_a_rule_is_told_where_it_is_broken_and_then_the_rules_judge(
    says: Says, place: str, held: Item, rule: str
) -> None:
    assert told(weighed(says, [(place, held)], NEW)) == [("add", ())]
    [broken] = says.broken
    assert rule in broken


@pytest.mark.parametrize("place", [ALPHA, GENERAL, "MEMORY.md", "USER.md"])
def test_what_speaks_for_all_may_be_superseded_from_a_project(place: str) -> None:
    assert told(weighed(doing("supersede"), [(place, HOST)], NEW)) == [("supersede", (HOST.id,))]


def test_a_project_that_a_belief_names_beside_another_may_change_its_items() -> None:
    renamed = Item(FACT, "Beta is called Alpha from now on", "k2222222222", since="2026-03-02", trust=Trust.SELF)
    held = [(BETA, HOST), (ALPHA, renamed)]
    assert told(weighed(doing("supersede"), held, NEW)) == [("supersede", (HOST.id,))]
    over = [(BETA, HOST), (ALPHA, replace(renamed, status=Status.ENDED, until="2026-03-03"))]
    assert told(weighed(doing("supersede"), over, NEW)) == [("add", ())]


def test_a_decision_may_become_a_fact() -> None:
    assert told(weighed(doing("supersede"), [(ALPHA, changed(type=ItemType.DECISION))], NEW))[0][0] == "supersede"


def test_what_the_owner_said_in_so_many_words_is_never_ignored() -> None:
    own = replace(NEW, trust=Trust.OWNER)
    says = doing("ignore")
    assert told(weighed(says, [(ALPHA, HOST)], own)) == [("add", ())]
    assert says.broken == ["What the owner said in so many words is never ignored."]
    assert told(weighed(doing("ignore"), [(ALPHA, HOST)], replace(own, confidence=Confidence.LOW)))[0][0] == "ignore"


@pytest.mark.parametrize("text", ["Water the plants", "The billing jobs <private>are hosted by Hetzner</private>"])
def test_what_is_far_or_private_is_shown_to_nobody(text: str) -> None:
    says = doing("add")
    assert told(weighed(says, [(BETA, changed(text=text))], NEW)) == [("add", ())]
    assert says.shown == []


def test_what_is_open_in_the_document_is_always_shown() -> None:
    todo = changed(type=ItemType.TODO, status=Status.OPEN, text="Water the plants")
    says = doing("add")
    weighed(says, [(ALPHA, todo)], NEW)
    assert says.shown == [(todo.id,)]


def test_an_old_item_is_superseded_once_and_what_took_its_place_if_both_cannot_be_true() -> None:
    first, second, apart = (
        candidate(text, FACT, of=entry(f"- {text}", line=line))
        for line, text in enumerate(("The port is 8081", "The port is 8082", "The admin page has a port of its own"), 7)
    )
    found = weighed(doing("supersede"), [(ALPHA, HOST)], first, second)
    assert told(found) == [("supersede", (HOST.id,)), ("supersede", ("n1",))]
    found = weighed(doing("supersede"), [(ALPHA, HOST)], first, apart)
    assert told(found) == [("supersede", (HOST.id,)), ("add", ())], "one belief may be replaced by two"


def test_each_day_is_reviewed_after_the_one_before_it() -> None:
    days = [entry("- x", day=f"2026-03-1{at}") for at in (0, 1, 2)]
    found = [candidate(f"{who} hosts the billing jobs", FACT, of=of) for who, of in zip("ABC", days, strict=True)]
    says = doing("add")
    weighed(says, [(ALPHA, HOST)], *found)
    assert says.places == [("review", 1), ("review", 2), ("review", 3)]
    assert {"n1", "n2"} <= set(says.shown[-1])


def test_a_later_day_ends_what_an_earlier_one_of_the_run_brought() -> None:
    late = candidate("No billing jobs run at Scaleway", FACT, of=entry("- No jobs at Scaleway", day="2026-03-11"))

    def second(*_: object) -> dict[str, tuple[Operation, ...]]:
        return {"n2": (Operation(OperationKind.CLOSE, ("n1",), how=Status.ENDED, places=late.places),)}

    by = context(second=second)
    assert told(rulings([NEW, late], by)) == [("add", ()), ("close", ("n1",))]
    assert by.known.held() == []


def test_what_was_learnt_later_is_not_ended_by_an_older_line() -> None:
    later = changed(since="2026-03-20")
    for kind in ("retract", "close", "question"):
        assert told(weighed(doing(kind), [(ALPHA, later)], NEW)) == [("ignore", ())], kind
    [ruling] = weighed(doing("supersede"), [(ALPHA, later)], NEW)
    assert (told([ruling]), ruling.overtaken_by) == ([("add", ())], later.id)


@pytest.mark.parametrize(("trust", "over"), [(Trust.SELF, (HOST.id,)), (Trust.OWNER, ())])
def test_a_late_log_changes_no_history_that_is_trusted_more(trust: Trust, over: tuple[str, ...]) -> None:
    later = replace(HOST, id="k9999999999", text="OVH hosts them", since="2026-03-20")
    first = changed(status=Status.SUPERSEDED, superseded_by=later.id, trust=trust)
    [ruling] = weighed(doing("supersede"), [(ALPHA, first), (ALPHA, later)], NEW)
    assert (told([ruling]), ruling.overtaken_by) == ([("add", over)], later.id)


@pytest.mark.parametrize("kind", ["supersede", "close", "retract"])
@pytest.mark.parametrize("word", [Trust.SELF, Trust.EXTERNAL, Trust.UNTRUSTED])
def test_what_is_trusted_less_asks(kind: str, word: Trust) -> None:
    says = doing(kind)
    by = context([(ALPHA, HOST)], home=ALPHA, word=word, second=ModelReview(says, CHOICES))
    [ruling] = rulings([replace(NEW, trust=word)], by)
    if word is Trust.UNTRUSTED:
        assert told([ruling]) == [("add", ())], "nobody's word does nothing"
    else:
        assert told([ruling]) == [(kind if word is Trust.SELF else "ask", (HOST.id,))]
    assert (HOST.id in {item.id for _, item in by.known.held()}) == (word is not Trust.SELF)


def test_what_is_closed_already_is_confirmed_by_nobody() -> None:
    closed = changed(status=Status.SUPERSEDED)
    assert told(weighed(doing("confirm"), [(ALPHA, closed)], NEW)) == [("add", ())]


def test_a_candidate_that_is_over_closes_what_it_repeats() -> None:
    todo = changed(type=ItemType.TODO, status=Status.OPEN, text="Call Anders about the lease")
    done = candidate("Anders was called about the lease", ItemType.TODO, closed=Status.DONE)
    [ruling] = weighed(doing("confirm"), [(ALPHA, todo)], done)
    assert (told([ruling]), ruling.operation.how) == ([("close", (todo.id,))], Status.DONE)
