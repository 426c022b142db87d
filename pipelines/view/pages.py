"""What each page shows: the values of its template, from the functions that the verbs use."""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter, defaultdict
from posixpath import commonprefix
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from pipelines.clock import day_of
from pipelines.errors import CurateError, UsageFault
from pipelines.night.answers import questions
from pipelines.night.edit_page import Saved, text_to_edit
from pipelines.night.run_history import PastRun, all_runs, items_changed, nights
from pipelines.queries.health import OK, WRONG, health, installed_nights, next_run, waiting_days
from pipelines.queries.item_graph import Beliefs, Step
from pipelines.queries.search_settings import searched
from pipelines.queries.why import why
from pipelines.search.filters import Filters
from pipelines.search.found import LITTLE
from pipelines.search.query import SearchRequest
from pipelines.settings import Settings, load_settings
from pipelines.store.document import HISTORY, Document
from pipelines.store.evidence import without_pointer
from pipelines.store.files import list_files, open_regular
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
from pipelines.view.markup import html_of, marked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.store.change_set import ItemChange

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
_ALL = "all"
_ROWS = 50
_SORTED = ("text", "type", "page", "due")
"""What items are sorted by, beside the newest first."""
_ABOVE = 40
"""Lines shown above those that an address names."""


class MemoryReader:
    """A memory as the pages read it; parsed documents are kept until a file changes, appears or disappears.

    Args:
        root: the memory.
        clock: returns the current moment, with a zone.
    """

    def __init__(self, root: Path, clock: Callable[[], datetime]) -> None:
        self.root, self.clock = root, clock
        self.beliefs = Beliefs((), {})
        """Every item and document, as when this last looked."""
        self._stamps: list[tuple[str, int, int, int]] | None = None
        self._frame: tuple[object, Values] = (), {}
        self._changed: dict[str, list[ItemChange]] = {}

    def look(self) -> None:
        """Read again what has changed on the disk; each request begins with it."""
        stamps = []
        rows = (path for folder in LEDGER for path in list_files(self.root, folder.rstrip("/"), ".jsonl"))
        for path in (*document_paths(self.root), *rows):
            with contextlib.suppress(OSError):
                found = (self.root / path).stat()
                stamps.append((path, found.st_mtime_ns, found.st_ctime_ns, found.st_size))
        if stamps != self._stamps:
            self.beliefs = Beliefs.of(read_documents(self.root))
            self._stamps = stamps

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
        return self.clock().astimezone(ZoneInfo(self.settings.timezone))

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.now, self.settings)

    def frame(self) -> Values:
        """Return what stands around each page; it is made anew after a commit, a change of a file, or a minute."""
        beliefs, git, now, settings = self.beliefs, Git(self.root), self.now, self.settings
        key = self._stamps, git.head(), now.replace(second=0, microsecond=0), self.running
        if key != self._frame[0]:
            try:
                runs = all_runs(self.root, git)
            except CurateError:  # `curate check` says what is wrong with git
                runs = nights(self.root)
            counts = Counter(one.path for one in beliefs.holdings if one.item.active)
            groups: dict[str, list[tuple[str, str, int, str]]] = {title: [] for title in KINDS.values()}
            for path, one in sorted(beliefs.documents.items()):
                if one.kind in KINDS:
                    groups[KINDS[one.kind]].append((f"/document/{one.id}", one.title, counts[path], ""))
            waiting = len(questions(beliefs.documents))
            unread = waiting_days(read_snapshot(self.root), day_of(now, settings))
            dated = [run for run in runs if run.is_night and run.moment]
            unfinished = is_unfinished(self.root) and not is_held(self.root)
            following = next_run(self.root, installed_nights(self.root), now)
            said = f"Last night {ended(dated[0])}, {dated[0].when}" if dated else "No night yet"
            found = health(dated, unread, now, settings, unfinished=unfinished).finding
            is_bad = found.state is WRONG
            self._frame = key, {
                "owner": (git.identity() or ("",))[0],
                "ways": [("/", "Today", "", "gt"), ("/inbox", "Inbox", waiting, "gi"),
                         ("/items", "Items", counts.total(), "ga"), ("/nights", "Nights", len(dated), "gn")],
                "groups": groups.items(), "nights": dated, "runs": runs, "running": self.running,
                "how": "bad" if is_bad else "well" if dated else "",
                "last": "Something is wrong with the nights" if is_bad else said,
                "next": f"Next: {following[0]:%Y-%m-%d, %H:%M}" if following else "No night is scheduled",
                "faults": [] if found.state is OK else [found.says],
                "today": day_of(now, settings),
            }  # fmt: skip
        return self._frame[1]

    @property
    def homes(self) -> list[tuple[str, str]]:
        """The id and title of each document that accepts items."""
        found = (one for one in self.documents.values() if one.kind in _HOMES)
        return [(one.id, one.title) for one in sorted(found, key=lambda one: one.title)]

    @property
    def running(self) -> bool:
        """Whether a run has been at work for some seconds; a command is done sooner."""
        with contextlib.suppress(OSError):
            begun = (self.root / PRIVATE / "lock").stat().st_mtime
            return time.time() - begun > _A_WHILE and is_held(self.root)
        return False

    @property
    def state(self) -> str:
        """What is another text once a file, a commit or a run is another one."""
        self.look()
        return f"{hash((tuple(self._stamps or ()), Git(self.root).head(), self.running)):x}"

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
        known = named_documents(self.documents, ident.rpartition("/")[2])
        for path in (document_path(ident), *(known if len(known) == 1 else ())):
            if path in self.documents:
                return self.documents[path]
        raise UsageFault(f"There is no document {ident}.", "")


def ended(run: PastRun) -> str:
    """Return how a run ended, without the reason."""
    return re.split("[:;]| by ", run.outcome)[0]


def page(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show one document, by its id; its `## History` by itself."""
    found = reading.document(asked["ident"])
    titles, size = [(one.title, one.level) for one in found.headings], len(found.lines)
    at = titles.index((HISTORY, 2)) if (HISTORY, 2) in titles else len(titles)
    begin, end = [*(one.line for one in found.headings), size, size][at : at + 2]
    held, history = parts_of(found, 0, begin) + parts_of(found, end, size), parts_of(found, begin + 1, end)
    return {"title": found.title, "document": found, "held": held, "history": history,
            "types": [*ItemType] if found.kind in _HOMES else ()}  # fmt: skip


def to_edit(reading: MemoryReader, asked: Mapping[str, str], again: Saved | None = None) -> Values:
    """Show a document's text for editing.

    Args:
        reading: the memory.
        asked: `ident`, the document's.
        again: an edit that was not saved; its text is shown instead, with the reasons.
    """
    ident = asked["ident"]
    path = document_path(ident)
    saved = again or Saved("", (), *[text_to_edit(reading.root, reading.document(ident).path)] * 2)
    new = reading.document(ident).with_text(saved.text) if asked.get("preview") else None
    return {"title": f"Edit {path}", "ident": ident, "saved": saved,
            "preview": parts_of(new, 0, len(new.lines)) if new else (),
            "hides": escape_terminal(saved.text) != saved.text}  # fmt: skip


def item(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show one item: what it rests on, its history, and what depends on it.

    Raises:
        UnknownItem: there is none, or more than one; the sentence says which.
    """
    root, beliefs = reading.root, reading.beliefs
    found = why(root, Git(root), asked["ident"], beliefs)
    old = {step.id for step in found.superseded}
    steps = (*reversed(found.superseded), Step("", "", found.holding), *found.successors)
    life = [step.holding.item for step in steps if step.holding]
    said = [one.text.split() for one in life]
    same = len(commonprefix(said))
    return {
        "title": found.item.text, "why": found, "home": document_id(found.holding.path), "homes": reading.homes,
        "life": [(one, " ".join(words[same:])) for one, words in zip(life, said, strict=True)],
        "steps": {
            "It rests on": found.grounds,
            "What depends on it": [step for step in found.dependents if step.id not in old],
        },
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
            zone = ZoneInfo(reading.settings.timezone)
            said = [one for one in Transcript(file, zone) if start <= one.line][: _ABOVE * 2]
        told = [(one.line, without_secrets(f"{one.role}: {one.text}")) for one in said]
    rows = [(line, marked(escape_terminal(text), asked.get("q", ""))) for line, text in told]
    further = told[-1][0] + 1 if told else 0
    total = found.total_lines
    return {"title": found.path, "rows": rows, "first": first, "last": last, "total": total,
            "next": further if further <= total else 0, "page": reading.documents.get(found.path)}  # fmt: skip


# ---------------------------------------- items as a table, or what a search finds


def items(reading: MemoryReader, params: Mapping[str, str]) -> Values:
    """Show the items that the filters leave, or the results of a search.

    Args:
        reading: the memory.
        params: `q` and the filters, each optional; `sort`, a column, or `-` and it for the other way; `from`, the first
            row.
    """
    on = {key: value for key, value in params.items() if value.strip()}
    asked = defaultdict(str, on)
    begin = int(asked["from"][:9]) if asked["from"].isdecimal() else 0
    found: Values = {"hits": (), "remarks": (), "fault": "", "rows": (), "total": 0}
    try:
        if asked["q"]:
            kinds, trusts = ((asked[key],) if asked[key] else () for key in ("type", "trust"))
            filters = Filters(types=kinds, project=asked["page"], trusts=trusts)
            how = SearchRequest(filters=filters, overruled=bool(asked["overruled"]))
            hits, notes, how_sure = searched(reading.root, asked["q"], _ROWS, how)
            found |= {"hits": hits, "remarks": [*notes, LITTLE] if hits and how_sure == "little" else notes}
        else:
            rows = _rows(reading, asked)
            found |= {"rows": rows[begin : begin + _ROWS], "total": len(rows)}
    except CurateError as why_not:  # the form keeps its values
        found["fault"] = str(why_not)
    further = begin + _ROWS if found["total"] > begin + _ROWS else 0
    return found | {
        "title": asked["q"] or "Items", "asked": asked, "homes": reading.homes,
        "filters": [
            ("type", "Type", [*ItemType]),
            ("page", "Page", sorted({one.title for one in reading.documents.values() if one.items})),
            ("trust", "Whose word", [*Trust]),
            *([("overruled", "What is over", ["too"])] if asked["q"] else
              [("status", "Status", [*Status, _ALL]), ("due", "Due", ["any", "overdue", "ahead"])]),
        ],
        "more": urlencode({**on, "from": further}) if further else "",
        "sorted": lambda key: urlencode({**on, "sort": f"-{key}" if asked["sort"] == key else key, "from": 0}),
    }  # fmt: skip


def _rows(reading: MemoryReader, asked: Mapping[str, str]) -> list[Values]:
    """Return the items that the filters leave, sorted: each `item`, its page as `home`, and its columns."""
    today, status = reading.today, asked["status"]
    rows: list[Values] = []
    for one in reading.beliefs.holdings:
        item, home = one.item, reading.documents[one.path]
        fields = {"type": item.type, "page": home.title, "trust": item.trust}
        dues = {"", "any", "overdue" if item.due < today else "ahead"} if item.due else {""}
        fits = status in {item.status, _ALL} if status else item.active and one.path != REVIEW
        if fits and asked["due"] in dues and all(asked[key] in {"", value} for key, value in fields.items()):
            rows.append({**fields, "text": item.text, "due": item.due, "item": item, "home": home})
    column, down = asked["sort"].removeprefix("-") or "due", asked["sort"].startswith("-")
    rows.sort(key=lambda row: row["item"].since, reverse=not (down and column == "since"))
    rows.sort(key=lambda row: row[column].casefold() if column in _SORTED else "", reverse=down)
    rows.sort(key=lambda row: column == "due" and not row["due"])
    return rows


# ---------------------------------------- the parts of a document


def parts_of(document: Document, first: int, last: int) -> list[Values]:
    """Return the parts of some lines of a document, counted from 0: its items, what a run wrote, and the prose between.

    An item has its `line`, counted from 1, and the HTML of its notes as `text`, a run's sentence what is `told`, prose
    its HTML as `text`.
    """
    lines, path = document.lines, document.path
    found: dict[int, tuple[int, Values]] = {}
    parts: list[Values] = []
    for at, (_, row) in document.generated.items():
        if not lines[at].startswith("- "):
            found[at] = at + 1, {"told": read_sentence(lines[at].rstrip(), row)}
    for one in document.items:
        notes = html_of("".join(lines[one.notes : one.end]), path)
        found[one.line] = one.end, {"item": one.item, "line": one.line + 1, "text": notes}
    begin = max(first, document.front.lines)
    for line in (*sorted(at for at in found if begin <= at < last), last):
        if begin <= line:  # else in an item's notes
            parts.append({"text": html_of("".join(lines[begin:line]), path)})
            begin, part = found.get(line, (line, {"text": ""}))
            parts.append(part)
    return parts


def generated_rows(document: Document | None) -> dict[str, tuple[str, ...]]:
    """Return the words of the lines that runs wrote into a document; for each, its grounds."""
    found = document.generated.items() if document else ()
    return {document.lines[at].strip(): read_sentence("", row).ids for at, (_, row) in found if document}
