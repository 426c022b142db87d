"""What a language model may answer about a day: the schema it is given, and the check of what came back.

A model's reply is data from outside. It is held against the schema again, whatever the provider promised, and item by
item: a wrong item is dropped and counted, and costs the right ones nothing.
"""

from __future__ import annotations

import json
import string
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.extract.extraction import HIDDEN, MOST_LINKS, Candidate, proposed_links
from pipelines.extract.grounding import ungrounded
from pipelines.extract.llm.call import BadReply
from pipelines.store.evidence import quote_stands
from pipelines.store.item import Confidence, ItemType, fold
from pipelines.store.markdown import without_spans
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from pipelines.extract.extraction import ExtractionRequest


TEXT_LENGTH: Final = 500
TITLE_LENGTH: Final = 80
REASON_LENGTH: Final = 200
MOST_ITEMS: Final = 200
MOST_OBJECTS: Final = 50
MOST_NEW_PROJECTS: Final = 3
_LOWER: Final = {ord(char): char.lower() for char in string.ascii_uppercase}

Line = Annotated[int, Field(ge=1, le=10_000_000)]


class ReplyLink(BaseModel):
    """One link to an item that was shown."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["because", "supports", "related", "part-of", "next"]
    id: Annotated[str, Field(max_length=80, description="An id of the items that were shown.")]


class ReplyItem(BaseModel):
    """One proposed item."""

    model_config = ConfigDict(extra="forbid", strict=True)

    type: Literal["Decision", "Fact", "Rule", "Todo", "Risk"]
    text: Annotated[str, Field(min_length=1, max_length=TEXT_LENGTH, description="One self-contained sentence.")]
    document: Annotated[str, Field(max_length=300, description="An id of the list, or an empty string.")]
    new_project: Annotated[str, Field(max_length=TITLE_LENGTH, description="A title, or an empty string.")]
    quote: Annotated[str, Field(min_length=1, max_length=4000, description="Verbatim words of the cited lines.")]
    start_line: Line
    end_line: Line
    closed: bool
    confidence: Literal["high", "medium", "low"]
    reason: Annotated[str, Field(max_length=1000, description="At most twelve words.")]
    links: Annotated[list[ReplyLink], Field(max_length=MOST_LINKS, description="Often an empty list.")]


class ExtractionReply(BaseModel):
    """The whole reply: the items of one day, possibly none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    items: Annotated[list[ReplyItem], Field(max_length=MOST_ITEMS)]


class Faulty(ValueError):
    """Raised for a proposed item that cannot be used.

    Args:
        item: what the model gave.
        why: what is wrong, for the report: no word of the log or of the model is in it.
        detail: what is wrong, for the model that is asked again; the same where nothing else is said.
        ungrounded: whether the log does not say what it says, rather than that its form is wrong.
    """

    def __init__(self, item: object, why: str, detail: str = "", *, ungrounded: bool = False) -> None:
        super().__init__(why)
        self.item, self.why, self.detail, self.ungrounded = item, why, detail or why, ungrounded


def reply_schema() -> dict[str, Any]:
    """Return the JSON schema that is sent to a provider; a fresh one, for the caller to change."""
    return ExtractionReply.model_json_schema()


def read_items(text: str) -> list[object]:
    """Return the unchecked items of a reply's text; thinking, fences and prose around the JSON are passed over.

    Raises:
        BadReply: no object with a list of items is in it, or it has other keys, or more items than are allowed.
    """
    reply = last_object(text, "items")
    if set(reply) != {"items"} or not isinstance(reply["items"], list):
        raise BadReply("answered outside the schema (the answer must be an object with a list of items)")
    if len(reply["items"]) > MOST_ITEMS:
        raise BadReply(f"answered outside the schema ({len(reply['items'])} items; at most {MOST_ITEMS} are allowed)")
    return reply["items"]


def candidates_of(
    items: Sequence[object], request: ExtractionRequest, by: str, shown: Container[str] = ()
) -> tuple[tuple[Candidate, ...], tuple[Faulty, ...]]:
    """Return the candidates among a reply's items, each grounded in the log, and the items that are none.

    A document outside the list is taken for none, and so is a new project when a reply names too many. A link that
    cannot be kept is left out and counted; it costs the item nothing.

    Args:
        items: what `read_items` returned.
        request: the day, the entries that the model saw, and the documents that it may name.
        by: who gave it, as an item's `by` records it.
        shown: the ids of the items that it may link to.
    """
    candidates: list[Candidate] = []
    faulty: list[Faulty] = []
    projects: set[str] = set()
    for raw in items:
        try:
            candidate = _candidate(raw, request, by, shown)
        except Faulty as fault:
            faulty.append(fault)
            continue
        if candidate.new_project and len(projects) < MOST_NEW_PROJECTS:
            projects.add(candidate.new_project)
        named = candidate.new_project in projects
        candidates.append(candidate if named else replace(candidate, new_project=""))
    return tuple(candidates), tuple(faulty)


def _candidate(raw: object, request: ExtractionRequest, by: str, shown: Container[str]) -> Candidate:
    """Return a candidate whose quote stands in its lines and whose text says nothing that they do not say.

    Raises:
        Faulty: the item is none.
    """
    links = raw.get("links") if isinstance(raw, dict) else None
    try:
        item = ReplyItem.model_validate({**raw, "links": []} if isinstance(raw, dict) else raw)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False, include_context=False)[0]
        detail = fold(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")[:REASON_LENGTH]
        raise Faulty(raw, f"{field_of(fault, ReplyItem)} breaks the schema", detail) from None
    text, kind = single_line(item.text), ItemType(item.type)
    if not text:
        raise Faulty(raw, "text is empty")
    holding = [one for one in request.entries if one.start_line <= item.start_line <= item.end_line <= one.end_line]
    if not holding:
        raise Faulty(raw, "its lines are within no entry", ungrounded=True)
    # Where logs share line numbers, it is the entry that holds the quote.
    entry = next((one for one in holding if quote_stands(item.quote, one.text.split("\n"))), holding[0])
    document = item.document if any(item.document == one.id for one in request.documents) else ""
    kept, lost = proposed_links(links, shown)
    candidate = Candidate(
        type=kind,
        text=text,
        entry=entry,
        start_line=item.start_line,
        end_line=item.end_line,
        quote=item.quote,
        confidence=Confidence(item.confidence),
        reason=single_line(item.reason)[:REASON_LENGTH],
        by=by,
        document=document,
        new_project="" if document else single_line(item.new_project),
        closed=item.closed and kind is ItemType.TODO,
        links=kept,
        unlinked=lost,
    )
    if not quote_stands(candidate.quote, candidate.lines):
        raise Faulty(raw, "its quote does not stand in its lines", ungrounded=True)
    if found := ungrounded(text, candidate.quote, candidate.lines, entry, request.day):
        why = f"{found[0][0]} of its text is not in its lines"
        raise Faulty(raw, why, "; ".join(f"{what}: {words}" for what, words in found), ungrounded=True)
    return candidate


def last_object(text: str, key: str) -> dict[str, Any]:
    """Return the last JSON object of a reply that has a key: a model that thinks aloud may show drafts before it.

    Raises:
        BadReply: there is none.
    """
    if not text.strip():
        raise BadReply("gave an empty answer", FailureKind.EMPTY)
    for tag in ("think", "thinking"):
        text = without_spans(text, f"<{tag}>", f"</{tag}>", text.translate(_LOWER))
    found = [value for value in _objects_in(text) if key in value]
    if not found:
        raise BadReply("answered with something that is not the JSON it was asked for")
    return found[-1]


def _objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects in `text`, in order; the number of tries is bounded."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(MOST_OBJECTS):
        if at < 0:
            return
        end = at + 1
        try:
            value, end = decoder.raw_decode(text, at)
            yield value
        except (ValueError, RecursionError):
            pass  # this brace opens no object; a later one may
        at = text.find("{", end)


def field_of(fault: ValidationError, model: type[BaseModel]) -> str:
    """Return the name of the first wrong field; a name that the model made up is not repeated."""
    name = str((fault.errors(include_url=False)[0]["loc"] or ("",))[0])
    return name if name in model.model_fields else "its shape"


def single_line(text: str) -> str:
    """Return what a model wrote as one line, without marks that no reader sees."""
    return fold(HIDDEN.sub("", text))
