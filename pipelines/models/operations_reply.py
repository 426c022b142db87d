"""What a model may answer about the candidates of a night: the schema it is given, and the check of what came back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.models.calling import BadReply
from pipelines.models.operations import AGAINST_AN_ITEM, Operation, OperationKind
from pipelines.models.reply import ReplyLink, objects_in, without_thinking
from pipelines.models.shown import MOST_LINKS, proposed_links
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.models.operations import Posed

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
