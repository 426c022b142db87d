"""How language models review candidates, whoever they are: what they are asked, and what may come back.

A model gives operations on each candidate. Code checks each; what breaks a rule is asked for once more.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Final, Literal, Protocol

from pydantic import Field

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import Operation, OperationKind, proposed_links, shown_text
from pipelines.extract.llm.call import BadReply, load_prompt
from pipelines.extract.llm.model_extractor import ModelExtractor, new_tally, shown_documents
from pipelines.extract.llm.reply_schema import (  # noqa: TC001  pydantic reads the annotations
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
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.extract.extraction import Candidate, DocumentChoice, Extractor
    from pipelines.extract.llm.call import Place, Prompt
    from pipelines.extract.llm.fallback import Chain
    from pipelines.provider_settings import Prices

    Check = Callable[["Posed", Operation], str]
    Answers = dict[str, tuple[Operation, ...]]


MOST_POSED: Final = 20
"""So many candidates are asked about in one call."""
MOST_OPERATIONS: Final = 100
_QUOTE: Final = 300


@dataclass(frozen=True, slots=True)
class Posed:
    """A candidate about which a model is asked.

    Args:
        candidate: what was found; its temporary id names it.
        document: the id of the document where it would stand, as the list has it.
        neighbours: the items that the answer may name, as a model sees them; each has an `id`.
    """

    candidate: Candidate
    document: str
    neighbours: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What came back.

    Args:
        operations: temporary id of a candidate → what is to become of it, none for a plain `add`; the rules judge a
            candidate that is missing.
        broken: how many candidates are missing because the answers about them broke a rule twice.
        unlinked: how many links could not be kept.
        tally: what the calls came to, and the kept replies that it rests on.
        failure: why candidates could not be asked about, or empty.
    """

    operations: Mapping[str, tuple[Operation, ...]] = field(default_factory=dict)
    broken: int = 0
    unlinked: int = 0
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


class Reviewer(Protocol):
    """Who is asked what becomes of candidates."""

    def review(
        self, posed: Sequence[Posed], documents: Sequence[DocumentChoice], check: Check, place: Place
    ) -> Reviewed:
        """Return the operations on some candidates, as far as usable ones came; it never fails.

        Args:
            posed: at most `MOST_POSED` candidates, each with its neighbours.
            documents: the closed list of documents.
            check: returns the rule that an operation on a candidate breaks, as a sentence for the model, or nothing.
            place: which part of the night's work it is.
        """


def reviewer_of(extractor: Extractor) -> ModelReviewer | None:
    """Return who reviews what an extractor finds: the same models, or None where it is none of models."""
    return ModelReviewer(extractor.chain, prices=extractor.prices) if isinstance(extractor, ModelExtractor) else None


@dataclass(frozen=True, slots=True)
class ModelReviewer:
    """Language models as those who review.

    Args:
        chain: who is asked; its circuits, caps and kept replies are those of the reading.
        prompt: the review prompt.
        prices: the user's own prices, before those of the table.
    """

    chain: Chain
    prompt: Prompt = field(default_factory=lambda: load_prompt("review"))
    prices: Prices = ()

    def review(
        self, posed: Sequence[Posed], documents: Sequence[DocumentChoice], check: Check, place: Place
    ) -> Reviewed:
        """Return the operations on some candidates, as far as usable ones came.

        What breaks a rule is asked for once more, with the rule. A call that fails costs its candidates their
        operations; nothing is raised.
        """
        tally, wrong = new_tally(self.prices), dict[str, str]()
        found: Answers = {}
        try:
            found, wrong, unlinked = self._ask(posed, documents, check, wrong, place, tally)
        except ModelFailed as fault:
            return Reviewed(tally=tally, failure=fault.sentence)
        if wrong:
            rest = [one for one in posed if one.candidate.id in wrong]
            with contextlib.suppress(ModelFailed):  # what is right stays right
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
        """Return the operations by candidate, of the others what is wrong with them, and how many links were lost."""
        listed = shown_documents(documents)
        items = {one["id"]: one for asked in posed for one in asked.neighbours}
        rows = [_row(number, one) for number, one in enumerate(posed)]
        data = {"candidates": rows, "items": list(items.values()), "documents": listed}
        lines = {
            "candidates": [json.dumps(row, ensure_ascii=False) for row in rows],
            "items": [json.dumps(row, ensure_ascii=False) for row in items.values()],
        }
        numbers = {one.candidate.id: number for number, one in enumerate(posed)}
        values = {
            "documents": listed,
            **lines,
            # A hash of all that stands between the marker lines and before them, so none can hold it.
            "nonce": hashlib.sha256(json.dumps([listed, lines]).encode()).hexdigest()[:20],
            "wrong": [f"candidate {numbers[ident]}: {why}" for ident, why in wrong.items()],
        }
        call = self.prompt.call(values, reply_schema(ReviewReply), data=data, place=place)
        raw, model = self.chain.ask(call, read_operations, tally)
        return ({}, {}, 0) if raw is None else _checked(posed, raw, check, f"{model}@{self.prompt.tag}")


def _row(number: int, posed: Posed) -> dict[str, object]:
    """Return a candidate as a model is shown it."""
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


class ReplyOperation(Reply):
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

    operations: Annotated[list[ReplyOperation], Field(max_length=MOST_OPERATIONS)]


def read_operations(text: str) -> list[object] | None:
    """Return the unchecked operations of a reply's text, or None for `{}`: the rules are to judge.

    Thinking, fences and prose are passed over.

    Raises:
        BadReply: no object with a list of operations is in it, or far too many.
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
                    raise Faulty(row, fault)  # noqa: TRY301  one answer to all that can be wrong
                operations.append(replace(operation, by=by))
                unlinked += lost
        except Faulty as fault:
            wrong[one.candidate.id] = fault.detail
            continue
        found[one.candidate.id] = tuple(operations)
    return found, wrong, unlinked


def _operation(raw: dict[str, object], posed: Posed, shown: frozenset[str]) -> tuple[Operation, int]:
    """Return an operation on a candidate, and how many of its links were lost.

    Raises:
        Faulty: it breaks the schema, or names an id that was not shown.
    """
    one = checked(ReplyOperation, {**raw, "links": []})
    kind, ids = OperationKind(one.operation), tuple(dict.fromkeys(one.ids))
    if kind in {OperationKind.ADD, OperationKind.IGNORE}:
        ids = ()
    elif not ids or not shown.issuperset(ids):
        raise Faulty(raw, "`ids` must name items that were shown with it")
    links, lost = proposed_links(raw.get("links"), shown - set(ids) - {posed.candidate.id})
    how = Status(one.how) if one.how else None
    reason = single_line(one.reason)[:REASON_LENGTH]
    return Operation(kind, ids, single_line(one.text), how, one.document, links, reason, posed.candidate.places), lost
