"""What goes to a model that reviews candidates and what comes back: one operation a candidate, each checked by code."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.extract.extraction import MOST_LINKS, proposed_links
from pipelines.extract.llm.call import BadReply
from pipelines.extract.llm.reply_schema import ReplyLink, objects_in, without_thinking
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.extract.extraction import Candidate, DocumentChoice, Failure, Links
    from pipelines.store.item import ItemType, Status
    from pipelines.usage import Spent


class OperationKind(StrEnum):
    """What a model may say of a candidate."""

    ADD = "add"
    DUPLICATE = "duplicate"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    NOISE = "noise"


AGAINST_AN_ITEM = frozenset({OperationKind.DUPLICATE, OperationKind.SUPERSEDE, OperationKind.CONTRADICT})
"""The operations that name an item."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An item of the memory that is near to a candidate, as a model sees it."""

    id: str
    type: ItemType
    status: Status
    since: str
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Posed:
    """A candidate about which a model is asked.

    Args:
        number: by which the answer names it; no other of the night has it.
        candidate: what was found.
        document: the id of the document where it would stand.
        neighbours: the items that the answer may name, the nearest first.
    """

    number: int
    candidate: Candidate
    document: str
    neighbours: tuple[Neighbour, ...]


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
class ReviewRequest:
    """The candidates of a night about which a model is asked.

    Args:
        posed: the candidates, each with its neighbours.
        documents: the closed list of documents.
        check: returns the rule that an operation on a candidate breaks, as a sentence for the model, or nothing.
    """

    posed: tuple[Posed, ...]
    documents: tuple[DocumentChoice, ...]
    check: Callable[[Posed, Operation], str]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What came back.

    Args:
        operations: number of a candidate → its operation; what is missing is judged without a model.
        broken: how many candidates have none because the answers about them broke a rule twice.
        spent: what each model was used for.
        failures: how often calls failed in which way.
        replies: the keys of the kept replies that it rests on.
        failure: why candidates could not be asked about, a sentence each, or empty.
    """

    operations: Mapping[int, Operation] = field(default_factory=dict)
    broken: int = 0
    spent: tuple[Spent, ...] = ()
    failures: tuple[Failure, ...] = ()
    replies: tuple[str, ...] = ()
    failure: str = ""


class Reviewer(Protocol):
    """Who is asked what becomes of the candidates."""

    def review(self, request: ReviewRequest) -> Reviewed:
        """Return one operation for each candidate, as far as usable ones came; it never fails."""


# ---------------------------------------- what a model may answer about the candidates of a night
# the schema it is given, and the check of what came back.


MOST_OPERATIONS: Final = 100


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


def review_schema() -> dict[str, Any]:
    """Return the JSON schema that is sent to a provider; a fresh one, for the caller to change."""
    return ReviewReply.model_json_schema()


def read_operations(text: str) -> list[object]:
    """Return the unchecked operations of a reply's text; thinking, fences and prose around the JSON are passed over.

    Raises:
        BadReply: no object with a list of operations is in it, or it has other keys, or far too many.
    """
    if not text.strip():
        raise BadReply("gave an empty answer", FailureKind.EMPTY)
    found = [value for value in objects_in(without_thinking(text)) if "operations" in value]
    if not found:
        raise BadReply("answered with something that is not the JSON it was asked for")
    operations = found[-1]["operations"]
    if set(found[-1]) != {"operations"} or not isinstance(operations, list) or len(operations) > MOST_OPERATIONS:
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
        where = fault.errors(include_url=False, include_input=False, include_context=False)[0]["loc"] or ("its shape",)
        name = str(where[0])
        return f"{name if name in ReplyOperation.model_fields else 'its shape'} breaks the schema."
    kind = OperationKind(read.operation)
    ident = read.id if kind in AGAINST_AN_ITEM else ""
    links, lost = proposed_links(raw.get("links"), (one.id for one in posed.neighbours if one.id != ident))
    return Operation(kind, ident, read.document, links, lost)
