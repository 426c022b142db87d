"""Review: what becomes of each candidate, judged against what the memory already holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pipelines.review.existing_items import Belief, Known, Vectors, repeats_there, speaks_for
from pipelines.review.judging import Relation, judge
from pipelines.review.judging.opposites import are_opposite
from pipelines.review.judging.repeats import same_guards, same_order
from pipelines.review.judging.sentence import read_sentence
from pipelines.store.item import Confidence, ItemType, Status, folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pipelines.extract.extraction import Candidate
    from pipelines.review.judging import Judgement
    from pipelines.search.embedders.embedder import Embedder
    from pipelines.store.item import Item


class VerdictKind(StrEnum):
    """What the review decides of a candidate."""

    ADD = "add"
    DUPLICATE = "duplicate"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    NOISE = "noise"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True)
class Filed:
    """A candidate on its way into a document.

    Args:
        candidate: what was proposed.
        document: the document that it names, or empty.
        home: the one where it would be filed.
        doubt: why a person is asked before it is believed, as the end of a sentence that begins with *it*; or empty.
        echo: whether it is the memory's own words come back.
        recited: whether an agent said it with the memory before its eyes: that it repeats something proves nothing.
    """

    candidate: Candidate
    document: str = ""
    home: str = ""
    doubt: str = ""
    echo: bool = False
    recited: bool = False

    @property
    def place(self) -> str:
        """Where it would stand."""
        return self.document or self.home


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one candidate.

    Args:
        kind: what becomes of it.
        candidate: what was judged.
        document: the document that it is meant for, or empty.
        known: the id of the item that it repeats, supersedes or contradicts; empty where that item is new in this run.
        reason: why.
        earlier: the candidate of which this run made that item, where it is new.
    """

    kind: VerdictKind
    candidate: Candidate
    document: str = ""
    known: str = ""
    reason: str = ""
    earlier: Candidate | None = None


ASKED_ABOUT: Final = frozenset({Confidence.HIGH, Confidence.MEDIUM})
"""What is barely believed corrects nothing, and no person is asked about it."""


Found = tuple[Verdict, Belief | None]
"""A verdict, and the item that it is about."""


def review(
    filed: Iterable[Filed],
    items: Iterable[tuple[str, Item]],
    buried: Callable[[Candidate], bool],
    same_meaning: SameMeaning | None = None,
    second: Callable[[int, Filed, Known, Found], Found] | None = None,
) -> tuple[Verdict, ...]:
    """Judge the candidates in order: what is new is added, what is known confirms the item that says it.

    A candidate that names a document repeats an item of that document, or of one that speaks for all; one that names
    none repeats any. It supersedes or contradicts only what is believed, in the document where it would be filed. What
    this run lets in counts for the candidates after it.

    Args:
        filed: the candidates in order of their days, with the documents that their entries name.
        items: document path and item, of every item in the memory, whatever its status: what was superseded or done
            is not learnt anew from an old log.
        buried: whether a person deleted or undid an item that said the same; it is never proposed again.
        same_meaning: who tells that two sentences with other words mean the same; nobody does where none is given.
        second: who has the last word where the verdict is not certain, by place among the candidates; None for nobody.
    """
    same_meaning = same_meaning or SameMeaning()
    known = Known(items, same_meaning.vectors)
    verdicts = []
    for at, one in enumerate(filed):
        found = certain(one, known, buried)
        if found is None:
            found = _by_neighbours(one, known, same_meaning)
            found = second(at, one, known, found) if second else found
        verdict, other = found
        _take(verdict, one, known, other)
        verdicts.append(verdict)
    return tuple(verdicts)


def certain(one: Filed, known: Known, buried: Callable[[Candidate], bool]) -> Found | None:
    """Return the verdict that no other reading could change, or None.

    It is certain where there are no words, the same words stand, or a person took out what said them.
    """
    candidate = one.candidate
    if one.echo or not folded(candidate.text):
        why = "it is the memory's own words" if one.echo else "it has no words"
        return Verdict(VerdictKind.NOISE, candidate, one.document, reason=why), None
    if one.doubt:
        return _doubted(one, known, buried)
    same = known.same(candidate.type, candidate.text, one.document)
    if same and same.current:
        return confirming(one, same, "it says the same words")
    if same is None and buried(candidate):
        return Verdict(VerdictKind.NOISE, candidate, one.document, reason="a person took it out"), None
    return None


def confirming(one: Filed, belief: Belief, why: str) -> Found:
    """Return the verdict on what says again what is held; an agent that repeats what it was given confirms nothing."""
    if one.recited:
        return Verdict(
            VerdictKind.NOISE, one.candidate, one.document, reason="an agent repeats what it was given"
        ), None
    return against(VerdictKind.DUPLICATE, one, belief, why)


def _doubted(one: Filed, known: Known, buried: Callable[[Candidate], bool]) -> Found:
    """Judge what a person is to be asked about: never twice, whatever type it is given the second time.

    What stands already in the same words is left as it is. It gains nothing by words that are not believed.
    """
    candidate = one.candidate
    for kind in ItemType:
        if known.same(kind, candidate.text, one.document):
            return Verdict(VerdictKind.NOISE, candidate, one.document, reason="it says what is known"), None
        if buried(replace(candidate, type=kind)):
            return Verdict(VerdictKind.NOISE, candidate, one.document, reason="a person took it out"), None
    return Verdict(VerdictKind.QUARANTINE, candidate, one.document, reason=one.doubt), None


def _by_neighbours(one: Filed, known: Known, same_meaning: SameMeaning) -> Found:
    """Judge a candidate that no current item says word for word; a closed one may."""
    candidate = one.candidate
    same = known.same(candidate.type, candidate.text, one.document)
    judged = [(belief, _judged(belief, candidate)) for belief in known.near(candidate)]
    repeated = _current_first(_like(one, judged, Relation.DUPLICATE))
    if repeated and repeated.current:
        return confirming(one, repeated, "it says the same in other words")
    is_sure = candidate.confidence in ASKED_ABOUT
    if is_sure and (outdated := _first(Relation.SUPERSEDE, one, judged)):
        return corrected(one, *outdated, known)
    if said := same or repeated:
        return against(VerdictKind.DUPLICATE, one, said, "it says what was closed")
    if is_sure and (clash := _first(Relation.CONTRADICT, one, judged)):
        return against(VerdictKind.CONTRADICT, one, *clash)
    others = _like(one, judged, Relation.DISTINCT)
    repeats = same_meaning.repeated(candidate.text, [belief.text for belief in others])
    if meant := _current_first(belief for belief, is_same in zip(others, repeats, strict=True) if is_same):
        return confirming(one, meant, "it means the same, by the local model")
    return Verdict(VerdictKind.ADD, candidate, one.document), None


def _judged(belief: Belief, candidate: Candidate) -> Judgement:
    """Judge the later of the two against the earlier: a log may be read late."""
    kind = candidate.type if belief.type is candidate.type else None
    if belief.since > candidate.entry.day:
        return judge(candidate.text, belief.text, kind)
    return judge(belief.text, candidate.text, kind)


def _like(one: Filed, judged: Iterable[tuple[Belief, Judgement]], relation: Relation) -> list[Belief]:
    """Return the items of a candidate's type that stand so to it, where it would say them again."""
    return [
        belief
        for belief, judgement in judged
        if judgement.relation is relation
        and belief.type is one.candidate.type
        and repeats_there(belief.document, one.document)
    ]


def _current_first(beliefs: Iterable[Belief]) -> Belief | None:
    """Return the nearest item, what is closed last; or None."""
    return min(beliefs, key=lambda belief: not belief.current, default=None)


def _first(relation: Relation, one: Filed, judged: Sequence[tuple[Belief, Judgement]]) -> tuple[Belief, str] | None:
    """Return the nearest believed item that stands so to a candidate, and why."""
    for belief, judgement in judged:
        of_type = belief.type is one.candidate.type or relation is Relation.SUPERSEDE
        if judgement.relation is relation and belief.active and of_type and speaks_for(belief.document, one.place):
            return belief, judgement.why
    return None


def corrected(one: Filed, belief: Belief, why: str, known: Known) -> Found:
    """Return the verdict on a candidate that corrects an item, or that a later item corrected already.

    What is trusted more than the candidate, or would be too much of a document for one night, is asked about.
    """
    if belief.since > one.candidate.entry.day:
        return against(VerdictKind.NOISE, one, belief, "a later entry corrected it already")
    if not one.candidate.trust.reaches(belief.trust):
        return against(VerdictKind.CONTRADICT, one, belief, f"{why}, but what stands is trusted more")
    if not known.may_close(belief):
        return against(
            VerdictKind.CONTRADICT, one, belief, f"{why}, but too much of the document would go in one night"
        )
    return against(VerdictKind.SUPERSEDE, one, belief, why)


def against(kind: VerdictKind, one: Filed, belief: Belief, why: str) -> Found:
    """Return a verdict on a candidate that is about an item."""
    return Verdict(kind, one.candidate, one.document, belief.id, why, belief.born), belief


def _take(verdict: Verdict, one: Filed, known: Known, other: Belief | None) -> None:
    """Let the candidates that follow see what this verdict does."""
    candidate, day = verdict.candidate, verdict.candidate.entry.day
    place, status = one.place, Status.LIVE
    if verdict.kind is VerdictKind.SUPERSEDE and other:
        known.close(other, day)
        place = other.document
    elif verdict.kind in {VerdictKind.CONTRADICT, VerdictKind.QUARANTINE}:
        status = Status.WAITING
    elif verdict.kind is not VerdictKind.ADD:
        return
    if candidate.type is ItemType.TODO and status is Status.LIVE:
        status = Status.DONE if candidate.closed else Status.OPEN
    known.add(Belief(candidate.type, candidate.text, place, candidate.trust, day, status, born=candidate))


# ---------------------------------------- whether two sentences mean the same
# told by the local model where there is one.
#
# Nothing is sent to anybody. Which model it was is in the run's report, so that a replay asks the same one.


SAME: Final = 0.92
"""The cosine from which on two sentences of one type are taken for one (memori merges there, too)."""
_SHARED: Final = 0.3
"""The share of the shorter one's words that both must have: what shares less never came near in meaning."""


class SameMeaning:
    """Tells which sentences say the same in other words, as far as an embedder is there.

    Args:
        embedder: gives the local model, or None; it is asked when the first pair is compared.
        vectors: those of items, by which neighbours are found; words alone find them where none is given.
    """

    def __init__(self, embedder: Callable[[], Embedder | None] = lambda: None, vectors: Vectors | None = None) -> None:
        self.vectors = vectors or Vectors()
        self._own = Vectors(embedder)

    @property
    def name(self) -> str:
        """Which model compares; empty where none does."""
        return self._own.model

    def repeated(self, text: str, others: Sequence[str]) -> list[bool]:
        """Return, for each of some sentences, whether it says what `text` says.

        What differs in a number, a date, a name or a negation never does, nor what says the opposite or turns the
        words round, however near the vectors are.
        """
        asked = [at for at, other in enumerate(others) if _may_be_same(other, text)]
        rows = self._own.rows([text, *(others[at] for at in asked)]) if asked else None
        if rows is None:
            return [False] * len(others)
        near = {at for at, row in zip(asked, rows[1:], strict=True) if float(row @ rows[0]) >= SAME}
        return [at in near for at in range(len(others))]


def _may_be_same(old: str, new: str) -> bool:
    before, after = read_sentence(old), read_sentence(new)
    shared, left, more = before.keys & after.keys, before.keys - after.keys, after.keys - before.keys
    if len(shared) < _SHARED * min(len(before.keys), len(after.keys)) or are_opposite(left, more):
        return False
    return same_guards(before, after) and same_guards(after, before) and same_order(before, after)
