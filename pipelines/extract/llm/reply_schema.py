"""The schema of a language model's reply about a day, and the check of what came back.

A reply is untrusted data. It is validated again, whatever the provider promised, and item by item: an invalid item is
dropped and counted, and does not affect the valid ones.
"""

from __future__ import annotations

import json
import re
import string
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.extract.extraction import (
    HIDDEN,
    MOST_LINKS,
    Candidate,
    ExtractionRequest,
    Operation,
    OperationKind,
    Place,
    proposed_links,
)
from pipelines.extract.grounding import ungrounded
from pipelines.extract.llm.call import BadReply
from pipelines.store.evidence import fold_markdown, has_quote
from pipelines.store.item import OUTCOMES, Confidence, Item, ItemType, Status, content_words
from pipelines.store.markdown import without_spans
from pipelines.text import fold
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


TEXT_LENGTH: Final = 500
TITLE_LENGTH: Final = 80
REASON_LENGTH: Final = 200
MOST_ITEMS: Final = 200
MOST_PLACES: Final = 4
MOST_IDS: Final = 10
MOST_OBJECTS: Final = 50
MOST_NEW_PROJECTS: Final = 3
_MOST_BESIDE: Final = 2
_BESIDE_LENGTH: Final = 240
_ABOVE_LENGTH: Final = 400
_PLAIN: Final = re.compile(r"[\w .,'’()&-]*")
_TITLE: Final = re.compile(r"[^\[\]<>`*|\\~{}]*")
"""A project's title becomes a heading and a link, so it has no markup: such a title names no project."""
_Part = TypeVar("_Part", bound=BaseModel)
_LOWER: Final = {ord(char): char.lower() for char in string.ascii_uppercase}

Line = Annotated[int, Field(ge=1, le=10_000_000)]
Text = Annotated[str, Field(max_length=TEXT_LENGTH)]
Reason = Annotated[str, Field(max_length=1000, description="At most twelve words.")]
Id = Annotated[str, Field(max_length=80, description="An id of the items that were shown.")]
Day = Annotated[str, Field(max_length=10, description="YYYY-MM-DD, or an empty string.")]
Outcome = Literal["", "done", "dropped", "resolved", "occurred", "answered", "ended"]


class Reply(BaseModel):
    """A part of a reply: what is left out is empty, and unknown keys are passed over."""

    model_config = ConfigDict(extra="ignore", strict=True, populate_by_name=True)


class ReplyLink(Reply):
    """One link to an item that was shown."""

    kind: Literal["because", "supports", "contradicts", "related", "part-of", "next"]
    id: Id


class ReplyPlace(Reply):
    """One place of the log."""

    quote: Annotated[str, Field(min_length=1, max_length=4000, description="Verbatim words of the cited lines.")]
    start_line: Line
    end_line: Line


Evidence = Annotated[list[ReplyPlace], Field(min_length=1, max_length=MOST_PLACES)]
Links = Annotated[list[ReplyLink], Field(default_factory=list, max_length=MOST_LINKS)]


class ReplyItem(Reply):
    """One proposed item: its quotes before its sentence, so that a model writes down what it read first."""

    evidence: Evidence
    type: Literal["Decision", "Fact", "Rule", "Todo", "Risk"]
    text: Annotated[str, Field(min_length=1, max_length=TEXT_LENGTH, description="One self-contained sentence.")]
    document: Annotated[str, Field(max_length=300, description="An id of the list, or an empty string.")] = ""
    new_project: Annotated[str, Field(max_length=TITLE_LENGTH, description="A title, or an empty string.")] = ""
    section: Literal["", "goals", "contacts", "questions", "howto"] = ""
    name: Annotated[str, Field(max_length=TITLE_LENGTH, description="The person, for contacts.")] = ""
    since: Annotated[Day, Field(alias="from")] = ""
    due: Day = ""
    closed: Outcome = ""
    confidence: Literal["high", "medium", "low", "speculative"] = "medium"
    reason: Reason = ""
    links: Links


class ReplyOperation(Reply):
    """What the log says of items that were shown."""

    evidence: Evidence
    operation: Literal["close", "confirm", "update", "retract", "question"]
    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST_IDS)]
    how: Outcome = ""
    text: Text = ""
    reason: Reason = ""


class ExtractionReply(Reply):
    """The whole reply: the items of one day, possibly none, and what it says of items that are held."""

    items: Annotated[list[ReplyItem], Field(max_length=MOST_ITEMS)]
    operations: Annotated[list[ReplyOperation], Field(max_length=MOST_ITEMS)]


class Faulty(ValueError):
    """A part of a reply that cannot be used.

    Args:
        item: the part.
        why: the fault, for the report, without text of the log or the model.
        detail: the fault, for the model that is asked again; by default the same.
        ungrounded: whether the log does not support it, rather than its form being invalid.
    """

    def __init__(self, item: object, why: str, detail: str = "", *, ungrounded: bool = False) -> None:
        super().__init__(why)
        self.item, self.why, self.detail, self.ungrounded = item, why, detail or why, ungrounded


def reply_schema(reply: type[BaseModel] = ExtractionReply) -> dict[str, Any]:
    """Return a new copy of the JSON schema to send to a provider.

    Every key is required, and no other is allowed: some providers reject schemas with optional keys.
    """

    def closed(node: Any) -> Any:  # noqa: ANN401  any JSON
        if isinstance(node, list):
            return [closed(one) for one in node]
        if not isinstance(node, dict):
            return node
        found = {key: closed(value) for key, value in node.items() if key not in {"default", "title"} or node is value}
        if "properties" in found:
            found |= {"required": list(found["properties"]), "additionalProperties": False}
        return found

    schema: dict[str, Any] = closed(reply.model_json_schema())
    return schema


def read_reply(text: str) -> dict[str, list[object]] | None:
    """Return the unchecked items and operations of a reply, or None for `{}`: the rules should read the day.

    Thinking, fences and prose are ignored.

    Raises:
        BadReply: the reply has no such object, or one of its lists is invalid or too long.
    """
    reply = last_object(text, "items", "operations")
    if not reply:
        return None
    found = {key: reply.get(key, []) for key in ("items", "operations")}
    for key, rows in found.items():
        if not isinstance(rows, list):
            raise BadReply(f"answered outside the schema ({key} is no list)")
        if len(rows) > MOST_ITEMS:
            raise BadReply(f"answered outside the schema ({len(rows)} {key}; at most {MOST_ITEMS} are allowed)")
    return found


def candidates_of(
    items: Sequence[object], request: ExtractionRequest, by: str, shown: Mapping[str, Item]
) -> tuple[tuple[Candidate, ...], tuple[Faulty, ...]]:
    """Return the grounded candidates among a reply's items, and the faulty items.

    A document outside the list is dropped, and so is a new project if a reply names too many that the log does not
    name. A link that cannot be kept is dropped and counted; the item stays.

    Args:
        items: the items from `read_reply`.
        request: the day, the entries shown, and the documents that may be named.
        by: the extractor, as recorded in an item's `by`.
        shown: the items that it may link to, by id.
    """
    candidates: list[Candidate] = []
    faulty: list[Faulty] = []
    projects: set[str] = set()
    others = _others(request, shown)
    above = (word for one in request.entries for word in (*one.headings, one.project, one.text))
    words = content_words(" ".join(above))
    for raw in items:
        try:
            candidate = _candidate(raw, request, by, shown, others)
        except Faulty as fault:
            faulty.append(fault)
            continue
        named = content_words(candidate.new_project) <= words
        if candidate.new_project and (named or len(projects) < MOST_NEW_PROJECTS):
            projects.add(candidate.new_project)
        named = candidate.new_project in projects
        candidates.append(candidate if named else replace(candidate, new_project=""))
    return tuple(candidates), tuple(faulty)


def operations_of(
    operations: Sequence[object], request: ExtractionRequest, by: str, shown: Mapping[str, Item]
) -> tuple[tuple[Operation, ...], tuple[Faulty, ...]]:
    """Return the usable operations of a reply, each with a quote found in the log, and the faulty ones.

    Args:
        operations: the operations from `read_reply`.
        request: the day and the entries shown.
        by: the extractor.
        shown: the items that an operation may name, by id.
    """
    found: list[Operation] = []
    faulty: list[Faulty] = []
    others = tuple(_others(request, shown)) if operations else ()
    for raw in operations:
        try:
            found.append(_operation(raw, request, by, shown, others))
        except Faulty as fault:
            faulty.append(fault)
    return tuple(found), tuple(faulty)


def _others(request: ExtractionRequest, shown: Mapping[str, Item]) -> dict[str, str]:
    """Return what a model was shown beside the lines it cites, each with what it is."""
    titles = {one.title: "a document" for one in request.documents}
    entries = {fold_markdown(one.text.split("\n")): "in the same log" for one in request.entries}
    return titles | entries | {one.text: "in the memory" for one in shown.values()}


def _earlier(text: str, places: Sequence[Place], request: ExtractionRequest) -> dict[str, str]:
    """Return what the run's earlier days say on the matter of a sentence, whose items are not made yet."""
    said = " ".join([text, *(line for place in places for line in place.lines)])
    found = request.nearby.earlier(said, request.day) if request.nearby else ()
    return {fold_markdown(one.text.split("\n")): "in an earlier log" for one in found}


def _beside(text: str, places: Sequence[Place], others: Mapping[str, str], above: Sequence[str]) -> tuple[str, ...]:
    """Return what stands above, and the other texts with most of the words that a sentence does not have from both."""
    headings = (word for place in places for word in place.entry.headings)
    lines = " ".join([*above, *headings, *(line for place in places for line in place.lines)])
    missing = content_words(text) - content_words(lines)
    ranked = sorted((-len(missing & content_words(one)), one) for one in others)
    return (*above, *(f"{others[one]}: {one[:_BESIDE_LENGTH]}" for count, one in ranked[:_MOST_BESIDE] if count))


def _above(places: Sequence[Place], request: ExtractionRequest) -> tuple[str, ...]:
    """Return what stands right above the places, under the same headings, with the nearest `_ABOVE_LENGTH` characters.

    The lines above may say who or what is meant, or whether something is a proposal or was decided.
    """
    found: dict[str, None] = {}
    for entry in dict.fromkeys(place.entry for place in places):
        at, said = next(at for at, one in enumerate(request.entries) if one is entry), ""
        for one in reversed(request.entries[:at]):
            if (one.path, one.headings) != (entry.path, entry.headings) or len(said) > _ABOVE_LENGTH:
                break
            said = f"{fold_markdown(one.text.split(chr(10)))} | {said}"
        found |= {said[-_ABOVE_LENGTH:].rstrip(" |"): None} if said else {}
    whole = (one for one in found if not any(one in other for other in found if other != one))
    return tuple(f"above the quote: {one}" for one in whole)


def _candidate(
    raw: object, request: ExtractionRequest, by: str, shown: Mapping[str, Item], others: Mapping[str, str]
) -> Candidate:
    """Return a candidate with quotes that are in their lines and a text that says nothing else.

    Raises:
        Faulty: the item is invalid.
    """
    links = raw.get("links") if isinstance(raw, dict) else None
    item = checked(ReplyItem, {**raw, "links": []} if isinstance(raw, dict) else raw)
    text, kind = single_line(item.text), ItemType(item.type)
    if not text:
        raise Faulty(raw, "text is empty")
    places = _places(raw, item.evidence, request)
    others = {**others, **_earlier(text, places, request)}
    if found := ungrounded(text, places, shown=tuple(others)):
        raise _unsupported(raw, found)
    document = document_named(item.document, request)
    kept, lost = proposed_links(links, shown)
    return Candidate(
        type=kind,
        text=text,
        places=places,
        confidence=Confidence(item.confidence),
        reason=single_line(item.reason)[:REASON_LENGTH],
        by=by,
        document=document,
        new_project=title if not document and _TITLE.fullmatch(title := single_line(item.new_project)) else "",
        closed=Status(item.closed) if item.closed and Status(item.closed) in OUTCOMES[kind] else None,
        page_section=item.section,
        name=_person(item, places, others) if item.section == "contacts" else "",
        since=_proven_day(item.since, places),
        due=_proven_day(item.due, places, is_due=True) if kind is ItemType.TODO else "",
        links=kept,
        unlinked=lost,
        beside=_beside(text, places, others, _above(places, request)),
    )


def _person(item: ReplyItem, places: Sequence[Place], others: Iterable[str]) -> str:
    """Return the name of a contact's person, if it is plain words that the model was shown."""
    name = single_line(item.name)
    shown = " ".join([*others, *(line for place in places for line in place.lines)])
    return name if _PLAIN.fullmatch(name) and content_words(name) <= content_words(shown) else ""


def _operation(
    raw: object, request: ExtractionRequest, by: str, shown: Mapping[str, Item], others: Sequence[str]
) -> Operation:
    """Return an operation on items that were shown.

    Raises:
        Faulty: the operation is invalid.
    """
    one = checked(ReplyOperation, raw)
    ids = tuple(dict.fromkeys(one.ids))
    if any(ident not in shown for ident in ids):
        raise Faulty(raw, "it names an id that was not shown")
    places = _places(raw, one.evidence, request)
    kind, text = OperationKind(one.operation), single_line(one.text)
    how = Status(one.how) if one.how else None
    items = [shown[ident] for ident in ids]
    if kind is OperationKind.UPDATE:
        if len(items) != 1 or not text:
            raise Faulty(raw, "an update has one id and the whole new sentence", ungrounded=True)
        if found := ungrounded(text, places, [items[0].text], others, is_update=True):
            raise _unsupported(raw, found)
    if kind is OperationKind.CLOSE and how and any(how not in OUTCOMES[one.type] for one in items):
        raise Faulty(raw, "how does not fit the item's type")
    reason, above = single_line(one.reason)[:REASON_LENGTH], _above(places, request)
    return Operation(kind, ids, text, how, reason=reason, places=places, by=by, beside=above)


def _unsupported(raw: object, found: Sequence[tuple[str, str]]) -> Faulty:
    """Return the fault of a part whose text is not grounded."""
    what = found[0][0]
    dropped = what == "a condition"
    why = f"{what} of its lines is not in its text" if dropped else f"{what} of its text is not in its lines"
    lacks = {kind: f"{kind} that its lines lack" for kind in ("a number", "a date", "a name")}
    return Faulty(raw, why, "; ".join(f"{lacks.get(kind, kind)}: {words}" for kind, words in found), ungrounded=True)


def _places(raw: object, evidence: Sequence[ReplyPlace], request: ExtractionRequest) -> tuple[Place, ...]:
    """Return the places that a reply cites.

    Raises:
        Faulty: a place is outside all entries, or its quote is not there.
    """
    places = []
    for one in evidence:
        first, last = one.start_line, one.end_line
        holding = [entry for entry in request.entries if entry.start_line <= first <= last <= entry.end_line]
        if not holding:
            raise Faulty(raw, "its lines are within no entry", ungrounded=True)
        # If logs share line numbers, the entry with the quote counts.
        entry = next((entry for entry in holding if has_quote(one.quote, entry.text.split("\n"))), holding[0])
        place = Place(entry, first, last, one.quote)
        if not place.stands:
            raise Faulty(raw, "its quote is not in its lines", ungrounded=True)
        places.append(place)
    return tuple(places)


def document_named(name: str, request: ExtractionRequest) -> str:
    """Return the document that a reply names by its id in the list, or an empty string."""
    return next((one.document for one in request.documents if name in {one.id, one.document}), "")


def _proven_day(day: str, places: Sequence[Place], *, is_due: bool = False) -> str:
    """Return a day if the log has it, else an empty string; the item stays either way.

    `From July` is its first day; what is to be done `before July` is due the day before that.
    """
    if not _DAY.fullmatch(day):
        return ""
    try:
        after = (date.fromisoformat(day) + timedelta(1)).isoformat()
    except ValueError:
        return ""
    is_before = is_due and any(_BEFORE.search(line) for place in places for line in place.lines)
    named = [day, after] if is_before else [day]
    forms = [form for one in named for form in (one, one.removesuffix("-01"))]
    return day if any(all(what != "a date" for what, _ in ungrounded(one, places)) for one in forms) else ""


_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_BEFORE: Final = re.compile(r"\b(?:before|vor)\b", re.IGNORECASE)


def checked(model: type[_Part], raw: object) -> _Part:
    """Return a validated part of a reply.

    Raises:
        Faulty: it breaks the schema.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False, include_context=False)[0]
        detail = fold(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")[:REASON_LENGTH]
        raise Faulty(raw, f"{field_of(fault, model)} breaks the schema", detail) from None


def last_object(text: str, *keys: str) -> dict[str, Any]:
    """Return the last JSON object of a reply with one of some keys, since a model may show drafts before it.

    An empty object counts, too.

    Raises:
        BadReply: there is none.
    """
    if not text.strip():
        raise BadReply("gave an empty answer", FailureKind.EMPTY)
    for tag in ("think", "thinking"):
        text = without_spans(text, f"<{tag}>", f"</{tag}>", text.translate(_LOWER))
    objects = list(_objects_in(text))
    found = [value for value in objects if any(key in value for key in keys)] or [
        value for value in objects if not value
    ]
    if not found:
        raise BadReply("answered without the requested JSON")
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
            pass  # this brace starts no object; a later one may
        at = text.find("{", end)


def field_of(fault: ValidationError, model: type[BaseModel]) -> str:
    """Return the name of the first invalid field, but never a name that the model made up."""
    name = str((fault.errors(include_url=False)[0]["loc"] or ("",))[0])
    names = {one.alias or name for name, one in model.model_fields.items()}
    return name if name in names else "its shape"


def single_line(text: str) -> str:
    """Return a model's text on one line, without invisible characters."""
    return fold(HIDDEN.sub("", text))
