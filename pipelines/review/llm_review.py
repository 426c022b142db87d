"""The review with a model: it decides on uncertain candidates, a day at a time, given their neighbours."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import Candidate, DocumentChoice, Operation, OperationKind, shown_text
from pipelines.extract.grounding import ungrounded
from pipelines.extract.llm.model_reviewer import MOST_POSED, Posed, Reviewer
from pipelines.review.compare import keywords
from pipelines.review.existing_items import BELIEFS, Belief, KnownItems, speaks_for
from pipelines.review.review import REMOVING, Filed
from pipelines.store.item import OUTCOMES, Confidence, Item, Status, Trust
from pipelines.store.secrets.redact import is_private
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_ALIKE: Final = 2
"""Candidates of one call that share this many distinctive words are neighbours."""
_AFTER_ALL_DAYS: Final = "review"
"""The position of its calls in the order of the night: after every day's reading."""


class ModelReview:
    """Asks models about candidates, and counts the results.

    Args:
        reviewer: the models to ask.
        documents: the closed list of documents.
    """

    def __init__(self, reviewer: Reviewer, documents: tuple[DocumentChoice, ...]) -> None:
        self._reviewer, self._documents, self._calls = reviewer, documents, 0
        self._failures: dict[str, None] = {}
        self.counts = Counter[str]()
        """How many candidates a model was asked about (`asked`) and decided (`by_model`), how many answers broke a rule
        twice (`broken`), and how many links were dropped (`unlinked`)."""
        self.tally = Tally()
        """The cost of the calls."""

    def __call__(self, unsure: Sequence[Filed], known: KnownItems) -> dict[str, tuple[Operation, ...]]:
        """Return the operations on a day's candidates by their ids, empty for a plain `add`.

        Candidates without a usable answer are missing: the rules decide on them.
        """
        answers: dict[str, tuple[Operation, ...]] = {}
        names = {f"{one.document}.md": one.id for one in self._documents}
        for at in range(0, len(unsure), MOST_POSED):
            part = unsure[at : at + MOST_POSED]
            posed = [_posed(one, part[:place], known, names) for place, one in enumerate(part)]
            answers |= {one.candidate.id: () for one in posed if not one.neighbours}
            if asked := [one for one in posed if one.neighbours]:
                answers |= self._ask(asked, {one.candidate.id: one for one in part}, known)
        return answers

    def _ask(
        self, posed: Sequence[Posed], filed: Mapping[str, Filed], known: KnownItems
    ) -> Mapping[str, tuple[Operation, ...]]:
        def check(one: Posed, operation: Operation) -> str:
            if operation.document and not any(operation.document in {d.id, d.document} for d in self._documents):
                return "`document` must be an id of the list, or an empty string."
            shown = [row["text"] for row in one.neighbours]
            return operation_fault(operation, filed[one.candidate.id], known, shown)

        self._calls += 1
        reviewed = self._reviewer.review(posed, self._documents, check, (_AFTER_ALL_DAYS, self._calls))
        self.tally.add(reviewed.tally)
        self.counts += Counter(
            asked=len(posed), by_model=len(reviewed.operations), broken=reviewed.broken, unlinked=reviewed.unlinked
        )
        if reviewed.failure:
            self._failures[reviewed.failure] = None
        return reviewed.operations

    @property
    def notes(self) -> list[str]:
        """Notes for a person, a sentence each, without text of the log."""
        notes = []
        if self._failures:
            notes.append(f"The rules reviewed the candidates that no model could review. {' '.join(self._failures)}")
        if broken := self.counts["broken"]:
            count = f"{broken} {'candidate' if broken == 1 else 'candidates'}"
            notes.append(f"The rules reviewed {count}, because the model's answers were invalid twice.")
        return notes


def _posed(one: Filed, above: Sequence[Filed], known: KnownItems, names: Mapping[str, str]) -> Posed:
    """Return a candidate with its neighbours: existing items, and earlier candidates of the same call."""
    words = keywords(one.candidate.text)
    alike = [other for other in above if len(words & keywords(other.candidate.text)) >= _ALIKE]
    near = [belief for belief in known.near(one.candidate, one.place) if not is_private(belief.item.text)]
    rows = [_row(belief.item, belief.item.status, belief.item.since, belief.home, names) for belief in near]
    rows += [_row(other.candidate, Status.LIVE, other.candidate.day, other.place, names) for other in alike]
    return Posed(one.candidate, names.get(one.place, _short(one.place)), tuple(rows))


def _short(path: str) -> str:
    """Return the name of a document that is not in the list yet."""
    return path.removesuffix(".md").rpartition("/")[2]


def _row(one: Item | Candidate, status: Status, since: str, place: str, names: Mapping[str, str]) -> dict[str, str]:
    row = {"id": one.id, "type": one.type.value, "text": shown_text(one.text), "status": status.value}
    return {**row, "document": _short(names.get(place, place)), "since": since, "trust": one.trust.value}


def operation_fault(operation: Operation, one: Filed, known: KnownItems, shown: Sequence[str] = ()) -> str:
    """Return the rule that a model's operation on a candidate breaks, as a sentence for the model, or an empty string.

    This checks only names, numbers, dates and the ids shown. Whether the quote supports the operation is up to the
    second reader. `shown` are the texts of the candidate's neighbours.
    """
    kind, candidate = operation.kind, one.candidate
    if kind is OperationKind.IGNORE and candidate.confidence is Confidence.HIGH and candidate.trust is Trust.OWNER:
        return "What the owner said in so many words is never ignored."
    targets = [belief for ident in operation.ids if (belief := known.find(ident))]
    faults = [fault for belief in targets if (fault := _target_fault(operation, belief, one, known))]
    if faults or kind is not OperationKind.UPDATE:
        return faults[0] if faults else ""
    if len(targets) != 1 or not operation.text:
        return "An update has one id, and the whole new sentence as its text."
    shown = (*candidate.beside, *shown)
    found = ungrounded(operation.text, candidate.places, [targets[0].item.text], shown, is_update=True)
    return f"The text of an update says what the item and the quote say; {': '.join(found[0])}." if found else ""


def _target_fault(operation: Operation, belief: Belief, one: Filed, known: KnownItems) -> str:
    kind, candidate, item = operation.kind, one.candidate, belief.item
    of_kind = item.type is candidate.type or {item.type, candidate.type} <= BELIEFS
    if kind in {OperationKind.CONFIRM, OperationKind.SUPERSEDE} and not of_kind:
        return f"A {candidate.type} does not {kind} a {item.type}."
    if item.status is Status.WAITING and kind is not OperationKind.CONFIRM:
        return "An item that waits for a person can be confirmed, and nothing else."
    is_apart = not speaks_for(belief.home, one.place)
    if kind in REMOVING | {OperationKind.CONFIRM} and is_apart and not known.names_both(belief.home, one.place):
        return "What holds in one document changes nothing in another."
    if kind is OperationKind.CLOSE and operation.how and operation.how not in OUTCOMES[item.type]:
        return f"`how` for a {item.type} is one of: {', '.join(OUTCOMES[item.type])}."
    return ""
