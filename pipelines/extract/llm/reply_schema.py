"""The schema of a language model's reply about a day, and the check of what came back.

A reply is untrusted data. It is validated again, whatever the provider promised, and part by part: an invalid part is
dropped and counted, and does not affect the valid ones. Code takes the text of the lines that a part cites, and checks
its lines, its ids and its numbers; whether the lines say it is for the second reader.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from pipelines.extract.extraction import (
    MOST_LINKS,
    Candidate,
    Extraction,
    ExtractionRequest,
    OpenList,
    Operation,
    OperationKind,
    Place,
    Told,
    shown_text,
)
from pipelines.extract.llm.call import BadReply
from pipelines.extract.llm.reply_json import Faulty, Id, Reply, Sentence, Text, checked, last_object, single_line
from pipelines.store.evidence import fold_markdown, without_pointer
from pipelines.store.item import OUTCOMES, Confidence, Item, ItemType, Status, Trust
from pipelines.store.provenance import Provenance
from pipelines.text import content_words, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pipelines.extract.grounding import Shown


TITLE_LENGTH = 80
REASON_LENGTH = 200
MOST_TOLD = 3
MOST_PLACES = 8
MOST_IDS = 10
_BEFORE_LENGTH = 240
_BESIDE_LENGTH = 200
_MOST_BESIDE = 2
_TELLING = 0.3
"""How much the words of a line weigh, at least, to show it beside a claim: one word that three lines have."""
_PLAIN = re.compile(r"[\w .,'’()&-]{1,80}")
_TITLE = re.compile(r"[^\[\]<>`*|\\~{}]*")
"""A page's title becomes a heading and a link, so it has no markup: such a title names no page."""
_NEW_PAGE = re.compile(r"(project|area):\s*(\S.*)", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_Made = TypeVar("_Made")

Pair = Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)]


def _paired(raw: object) -> object:
    """Return lines as pairs: `[12, 14]` is one pair whose brackets were forgotten."""
    return [raw] if isinstance(raw, list) and all(isinstance(one, int) for one in raw) else raw


Lines = Annotated[list[Pair], BeforeValidator(_paired), Field(min_length=1, max_length=50)]


def _day(day: str) -> str:
    """Return a day that exists, or none.

    Raises:
        ValueError: it does not.
    """
    return date.fromisoformat(day if _DAY.fullmatch(day) else "-").isoformat() if day else day


Day = Annotated[str, AfterValidator(_day)]
Outcome = Literal["", "done", "dropped", "resolved", "occurred", "answered", "ended"]


class ReplyLink(Reply):
    """One link to an item that was shown, or of the same reply."""

    kind: Literal["because", "supports", "contradicts", "related", "part-of", "next"]
    id: Id


class ReplyItem(Reply):
    """One proposed item: its lines before its sentence, so that a model writes down what it read first."""

    lines: Lines
    type: Literal["Decision", "Fact", "Rule", "Todo", "Risk"]
    text: Sentence
    replaces: Annotated[list[Id], Field(default_factory=list, max_length=MOST_IDS)]
    document: str = ""
    new_page: Text = ""
    section: Literal["", "goals", "contacts", "questions", "howto"] = ""
    name: Text = ""
    since: Annotated[Day, Field(alias="from")] = ""
    due: Day = ""
    on: Day = ""
    closed: Outcome = ""
    confidence: Literal["", "high", "medium", "low", "speculative"] = ""
    links: Annotated[list[ReplyLink], Field(default_factory=list, max_length=MOST_IDS)]


class ReplyOperation(Reply):
    """What the log says of items that were shown."""

    lines: Lines
    operation: Literal["close", "update", "retract", "doubt"]
    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST_IDS)]
    how: Outcome = ""
    text: Text = ""
    reason: Annotated[str, AfterValidator(single_line)] = ""


class ReplyList(Reply):
    """The lines of a list that says what is open as a whole."""

    lines: Lines
    document: str = ""


class ReplyTold(Reply):
    """One sentence of the day's episode."""

    lines: Lines
    text: Sentence


class ExtractionReply(Reply):
    """The whole reply; each list may be empty."""

    items: list[ReplyItem]
    operations: list[ReplyOperation]
    seen: list[Id]
    open_lists: list[ReplyList]
    episode: list[ReplyTold]


PARTS = tuple(ExtractionReply.model_fields)


def read_reply(text: str) -> dict[str, list[object]] | None:
    """Return the unchecked parts of a reply, or None for `{}`: the rules should read the day.

    Thinking, fences and prose are ignored.

    Raises:
        BadReply: the reply has no such object, or one of its lists is none.
    """
    reply = last_object(text, *PARTS)
    if not reply:
        return None
    found = {key: [] if reply.get(key) is None else reply[key] for key in PARTS}
    for key, rows in found.items():
        if not isinstance(rows, list):
            raise BadReply(f"answered outside the schema ({key} is no list)")
    return found


@dataclass(frozen=True)
class Asked:
    """What a reply may draw on.

    Args:
        request: the day, the entries shown, and the documents that may be named.
        by: the extractor, as recorded in an item's `by`.
        items: the items that it may name, by id.
        shown: the numbers and words of all that the model was shown.
        own: the temporary ids that the reply gives its own items (`n0`) → those that they have in the run.
    """

    request: ExtractionRequest
    by: str
    items: Mapping[str, Item]
    shown: Shown
    own: Mapping[str, str]

    def ident(self, named: str) -> str:
        """Return the id of an item that was shown, or that of one of this reply in the run; else an empty string."""
        return named if named in self.items else self.own.get(named, "")

    @cached_property
    def lines(self) -> tuple[tuple[int, str], ...]:
        """Number and text of the lines that are the owner's or the agent's own words, and nobody else's."""
        entries = self.request.entries
        logs = {path: [one for one in entries if one.path == path] for path in {one.path for one in entries}}
        told = Provenance(logs, self.request.seals)
        return tuple(
            (one.start_line + at, without_pointer(line))
            for one in entries
            for at, line in enumerate(one.text.split("\n"))
            if line.strip() and (word := told.word(one, at, line))[0].reaches(Trust.SELF) and not word[1]
        )


def extraction_of(reply: Mapping[str, Sequence[object]], asked: Asked) -> tuple[Extraction, tuple[Faulty, ...]]:
    """Return what is usable of a reply, and the faults of what is not.

    A document outside the list is dropped, and so are a link and a replaced item that were not shown; the item stays.
    """
    faulty: list[Faulty] = []

    def usable(rows: Iterable[Any], make: Callable[[Any, Asked], _Made]) -> tuple[_Made, ...]:
        made: list[_Made] = []
        for raw in rows:
            try:
                made.append(make(raw, asked))
            except Faulty as fault:
                faulty.append(fault)
        return tuple(made)

    candidates = usable(enumerate(reply["items"]), _candidate)
    operations = usable(reply["operations"], _operation)
    seen = tuple(dict.fromkeys(one for one in reply["seen"] if isinstance(one, str) and one in asked.items))
    lists = usable(reply["open_lists"], _open_list)
    told = usable(reply["episode"], _told)
    kept = _with_pages(candidates, asked.request)
    return Extraction(kept, operations, (), seen, lists, told[:MOST_TOLD]), tuple(faulty)


def _candidate(numbered: tuple[int, object], asked: Asked) -> Candidate:
    """Return a candidate that rests on lines of the log.

    Raises:
        Faulty: the item is invalid.
    """
    at, raw = numbered
    item = checked(ReplyItem, raw)
    text, kind, own = item.text, ItemType(item.type), asked.own[f"n{at}"]
    places = places_of(item.lines, asked)
    names = _proven(text, asked)
    replaced = filter(None, map(asked.ident, item.replaces))
    document = document_named(item.document, asked.request)
    page = None if document else _NEW_PAGE.fullmatch(item.new_page)
    title = page[2].strip()[:TITLE_LENGTH] if page else ""
    begins = page[1].casefold() if page and _TITLE.fullmatch(title) else ""
    closed = Status(item.closed) if item.closed else None
    links = dict[str, str]()
    for link in item.links:
        if ident := asked.ident(link.id):
            links.setdefault(ident, link.kind)
    return Candidate(
        type=kind,
        text=text,
        places=places,
        confidence=Confidence(item.confidence or "high"),
        reason="",
        by=asked.by,
        replaces=tuple(one for one in dict.fromkeys(replaced) if one != own),
        document=document,
        new_project=title if begins == "project" else "",
        new_area=title if begins == "area" else "",
        closed=closed if closed in OUTCOMES[kind] else None,
        page_section=item.section,
        name=item.name if item.section == "contacts" and _PLAIN.fullmatch(item.name) else "",
        since=item.since,
        due=item.due if kind is ItemType.TODO else "",
        on=item.on or (item.due if kind is not ItemType.TODO else ""),
        links=tuple((sort, ident) for ident, sort in links.items())[:MOST_LINKS],
        beside=(*_beside(text, places, asked, document), *names),
        id=own,
    )


def _proven(text: str, asked: Asked) -> tuple[str, ...]:
    """Return the notes on a text for the second reader.

    Raises:
        Faulty: it has a number that was not shown.
    """
    large, small = asked.shown.numbers_missing(text)
    if large:
        raise Faulty("a number of its text was not shown")
    new = [*small, *asked.shown.names_missing(text)]
    return (f"not in the log: {', '.join(new)}",) if new else ()


def _with_pages(candidates: Sequence[Candidate], request: ExtractionRequest) -> tuple[Candidate, ...]:
    """Return the candidates without new pages that neither two of them nor a heading of the log name."""
    titles = Counter(fold(one.new_project or one.new_area).casefold() for one in candidates)
    headings = {fold(title).casefold() for one in request.entries for title in (*one.headings, one.project)}
    words = [content_words(title) for title in headings]

    def stays(title: str) -> bool:
        folded = fold(title).casefold()
        return titles[folded] > 1 or folded in headings or content_words(title) in words

    return tuple(
        one if stays(one.new_project or one.new_area) else replace(one, new_project="", new_area="")
        for one in candidates
    )


def _operation(raw: object, asked: Asked) -> Operation:
    """Return an operation on items that were shown, or on those of the same reply.

    Raises:
        Faulty: the operation is invalid.
    """
    one = checked(ReplyOperation, raw)
    places, ids = places_of(one.lines, asked), tuple(dict.fromkeys(map(asked.ident, one.ids)))
    if not all(ids):
        raise Faulty("it names an id that was not shown")
    kind = OperationKind("question" if one.operation == "doubt" else one.operation)
    text = one.text if kind is OperationKind.UPDATE else ""
    how = Status(one.how) if one.how else None
    items = [asked.items[ident] for ident in ids if ident in asked.items]
    if kind is OperationKind.UPDATE and (len(ids) != 1 or not text):
        raise Faulty("an update has one id and the whole new sentence")
    names = _proven(text, asked)
    if kind is OperationKind.CLOSE and how and any(how not in OUTCOMES[one.type] for one in items):
        raise Faulty("how does not fit the item's type")
    told = " ".join([text, *(one.text for one in items)])
    reason, beside = one.reason[:REASON_LENGTH], (*_beside(told, places, asked), *names)
    return Operation(kind, ids, text, how, reason=reason, places=places, by=asked.by, beside=beside)


def _open_list(raw: object, asked: Asked) -> OpenList:
    one = checked(ReplyList, raw)
    return OpenList(places_of(one.lines, asked), document_named(one.document, asked.request))


def _told(raw: object, asked: Asked) -> Told:
    """Return a sentence of the episode.

    Raises:
        Faulty: it is invalid, or has a number that was not shown.
    """
    one = checked(ReplyTold, raw)
    places = places_of(one.lines, asked)
    return Told(one.text, places, (*_beside(one.text, places, asked), *_proven(one.text, asked)))


def places_of(lines: Sequence[Sequence[int]], asked: Asked) -> tuple[Place, ...]:
    """Return the whole lines that a reply cites, a place an entry; a heading stands for the entry below it.

    Args:
        lines: pairs of first and last line; a single number is both.
        asked: has the entries that were shown, in order.

    Raises:
        Faulty: a pair holds no entry, or there are too many.
    """
    found, entries = dict[tuple[str, int, int], Place](), asked.request.entries
    for pair in lines:
        first, last = pair[0], pair[-1]
        cited = [one for one in entries if one.start_line <= last and first <= one.end_line]
        below = next((one for one in entries if one.start_line > last and one.headings), None)
        if not cited and below and first <= last:
            cited = [below]
        if first > last or not cited:
            raise Faulty("its lines are within no entry")
        for one in cited:
            inside = one.start_line <= last and first <= one.end_line
            place = Place.whole(one, first, last) if inside else Place.whole(one)
            found[one.path, place.start_line, place.end_line] = place
    if len(found) > MOST_PLACES * 4:
        raise Faulty("it cites too many lines")
    return tuple(found.values())


def _beside(text: str, places: Sequence[Place], asked: Asked, document: str = "") -> tuple[str, ...]:
    """Return what else of the day a second reader needs to compare a text with its lines.

    That is what stands before them under the same headings, which may say who is meant; its page, if the text names
    that; and of the other lines, those that have the rarest words of the text which nothing shown has yet. Those are no
    words from outside: what rests on them would not be filed as theirs.
    """
    found, entries = dict[str, None](), asked.request.entries
    cited = {place.entry.key for place in places}
    for entry in dict.fromkeys(place.entry for place in places):
        at = next((at for at, one in enumerate(entries) if one is entry), 0)
        one = entries[at - 1] if at else None
        if one and one.key not in cited and (one.path, one.headings) == (entry.path, entry.headings):
            found["before it: " + fold_markdown(one.text.split("\n"))[-_BEFORE_LENGTH:]] = None
    shown = [*found, *(part for place in places for part in (*place.lines, *place.entry.headings, place.entry.project))]
    missing = content_words(text) - content_words("\n".join(shown))
    titles = [one.title for one in asked.request.documents if document == one.document]
    found |= {f"page: {title}": None for title in titles if missing & content_words(title)}
    lines = [(at, line, words) for at, line in asked.lines if (words := missing & content_words(line))]
    having, first = Counter(word for *_, words in lines for word in words), places[0].start_line
    for _ in range(_MOST_BESIDE):
        weights = [(fsum(1 / having[one] for one in sorted(words & missing)), -abs(first - at), at, line)
                   for at, line, words in lines]  # fmt: skip
        weight, _, at, line = max(weights, default=(0.0, 0, 0, ""))
        if weight < _TELLING:
            break
        missing -= content_words(line)
        found[f"line {at}: {shown_text(line, _BESIDE_LENGTH)}"] = None
    return tuple(found)


def document_named(name: str, request: ExtractionRequest) -> str:
    """Return the document that a reply names by its id in the list, or an empty string."""
    return next((one.document for one in request.documents if name in {one.id, one.document}), "") if name else ""
