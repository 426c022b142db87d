"""The review with a model: it says one thing of each candidate, code checks that, and the rules judge the rest.

A model is asked only about what is not certain. What it says counts where it breaks no rule; it can neither remove more
than the review without it, nor merge what differs in a number, a date, a name or a negation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import MOST_LINKS, shown_text
from pipelines.extract.llm.model_reviewer import OperationKind, Posed, Reviewed
from pipelines.review.existing_items import Known, repeats_there, speaks_for
from pipelines.review.judging.repeats import same_guards
from pipelines.review.judging.sentence import read_sentence
from pipelines.review.review import (
    ASKED_ABOUT,
    SameMeaning,
    Verdict,
    VerdictKind,
    against,
    certain,
    confirming,
    corrected,
    review,
)
from pipelines.store.item import Confidence
from pipelines.store.secrets.redact import is_private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.extract.extraction import Candidate, DocumentChoice
    from pipelines.extract.llm.model_reviewer import Operation, Reviewer
    from pipelines.review.existing_items import Belief
    from pipelines.review.review import Filed, Found
    from pipelines.store.item import Item


CURRENT_SHOWN: Final = 6
CLOSED_SHOWN: Final = 3
NOISE: Final = "the model takes it for noise"
_SHARED: Final = 1 / 3
"""A repeat has so large a part of the shorter sentence's words in common, however it is worded."""


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """What a night's review goes by.

    Args:
        items: document path and item, of every item in the memory, whatever its status.
        buried: whether a person deleted or undid an item that said the same as a candidate.
        file: where a candidate belongs.
        documents: the closed list of documents.
        same_meaning: who tells that two sentences with other words mean the same.
    """

    items: Sequence[tuple[str, Item]]
    buried: Callable[[Candidate], bool]
    file: Callable[[Candidate], Filed]
    documents: tuple[DocumentChoice, ...]
    same_meaning: SameMeaning = field(default_factory=SameMeaning)


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """What a review came to.

    Args:
        verdicts: one for each candidate, in their order.
        counts: how many candidates a model was asked about (`asked`), how many verdicts are the model's (`by_model`),
            how many of those drop a candidate as `noise`, how many answers broke a rule twice (`broken`), and how many
            links were left out (`unlinked`); none where no model was asked.
        reviewed: what came back from the models.
    """

    verdicts: tuple[Verdict, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    reviewed: Reviewed = field(default_factory=Reviewed)

    @property
    def notes(self) -> list[str]:
        """What a person should know, a sentence each, without a word of the log."""
        failure, broken = self.reviewed.failure, self.reviewed.broken
        notes = [f"The rules reviewed what a model could not be asked about. {failure}"] if failure else []
        if broken:
            notes.append(f"The rules reviewed {_candidates(broken)}: the model's answers broke a rule twice.")
        if noise := self.counts.get("noise"):
            notes.append(f"The model took {_candidates(noise)} for noise; what they say stands in the logs.")
        return notes


def review_candidates(filed: Sequence[Filed], context: ReviewContext, reviewer: Reviewer | None) -> ReviewResult:
    """Return a verdict on each candidate: the checked model's where there is one, else that of the rules.

    Args:
        filed: the candidates in order of their days, with the documents that their entries name.
        context: what is held, and what a person decided.
        reviewer: the models, or None where the rules alone judge.
    """
    known = Known(context.items if reviewer else (), context.same_meaning.vectors)
    unsure = [at for at, one in enumerate(filed) if reviewer and certain(one, known, context.buried) is None]
    if reviewer is None or not unsure:
        return ReviewResult(review(filed, context.items, context.buried, context.same_meaning))
    posed = [_posed(at + 1, filed[at], known) for at in unsure]
    reviewed = reviewer.review(posed, context.documents, partial(_broken_rule, filed, context, known))
    return _decided(filed, context, reviewed, len(posed))


def _decided(filed: Sequence[Filed], context: ReviewContext, reviewed: Reviewed, asked: int) -> ReviewResult:
    operations = {number - 1: one for number, one in reviewed.operations.items()}
    taken: set[int] = set()

    def second(at: int, one: Filed, known: Known, found: Found) -> Found:
        stands = _said(one, operations[at], known, found) if at in operations else None
        taken.update({at} if stands else ())
        return stands or found

    placed = [_placed(one, operations.get(at), context) for at, one in enumerate(filed)]
    verdicts = review(placed, context.items, context.buried, context.same_meaning, second)
    counts = {
        "asked": asked,
        "by_model": len(taken),
        "noise": sum(verdicts[at].reason == NOISE for at in taken),
        "broken": reviewed.broken,
        "unlinked": sum(one.unlinked for one in operations.values()),
    }
    return ReviewResult(verdicts, counts, reviewed)


def _placed(one: Filed, operation: Operation | None, context: ReviewContext) -> Filed:
    """Return a candidate in the document, and with the links, that an operation gives it."""
    if operation is None or not (operation.document or operation.links):
        return one
    links = tuple(dict.fromkeys([*one.candidate.links, *operation.links]))[:MOST_LINKS]
    candidate = replace(one.candidate, links=links)
    if not operation.document:
        return replace(one, candidate=candidate)
    filed = context.file(replace(candidate, document=operation.document, new_project=""))
    return replace(filed, recited=one.recited)


def _said(one: Filed, operation: Operation, known: Known, found: Found) -> Found | None:
    """Return the verdict that a checked operation comes to, or None where that of the rules stands.

    A model knows the memory as it was before the night: what this night let in or closed is judged by the rules, and
    so is what a later entry corrected. What was closed is not learnt anew because a model adds it.
    """
    verdict, other = found
    if operation.kind is OperationKind.NOISE:
        return Verdict(VerdictKind.NOISE, one.candidate, one.document, reason=NOISE), None
    if operation.kind is OperationKind.ADD:
        unseen = other is not None and not (other.id and other.current)
        is_outdated = verdict.kind is VerdictKind.NOISE
        return None if unseen or is_outdated else (Verdict(VerdictKind.ADD, one.candidate, one.document), None)
    belief = known.find(operation.id)
    if belief is None or known.closed_tonight(belief):
        return None
    if operation.kind is OperationKind.DUPLICATE:
        return confirming(one, belief, "a model finds that it says the same")
    if operation.kind is OperationKind.SUPERSEDE:
        return corrected(one, belief, "a model finds that it takes its place", known)
    return against(VerdictKind.CONTRADICT, one, belief, "a model finds that both cannot hold")


def _posed(number: int, one: Filed, known: Known) -> Posed:
    """Return a candidate that is not certain, with its neighbours."""
    near = [belief for belief in known.near(one.candidate) if not is_private(belief.text)]
    current = [belief for belief in near if belief.current][:CURRENT_SHOWN]
    closed = [belief for belief in near if not belief.current][:CLOSED_SHOWN]
    shown = tuple(
        {
            "id": belief.id,
            "type": belief.type,
            "status": belief.status,
            "since": belief.since,
            "document": belief.document.removesuffix(".md"),
            "text": shown_text(belief.text),
        }
        for belief in (*current, *closed)
        if belief.id
    )
    return Posed(number, one.candidate, one.place.removesuffix(".md"), shown)


def _broken_rule(
    filed: Sequence[Filed], context: ReviewContext, known: Known, posed: Posed, operation: Operation
) -> str:
    """Return the rule that an operation breaks, as a sentence for the model, or nothing."""
    kind, candidate = operation.kind, posed.candidate
    if operation.document and operation.document not in {one.id for one in context.documents}:
        return "`document` must be an id of the list, or an empty string."
    if kind is OperationKind.NOISE and candidate.confidence is Confidence.HIGH:
        return "A candidate of confidence high is never noise."
    if kind in {OperationKind.NOISE, OperationKind.ADD}:
        return ""
    belief = known.find(operation.id)
    if belief is None or operation.id not in {one["id"] for one in posed.neighbours}:
        return "`id` must be that of one of this candidate's own neighbours."
    one = _placed(filed[posed.number - 1], operation, context)
    return _repeat_fault(one, belief) if kind is OperationKind.DUPLICATE else _change_fault(one, belief, kind)


def _repeat_fault(one: Filed, belief: Belief) -> str:
    old, new = read_sentence(belief.text), read_sentence(one.candidate.text)
    if belief.type is not one.candidate.type:
        return "A duplicate is of the candidate's own type."
    if not repeats_there(belief.document, one.document):
        return "A duplicate stands in the candidate's document, or in one that speaks for all."
    if not same_guards(old, new):
        return 'What differs in a number, a date, a name, a condition or a "not" is no duplicate.'
    if len(old.keys & new.keys) < _SHARED * min(len(old.keys), len(new.keys)):
        return "A duplicate says the same, and these have hardly a word in common."
    return ""


def _change_fault(one: Filed, belief: Belief, kind: OperationKind) -> str:
    if one.candidate.confidence not in ASKED_ABOUT:
        return "A candidate of confidence low supersedes and contradicts nothing."
    if not belief.active:
        return "Only what is live or open can be superseded or contradicted."
    if kind is OperationKind.CONTRADICT and belief.type is not one.candidate.type:
        return "A contradiction is between two of one type."
    if not speaks_for(belief.document, one.place):
        return "What holds in one document neither corrects nor contradicts what stands in another."
    if not _same_subject(belief.text, one.candidate.text):
        return "These two are not about the same thing."
    return ""


def _same_subject(old: str, new: str) -> bool:
    """Whether most of what one sentence is about occurs in the other, or the newer names what it was before."""
    before, after = read_sentence(old), read_sentence(new)
    mostly = any(2 * len(one.subject & two.keys) > len(one.subject) for one, two in ((before, after), (after, before)))
    return mostly or bool({word.key for word in after.was} & before.keys)


def _candidates(count: int) -> str:
    return f"{count} {'candidate' if count == 1 else 'candidates'}"
