"""Each rule that an operation of a model must keep, by itself, and what it cannot have known of the night."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pipelines.extract.llm.model_reviewer import Operation, OperationKind, Reviewed
from pipelines.review.llm_review import ReviewContext, review_candidates
from pipelines.review.review import Filed, VerdictKind
from pipelines.store.item import Item, ItemType, Status, Trust
from tests.making import candidate, entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.extraction import Candidate, DocumentChoice
    from pipelines.extract.llm.model_reviewer import Check, Posed
    from pipelines.review.llm_review import ReviewResult

ALPHA, BETA = "Projects/alpha.md", "Projects/beta.md"
FACT = ItemType.FACT
HOST = Item(FACT, "The billing jobs are hosted by Hetzner", "k1111111111", since="2026-03-01", trust=Trust.SELF)
NEW = candidate("Scaleway hosts the billing jobs", FACT)


@dataclass
class Says:
    """A reviewer that says the same of every candidate, and keeps what it was asked and what broke a rule."""

    operation: Operation
    broken: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def review(self, posed: Sequence[Posed], _: Sequence[DocumentChoice], check: Check) -> Reviewed:
        self.shown = [one["id"] for asked in posed for one in asked.neighbours]
        faults = {one.number: check(one, self.operation) for one in posed}
        self.broken = [fault for fault in faults.values() if fault]
        return Reviewed({number: self.operation for number, fault in faults.items() if not fault})


def weighed(says: Says, held: list[tuple[str, Item]], *found: Candidate) -> ReviewResult:
    def file(one: Candidate) -> Filed:
        return Filed(one, ALPHA)

    return review_candidates([file(one) for one in found], ReviewContext(held, lambda _: False, file, ()), says)


def doing(kind: str, ident: str = HOST.id) -> Says:
    return Says(Operation(OperationKind(kind), ident))


def changed(**changes: object) -> Item:
    return Item(**{name: getattr(HOST, name) for name in Item.__slots__} | changes)


@pytest.mark.parametrize(
    ("kind", "place", "held", "rule"),
    [
        ("supersede", ALPHA, changed(status=Status.SUPERSEDED), "Only what is live"),
        ("supersede", BETA, HOST, "What holds in one document"),
        ("contradict", BETA, HOST, "What holds in one document"),
        ("supersede", ALPHA, changed(text="Water the plants"), "own neighbours"),
        ("supersede", ALPHA, changed(text="The billing jobs <private>are hosted by Hetzner</private>"), "own neighb"),
        ("duplicate", ALPHA, changed(type=ItemType.DECISION), "candidate's own type"),
        ("duplicate", BETA, changed(text="The billing jobs have a host"), "A duplicate stands in"),
        ("duplicate", ALPHA, changed(text="All backup jobs run in pairs of containers"), "hardly a word in common"),
    ],
)
def test_a_rule_is_told_where_it_is_broken(kind: str, place: str, held: Item, rule: str) -> None:
    says = doing(kind)
    text = "The billing process and its nightly sibling jobs want a host" if kind == "duplicate" else NEW.text
    found = weighed(says, [(place, held)], candidate(text, FACT))
    [broken] = says.broken
    assert rule in broken
    assert found.counts["by_model"] == 0


def test_an_item_is_superseded_once_a_night() -> None:
    other = candidate("OVH hosts the billing jobs", FACT, of=entry("- OVH hosts the billing jobs", line=9))
    first, second = weighed(doing("supersede"), [(ALPHA, HOST)], NEW, other).verdicts
    assert (first.kind, first.known) == (VerdictKind.SUPERSEDE, HOST.id)
    assert second.known == ""


@pytest.mark.parametrize("kind", ["add", "supersede"])
def test_what_a_later_entry_corrected_is_not_learnt_from_an_old_log(kind: str) -> None:
    later = changed(text="Production now runs on Python 3.13", since="2026-03-20")
    old = candidate("Production runs on Python 3.11", FACT)
    [verdict] = weighed(doing(kind), [(ALPHA, later)], old).verdicts
    assert (verdict.kind, verdict.known) == (VerdictKind.NOISE, HOST.id)
