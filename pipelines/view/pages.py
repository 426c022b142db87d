"""The memory as the pages read it, and what pages of documents, items, files and searches show."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import date, datetime
from functools import cached_property
from posixpath import commonprefix
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from markupsafe import Markup

from pipelines.clock import day_of, day_words
from pipelines.night.answers import ReviewQuestion, questions
from pipelines.night.edit_page import Saved
from pipelines.night.report import PastRun, items_changed
from pipelines.queries.health import OK, Checkup, examine
from pipelines.queries.item_graph import Beliefs, Holding
from pipelines.queries.search_settings import searched
from pipelines.queries.startup.context import ContextPart, ContextRequest, assemble, logs_by_day
from pipelines.queries.startup.kept import stamp
from pipelines.queries.why import why
from pipelines.search.hits import LITTLE, Hit
from pipelines.search.query import SearchRequest
from pipelines.settings import load_settings
from pipelines.store.evidence import Quotes, without_pointer
from pipelines.store.files import open_regular, read_bytes
from pipelines.store.generated import Sentence, read_sentence
from pipelines.store.git import Git
from pipelines.store.item import Item, ItemType, Status, Trust
from pipelines.store.layout import EPISODES, FOLDERS, REVIEW, Kind
from pipelines.store.passage import read_passage
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents, named_item
from pipelines.store.transcripts.reader import Transcript
from pipelines.text import count, escape_terminal
from pipelines.view.markup import (
    Card,
    Row,
    address_of,
    file_address,
    html,
    html_of,
    joined,
    link,
    marked,
    notes,
    place,
    quoted,
    ranks,
    sentence,
    spoken,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pipelines.store.change_set import ItemChange
    from pipelines.store.document import Document

    Values = dict[str, Any]
    """The values of a template, by name."""


_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)[\d:.+-]*)?")
_APART = re.compile(r"\((?:due )?\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\)")
"""Days in a generated sentence that code wrote into it, in brackets."""
_ABOVE = 40
"""Lines shown above those that an address names."""


class MemoryReader:
    """A memory as it is at one moment; what its pages ask for is found out once.

    Args:
        root: the memory.
        moment: the moment, with a zone.
        running: whether a run is at work.
    """

    def __init__(self, root: Path, moment: datetime, *, running: bool) -> None:
        self.root, self.running, settings = root, running, load_settings(root)
        self.zone = ZoneInfo(settings.timezone)
        self.now = moment.astimezone(self.zone)
        self.today, self.checkup = day_of(self.now, settings), Checkup(root, self.now)
        self.beliefs = Beliefs.of(read_documents(root))
        self.documents, self.held = self.beliefs.documents, self.beliefs.by_id
        self.quotes = Quotes(root)
        self._changed: dict[str, list[ItemChange]] = {}
        self._context: tuple[list[str], list[ContextPart]] = ([""], [])

    @cached_property
    def nights(self) -> list[PastRun]:
        """The runs that read the logs, newest first."""
        return [run for run in self.checkup.runs if run.is_night and run.moment]

    @cached_property
    def standing(self) -> list[Holding]:
        """The items that hold."""
        return [one for one in self.beliefs.holdings if one.item.active and one.path != REVIEW]

    @cached_property
    def waiting(self) -> list[ReviewQuestion]:
        """The questions that wait for a person."""
        return questions(self.documents)

    @cached_property
    def frame(self) -> Values:
        """What stands around each page."""
        counts, nights = Counter(one.path for one in self.standing), self.nights
        found, schedule = examine(self.checkup, ("nights", "schedule")).values()
        said = f"The last run {ended(nights[0])}, {nights[0].when}" if nights else "No night yet"
        owner = Git(self.root).identity()
        groups = [
            ("Days" if folder == EPISODES else folder,
             [(address_of(path), one.title, counts[path]) for path, one in sorted(self.documents.items())
              if path.rpartition("/")[0] == folder])
            for folder in ("", *FOLDERS)
        ]  # fmt: skip
        return {
            "ways": [("/", "Today", "", "gt"), ("/inbox", "Inbox", len(self.waiting), "gi"),
                     ("/items", "Items", counts.total(), "ga"), ("/nights", "Nights", len(nights), "gn")],
            "groups": [("", [("/agents", "What agents read first", "", "gf")]), *groups],
            "whose": owner and f"{owner[0]}’s memory", "state": found.state, "last": self.told(said),
            "next": self.told(schedule.says), "faults": [] if found.state is OK else [str(found)],
        }  # fmt: skip

    @property
    def homes(self) -> list[str]:
        """The documents that accept items."""
        closed = Kind.ARCHIVE, Kind.EPISODE, Kind.REVIEW
        return sorted(path for path, one in self.documents.items() if one.kind not in closed)

    def changed(self, run: PastRun) -> list[ItemChange]:
        """Return what a run did to items."""
        if run.id not in self._changed:
            self._changed[run.id] = items_changed(run, Git(self.root))
        return self._changed[run.id]

    def document(self, ident: str) -> Document:
        """Return the document with an id, or the one that had it before it was renamed or moved.

        Raises:
            UsageFault: there is none.
        """
        found = self.documents.get(f"{ident}.md")
        return found or self.documents[named_documents(self.documents, ident.rpartition("/")[2])[0]]

    def context(self) -> list[ContextPart]:
        """Return what a session begins with, as the logs are now."""
        logs = [stamp(f"{self.root}/{path}") for paths in logs_by_day(self.root).values() for path in paths]
        if logs != self._context[0]:
            self._context = logs, assemble(ContextRequest(self.root, self.today, self.now), self.documents)
        return self._context[1]

    def said(self, item: Item) -> Markup:
        """Return the words that an item rests on, and where they stand."""
        return Markup().join(quoted(self.quotes.found(place)) for place in item.evidence)

    def told(self, text: str) -> Markup:
        """Return a sentence with its days as people say them: “yesterday 14:05”, “in 11 days”, “12 May”."""
        day = date.fromisoformat(self.today)
        return sentence(_MOMENT.sub(lambda of: f"{day_words(of[1], day)} {of[2] or ''}".rstrip(), text))

    def when(self, moment: str) -> Markup:
        """Return a day or a moment as people say it, with the exact one on hover."""
        return html('<time title="{}">{}</time>', moment[:16].replace("T", " "), self.told(moment))

    def row(
        self, item: Item, asked: Sequence[str] | None = None, path: str = "", *, text: object = "", **more: object
    ) -> Row:
        """Return the row of an item, with when it is due, marked from that day on; or else since when it holds.

        Args:
            item: the item.
            asked: its verbs; by default those of a list of what holds.
            path: where it stands, if that is to be told.
            text: its sentence, as HTML.
            more: what else the row has.
        """
        waits, page, shown = item.status is Status.WAITING, self.documents.get(path), text or sentence(item.text)
        is_over = not (item.active or waits)
        due = "overdue" if item.active and item.due < self.today else "due"
        shape = "<mark>{}</mark> {}" if item.active and item.due <= self.today else "{} {}"
        told = joined(
            html('<b class="{0}">{0}</b>', item.called),
            is_over and html("{} {}", item.status, self.when(item.until)),
            page and link(page.title, address_of(path)),
            html(shape, due, self.when(item.due)) if item.due else self.when(item.since or "no day"), *notes(item),
        )  # fmt: skip
        usual = ["edit", "done" if item.type is ItemType.TODO else "retract"] if item.active and item.id else ()
        to = f"/inbox?at={item.id}" if waits else f"/item/{item.id}"
        shown = html("<s>{}</s>", shown) if is_over else shown
        return Row(shown, to, told, asked=usual if asked is None else asked, id=item.id, was=item.text, **more)


def ended(run: PastRun) -> str:
    """Return how a run ended, without the reason."""
    return re.split("[:;]| by ", run.outcome)[0]


def page(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show one document, by its id."""
    found = reading.document(asked["ident"])
    lead = joined(found.path, html('<a href="/edit/{}" data-k="e">Edit</a>', found.id),
                  found.path == REVIEW and link("Answer in the inbox", "/inbox"))  # fmt: skip
    return {"title": found.title, "lead": lead, "left": [Card("", parts_of(found, reading))]}


def to_edit(reading: MemoryReader, asked: Mapping[str, str], saved: Saved | None = None) -> Values:
    """Show a document's text for editing.

    Args:
        reading: the memory.
        asked: `ident`, the document's.
        saved: an edit that was not saved; its text is shown instead, with the reasons.
    """
    ident = asked["ident"]
    if saved is None:
        text = (read_bytes(reading.root, reading.document(ident).path) or b"").decode(errors="replace")
        saved = Saved("", (), *[text.replace("\r\n", "\n")] * 2)
    parts = parts_of(reading.document(ident).with_text(saved.text), reading) if asked.get("preview") else ()
    return {"title": f"Edit {ident}.md", "ident": ident, "saved": saved,
            "left": [Card("Preview", parts)], "faults": saved.faults}  # fmt: skip


def item(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show one item: what it rests on, its history, and what depends on it.

    Raises:
        UnknownItem: there is none, or more than one; the sentence says which.
    """
    held = reading.held[named_item(asked["ident"], reading.held)]
    found, one = why(reading.root, None, held.item.id, reading.beliefs), held.item
    life = [step.item for step in (*reversed(found.superseded), held, *found.successors)]
    words = [step.text.split() for step in life]
    same = len(commonprefix(words))
    lived = [
        html('<a href="/item/{}" title="{}">{}</a> <small>since {}</small>', step.id, step.text,
             html("{}" if step.active else "<s>{}</s>", sentence(" ".join(said[same:]))), reading.when(step.since))
        for step, said in zip(life, words, strict=True)
    ]  # fmt: skip
    lead = joined(reading.row(one).told, link(held.path, address_of(held.path)), one.id)
    return {
        "title": one.text, "lead": lead, "item": one, "ranks": ranks(one),
        "home": held.path, "faults": [f"It {ground}" for ground in found.outdated],
        "left": [
            Card("Where it was said", [reading.said(one) or html("Nowhere: a person wrote it.")]),
            Card("Its life", [Markup(" → ").join(lived)] if life[1:] else ()),
            Card("It rests on", [reading.row(one.item, ()) for one in found.grounds]),
            Card("What depends on it", [reading.row(one.item, ()) for one in found.dependents]),
        ],
    }  # fmt: skip


def file_lines(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show a log, a page or a session as it is, line by line; of a session, what was said.

    Args:
        reading: the memory.
        asked: `name`, the file's path or a log's day; also `at`, the lines to mark, as in `12-14`, and `q`.

    Raises:
        UsageFault: nothing has that name, or it is not for reading.
        BadFile: it cannot be read.
    """
    first, last, *_ = [int(one) for one in re.findall(r"\d{1,9}", asked.get("at", ""))] * 2 or (1, 0)
    start = max(1, first - _ABOVE)
    found = read_passage(reading.root, asked["name"], lambda: reading.today, start)
    plain = without_secrets("\n".join(map(without_pointer, found.lines)))
    told = list(enumerate(plain.split("\n"), start))[: len(found.lines)]
    if found.path.endswith(".jsonl") and (file := open_regular(reading.root, found.path)):
        with file:
            turns = [one for one in Transcript(file, reading.zone) if start <= one.line]
        told = [(one.line, without_secrets(f"{one.role}: {one.text}")) for one in turns[: _ABOVE * 2]]
    end = told[-1][0] if told else found.total_lines
    lead = joined(
        f"{found.total_lines} lines", found.path in reading.documents and link("as a page", address_of(found.path)),
        end < found.total_lines and link("further on", f"?at={end + 1 + _ABOVE}"),
    )  # fmt: skip
    return {"title": found.path, "lead": lead, "first": first, "last": last,
            "rows": [(line, marked(escape_terminal(text), asked.get("q", ""))) for line, text in told]}  # fmt: skip


# ---------------------------------------- items as a list, or what a search finds


def items(reading: MemoryReader, params: Mapping[str, str]) -> Values:
    """Show the items that the filters leave, or the results of a search.

    Args:
        reading: the memory.
        params: `q`, or the filters and `sort`; `rows`, how many of them were shown before.
    """
    asked, notes, lead = defaultdict(str, params), list[str](), ""
    end = 25 + int("0" + re.sub(r"\D", "", asked["rows"])[:6])
    if query := asked["q"]:  # a longer answer may have another order, so it is shown as a whole
        hits, told, how_sure = searched(reading.root, query, end + 1, SearchRequest())
        rows, notes = [_hit(one, query, reading) for one in hits], [*told, *[LITTLE] * (how_sure == "little")]
    else:
        found = _held(reading, asked)
        box = '<input type="checkbox" name="id" value="{}" data-k="x" aria-label="{}">'
        rows = [
            reading.row(one.item, (), one.path, mark=html(box, one.item.id, one.item.text)) for one in found[: end + 1]
        ]
        lead = count(len(found), "item")
    rows[end:] = [Row("More", f"?{urlencode({**params, 'rows': end})}")] if rows[end:] else []
    filters = {} if query else {
        "type": ItemType, "page": reading.homes, "whose": Trust, "status": Status,
        "due": ["overdue", "ahead"], "sort": ["since", "oldest"],
    }  # fmt: skip
    return {"title": query or "Items", "asked": asked, "faults": notes, "lead": lead,
            "filters": filters, "left": [Card("", rows or [Row("Nothing was found.")])]}  # fmt: skip


def _held(reading: MemoryReader, asked: Mapping[str, str]) -> list[Holding]:
    """Return the items that the filters leave; by default what is due comes first, then the newest."""
    found = []
    for one in reading.beliefs.holdings if asked["status"] else reading.standing:
        item = one.item
        fields = {"type": item.type, "page": one.path, "whose": item.trust, "status": item.status,
                  "due": item.due and ("overdue" if item.due < reading.today else "ahead")}  # fmt: skip
        if all(asked[key] in {"", value} for key, value in fields.items()):
            found.append(one)
    found.sort(key=lambda one: one.item.since, reverse=asked["sort"] != "oldest")
    return found if asked["sort"] else sorted(found, key=lambda one: one.item.due or "~")


def _hit(one: Hit, query: str, reading: MemoryReader) -> Row:
    text, over = marked(spoken(one.text), query), one.overruled
    to = f"/item/{one.item}" if one.item else f"{file_address(one.path)}?at={one.start_line}#L{one.start_line}"
    return Row(html("<s>{}</s>", text) if over else text, to, joined(
        place(one.path, one.start_line, one.end_line, query=query), one.where, reading.when(one.date),
        one.trust not in {Trust.OWNER, Trust.SELF} and one.trust, over and over.why,
        *(f"over: {reading.told(str(late))}" for late in one.over_since),
    ))  # fmt: skip


def parts_of(document: Document, reading: MemoryReader) -> list[Row | Markup]:
    """Return the rows of a document's items, and as HTML the prose between them and what runs wrote."""
    lines, path = document.lines, document.path
    spans: list[tuple[int, int, Row | Markup]] = [
        (at, at + 1, _told(read_sentence(lines[at], row), reading))
        for at, (_, row) in document.generated.items() if not lines[at].startswith("- ")
    ]  # fmt: skip
    spans += [
        (one.line, one.end, reading.row(one.item, below=html_of("".join(lines[one.notes : one.end]), path)))
        for one in document.items
    ]
    begin, parts = document.front.lines, list[Row | Markup]()
    for line, end, part in (*sorted(spans), (len(lines), 0, Markup())):
        if begin <= line:  # else in an item's notes
            parts += [html_of("".join(lines[begin:line]), path), part]
            begin = end
    return list(filter(None, parts))


def _told(said: Sentence, reading: MemoryReader) -> Markup:
    """Return a generated sentence, with its days as people say them where code wrote them, and links to its grounds."""
    grounds = Markup(" ").join(link(number, f"/item/{one}") for number, one in enumerate(said.ids, 1))
    text = _APART.sub(lambda found: reading.told(found[0]), said.text)
    return html('<p title="{}">{} {}</p>', said.text, sentence(text), grounds)
