"""What each page shows: the values of its template, from the functions that the verbs use."""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from posixpath import commonprefix
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from pipelines.clock import day_of
from pipelines.errors import CurateError, UsageFault
from pipelines.night.answers import questions
from pipelines.night.manual import Saved, text_to_edit
from pipelines.night.run_history import PastRun, RunEnd, all_runs, items_changed, nights
from pipelines.queries.health import health, installed_nights, next_run, waiting_days
from pipelines.queries.item_graph import Beliefs, Step
from pipelines.queries.why import why
from pipelines.settings import Settings, load_settings
from pipelines.store.document import HISTORY, Document
from pipelines.store.evidence import without_pointer
from pipelines.store.files import list_files, open_regular
from pipelines.store.generated import read_sentence
from pipelines.store.git import Git
from pipelines.store.item import ItemType
from pipelines.store.journal import is_unfinished
from pipelines.store.layout import LEDGER, PRIVATE, Kind, document_id, document_path
from pipelines.store.lock import is_held
from pipelines.store.passage import read_passage
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.snapshot import document_paths, read_documents, read_snapshot
from pipelines.store.template import named_documents
from pipelines.store.transcripts.reader import Transcript
from pipelines.text import escape_terminal
from pipelines.view.markup import html_of, marked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
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
            pages = [(one, counts[path]) for path, one in sorted(beliefs.documents.items())]
            groups = [(title, [pair for pair in pages if pair[0].kind is kind]) for kind, title in KINDS.items()]
            unread = waiting_days(read_snapshot(self.root), day_of(now, settings))
            dated = [run for run in runs if run.is_night and run.moment]
            unfinished = is_unfinished(self.root) and not is_held(self.root)
            following = next_run(self.root, installed_nights(self.root), now)
            found = health(dated, unread, now, settings, unfinished=unfinished)
            self._frame = key, {
                "owner": (git.identity() or ("",))[0],
                "groups": groups, "items_count": counts.total(),
                "waiting": len(questions(beliefs.documents)), "nights": dated, "runs": runs, "running": self.running,
                "how": "bad" if found.is_bad else "well" if dated else "",
                "last": "Something is wrong with the nights" if found.is_bad else _last(dated),
                "next": f"Next: {following[0]:%Y-%m-%d, %H:%M}" if following else "No night is scheduled",
                "faults": [one for one in (found.overdue, not found.happens and found.failed, found.unread) if one],
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


def _last(nights: Sequence[PastRun]) -> str:
    """Return how the last night was, in words."""
    if not nights:
        return "No night yet"
    ended = "went well" if nights[0].did_its_work else "left something"
    return f"Last night {'was undone' if nights[0].ended is RunEnd.UNDONE else ended}, {nights[0].when}"


def page(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show one document, by its id."""
    found = reading.document(asked["ident"])
    held, history = parts_of(found)
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
    preview = parts_of(reading.document(ident).with_text(saved.text))[0] if asked.get("preview") else ()
    return {"title": f"Edit {path}", "ident": ident, "saved": saved, "preview": preview,
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


# ---------------------------------------- the parts of a document


def parts_of(document: Document) -> tuple[list[Values], list[Values]]:
    """Return the parts of a document above `## History`, and those below it, in order.

    A part has a `kind`: a heading its `text` and `level`, a sentence that a run wrote what is `told`, an item itself,
    its `line`, counted from 1, and the HTML of its notes as `text`, and prose its HTML.
    """
    lines, path = document.lines, document.path
    rows = {at: row for at, (_, row) in document.generated.items() if not lines[at].startswith("- ")}
    found: dict[int, tuple[int, Values]] = {
        **{
            at: (at + 1, {"kind": "sentence", "told": read_sentence(lines[at].rstrip(), row)})
            for at, row in rows.items()
        },
        **{
            one.line: (one.line + 1, {"kind": "heading", "text": one.title, "level": one.level})
            for one in document.headings
        },
    }
    for one in document.items:
        notes = html_of("".join(lines[one.notes : one.end]), path)
        found[one.line] = one.end, {"kind": "item", "item": one.item, "line": one.line + 1, "text": notes}
    held: list[Values] = []
    history: list[Values] = []
    into, begin = held, document.front.lines
    for line in (*sorted(found), len(lines)):
        if line < begin:  # in an item's notes
            continue
        if shown := html_of("".join(lines[begin:line]), path):
            into.append({"kind": "prose", "text": shown})
        begin, part = found.get(line, (line, {"kind": ""}))
        is_history = part == {"kind": "heading", "text": HISTORY, "level": 2}
        if part["kind"] == "heading":
            into = history if is_history else held
        if part["kind"] and not is_history and part.get("level") != 1:  # the title stands above
            into.append(part)
    return held, history


def generated_rows(document: Document | None) -> dict[str, tuple[str, ...]]:
    """Return the words of the lines that runs wrote into a document; for each, its grounds."""
    found = document.generated.items() if document else ()
    return {document.lines[at].strip(): read_sentence("", row).ids for at, (_, row) in found if document}
