"""What each page shows: the values of its template, from the functions that the verbs use."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter, defaultdict
from posixpath import commonprefix
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from markupsafe import Markup

from pipelines.clock import day_of
from pipelines.errors import CurateError
from pipelines.night.answers import questions
from pipelines.night.edit_page import Saved
from pipelines.night.run_history import PastRun, all_runs, items_changed, reported_nights
from pipelines.queries.health import OK, WRONG, installed_nights, next_run, night_finding, past, unread_bytes
from pipelines.queries.item_graph import Beliefs, Holding
from pipelines.queries.search_settings import searched
from pipelines.queries.startup.kept import stamp
from pipelines.queries.why import history_of, why
from pipelines.search.hits import LITTLE
from pipelines.search.query import SearchRequest
from pipelines.settings import Settings, load_settings
from pipelines.store.evidence import without_pointer
from pipelines.store.files import list_files, open_regular, read_bytes
from pipelines.store.generated import read_sentence
from pipelines.store.git import Git
from pipelines.store.item import ItemType, Status, Trust
from pipelines.store.journal import is_unfinished
from pipelines.store.layout import LEDGER, PRIVATE, REVIEW, Kind, document_id, document_path
from pipelines.store.lock import is_held
from pipelines.store.passage import read_passage
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.snapshot import document_paths, read_documents, read_snapshot
from pipelines.store.template import named_documents
from pipelines.store.transcripts.reader import Transcript
from pipelines.text import escape_terminal
from pipelines.view.markup import (
    Card,
    Row,
    address_of,
    file_address,
    html,
    html_of,
    item_link,
    item_row,
    joined,
    link,
    marked,
    place,
    quoted,
    ranks,
    related,
    said_apart,
    said_days,
    sentence,
    since,
    spoken,
    told,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.search.hits import Hit
    from pipelines.store.change_set import ItemChange
    from pipelines.store.document import Document

    Values = dict[str, Any]
    """The values of a template, by name."""


KINDS: Final = {
    Kind.PROJECT: "Projects", Kind.AREA: "Areas", Kind.RESOURCE: "Resources", Kind.USER: "The user",
    Kind.BRIEFING: "The briefing", Kind.EPISODE: "Days", Kind.ARCHIVE: "Archives",
}  # fmt: skip
"""The kinds of documents in the order of the tree, and their titles."""
_HOMES = tuple(KINDS)[:5]
"""The kinds that accept items."""
_A_WHILE = 2.0
_ROWS = 25
_HIDES = "This text has invisible characters, or ones that change the reading direction. The page shows them."
_ABOVE = 40
"""Lines shown above those that an address names."""


class MemoryReader:
    """A memory as the pages read it; parsed documents are kept until a file changes, appears or disappears.

    Args:
        root: the memory.
        clock: returns the current moment, with a zone.
    """

    settings: Settings
    now: datetime
    """The moment, in the memory's zone, and `today`, its day."""
    today = ""

    def __init__(self, root: Path, clock: Callable[[], datetime]) -> None:
        self.root, self._clock = root, clock
        self._git, self._turn = Git(root), threading.Lock()
        self.beliefs = Beliefs((), {})
        """Every item and document, as when this last looked."""
        self.running = False
        """Whether a run has been at work for some seconds; a command is done sooner."""
        self._stamps: list[str] = []
        self._frame: tuple[object, Values] = (), {}
        self._changed: dict[str, list[ItemChange]] = {}

    def look(self) -> str:
        """Read again what has changed on the disk; return what is another text once a file, commit or run is new."""
        lock = self.root / PRIVATE / "lock"
        rows = (path for folder in LEDGER for path in list_files(self.root, folder.rstrip("/"), ".jsonl"))
        stamps = [stamp(f"{self.root}/{path}") for path in (*document_paths(self.root), *rows)]
        if stamps != self._stamps:
            self.beliefs, self._stamps = Beliefs.of(read_documents(self.root)), stamps
        self.running = lock.exists() and time.time() - lock.stat().st_mtime > _A_WHILE and is_held(self.root)
        with self._turn:  # one git process answers all requests
            head = self._git.head()
        return f"{hash((*stamps, head, self.running)):x}"

    @property
    def documents(self) -> Mapping[str, Document]:
        """Path → document."""
        return self.beliefs.documents

    def begin(self) -> str:
        """Look, and set the clock; each request for a page begins with it."""
        state, self.settings = self.look(), load_settings(self.root)
        self.now = self._clock().astimezone(ZoneInfo(self.settings.timezone))
        self.today = day_of(self.now, self.settings)
        key = state, f"{self.now:%H:%M}"
        if key != self._frame[0]:
            self._frame = key, {}
        return state

    def frame(self) -> Values:
        """Return what stands around each page; it is made anew after a commit, a change of a file, or a minute."""
        kept = self._frame[1]
        if not kept:
            git, beliefs, now = Git(self.root), self.beliefs, self.now
            try:
                runs = all_runs(self.root, git)
            except CurateError:  # `curate check` says what is wrong with git
                runs = reported_nights(self.root)
            counts = Counter(one.path for one in beliefs.holdings if one.item.active)
            groups: dict[str, list[tuple[str, str, int, str]]] = {title: [] for title in KINDS.values()}
            for path, one in sorted(beliefs.documents.items()):
                if one.kind in KINDS:
                    groups[KINDS[one.kind]].append((f"/document/{one.id}", one.title, counts[path], ""))
            unread = [*unread_bytes(read_snapshot(self.root), self.today)]
            nights = [run for run in runs if run.is_night and run.moment]
            unfinished = is_unfinished(self.root) and not is_held(self.root)
            found = night_finding(past(nights, now), unread, now, self.settings, unfinished=unfinished)
            following = next_run(self.root, installed_nights(self.root), now)
            said = f"Last night {ended(nights[0])}, {nights[0].when}" if nights else "No night yet"
            is_bad = found.state is WRONG
            coming = f"Next: {following[0]:%Y-%m-%d, %H:%M}" if following else "No night is scheduled"
            kept |= {
                "owner": (git.identity() or ("",))[0],
                "ways": [("/", "Today", "", "gt"), ("/inbox", "Inbox", len(questions(beliefs.documents)), "gi"),
                         ("/items", "Items", counts.total(), "ga"), ("/nights", "Nights", len(nights), "gn")],
                "groups": groups.items(), "nights": nights, "runs": runs, "running": self.running,
                "how": "bad" if is_bad else "well" if nights else "",
                "last": told("Something is wrong with the nights" if is_bad else said, self.today),
                "next": told(coming, self.today),
                "faults": [] if found.state is OK else [str(found)],
            }  # fmt: skip
        return kept

    @property
    def homes(self) -> list[tuple[str, str]]:
        """The id and title of each document that accepts items."""
        found = (one for one in self.documents.values() if one.kind in _HOMES)
        return [(one.id, one.title) for one in sorted(found, key=lambda one: one.title)]

    def changed(self, run: PastRun) -> list[ItemChange]:
        """Return what a run did to items; a commit stays as it is, so each is read once."""
        if run.id not in self._changed:
            self._changed[run.id] = items_changed(run, Git(self.root))
        return self._changed[run.id]

    def document(self, ident: str) -> Document:
        """Return the document with an id, or the one that had it before it was renamed or moved.

        Raises:
            UsageFault: there is none.
        """
        path = document_path(ident)
        return self.documents[
            path if path in self.documents else named_documents(self.documents, ident.rpartition("/")[2])[0]
        ]

    def row(self, one: Holding, **more: object) -> Row:
        """Return the row of an item with its page."""
        return item_row(one.item, self.today, page=self.documents[one.path], **more)  # type: ignore[arg-type]


def ended(run: PastRun) -> str:
    """Return how a run ended, without the reason."""
    return re.split("[:;]| by ", run.outcome)[0]


def page(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show one document, by its id."""
    found = reading.document(asked["ident"])
    lead = joined((found.path, html('<a href="/edit/{}" data-k="e">Edit</a>', found.id)))
    return {"title": found.title, "lead": lead, "columns": [[Card("", parts_of(found, reading.today))]]}


def to_edit(reading: MemoryReader, asked: Mapping[str, str], again: Saved | None = None) -> Values:
    """Show a document's text for editing.

    Args:
        reading: the memory.
        asked: `ident`, the document's.
        again: an edit that was not saved; its text is shown instead, with the reasons.
    """
    ident = asked["ident"]
    saved = again
    if saved is None:
        text = (read_bytes(reading.root, reading.document(ident).path) or b"").decode(errors="replace")
        saved = Saved("", (), *[text.replace("\r\n", "\n")] * 2)
    hides = escape_terminal(saved.text) != saved.text and _HIDES
    parts = parts_of(reading.document(ident).with_text(saved.text), reading.today) if asked.get("preview") else ()
    return {"title": f"Edit {document_path(ident)}", "ident": ident, "saved": saved,
            "columns": [[Card("Preview", parts)]], "faults": (*saved.faults, hides)}  # fmt: skip


def item(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show one item: what it rests on, its history, and what depends on it.

    Raises:
        UnknownItem: there is none, or more than one; the sentence says which.
    """
    day = reading.today
    past = history_of(reading.root, Git(reading.root), asked["ident"], reading.beliefs)
    found = why(reading.root, reading.beliefs, past)
    one, path = found.item, found.holding.path
    life = [*reversed(found.superseded), found.holding, *found.successors]
    words = [step.item.text.split() for step in life]
    same = len(commonprefix(words))
    lived = [
        html("{} <small>since {}</small>", item_link(step.item, " ".join(said[same:])), since(step.item, day))
        for step, said in zip(life, words, strict=True)
    ]
    lists: dict[str, Sequence[Row | Markup]] = {
        "Where it was said": [quoted(of.found) for of in found.witnesses] or [html("Nowhere: a person wrote it.")],
        "Its life": [Markup(" → ").join(lived)] if life[1:] else (),
        "It rests on": related(found.grounds, day),
        "What depends on it": related(found.dependents, day),
    }
    home = document_id(path)
    places = [link(path, f"/document/{home}#{one.id}")]
    return {
        "title": one.text, "lead": joined((item_row(one, day).told, *places, one.id)), "item": one, "home": home,
        "homes": reading.homes, "faults": [f"It {ground}" for ground in found.outdated], "ranks": ranks(one),
        "columns": [[Card(name, rows) for name, rows in lists.items()]],
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
    told = list(enumerate(plain.split("\n"), found.start_line)) if found.lines else []
    if found.path.endswith(".jsonl") and (file := open_regular(reading.root, found.path)):
        with file:
            said = [one for one in Transcript(file, ZoneInfo(reading.settings.timezone)) if start <= one.line][
                : _ABOVE * 2
            ]
        told = [(one.line, without_secrets(f"{one.role}: {one.text}")) for one in said]
    rows = [(line, marked(escape_terminal(text), asked.get("q", ""))) for line, text in told]
    further = told[-1][0] + 1 if told else 0
    lead = (f"{found.total_lines} lines", found.path in reading.documents and link("as a page", address_of(found.path)),
            0 < further <= found.total_lines and link("further on", f"?at={further + _ABOVE}"))  # fmt: skip
    return {"title": found.path, "lead": joined(lead), "rows": rows, "first": first, "last": last}


# ---------------------------------------- items as a list, or what a search finds


def items(reading: MemoryReader, params: Mapping[str, str]) -> Values:
    """Show the items that the filters leave, or the results of a search.

    Args:
        reading: the memory.
        params: `q`, or the filters and `sort`; `from`, the first row.
    """
    on = {key: value for key, value in params.items() if value.strip()}
    asked, rows, notes = defaultdict(str, on), list[Row](), list[str]()
    begin = int(f"0{asked['from'][:9]}") if asked["from"].isdecimal() else 0
    query, end, most, lead = asked["q"], begin + _ROWS, _ROWS, ""
    try:
        if query:
            hits, told, how_sure = searched(reading.root, query, end + 1, SearchRequest())
            most = end  # a longer answer may have another order, so it is shown as a whole
            rows, notes = [_hit(one, query, reading.today) for one in hits], [*told]
            notes += [LITTLE] if hits and how_sure == "little" else []
        else:
            found = _held(reading, asked)
            rows, lead = [_marked(reading, one) for one in found[begin : end + 1]], counted(len(found), "item")
    except CurateError as why_not:
        notes.append(str(why_not))
    more = [Row("More", f"?{urlencode({**on, 'from': end})}")] if rows[most:] else []
    filters = {} if query else {
        "type": ItemType, "page": [title for _, title in reading.homes], "whose": Trust, "status": Status,
        "due": ["overdue", "ahead"], "sort": ["since", "oldest"],
    }  # fmt: skip
    return {"title": query or "Items", "asked": asked, "homes": reading.homes, "faults": notes, "lead": lead,
            "filters": filters,
            "columns": [[Card("", rows[:most] + more or [Row("Nothing was found.")])]]}  # fmt: skip


def _held(reading: MemoryReader, asked: Mapping[str, str]) -> list[Holding]:
    """Return the items that the filters leave; by default what is due comes first, then the newest."""
    found = []
    for one in reading.beliefs.holdings:
        item, when_due = one.item, "overdue" if one.item.due < reading.today else "ahead"
        fields = {"type": item.type, "page": reading.documents[one.path].title, "whose": item.trust,
                  "status": item.status, "due": item.due and when_due}  # fmt: skip
        fits = asked["status"] or (item.active and one.path != REVIEW)
        if fits and all(asked[key] in {"", value} for key, value in fields.items()):
            found.append(one)
    found.sort(key=lambda one: one.item.since, reverse=asked["sort"] != "oldest")
    return found if asked["sort"] else sorted(found, key=lambda one: one.item.due or "~")


def _marked(reading: MemoryReader, one: Holding) -> Row:
    box = '<input type="checkbox" name="id" value="{}" data-k="x" aria-label="{}">'
    return reading.row(one, asked=(), mark=html(box, one.item.id, one.item.text))


def _hit(one: Hit, query: str, today: str) -> Row:
    text, over = marked(spoken(one.text), query), one.overruled
    to = f"/item/{one.item}" if one.item else f"{file_address(one.path)}?at={one.start_line}#L{one.start_line}"
    return Row(html("<s>{}</s>", text) if over else text, to, joined((
        place(one.path, one.start_line, one.end_line, query=query), when(one.date, today),
        one.trust not in {Trust.OWNER, Trust.SELF} and one.trust, over and over.why,
        *(f"over: {said_days(str(late), today)}" for late in one.over_since),
    )))  # fmt: skip


def parts_of(document: Document, today: str) -> list[Row | Markup]:
    """Return the rows of a document's items, and as HTML the prose between them and what runs wrote."""
    lines, path = document.lines, document.path
    found: dict[int, tuple[int, Row | Markup]] = {}
    parts: list[Row | Markup] = []
    for at, (_, row) in document.generated.items():
        if not lines[at].startswith("- "):
            said = read_sentence(lines[at].rstrip(), row)
            grounds = Markup(" ").join(link(number, f"/item/{one}") for number, one in enumerate(said.ids, 1))
            found[at] = (
                at + 1,
                html('<p title="{}">{} {}</p>', said.text, sentence(said_apart(said.text, today)), grounds),
            )
    for one in document.items:
        below = html_of("".join(lines[one.notes : one.end]), path)
        found[one.line] = one.end, item_row(one.item, today, anchor=one.item.id, below=below)
    begin = document.front.lines
    for line in (*sorted(found), len(lines)):
        if begin <= line:  # else in an item's notes
            parts.append(html_of("".join(lines[begin:line]), path))
            begin, part = found.get(line, (line, Markup()))
            parts.append(part)
    return [one for one in parts if one]


def generated_rows(document: Document | None) -> dict[str, tuple[str, ...]]:
    """Return the words of the lines that runs wrote into a document; for each, its grounds."""
    found = document.generated.items() if document else ()
    return {document.lines[at].strip(): read_sentence("", row).ids for at, (_, row) in found if document}


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun or verb, `many` where it is not one."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
