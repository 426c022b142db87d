"""What a language model may answer: the schema it is given, and the check of what came back.

A model's reply is data from outside. It is held against the schema again, whatever the provider promised, and item by
item: a wrong item is dropped and counted, and costs the right ones nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.memory.items import Confidence, ItemType, fold
from pipelines.memory.quotes import quote_stands
from pipelines.models.extraction import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.memory.entries import Entry

TEXT_LENGTH: Final = 500
TITLE_LENGTH: Final = 80
REASON_LENGTH: Final = 200
MOST_ITEMS: Final = 200
MOST_OBJECTS: Final = 50

Line = Annotated[int, Field(ge=1, le=10_000_000)]


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


class ExtractionReply(BaseModel):
    """The whole reply: the items of one day, possibly none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    items: Annotated[list[ReplyItem], Field(max_length=MOST_ITEMS)]


class BadReply(ValueError):
    """Raised when a reply as a whole cannot be used; its text ends a sentence that begins with the provider's name."""


def reply_schema() -> dict[str, Any]:
    """Return the JSON schema that is sent to a provider; a fresh one, for the caller to change."""
    return ExtractionReply.model_json_schema()


def read_items(text: str) -> list[object]:
    """Return the unchecked items of a reply's text; thinking, fences and prose around the JSON are passed over.

    Raises:
        BadReply: no object with a list of items is in it, or it has other keys, or more items than are allowed.
    """
    if not text.strip():
        raise BadReply("gave an empty answer")
    reply = _reply_object(THINKING.sub("", text).strip())
    if set(reply) != {"items"} or not isinstance(reply["items"], list):
        raise BadReply("answered outside the schema (the answer must be an object with a list of items)")
    if len(reply["items"]) > MOST_ITEMS:
        raise BadReply(f"answered outside the schema ({len(reply['items'])} items; at most {MOST_ITEMS} are allowed)")
    return reply["items"]


def candidates_of(
    items: Sequence[object], entries: Sequence[Entry], documents: Sequence[str], by: str
) -> tuple[tuple[Candidate, ...], Counter[str]]:
    """Return the candidates among a reply's items, and how many of the others were dropped for which reason.

    Args:
        items: what `read_items` returned.
        entries: the entries that the model was shown.
        documents: the ids that it may name; any other is taken for none.
        by: the extractor's name.
    """
    candidates: list[Candidate] = []
    dropped: Counter[str] = Counter()
    for raw in items:
        try:
            candidates.append(_candidate(ReplyItem.model_validate(raw), entries, documents, by))
        except ValidationError as fault:
            dropped[f"{_field(fault)} breaks the schema"] += 1
        except BadReply as fault:
            dropped[str(fault)] += 1
    return tuple(candidates), dropped


THINKING = re.compile(r"<(think|thinking)>.*?</\1>", re.DOTALL | re.IGNORECASE)
# Marks that no reader sees but a model obeys: tags, directions, zero-width ones except the two that scripts need.
_HIDDEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def _reply_object(text: str) -> dict[str, Any]:
    """Return the last JSON object with items: a model that thinks aloud may show drafts before it."""
    found = [value for value in objects_in(text) if "items" in value]
    if not found:
        raise BadReply("answered with something that is not the JSON it was asked for")
    return found[-1]


def objects_in(text: str) -> Iterator[dict[str, Any]]:
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


def _field(fault: ValidationError) -> str:
    """Return the name of the first wrong field; a name that the model made up is not repeated."""
    name = str((fault.errors(include_url=False)[0]["loc"] or ("",))[0])
    return name if name in ReplyItem.model_fields else "its shape"


def _candidate(item: ReplyItem, entries: Sequence[Entry], documents: Sequence[str], by: str) -> Candidate:
    text, kind = single_line(item.text), ItemType(item.type)
    if not text:
        raise BadReply("text is empty")
    document = item.document if item.document in documents else ""
    return Candidate(
        type=kind,
        text=text,
        entry=_entry(item, entries),
        start_line=item.start_line,
        end_line=item.end_line,
        quote=item.quote,
        confidence=Confidence(item.confidence),
        reason=single_line(item.reason)[:REASON_LENGTH],
        by=by,
        document=document,
        new_project="" if document else single_line(item.new_project),
        closed=item.closed and kind is ItemType.TODO,
    )


def _entry(item: ReplyItem, entries: Sequence[Entry]) -> Entry:
    """Return the entry that holds the cited lines; where logs share line numbers, the one that holds the quote."""
    holding = [entry for entry in entries if entry.start_line <= item.start_line <= item.end_line <= entry.end_line]
    if not holding:
        raise BadReply("its lines are within no entry")
    return next((entry for entry in holding if quote_stands(item.quote, entry.text.split("\n"))), holding[0])


def single_line(text: str) -> str:
    """Return what a model wrote as one line, without marks that no reader sees."""
    return fold(_HIDDEN.sub("", text))
