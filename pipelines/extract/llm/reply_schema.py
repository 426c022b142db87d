"""What a language model may answer: the schema it is given, and the check of what came back.

A model's reply is data from outside. It is held against the schema again, whatever the provider promised, and item by
item: a wrong item is dropped and counted, and costs the right ones nothing.
"""

from __future__ import annotations

import json
import string
from dataclasses import dataclass, replace
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
    from collections.abc import Iterator, Sequence

    from pipelines.store.log import Entry


TEXT_LENGTH: Final = 500
TITLE_LENGTH: Final = 80
REASON_LENGTH: Final = 200
MOST_ITEMS: Final = 200
MOST_OBJECTS: Final = 50
MOST_NEW_PROJECTS: Final = 3

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


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reply is held against: the entries the model saw, the documents and items it may name, and the day."""

    entries: tuple[Entry, ...]
    documents: tuple[str, ...]
    day: str
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Faulty:
    """A proposed item that cannot be used.

    Args:
        item: what the model gave.
        why: what is wrong, for the report: no word of the log or of the model is in it.
        detail: what is wrong, for the model that is asked again.
        ungrounded: whether the log does not say what it says, rather than that its form is wrong.
    """

    item: object
    why: str
    detail: str
    ungrounded: bool


class _Wrong(ValueError):
    def __init__(self, why: str, detail: str = "", *, ungrounded: bool = False) -> None:
        super().__init__(why)
        self.why, self.detail, self.ungrounded = why, detail or why, ungrounded


def reply_schema() -> dict[str, Any]:
    """Return the JSON schema that is sent to a provider; a fresh one, for the caller to change."""
    return ExtractionReply.model_json_schema()


def read_items(text: str) -> list[object]:
    """Return the unchecked items of a reply's text; thinking, fences and prose around the JSON are passed over.

    Raises:
        BadReply: no object with a list of items is in it, or it has other keys, or more items than are allowed.
    """
    if not text.strip():
        raise BadReply("gave an empty answer", FailureKind.EMPTY)
    reply = _reply_object(without_thinking(text))
    if set(reply) != {"items"} or not isinstance(reply["items"], list):
        raise BadReply("answered outside the schema (the answer must be an object with a list of items)")
    if len(reply["items"]) > MOST_ITEMS:
        raise BadReply(f"answered outside the schema ({len(reply['items'])} items; at most {MOST_ITEMS} are allowed)")
    return reply["items"]


def candidates_of(items: Sequence[object], asked: Asked, by: str) -> tuple[tuple[Candidate, ...], tuple[Faulty, ...]]:
    """Return the candidates among a reply's items, each grounded in the log, and the items that are none.

    A document outside the list is taken for none, and so is a new project when a reply names too many. A link that
    cannot be kept is left out and counted; it costs the item nothing.

    Args:
        items: what `read_items` returned.
        asked: what the reply is held against.
        by: who gave it, as an item's `by` records it.
    """
    candidates: list[Candidate] = []
    faulty: list[Faulty] = []
    projects: set[str] = set()
    for raw in items:
        try:
            item = ReplyItem.model_validate({**raw, "links": []} if isinstance(raw, dict) else raw)
            candidate = _linked(_grounded(_candidate(item, asked, by), asked.day), raw, asked)
        except ValidationError as fault:
            faulty.append(Faulty(raw, f"{_field(fault)} breaks the schema", _first_error(fault), ungrounded=False))
        except _Wrong as fault:
            faulty.append(Faulty(raw, fault.why, fault.detail, fault.ungrounded))
        else:
            projects |= {candidate.new_project} - {""} if len(projects) < MOST_NEW_PROJECTS else set()
            named = candidate.new_project in projects
            candidates.append(candidate if named else replace(candidate, new_project=""))
    return tuple(candidates), tuple(faulty)


_CAPITALS = {ord(char): char.lower() for char in string.ascii_uppercase}


def without_thinking(text: str) -> str:
    """Return a reply without what the model only thought, and without blanks around it."""
    for tag in ("think", "thinking"):
        text = without_spans(text, f"<{tag}>", f"</{tag}>", text.translate(_CAPITALS))
    return text.strip()


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


def _first_error(fault: ValidationError) -> str:
    """Return the first error with its field, for the model; what the model gave there it has before it."""
    found = fault.errors(include_url=False, include_input=False, include_context=False)[0]
    return fold(f"{'.'.join(map(str, found['loc']))}: {found['msg']}")[:REASON_LENGTH]


def _candidate(item: ReplyItem, asked: Asked, by: str) -> Candidate:
    text, kind = single_line(item.text), ItemType(item.type)
    if not text:
        raise _Wrong("text is empty")
    document = item.document if item.document in asked.documents else ""
    return Candidate(
        type=kind,
        text=text,
        entry=_entry(item, asked.entries),
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
        raise _Wrong("its lines are within no entry", ungrounded=True)
    return next((entry for entry in holding if quote_stands(item.quote, entry.text.split("\n"))), holding[0])


def _grounded(candidate: Candidate, day: str) -> Candidate:
    """Return a candidate whose quote stands in its lines and whose text says nothing that they do not say."""
    entry = candidate.entry
    first = candidate.start_line - entry.start_line
    lines = entry.text.split("\n")[first : candidate.end_line - entry.start_line + 1]
    if not quote_stands(candidate.quote, lines):
        raise _Wrong("its quote does not stand in its lines", ungrounded=True)
    if found := ungrounded(candidate.text, candidate.quote, lines, entry, day):
        why = f"{found[0].what} of its text is not in its lines"
        raise _Wrong(why, "; ".join(f"{one.what}: {one.words}" for one in found), ungrounded=True)
    return candidate


def _linked(candidate: Candidate, raw: object, asked: Asked) -> Candidate:
    links, lost = proposed_links(raw.get("links") if isinstance(raw, dict) else None, asked.items)
    return replace(candidate, links=links, unlinked=lost)


def single_line(text: str) -> str:
    """Return what a model wrote as one line, without marks that no reader sees."""
    return fold(HIDDEN.sub("", text))
