"""How language models review candidates: the request, and the replies they may give.

A model returns operations on each candidate. Code checks each one; invalid ones are asked for once more.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Final, Literal, Protocol

from pydantic import Field

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import (
    Candidate,
    DocumentChoice,
    Extractor,
    Operation,
    OperationKind,
    proposed_links,
    shown_text,
)
from pipelines.extract.llm.call import BadReply, Place, Prompt, json_lines, load_prompt
from pipelines.extract.llm.model_extractor import ModelExtractor, shown_documents
from pipelines.extract.llm.reply_schema import (
    MOST_IDS,
    REASON_LENGTH,
    Faulty,
    Id,
    Links,
    Outcome,
    Reason,
    Reply,
    Text,
    checked,
    last_object,
    reply_schema,
    single_line,
)
from pipelines.store.item import Status
from pipelines.store.secrets import holds_secret
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.extract.llm.fallback import Chain

    Check = Callable[["Posed", Operation], str]
    Answers = dict[str, tuple[Operation, ...]]


MOST_POSED: Final = 20
"""The most candidates in one call."""
MOST_OPERATIONS: Final = 100
_QUOTE: Final = 300


@dataclass(frozen=True, slots=True)
class Posed:
    """A candidate for a model to decide on.

    Args:
        candidate: the candidate, with its temporary id.
        document: the id, from the list, of the document it would be filed in.
        neighbours: the items that the reply may name, as rows for a model; each has an `id`.
    """

    candidate: Candidate
    document: str
    neighbours: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The model's decisions.

    Args:
        operations: temporary id of a candidate → operations, empty for a plain `add`; the rules decide on candidates
            that are missing.
        broken: how many candidates are missing because their answers were invalid twice.
        unlinked: how many links were dropped.
        tally: the cost of the calls, and the kept replies used.
        failure: why candidates could not be reviewed, or empty.
    """

    operations: Mapping[str, tuple[Operation, ...]] = field(default_factory=dict)
    broken: int = 0
    unlinked: int = 0
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


class Reviewer(Protocol):
    """Decides what becomes of candidates."""

    def review(
        self, posed: Sequence[Posed], documents: Sequence[DocumentChoice], check: Check, place: Place
    ) -> Reviewed:
        """Return the usable operations on some candidates; it never raises.

        Args:
            posed: at most `MOST_POSED` candidates, each with its neighbours.
            documents: the closed list of documents.
            check: returns the rule that an operation breaks, as a sentence for the model, or an empty string.
            place: the call's position in the night.
        """


def reviewer_of(extractor: Extractor) -> ModelReviewer | None:
    """Return a reviewer with an extractor's models, or None if the extractor has none."""
    return ModelReviewer(extractor.chain) if isinstance(extractor, ModelExtractor) else None


@dataclass(frozen=True, slots=True)
class ModelReviewer:
    """Language models as reviewers.

    Args:
        chain: the models; their circuits, caps and kept replies are shared with the reading.
        prompt: the review prompt.
    """

    chain: Chain
    prompt: Prompt = field(default_factory=lambda: load_prompt("review"))

    def review(
        self, posed: Sequence[Posed], documents: Sequence[DocumentChoice], check: Check, place: Place
    ) -> Reviewed:
        """Return the usable operations on some candidates.

        Invalid operations are asked for once more, with the rule they broke. If a call fails, its candidates have no
        operations; it never raises.
        """
        tally, wrong = self.chain.new_tally(), dict[str, str]()
        found: Answers = {}
        try:
            found, wrong, unlinked = self._ask(posed, documents, check, wrong, place, tally)
        except ModelFailed as fault:
            return Reviewed(tally=tally, failure=fault.sentence)
        if wrong:
            rest = [one for one in posed if one.candidate.id in wrong]
            with contextlib.suppress(ModelFailed):  # keep what was correct
                mended, wrong, more = self._ask(rest, documents, check, wrong, place, tally)
                found |= mended
                unlinked += more
        return Reviewed(found, len(wrong), unlinked, tally)

    def _ask(
        self,
        posed: Sequence[Posed],
        documents: Sequence[DocumentChoice],
        check: Check,
        wrong: Mapping[str, str],
        place: Place,
        tally: Tally,
    ) -> tuple[Answers, dict[str, str], int]:
        """Return the operations by candidate, the faults of the other candidates, and how many links were dropped."""
        listed = shown_documents(documents)
        items = {one["id"]: one for asked in posed for one in asked.neighbours}
        rows = [_row(number, one) for number, one in enumerate(posed)]
        data = {"candidates": rows, "items": list(items.values()), "documents": listed}
        numbers = {one.candidate.id: number for number, one in enumerate(posed)}
        values = {
            "documents": listed,
            "candidates": json_lines(rows),
            "items": json_lines(items.values()),
            "wrong": [f"candidate {numbers[ident]}: {why}" for ident, why in wrong.items()],
        }
        call = self.prompt.call(values, reply_schema(ReviewReply), data=data, place=place)
        raw, model = self.chain.ask(call, read_operations, tally)
        return ({}, {}, 0) if raw is None else _checked(posed, raw, check, f"{model}@{self.prompt.tag}")


def _row(number: int, posed: Posed) -> dict[str, object]:
    """Return a candidate as a row for a model."""
    one = posed.candidate
    return {
        "candidate": number,
        "id": one.id,
        "type": one.type.value,
        "text": shown_text(one.text, 500),
        "document": posed.document,
        "quotes": [shown_text(quote, _QUOTE) for quote in one.quotes],
        "day": one.entry.day,
        "closed": one.closed.value if one.closed else "",
        "neighbours": [item["id"] for item in posed.neighbours],
    }


# ---------------------------------------- what a model may answer


class ReviewOperation(Reply):
    """What is to become of one candidate."""

    candidate: Annotated[int, Field(ge=0, le=1_000_000, description="The candidate's number.")]
    operation: Literal["add", "confirm", "supersede", "update", "close", "retract", "question", "ignore"]
    ids: Annotated[list[Id], Field(default_factory=list, max_length=MOST_IDS)]
    text: Text = ""
    how: Outcome = ""
    document: Annotated[str, Field(max_length=300, description="An id of the list, or an empty string.")] = ""
    reason: Reason = ""
    links: Links


class ReviewReply(Reply):
    """The whole reply."""

    operations: Annotated[list[ReviewOperation], Field(max_length=MOST_OPERATIONS)]


def read_operations(text: str) -> list[object] | None:
    """Return the unchecked operations of a reply, or None for `{}`: the rules should decide.

    Thinking, fences and prose are ignored.

    Raises:
        BadReply: the reply has no object with a list of operations, or too many.
    """
    reply = last_object(text, "operations")
    if not reply:
        return None
    operations = reply["operations"]
    if not isinstance(operations, list) or len(operations) > MOST_OPERATIONS:
        raise BadReply("answered outside the schema (the answer must be an object with a list of operations)")
    return operations


def _checked(
    posed: Sequence[Posed], raw: Sequence[object], check: Check, by: str
) -> tuple[Answers, dict[str, str], int]:
    found: Answers = {}
    wrong: dict[str, str] = {}
    unlinked = 0
    shown = frozenset(item["id"] for one in posed for item in one.neighbours)
    for number, one in enumerate(posed):
        mine = [row for row in raw if isinstance(row, dict) and row.get("candidate") is not True]
        operations = []
        try:
            for row in (row for row in mine if row.get("candidate") == number):
                operation, lost = _operation(row, one, shown)
                if fault := check(one, operation):
                    raise Faulty(row, fault)  # noqa: TRY301  one handler for all faults
                operations.append(replace(operation, by=by))
                unlinked += lost
        except Faulty as fault:
            wrong[one.candidate.id] = fault.detail
            continue
        found[one.candidate.id] = tuple(operations)
    return found, wrong, unlinked


def _operation(raw: dict[str, object], posed: Posed, shown: frozenset[str]) -> tuple[Operation, int]:
    """Return an operation on a candidate, and how many of its links were dropped.

    Raises:
        Faulty: it breaks the schema, or names an id that was not shown.
    """
    one = checked(ReviewOperation, {**raw, "links": []})
    kind, ids = OperationKind(one.operation), tuple(dict.fromkeys(one.ids))
    if kind in {OperationKind.ADD, OperationKind.IGNORE}:
        ids = ()
    elif not ids or not shown.issuperset(ids):
        raise Faulty(raw, "`ids` must name items that were shown with it")
    links, lost = proposed_links(raw.get("links"), shown - set(ids) - {posed.candidate.id})
    how = Status(one.how) if one.how else None
    reason = single_line(one.reason)[:REASON_LENGTH]
    if holds_secret(one.text) or holds_secret(reason):
        raise Faulty(raw, "it would hold a secret")
    return Operation(kind, ids, single_line(one.text), how, one.document, links, reason, posed.candidate.places), lost
