"""What each page shows: the values of its template, from the functions that the verbs use."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from pipelines.clock import day_of, span_of
from pipelines.errors import BadFile, CurateError, UsageFault
from pipelines.night.answers import questions
from pipelines.night.episodes import episodes_in
from pipelines.night.manual import text_to_edit
from pipelines.night.run_history import RunEnd
from pipelines.queries.audit import audit
from pipelines.queries.health import health_of, waiting_days
from pipelines.queries.history import History
from pipelines.queries.item_graph import Beliefs, Holding
from pipelines.queries.search_settings import searched
from pipelines.queries.why import impact, why
from pipelines.search.filters import Filters
from pipelines.search.found import LITTLE
from pipelines.search.query import SearchRequest
from pipelines.settings import Settings, load_settings
from pipelines.store.document import HISTORY, Document
from pipelines.store.evidence import FoundQuote, Quotes
from pipelines.store.generated import is_pointer, read_sentence
from pipelines.store.git import Git
from pipelines.store.item import Item, ItemType, Trust
from pipelines.store.layout import REVIEW, Kind, document_id, document_path
from pipelines.store.passage import read_passage
from pipelines.store.priority import days_apart
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.snapshot import document_paths, read_documents, read_snapshot
from pipelines.store.user_layout import at, layout_of
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pipelines.night.manual import Saved

    Values = dict[str, Any]
    """The values of a template, by name."""
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt


KINDS: Final = {
    Kind.PROJECT: "Projects", Kind.AREA: "Areas", Kind.RESOURCE: "Resources", Kind.USER: "The user",
    Kind.BRIEFING: "The briefing", Kind.EPISODE: "Episodes", Kind.ARCHIVE: "Archives",
}  # fmt: skip
"""The kinds of documents in the order of the tree, and their titles."""
_HOMES = tuple(KINDS)[:5]
"""The kinds that accept items."""
SOURCES: Final = ("log", "session", "episode", "document")
_ASKED = ("q", "type", "project", "trust", "source", "since", "as-of", "overruled", "more")
_MOST_DUE = 12
_HITS = 10
_MORE_HITS = 50
_AROUND = 2
"""Lines of a log shown before and after a quote."""


class MemoryReader:
    """A memory as the pages read it; parsed documents are kept until a file changes, appears or disappears.

    Args:
        root: the memory.
        clock: returns the current moment, with a zone.
    """

    def __init__(self, root: Path, clock: Callable[[], datetime]) -> None:
        self.root, self._clock = root, clock
        self._beliefs = Beliefs((), {})
        self._stamps: list[tuple[str, int, int, int]] | None = None

    @property
    def beliefs(self) -> Beliefs:
        """Every item and document, up to date."""
        stamps = []
        for path in document_paths(self.root):
            with contextlib.suppress(OSError):
                found = at(self.root, path).stat()
                stamps.append((path, found.st_mtime_ns, found.st_ctime_ns, found.st_size))
        if stamps != self._stamps:
            self._beliefs = Beliefs.of(read_documents(self.root), layout_of(self.root).real)
            self._stamps = stamps
        return self._beliefs

    @property
    def documents(self) -> Mapping[str, Document]:
        """Path → document."""
        return self.beliefs.documents

    @property
    def settings(self) -> Settings:
        """The memory's current settings."""
        return load_settings(self.root)

    @property
    def now(self) -> datetime:
        """The moment, in the memory's zone."""
        return self._clock().astimezone(ZoneInfo(self.settings.timezone))

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.now, self.settings)

    def document(self, ident: str) -> Document:
        """Return the document with an id.

        Raises:
            UsageFault: there is none.
        """
        found = self.documents.get(document_path(ident))
        if found is None:
            raise UsageFault(f"There is no document {ident}.", "")
        return found


def morning(reading: MemoryReader) -> Values:
    """Show last night, yesterday's episode, what waits, what is due, and open risks."""
    root, beliefs, today = reading.root, reading.beliefs, reading.today
    standing = [one for one in beliefs.holdings if one.item.active and one.path != REVIEW]
    held = [one.item for one in standing]
    told = dict(episodes_in(beliefs.documents))
    yesterday = (date.fromisoformat(today) - timedelta(days=1)).isoformat()
    day = yesterday if yesterday in told else max((one for one in told if one < today), default="")
    waiting = waiting_days(read_snapshot(root), today)
    due = sorted((one for one in held if one.due), key=lambda one: days_apart(one.due, today))
    health = health_of(root, waiting, reading.now, reading.settings)
    run = health.elsewhere or health.last
    return {
        "run": run.to_json() if run else None,
        "closed": run.number("items", "closed") if run else 0,
        "outcome": f"{run.outcome or 'was committed'}." if run else "",
        "undone": run and run.ended is RunEnd.UNDONE,
        "health": health,
        "waiting": len(questions(beliefs.documents)),
        "today": today,
        "day": day,
        "episode": [(read[0].text if (read := read_sentence(line)) else line) for line in told.get(day, ())],
        "dues": sorted(due[:_MOST_DUE], key=lambda one: one.due),
        "more_due": len(due[_MOST_DUE:]),
        "risks": [one for one in held if one.type is ItemType.RISK],
        "pages": {one.item.id: beliefs.documents[one.path] for one in standing},
    }


def inbox(reading: MemoryReader) -> Values:
    """Show what waits for a person, with the choices."""
    return {"questions": questions(reading.documents), "quotes": Quotes(reading.root)}


def tree(reading: MemoryReader) -> Values:
    """Show the documents by kind."""
    found = sorted(reading.documents.items())
    counted = [(one, sum(placed.item.active for placed in one.items)) for _, one in found]
    groups = [(kind, title, [pair for pair in counted if pair[0].kind is kind]) for kind, title in KINDS.items()]
    return {"groups": [group for group in groups if group[2]]}


def page(reading: MemoryReader, ident: str) -> Values:
    """Show one document."""
    found = reading.document(ident)
    held, history = parts_of(found)
    name = layout_of(reading.root).real(found.path)
    return {"title": found.title, "document": found, "path": name, "held": held, "history": history,
            "types": [*ItemType], "takes_items": found.kind in _HOMES}  # fmt: skip


def to_edit(reading: MemoryReader, ident: str, again: Saved | None = None) -> Values:
    """Show a document's text for editing.

    Args:
        reading: the memory.
        ident: the document's.
        again: an edit that was not saved; its text is shown instead, with the reasons.
    """
    text = again.text if again else text_to_edit(reading.root, reading.document(ident).path)
    path = layout_of(reading.root).real(document_path(ident))
    return {"title": f"Edit {path}", "ident": ident, "path": path, "text": text,
            "base": again.base if again else text, "faults": again.faults if again else (),
            "hides": escape_terminal(text) != text}  # fmt: skip


def item(reading: MemoryReader, ident: str) -> Values:
    """Show one item: what it rests on, its history, and what depends on it.

    Raises:
        UnknownItem: there is none, or more than one; the sentence says which.
    """
    root, beliefs = reading.root, reading.beliefs
    found = why(root, Git(root), ident, beliefs)
    old = {step.id for step in found.superseded}
    above = [step for step in impact(root, found.item.id, beliefs)[1] if step.id not in old]
    homes = sorted((one.title, one.id) for one in beliefs.documents.values() if one.kind in _HOMES)
    return {
        "title": f"{found.item.type}: {found.item.text}",
        "why": found,
        "home": document_id(found.holding.path),
        "around": [around(root, one.found) for one in found.witnesses],
        "history": History(found.item.id, [*found.versions], found.holding, None).to_json()["versions"],
        "impact": above,
        "homes": homes,
    }


def around(root: Path, found: FoundQuote) -> list[tuple[str, bool]]:
    """Return the lines of a log around a quote, each with whether it belongs to the quote."""
    if found.quote is None:
        return []
    first = max(1, found.start_line - _AROUND)
    try:
        lines = read_passage(root, found.path, str, first, found.end_line + _AROUND).lines
    except (BadFile, UsageFault):
        return [(line, True) for line in without_secrets(found.quote).splitlines()]
    numbered = enumerate(without_secrets("\n".join(lines)).split("\n"), first)
    return [(line, found.start_line <= number <= found.end_line) for number, line in numbered if line.strip()]


def about(reading: MemoryReader, params: Mapping[str, str]) -> Values:
    """Show everything that is believed about a topic, by how well it is supported.

    Args:
        reading: the memory.
        params: `q`, the topic, and optionally the day `as-of`.

    Raises:
        CurateError: the search failed.
    """
    asked = {key: params.get(key, "").strip() for key in ("q", "as-of")}
    if not asked["q"]:
        return {"asked": asked, "found": None}
    as_of = _days(reading, asked["as-of"])[1]
    found = audit(reading.root, Git(reading.root), asked["q"], as_of, reading.beliefs)
    weak: list[tuple[str, list[tuple[Holding, str]]]] = [
        ("Low confidence", found.unsure),
        ("Without evidence", found.unproven),
        ("Not confirmed lately", found.faded),
        ("Resting on what no longer holds", found.outdated),
    ]
    return {"asked": asked, "found": found, "weak": weak}


def search(reading: MemoryReader, params: Mapping[str, str]) -> Values:
    """Show the results of a search.

    Args:
        reading: the memory.
        params: `q`, `type`, `project`, `trust`, `source`, `since` and `as-of`, each optional; `overruled` is `on` to
            include rejected and waiting lines, and `more` to show more than ten hits.

    Raises:
        CurateError: a day cannot be read.
    """
    asked = {key: params.get(key, "").strip() for key in _ASKED}
    hits, notes, found, fault = None, tuple[str, ...](), "", ""
    kinds, trusts, sources = ((asked[key],) if asked[key] else () for key in ("type", "trust", "source"))
    try:
        if asked["q"]:
            filters = Filters(
                types=kinds, project=asked["project"], trusts=trusts, sources=sources,
                since=_days(reading, asked["since"])[0], as_of=_days(reading, asked["as-of"])[1],
            )  # fmt: skip
            how = SearchRequest(filters=filters, overruled=asked["overruled"] == "on")
            hits, notes, found = searched(reading.root, asked["q"], _MORE_HITS if asked["more"] else _HITS, how)
    except CurateError as why_not:  # the form keeps its values
        fault = str(why_not)
    more = urlencode({**{key: value for key, value in asked.items() if value}, "more": "on"})
    return {"asked": asked, "hits": hits, "notes": notes, "little": LITTLE if found == "little" else "", "fault": fault,
            "more": more if hits and len(hits) == _HITS and not asked["more"] else "",
            "types": [*ItemType], "trusts": [*Trust], "sources": SOURCES}  # fmt: skip


def _days(reading: MemoryReader, words: str) -> tuple[str, str]:
    """Return the first and the last day that words mean; empty for no words."""
    return span_of(words, reading.today) if words else ("", "")


# ---------------------------------------- the parts of a document


_LEAST_LEVEL = 2
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of a document.

    Args:
        kind: `heading`, `item`, `sentence` or `prose`.
        text: the words of a heading or sentence, the HTML of prose, or the notes under an item as HTML.
        level: the level of a heading.
        item: the item.
        ids: the items that a sentence rests on.
        line: its line, counted from 1.
    """

    kind: str
    text: str
    level: int = 0
    item: Item | None = None
    ids: tuple[str, ...] = ()
    line: int = 0


def parts_of(document: Document) -> tuple[list[PagePart], list[PagePart]]:
    """Return the parts of a document above `## History`, and those below it, in order."""
    held: list[PagePart] = []
    history: list[PagePart] = []
    into = held
    for part in _parts(document):
        if part.kind == "heading":
            into = history if part.text == HISTORY and part.level == _LEAST_LEVEL else held
            if into is history:
                continue
        into.append(part)
    return _without_empty(held), _without_empty(history)


def _without_empty(parts: Sequence[PagePart]) -> list[PagePart]:
    """Leave out headings without content before the next one of their level."""
    kept: list[PagePart] = []
    below = _LEAST_LEVEL - 1
    for part in reversed(parts):
        is_heading = part.kind == "heading"
        if not is_heading or part.level < _LEAST_LEVEL or below > part.level:
            kept.append(part)
            below = part.level if is_heading else _DEEPEST + 1
    return kept[::-1]


def _parts(document: Document) -> Iterator[PagePart]:
    lines, placed = document.lines, {one.line: one for one in document.items}
    headings = {one.line: one for one in document.headings}
    prose: list[str] = []
    number = document.front.lines
    while number < len(lines):
        line, begin = lines[number].rstrip("\r\n"), number
        generated = read_sentence(line) if "<!-- s:" in line else None
        number = placed[number].end if number in placed else number + 1
        if begin not in placed and begin not in headings and not generated:
            prose.append(line.partition(" <!-- p:")[0] if is_pointer(line) else line)
            continue
        if shown := html_of("\n".join(prose)):
            yield PagePart("prose", shown)
        prose = []
        if one := placed.get(begin):
            notes = "".join(lines[one.notes : one.end])
            yield PagePart("item", html_of(notes), item=one.item, line=begin + 1)
        elif heading := headings.get(begin):
            yield PagePart("heading", heading.title, heading.level)
        elif generated:
            yield PagePart("sentence", generated[0].text, ids=generated[0].ids)
    if shown := html_of("\n".join(prose)):
        yield PagePart("prose", shown)


def html_of(text: str) -> str:
    """Return Markdown as HTML, without raw HTML and images, and with control characters written out."""
    return _renderer().render(escape_terminal(text)).strip() if text.strip() else ""


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415  only where a page is drawn

    return MarkdownIt("commonmark", {"html": False}).disable("image").enable("table")
