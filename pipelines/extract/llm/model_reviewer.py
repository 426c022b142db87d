"""How language models review candidates, whoever they are: what they are asked, and what may come back.

A model gives one operation for each candidate. Code checks each; what breaks a rule is asked for once more.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import MOST_LINKS, proposed_links, shown_text
from pipelines.extract.llm.call import BadReply, load_prompt
from pipelines.extract.llm.concurrency import ordered_map
from pipelines.extract.llm.model_extractor import BYTES_A_TOKEN, ModelExtractor, new_tally, shown_documents
from pipelines.extract.llm.reply_schema import ReplyLink, field_of, last_object
from pipelines.usage import FailureKind, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pipelines.extract.extraction import Candidate, DocumentChoice, Extractor, Links
    from pipelines.extract.llm.call import Prompt
    from pipelines.extract.llm.fallback import Chain
    from pipelines.provider_settings import Prices

    Check = Callable[["Posed", "Operation"], str]
    Part = Sequence[tuple["Posed", str]]
    Outcome = tuple[int, Mapping[int, "Operation"], Tally, ModelFailed | None]


MOST_POSED: Final = 20
"""So many candidates are asked about in one call."""
MOST_OPERATIONS: Final = 100
_QUOTE: Final = 200
_AFTER_ALL_DAYS: Final = "review"
"""Where its calls stand in the order of the night: behind every day."""


class OperationKind(StrEnum):
    """What a model may say of a candidate."""

    ADD = "add"
    DUPLICATE = "duplicate"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    NOISE = "noise"


@dataclass(frozen=True, slots=True)
class Posed:
    """A candidate about which a model is asked.

    Args:
        number: by which the answer names it; no other of the night has it.
        candidate: what was found.
        document: the id of the document where it would stand.
        neighbours: the items that the answer may name, as a model sees them, the nearest first; each has an `id`.
    """

    number: int
    candidate: Candidate
    document: str
    neighbours: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """What a model says of one candidate.

    Args:
        kind: what is to become of it.
        id: the item that it repeats, supersedes or contradicts; empty for the others.
        document: the id of the document where it belongs, or empty where the one it was filed in will do.
        links: kind and id of items that were shown for it.
        unlinked: how many links could not be kept.
    """

    kind: OperationKind
    id: str = ""
    document: str = ""
    links: Links = ()
    unlinked: int = 0


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What came back.

    Args:
        operations: number of a candidate → its operation; what is missing is judged without a model.
        broken: how many candidates have none because the answers about them broke a rule twice.
        tally: what the calls came to, and the kept replies that it rests on.
        failure: why candidates could not be asked about, a sentence each, or empty.
    """

    operations: Mapping[int, Operation] = field(default_factory=dict)
    broken: int = 0
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


class Reviewer(Protocol):
    """Who is asked what becomes of the candidates."""

    def review(self, posed: Sequence[Posed], documents: Sequence[DocumentChoice], check: Check) -> Reviewed:
        """Return one operation for each candidate, as far as usable ones came; it never fails.

        Args:
            posed: the candidates of a night about which a model is asked, each with its neighbours.
            documents: the closed list of documents.
            check: returns the rule that an operation on a candidate breaks, as a sentence for the model, or nothing.
        """


def reviewer_of(extractor: Extractor) -> ModelReviewer | None:
    """Return who reviews what an extractor finds: the same models, or None where it is none of models."""
    if not isinstance(extractor, ModelExtractor):
        return None
    return ModelReviewer(extractor.chain, prices=extractor.prices, at_once=extractor.at_once)


@dataclass(frozen=True, slots=True)
class ModelReviewer:
    """Language models as those who review.

    Args:
        chain: who is asked; its circuits, caps and kept replies are those of the reading.
        prompt: the review prompt.
        prices: the user's own prices, before those of the table.
        at_once: how many parts of the candidates are asked about at the same time.
    """

    chain: Chain
    prompt: Prompt = field(default_factory=lambda: load_prompt("review"))
    prices: Prices = ()
    at_once: int = 1

    def review(self, posed: Sequence[Posed], documents: Sequence[DocumentChoice], check: Check) -> Reviewed:
        """Return one operation for each candidate, as far as usable ones came.

        What breaks a rule is asked for once more, with the rule. A call that fails costs its own candidates their
        operations, and where others would fail alike, theirs, too; nothing is raised.
        """
        parts = _parts(posed, self.chain.input_tokens)
        work = [partial(self._review_part, documents, check, number, part) for number, part in enumerate(parts)]
        tally, broken = new_tally(self.prices), 0
        operations: dict[int, Operation] = {}
        failures: list[str] = []
        for count, found, spent, fault in ordered_map(work, self.at_once, _is_last):
            tally.add(spent)
            operations |= found
            if fault:
                failures.append(fault.sentence)
            else:
                broken += count - len(found)
        return Reviewed(operations, broken, tally, " ".join(dict.fromkeys(failures)))

    def _review_part(self, documents: Sequence[DocumentChoice], check: Check, number: int, part: Part) -> Outcome:
        """Return how many candidates a part has, the operations that keep every rule, what they cost, and what failed.

        Some of the operations are given only when asked once more.
        """
        tally = new_tally(self.prices)

        def ask(asked: Part, wrong: Mapping[int, str]) -> tuple[dict[int, Operation], dict[int, str]]:
            listed, lines = shown_documents(documents), [line for _, line in asked]
            values = {
                "documents": listed,
                "candidates": lines,
                # A hash of all that stands between the marker lines and before them, so none can hold it.
                "nonce": hashlib.sha256(json.dumps([listed, lines]).encode()).hexdigest()[:20],
                "wrong": [f"candidate {one}: {why}" for one, why in wrong.items()],
            }
            call = self.prompt.call(values, ReviewReply.model_json_schema(), place=(_AFTER_ALL_DAYS, number))
            raw, _ = self.chain.ask(call, read_operations, tally)
            return _checked([posed for posed, _ in asked], raw, check)

        found: dict[int, Operation] = {}
        try:
            found, wrong = ask(part, {})
        except ModelFailed as fault:
            return len(part), found, tally, fault
        if wrong:
            with contextlib.suppress(ModelFailed):  # what is right stays right
                found |= ask([one for one in part if one[0].number in wrong], wrong)[0]
        return len(part), found, tally, None


def _is_last(outcome: Outcome) -> bool:
    """Whether the rest would fail alike."""
    fault = outcome[-1]
    return fault is not None and (fault.kind.concerns_provider or fault.kind is FailureKind.OVER_BUDGET)


def _parts(posed: Sequence[Posed], tokens: int) -> Iterator[Part]:
    """Yield the candidates, each with the line by which it is shown, in parts that fit a call."""
    part: list[tuple[Posed, str]] = []
    size = 0
    for one in posed:
        line = _shown(one)
        length = len(line.encode()) + 1
        if part and (len(part) == MOST_POSED or size + length > tokens * BYTES_A_TOKEN):
            yield part
            part, size = [], 0
        part.append((one, line))
        size += length
    if part:
        yield part


def _shown(posed: Posed) -> str:
    """Return a candidate with its neighbours as JSON on one line: no text can become structure."""
    one = posed.candidate
    shown: dict[str, Any] = {
        "candidate": posed.number,
        "type": one.type,
        "text": shown_text(one.text, 500),
        "day": one.entry.day,
        "confidence": one.confidence,
        "document": posed.document,
        "quote": shown_text(one.quote, _QUOTE),
        "neighbours": posed.neighbours,
    }
    return json.dumps(shown, ensure_ascii=False)


# ---------------------------------------- what a model may answer


class ReplyOperation(BaseModel):
    """What is to become of one candidate."""

    model_config = ConfigDict(extra="forbid", strict=True)

    candidate: Annotated[int, Field(ge=1, le=1_000_000, description="The candidate's number.")]
    operation: Literal["add", "duplicate", "supersede", "contradict", "noise"]
    id: Annotated[str, Field(max_length=80, description="The id of one of its neighbours, or an empty string.")]
    document: Annotated[str, Field(max_length=300, description="An id of the list, or an empty string.")]
    links: Annotated[list[ReplyLink], Field(max_length=MOST_LINKS, description="Often an empty list.")]
    reason: Annotated[str, Field(max_length=1000, description="At most twelve words.")]


class ReviewReply(BaseModel):
    """The whole reply: one operation for each candidate."""

    model_config = ConfigDict(extra="forbid", strict=True)

    operations: Annotated[list[ReplyOperation], Field(max_length=MOST_OPERATIONS)]


def read_operations(text: str) -> list[object]:
    """Return the unchecked operations of a reply's text; thinking, fences and prose around the JSON are passed over.

    Raises:
        BadReply: no object with a list of operations is in it, or it has other keys, or far too many.
    """
    reply = last_object(text, "operations")
    operations = reply["operations"]
    if set(reply) != {"operations"} or not isinstance(operations, list) or len(operations) > MOST_OPERATIONS:
        raise BadReply("answered outside the schema (the answer must be an object with a list of operations)")
    return operations


def operations_on(posed: Posed, raw: Sequence[object]) -> list[Operation | str]:
    """Return the operations of a reply on one candidate, or in place of one what is wrong with its form."""
    mine = [one for one in raw if isinstance(one, dict) and one.get("candidate") == posed.number]
    return [_operation(one, posed) for one in mine if not isinstance(one.get("candidate"), bool)]


def _operation(raw: dict[str, Any], posed: Posed) -> Operation | str:
    try:
        read = ReplyOperation.model_validate({**raw, "links": []})
    except ValidationError as fault:
        return f"{field_of(fault, ReplyOperation)} breaks the schema."
    kind = OperationKind(read.operation)
    ident = "" if kind in {OperationKind.ADD, OperationKind.NOISE} else read.id
    links, lost = proposed_links(raw.get("links"), [one["id"] for one in posed.neighbours if one["id"] != ident])
    return Operation(kind, ident, read.document, links, lost)


def _checked(
    asked: Sequence[Posed], raw: Sequence[object], check: Check
) -> tuple[dict[int, Operation], dict[int, str]]:
    """Return the operations that keep every rule by their candidates' numbers, and of the others what is wrong."""
    found, wrong = dict[int, Operation](), dict[int, str]()
    for posed in asked:
        given = operations_on(posed, raw)
        one = given[0] if len(given) == 1 else f"There must be exactly one operation, and there are {len(given)}."
        fault = one if isinstance(one, str) else check(posed, one)
        if isinstance(one, Operation) and not fault:
            found[posed.number] = one
        else:
            wrong[posed.number] = fault
    return found, wrong
