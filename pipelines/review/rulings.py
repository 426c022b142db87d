"""Rulings: what a night decides, and how it is carried out. Items are added, confirmed, replaced and closed.

The review carries them out one after the other, so that later rulings see the effect of earlier ones; and once more,
from the memory as it was, whoever files what a second reader left of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import Candidate, Operation, OperationKind, Place, shown_text
from pipelines.review.existing_items import Belief, KnownItems, speaks_for
from pipelines.review.outcomes import with_confirmation, with_end, with_link, with_successor
from pipelines.review.questions import DOUBT, DoubtfulClaim
from pipelines.store.item import (
    OUTCOMES,
    Evidence,
    Item,
    ItemType,
    Status,
    Trust,
    new_id,
    quote_digest,
)
from pipelines.store.layout import Kind, document_id, kind_of
from pipelines.store.review_queue import waiting

if TYPE_CHECKING:
    from collections.abc import Sequence


_MOST_SAID = 160
MAKING: Final = frozenset({OperationKind.ADD, OperationKind.SUPERSEDE, OperationKind.UPDATE})
REMOVING: Final = frozenset({
    OperationKind.SUPERSEDE, OperationKind.UPDATE, OperationKind.CLOSE, OperationKind.RETRACT,
})  # fmt: skip
"""Operations that end an active item."""
ASKED: Final = "questions"
"""The section of open questions. A question contradicts and repeats nothing but another question."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """One operation of a night, ready to apply.

    Args:
        operation: what to do; its ids are those of items, or temporary ones of this run's candidates.
        candidate: the candidate it is about, which becomes an item if it is added, supersedes or updates; None if a log
            line only speaks of existing items.
        document: the candidate's document, or empty.
        trust: whose word it is.
        asks: why a person decides instead of the run, or empty. If set, the run only asks.
    """

    operation: Operation
    candidate: Candidate | None = None
    document: str = ""
    trust: Trust = Trust.SELF
    asks: str = ""

    @property
    def kind(self) -> OperationKind:
        """The kind of operation."""
        return self.operation.kind

    @property
    def day(self) -> str:
        """The day it takes effect."""
        return self.candidate.day if self.candidate else self.operation.day

    @property
    def told(self) -> str:
        """The day of the log it is from."""
        return self.candidate.entry.day if self.candidate else self.operation.day


def carried_out(rulings: Sequence[Ruling], known: KnownItems) -> Sequence[Ruling]:
    """Apply rulings to the items; what a person must decide becomes a question or a claim, and changes none."""
    for ruling in rulings:
        candidate, kind = ruling.candidate, ruling.kind
        targets = [belief for ident in ruling.operation.ids if (belief := known.get(ident))]
        if candidate and (kind in MAKING or (kind is OperationKind.CONFIRM and not targets)):
            _begin(ruling, candidate, targets, known)  # also if it repeats an item that was dropped: it may be right
        else:
            for belief in targets:
                _change(ruling, belief, known)
    return rulings


def _begin(ruling: Ruling, candidate: Candidate, old: Sequence[Belief], known: KnownItems) -> None:
    """Add a new item to its document, or in place of the items that it supersedes there or in one for all."""
    path, place = ruling.document, old[0].document if old and not ruling.asks else ""
    path = place if place and speaks_for(place, path) and kind_of(place) is not Kind.ARCHIVE else path
    # The line that a person has to judge is its last evidence.
    decider = candidate.decider
    places = sorted(candidate.places, key=lambda one: decider is not None and decider.meets(one))
    item = Item(
        type=candidate.type,
        text=candidate.text,
        status=candidate.closed or (Status.OPEN if candidate.type is ItemType.TODO else Status.LIVE),
        since=candidate.day,
        until=candidate.entry.day if candidate.closed else "",
        trust=candidate.trust,
        confidence=candidate.confidence,
        evidence=tuple(dict.fromkeys(map(evidence_of, places))),
        by=candidate.by,
        page_section=candidate.page_section,
        due=candidate.due,
        reason="" if candidate.by_rules else candidate.reason,
        source=candidate.source,
        person=candidate.name,
        on=candidate.on,
    )
    item = replace(item, id=new_id(item, document_id(path), known))
    mine = Belief(waiting(item, path) if ruling.asks else item, path, candidate.id, links=candidate.links)
    known.add(mine)
    if ruling.asks:
        known.questions.append((mine, ruling.asks, old[0] if old else None))
        return
    known.titles.setdefault(path, candidate.entry.project or candidate.new_project or candidate.new_area)
    told = ruling.told if ruling.kind is OperationKind.SUPERSEDE else ""
    for one in old:
        mine.item = with_link(mine.item, "supersedes", one.item.id)
        known.take_out(one, with_successor(one.item, mine.item, candidate.day), told, mine)


def _change(ruling: Ruling, belief: Belief, known: KnownItems) -> None:
    """Apply a ruling to an existing item."""
    operation, kind, item, how = ruling.operation, ruling.kind, belief.item, Status.NEVER_HELD
    if kind in {OperationKind.CLOSE, OperationKind.CONFIRM}:
        how = operation.how or OUTCOMES[item.type][0]
    ended = with_end(item, how, ruling.day, evidence_of(operation.places[-1]))
    if ruling.asks or kind is OperationKind.QUESTION:
        claimed = how.value if kind is OperationKind.CLOSE else DOUBT
        known.claims.append(DoubtfulClaim(ended, claimed, ruling.asks or "nothing says what is true instead"))
    if ruling.asks:
        return
    if kind is OperationKind.CONFIRM and operation.how:
        said = shown_text(" ".join(operation.places[-1].lines), _MOST_SAID)
        belief.item = replace(item, perhaps=f"{how} {ruling.day}: {said}")
    elif kind is OperationKind.CONFIRM:
        _confirm(ruling, belief, known)
    elif kind is OperationKind.QUESTION:
        belief.item = replace(item, doubted=ruling.day)
    elif kind in {OperationKind.CLOSE, OperationKind.RETRACT}:
        known.take_out(belief, ended, ruling.told)
        known.closed[item.id] = None


def _confirm(ruling: Ruling, belief: Belief, known: KnownItems) -> None:
    item, candidate = belief.item, ruling.candidate
    if candidate:
        known.name(candidate.id, belief)
    after = replace(item, perhaps="")
    for place in map(evidence_of, ruling.operation.places):
        after = after if place in after.evidence else with_confirmation(after, place, ruling.operation.day)
    if candidate and candidate.trust is Trust.OWNER:
        after = replace(after, trust=Trust.OWNER, source="")
    if after != item:
        belief.item = after
        if candidate and belief.is_archived:
            known.bring_back(belief, ruling.document)
            known.titles.setdefault(ruling.document, candidate.entry.project or candidate.new_project)
        known.confirmed |= {item.id: None} if belief.was else {}


def evidence_of(place: Place) -> Evidence:
    """Return a place in a log as an item's evidence."""
    return Evidence(place.path, place.start_line, place.end_line, quote_digest("\n".join(place.lines)))
