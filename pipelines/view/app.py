"""The pages, as Starlette serves them. They show what the verbs print as JSON, and do what a verb does.

A form names a verb and its arguments from a closed list; the verb runs as on the command line, with its own lock, its
own transaction and its own commit, and the page shows what it prints. No lock is held while a person thinks.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from pipelines.night.episodes import episodes_in
from pipelines.store.generated import read_sentence
from pipelines.store.item import ItemType, Status, Trust
from pipelines.store.layout import REVIEW, Kind, document_path
from pipelines.store.snapshot import document_paths, read_documents
from pipelines.store.user_layout import at, layout_of
from pipelines.text import escape_terminal_line
from pipelines.view.document_parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from starlette.requests import Request

    from pipelines.store.document import Document
    from pipelines.store.item import Item

    Act = Callable[[Sequence[str]], tuple[int, str]]
    """Runs a verb with its arguments; returns its exit code and what it printed."""


VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    "done": (), "resolve": (), "drop": (), "end": (), "retract": (), "reopen": (), "pin": (), "unpin": (),
    "correct": (), "move": (), "undo": (), "forget": ("--yes",),
}  # fmt: skip
"""What a form may ask for: the verb, and what is given with it besides the id and the text of the form."""
_KINDS: Final = (Kind.PROJECT, Kind.AREA, Kind.RESOURCE, Kind.USER, Kind.BRIEFING, Kind.EPISODE, Kind.ARCHIVE)
_HOMES: Final = frozenset(_KINDS[:5])
_TRUSTS: Final = ("", *(str(one) for one in Trust))
_SOURCES: Final = ("", "log", "session", "episode", "document")
_MOST_DUE: Final = 12


class Page:
    """The pages of one memory.

    Args:
        root: the memory.
        act: runs a verb.
        token: what every form carries.
        today: gives the memory's day.
        may_change: whether forms are shown and heeded.
    """

    def __init__(self, root: Path, act: Act, token: str, today: Callable[[], str], *, may_change: bool) -> None:
        self._root, self._act, self._token, self._today, self._may = root, act, token, today, may_change
        self._said = ""
        self._read: Mapping[str, Document] = {}
        self._stamps: list[tuple[str, int, int, int]] | None = None

    @property
    def app(self) -> Starlette:
        """What is served; `Gate` stands before it."""
        get = ["GET"]
        return Starlette(
            routes=[
                Route("/", self.morning, methods=get),
                Route("/inbox", self.inbox, methods=get),
                Route("/documents", self.documents, methods=get),
                Route("/document/{ident:path}", self.document, methods=get),
                Route("/item/{ident}", self.item, methods=get),
                Route("/search", self.search, methods=get),
                Route("/style.css", self.style, methods=get),
                Route("/do", self.do, methods=["POST"]),
                Route("/answer", self.answer, methods=["POST"]),
            ]
        )

    # ------------------------------------------------------------------------------------------------ the pages

    def morning(self, request: Request) -> Response:
        """Show last night, yesterday's episode, what waits, what is due, risks, and how the memory grows."""
        documents, today = self._documents(), self._today()
        runs = self._json("runs")
        held = [(path, item) for path, item in _items(documents) if item.active and path != REVIEW]
        dues = sorted((one for one in held if one[1].due), key=lambda one: one[1].due)[:_MOST_DUE]
        told = dict(episodes_in(documents))
        yesterday = (date.fromisoformat(today) - timedelta(days=1)).isoformat()
        day = yesterday if yesterday in told else max((one for one in told if one < today), default="")
        episode = [(read[0].text if (read := read_sentence(line)) else line) for line in told.get(day, ())]
        return self._shown(
            request, "morning", "This morning",
            run=next((one for one in runs if not one["undoes"]), None), status=self._json("status"), today=today,
            day=day, episode=episode, dues=dues,
            risks=[one for one in held if one[1].type is ItemType.RISK], weeks=weeks_of(_items(documents), today),
        )  # fmt: skip

    def inbox(self, request: Request) -> Response:
        """Show what waits for a person, each with its choices."""
        texts = {item.id: item.text for _, item in _items(self._documents())}
        questions = [{**one, "against_text": texts.get(one["against"] or "", "")} for one in self._json("review")]
        return self._shown(request, "inbox", "Inbox", questions=questions)

    def documents(self, request: Request) -> Response:
        """Show the documents by kind."""
        found = self._documents()
        groups = [
            (
                kind,
                [(one, sum(p.item.active for p in one.items)) for _, one in sorted(found.items()) if one.kind is kind],
            )
            for kind in _KINDS
        ]
        return self._shown(request, "documents", "Documents", groups=[group for group in groups if group[1]])

    def document(self, request: Request) -> Response:
        """Show one document as people read it."""
        path = document_path(request.path_params["ident"])
        found = self._documents().get(path)
        if found is None:
            return self._missing(request, f"There is no document {path}.")
        held, history = parts_of(found)
        name = layout_of(self._root).real(path)
        return self._shown(request, "document", found.title, document=found, path=name, held=held, history=history)

    def item(self, request: Request) -> Response:
        """Show one item: what it rests on, every state that it had, and what rests on it."""
        ident = request.path_params["ident"]
        code, told = self._act(["why", ident, "--json"])
        if code:
            return self._missing(request, told.strip())
        why = json.loads(told)
        found = self._documents()
        homes = sorted((one.id, one.title) for one in found.values() if one.kind in _HOMES)
        is_pinned = any(item.pinned for _, item in _items(found) if item.id == why["id"])
        return self._shown(
            request, "item", f"{why['type']}: {why['text']}", why=why, history=self._json("history", ident)["versions"],
            impact=self._json("impact", ident), homes=homes, is_pinned=is_pinned,
        )  # fmt: skip

    def search(self, request: Request) -> Response:
        """Show what a search finds, narrowed down as the form says."""
        asked = {key: request.query_params.get(key, "").strip() for key in ("q", "type", "project", "trust", "source")}
        days = {key: request.query_params.get(key, "").strip() for key in ("since", "as-of")}
        words = ["search", "--json", "--limit", "20"]
        for key, value in {**asked, **days}.items():
            words += [f"--{key}", value] if value and key != "q" else []
        words += ["--overruled"] * (request.query_params.get("overruled") == "on")
        told, fault = None, ""
        if asked["q"]:
            code, said = self._act([*words, "--", asked["q"]])
            told, fault = (None, said) if code else (json.loads(said), "")
        return self._shown(
            request, "search", "Search", asked={**asked, **days}, told=told, fault=fault,
            overruled=request.query_params.get("overruled") == "on", types=["", *ItemType], trusts=_TRUSTS,
            sources=_SOURCES,
        )  # fmt: skip

    def style(self, _request: Request) -> Response:
        """Return the one stylesheet."""
        text = Path(__file__).with_name("templates").joinpath("style.css").read_text("utf-8")
        return Response(text, media_type="text/css")

    # ------------------------------------------------------------------------------------------------ what is done

    async def do(self, request: Request) -> Response:
        """Run a verb on an item, and go back to where the form stood; the page shows what the verb printed."""
        given = dict(parse_qsl((await request.body()).decode()))
        verb, back = given.get("verb", ""), _own_path(given.get("back", "/"))
        if self._may and verb in VERBS:
            words = [verb, *VERBS[verb]]
            words += ["--", given.get("id", ""), *([given["text"]] if given.get("text") else [])]
            self._said = (await run_in_threadpool(self._act, words))[1]
        else:
            self._said = "Nothing was done: this page only reads."
        return RedirectResponse(back, 303)

    async def answer(self, request: Request) -> Response:
        """Decide what waits: one question or several at once, each as its form says."""
        given = dict(parse_qsl((await request.body()).decode()))
        chosen = [(key.removeprefix("choice-"), one) for key, one in given.items() if key.startswith("choice-")]
        said = ["Nothing was done: this page only reads."] * (not self._may)
        for ident, choice in chosen if self._may else ():
            said.append((await run_in_threadpool(self._act, ["review", ident, "--choose", choice]))[1])
        self._said = "".join(said) or "Nothing was chosen."
        return RedirectResponse("/inbox", 303)

    # ------------------------------------------------------------------------------------------------ how it is shown

    def _documents(self) -> Mapping[str, Document]:
        """Return every document by path; they are read anew where a file changed, came or went."""
        stamps = []
        for path in document_paths(self._root):
            with contextlib.suppress(OSError):
                found = at(self._root, path).stat()
                stamps.append((path, found.st_mtime_ns, found.st_ctime_ns, found.st_size))
        if stamps != self._stamps:
            self._read, self._stamps = read_documents(self._root), stamps
        return self._read

    def _json(self, *words: str) -> Any:  # noqa: ANN401  whatever a verb prints
        code, told = self._act([*words, "--json"])
        return json.loads(told) if not code or told[:1] in {"{", "["} else {}

    def _missing(self, request: Request, why: str) -> Response:
        return self._shown(request, "missing", "Not found", status_code=404, why=why)

    def _shown(self, request: Request, name: str, title: str, *, status_code: int = 200, **values: Any) -> Response:  # noqa: ANN401  as a template takes them
        said, self._said = self._said, ""
        text = templates().get_template(f"{name}.html.j2").render(
            title=title, said=said, token=self._token, may_change=self._may, here=request.url.path,
            memory=self._root.name, **values,
        )  # fmt: skip
        return HTMLResponse(text, status_code)


def _items(documents: Mapping[str, Document]) -> list[tuple[str, Item]]:
    return [(path, placed.item) for path, one in sorted(documents.items()) for placed in one.items if placed.item.id]


def _own_path(path: str) -> str:
    """Return a path of this page; whatever else a form names leads to the beginning."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"


def word_changes(old: str, new: str) -> list[tuple[str, str]]:
    """Return what became of a sentence's words, in order: (`same`, `old` or `new`, the words)."""
    one, other = old.split(), new.split()
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            found.append(("same", " ".join(one[a:b])))
            continue
        found += [("old", " ".join(one[a:b]))] if b > a else []
        found += [("new", " ".join(other[c:d]))] if d > c else []
    return found


_made: list[Any] = []


def templates() -> Any:  # noqa: ANN401  Jinja's environment, which is imported when the page is
    """Return the templates; what a memory says is escaped, and what hides or steers in it is written out."""
    if not _made:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  as above

        made = Environment(
            loader=PackageLoader("pipelines.view", "templates"), undefined=StrictUndefined, trim_blocks=True,
            lstrip_blocks=True, autoescape=True,
        )  # fmt: skip
        made.filters["plain"] = escape_terminal_line
        made.filters["changes"] = word_changes
        made.globals["statuses"] = Status
        _made.append(made)
    return _made[0]


# ---------------------------------------- how a memory grows: items by type and week, as bars that need no script


WEEKS: Final = 12
HEIGHT, STEP = 60, 22


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a week's bar: its place, its height, its type and how many items it stands for."""

    x: int
    y: int
    height: int
    type: str
    count: int
    week: str


def weeks_of(items: Iterable[tuple[str, Item]], today: str) -> list[Bar]:
    """Return the bars of the last weeks: how many items of each type each of them brought.

    Args:
        items: every item, with its document's path.
        today: the memory's day.
    """
    monday = date.fromisoformat(today) - timedelta(days=date.fromisoformat(today).weekday())
    first = monday - timedelta(weeks=WEEKS - 1)
    counts: dict[int, Counter[ItemType]] = {}
    for _, item in items:
        if item.learnt >= first.isoformat() and item.learnt <= today:
            week = (date.fromisoformat(item.learnt) - first).days // 7
            counts.setdefault(week, Counter())[item.type] += 1
    most = max((one.total() for one in counts.values()), default=1)
    bars = []
    for week, found in sorted(counts.items()):
        top, begins = HEIGHT, (first + timedelta(weeks=week)).isoformat()
        for kind in ItemType:
            if count := found[kind]:
                height = max(1, round(count * HEIGHT / most))
                top -= height
                bars.append(Bar(week * STEP, top, height, kind.lower(), count, begins))
    return bars
