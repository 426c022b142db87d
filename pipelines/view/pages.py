"""What each page shows: the values of its template, from the functions that the verbs use."""

from __future__ import annotations

import contextlib
import posixpath
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlencode
from zoneinfo import ZoneInfo

from pipelines.clock import day_of, span_of
from pipelines.errors import CurateError, UsageFault
from pipelines.night.answers import questions
from pipelines.night.manual import text_to_edit
from pipelines.night.run_history import PastRun, all_runs, items_changed, nights
from pipelines.queries.health import health, installed_nights, next_run, waiting_days
from pipelines.queries.item_graph import Beliefs, Holding
from pipelines.queries.search_settings import searched
from pipelines.queries.why import why
from pipelines.search.filters import Filters
from pipelines.search.found import LITTLE
from pipelines.search.query import SearchRequest
from pipelines.settings import Settings, load_settings
from pipelines.store.document import HISTORY, Document
from pipelines.store.evidence import Quotes, without_pointer
from pipelines.store.files import list_files, open_regular
from pipelines.store.generated import read_sentence
from pipelines.store.git import Git
from pipelines.store.item import Item, ItemType, Trust
from pipelines.store.journal import is_unfinished
from pipelines.store.layout import LEDGER, Kind, document_id, document_path, kind_of
from pipelines.store.lock import is_held
from pipelines.store.passage import read_passage
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.snapshot import document_paths, read_documents, read_snapshot
from pipelines.store.template import named_documents
from pipelines.store.transcripts import Transcript
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.night.manual import Saved
    from pipelines.store.change_set import ItemChange

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
_ASKED = ("q", "type", "project", "trust", "source", "since", "overruled", "more")
_HITS = 10
_MORE_HITS = 50
_ABOVE = 40
"""Lines shown above those that an address names."""


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
        self._runs: list[PastRun] = []
        self._frame: tuple[object, Values] = (), {}
        self._changed: dict[str, list[ItemChange]] = {}

    @property
    def beliefs(self) -> Beliefs:
        """Every item and document, up to date."""
        stamps = []
        rows = (path for folder in LEDGER for path in list_files(self.root, folder.rstrip("/"), ".jsonl"))
        for path in (*document_paths(self.root), *rows):
            with contextlib.suppress(OSError):
                found = (self.root / path).stat()
                stamps.append((path, found.st_mtime_ns, found.st_ctime_ns, found.st_size))
        if stamps != self._stamps:
            self._beliefs = Beliefs.of(read_documents(self.root))
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

    @property
    def runs(self) -> list[PastRun]:
        """All runs and changes by hand, newest first, as they were when the frame was last made."""
        return self._runs if self.frame() else []

    def frame(self) -> Values:
        """Return what stands around each page; it is made anew after a commit, a change of a file, or a minute."""
        beliefs, git, now, settings = self.beliefs, Git(self.root), self.now, self.settings
        key = self._stamps, git.head(), now.replace(second=0, microsecond=0)
        if key != self._frame[0]:
            try:
                self._runs = all_runs(self.root, git)
            except CurateError:  # `curate check` says what is wrong with git
                self._runs = nights(self.root)
            counts = Counter(one.path for one in beliefs.holdings if one.item.active)
            pages = [(one, counts[path]) for path, one in sorted(beliefs.documents.items())]
            groups = [(title, [pair for pair in pages if pair[0].kind is kind]) for kind, title in KINDS.items()]
            unread = waiting_days(read_snapshot(self.root), day_of(now, settings))
            dated = [run for run in self._runs if run.is_night and run.moment]
            unfinished = is_unfinished(self.root) and not is_held(self.root)
            following = next_run(self.root, installed_nights(self.root), now)
            self._frame = key, {
                "owner": (git.identity() or ("",))[0],
                "groups": [group for group in groups if group[1]], "items_count": counts.total(),
                "waiting": len(questions(beliefs.documents)), "nights_count": len(dated),
                "health": health(dated, unread, now, settings, unfinished=unfinished),
                "last": dated[0] if dated else None, "next": following[0].isoformat() if following else "",
                "today": day_of(now, settings),
            }  # fmt: skip
        return self._frame[1]

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
        if path not in self.documents:
            known = named_documents(self.documents, ident.rpartition("/")[2])
            path = known[0] if len(known) == 1 else path
        if path not in self.documents:
            raise UsageFault(f"There is no document {ident}.", "")
        return self.documents[path]

    def page_of(self, path: str) -> Document | None:
        """Return the document that stands at a path on disk, or None."""
        return self.documents.get(path)


def inbox(reading: MemoryReader) -> Values:
    """Show what waits for a person, with the choices."""
    return {"questions": questions(reading.documents), "quotes": Quotes(reading.root)}


def page(reading: MemoryReader, ident: str) -> Values:
    """Show one document."""
    found = reading.document(ident)
    held, history = parts_of(found)
    name = found.path
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
    path = document_path(ident)
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
    above = [step for step in found.dependents if step.id not in old]
    homes = sorted((one.title, one.id) for one in beliefs.documents.values() if one.kind in _HOMES)
    return {
        "title": f"{found.item.type}: {found.item.text}",
        "why": found,
        "home": document_id(found.holding.path),
        "quotes": [without_secrets(one.found.quote or "The words are no longer there.") for one in found.witnesses],
        "history": found.history.to_json()["versions"],
        "impact": above,
        "homes": homes,
    }


def file_lines(reading: MemoryReader, name: str, params: Mapping[str, str]) -> Values:
    """Show a log, a page or a session as it is, line by line; of a session, what was said.

    Args:
        reading: the memory.
        name: the file's path, or a log's day.
        params: `at`, the lines to mark, as in `12-14`, and `q`, words to mark; both optional.

    Raises:
        UsageFault: nothing has that name, or it is not for reading.
        BadFile: it cannot be read.
    """
    begin, _, end = params.get("at", "").partition("-")
    first = int(begin[:9]) if begin.isdecimal() else 1
    last = int(end[:9]) if end.isdecimal() else first if begin else 0
    start = max(1, first - _ABOVE)
    found = read_passage(reading.root, name, lambda: reading.today, start)
    plain = without_secrets("\n".join(map(without_pointer, found.lines)))
    told = list(enumerate(plain.split("\n"), found.start_line)) if found.lines else []
    own = found.path
    if own.endswith(".jsonl") and (file := open_regular(reading.root, own)):
        with file:
            zone = ZoneInfo(reading.settings.timezone)
            said = [one for one in Transcript(file, zone) if start <= one.line][: _ABOVE * 2]
        told = [(one.line, without_secrets(f"{one.role}: {one.text}")) for one in said]
    return {"title": found.path, "rows": told, "first": first, "last": last, "q": params.get("q", ""), "start": start,
            "next": told[-1][0] + 1 if told else 0, "total": found.total_lines,
            "page": reading.page_of(found.path)}  # fmt: skip


def search(reading: MemoryReader, params: Mapping[str, str]) -> Values:
    """Show the results of a search; without words, the items that the filters leave, what is due first, then by age.

    Args:
        reading: the memory.
        params: `q`, `type`, `project`, `trust`, `source` and `since`, each optional; `overruled` is `on` to include
            what no longer holds or waits, `more` to show more than ten hits, and `from` the first row of a list.
    """
    asked = {key: params.get(key, "").strip() for key in _ASKED}
    hits, notes, found, fault, listed = None, tuple[str, ...](), "", "", list[Holding]()
    documents = reading.documents
    kinds, trusts, sources = ((asked[key],) if asked[key] else () for key in ("type", "trust", "source"))
    try:
        since = span_of(asked["since"], reading.today)[0] if asked["since"] else ""
        if asked["q"]:
            filters = Filters(types=kinds, project=asked["project"], trusts=trusts, sources=sources, since=since)
            how = SearchRequest(filters=filters, overruled=asked["overruled"] == "on")
            hits, notes, found = searched(reading.root, asked["q"], _MORE_HITS if asked["more"] else _HITS, how)
        else:
            listed = [
                one
                for one in reading.beliefs.holdings
                if (one.item.active or asked["overruled"])
                and one.item.since >= since
                and (one.item.type in kinds or not kinds)
                and (one.item.trust in trusts or not trusts)
                and asked["project"] in {"", documents[one.path].title}
            ]
    except CurateError as why_not:  # the form keeps its values
        fault = str(why_not)
    listed.sort(key=lambda one: one.item.since, reverse=True)
    listed.sort(key=lambda one: one.item.due or "~")
    begin = int(params.get("from", "")[:9]) if params.get("from", "").isdecimal() else 0
    is_more = len(listed) > begin + _MORE_HITS if hits is None else len(hits) == _HITS and not asked["more"]
    on = {**{key: value for key, value in asked.items() if value}, "more": "on", "from": begin + _MORE_HITS}
    return {"asked": asked, "hits": hits, "notes": notes, "little": LITTLE if found == "little" else "", "fault": fault,
            "more": urlencode(on) if is_more else "", "listed": listed[begin : begin + _MORE_HITS], "begin": begin,
            "total": len(listed), "types": [*ItemType], "trusts": [*Trust], "sources": SOURCES,
            "titles": [one.title for one in documents.values() if one.items]}  # fmt: skip


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


def generated_rows(document: Document) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Return the words of the lines that runs wrote into a document; for each, the line (from 0), and its grounds."""
    return {
        document.lines[number].strip(): (number, read_sentence("", row).ids)
        for number, (_, row) in document.generated.items()
    }


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
        row = document.generated.get(begin, ("", ""))[1]
        generated = read_sentence(line, row) if row and not line.startswith("- ") else None
        number = placed[number].end if number in placed else number + 1
        if begin not in placed and begin not in headings and not generated:
            prose.append(line)
            continue
        if shown := html_of("\n".join(prose), document.path):
            yield PagePart("prose", shown)
        prose = []
        if one := placed.get(begin):
            notes = "".join(lines[one.notes : one.end])
            yield PagePart("item", html_of(notes, document.path), item=one.item, line=begin + 1)
        elif heading := headings.get(begin):
            yield PagePart("heading", heading.title, heading.level)
        elif generated:
            yield PagePart("sentence", generated.text, ids=generated.ids)
    if shown := html_of("\n".join(prose), document.path):
        yield PagePart("prose", shown)


def html_of(text: str, path: str = "") -> str:
    """Return Markdown as HTML, without raw HTML and images, and with control characters written out.

    Args:
        text: the Markdown.
        path: the document that holds it, from which its links lead.
    """
    return _renderer().render(escape_terminal(text), {"path": path}).strip() if text.strip() else ""


def address_of(path: str) -> str:
    """Return where the page shows a file of the memory: a document as people read it, else line by line."""
    return f"/document/{quote(document_id(path))}" if kind_of(path) else f"/file/{file_address(path)}"


def file_address(path: str) -> str:
    """Return a path for an address; a browser would resolve the `../` that a note's begins with."""
    return quote(path).replace("../", "..%2F", 1)


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415  only where a page is drawn
    from markdown_it.renderer import RendererHTML  # noqa: PLC0415  as above

    def link(_: object, tokens: Any, at: int, options: Any, env: Any) -> str:  # noqa: ANN401  markdown-it's own types
        target, mark, place = str(tokens[at].attrs["href"]).partition("#")
        if target and ":" not in target and not target.startswith("/"):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(env["path"]), unquote(target)))
            tokens[at].attrs["href"] = f"{address_of(path)}{mark}{place}"
        return RendererHTML().renderToken(tokens, at, options, env)

    made = MarkdownIt("commonmark", {"html": False}).disable("image").enable("table")
    made.add_render_rule("link_open", link)
    return made
