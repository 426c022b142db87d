"""The pages as Starlette serves them: their routes, what a form may do, and the server.

A form names a verb from a closed list and gives its arguments; the verb runs as on the command line, with its own lock,
its own transaction and its own commit, and the page shows what it prints. No lock is held while a person thinks.
"""

from __future__ import annotations

import re
import signal
import socket
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from datetime import date, datetime
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from pipelines.errors import CurateError, UnknownItem, UsageFault
from pipelines.night.answers import choice_keys
from pipelines.night.manual import Saved, save_document
from pipelines.queries.why import trust_label
from pipelines.store.change_set import items_by_id
from pipelines.store.git import Git
from pipelines.store.layout import document_path
from pipelines.text import escape_terminal_line
from pipelines.view import pages, today
from pipelines.view.entrance import Gate, Pass, TimedConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from starlette.requests import Request

    Act = Callable[[Sequence[str]], tuple[int, str]]
    """Runs a verb with its arguments; returns its exit code and what it printed."""


_OF_ITEM = ("--", "{id}")
VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("done", "resolve", "drop", "end", "retract", "reopen", "pin", "unpin", "undo"), _OF_ITEM),
    **dict.fromkeys(("correct", "move"), (*_OF_ITEM, "{text}")),
    "add": ("--document={id}", "--", "{type}", "{text}"),
    "forget": ("--yes", *_OF_ITEM),
    "undo --item": ("{id}",),
}
"""What a form may ask for: the verb, and its arguments by the form's fields."""
LEAVE_OUT: Final = "edit"
"""What a form asks for that takes a row out of the briefing: an edit of that document."""
_FILES = {"style.css": "text/css", "htmx.min.js": "text/javascript", "keys.js": "text/javascript"}
HTMX: Final = "2OatzQy1H+Zd/IIrjr1TcuDGqLXeHhbooAyJY1KdQMKnr4LZ22k31GBLdYKHmVjg"
"""The SHA-384 of htmx 2.0.11, which lies beside the templates as it was published (Zero-Clause BSD licence)."""
_VERB_BYTES = 64 << 10
_ANSWERS_BYTES = 2 << 20
"""Some hundred questions, with the words of each before and after."""
_MORE_TEXT_BYTES = 1 << 20
"""What a person may add to a document in the editor, whose form holds it before and after."""
_NEAR = 14
"""Days ahead that are counted instead of named."""
_READS = "Nothing was done: this page is read-only."


class App:
    """The pages of one memory.

    Args:
        root: the memory.
        act: runs a verb.
        token: what every form carries.
        clock: tells the moment, with a zone.
        may_change: whether forms are shown and heeded.
    """

    def __init__(self, root: Path, act: Act, token: str, clock: Callable[[], datetime], *, may_change: bool) -> None:
        self._reading, self._act, self._token, self._may = pages.MemoryReader(root, clock), act, token, may_change
        self._said, self._undo = "", ""

    @property
    def starlette(self) -> Starlette:
        """The application, which `Gate` protects."""

        def shown(name: str, title: str, values: Callable[[Request], pages.Values]) -> Callable[[Request], Response]:
            return lambda request: self._shown(request, name, title, values)

        reading = self._reading
        get = {
            "/": shown("today", "", lambda _: today.today(reading)),
            "/agents": shown("agents", "What agents read first", lambda _: today.agents(reading)),
            "/nights": shown("nights", "Nights", lambda _: today.all_nights(reading)),
            "/night/{ident}": shown("night", "", lambda r: today.night(reading, r.path_params["ident"])),
            "/days": shown("days", "Days", lambda _: today.days(reading)),
            "/items": shown("search", "Items", lambda r: pages.search(reading, r.query_params)),
            "/inbox": shown("inbox", "Inbox", lambda _: pages.inbox(reading)),
            "/documents": shown("documents", "All pages", lambda _: {}),
            "/document/{ident:path}": shown("document", "", lambda r: pages.page(reading, r.path_params["ident"])),
            "/item/{ident}": shown("item", "", lambda r: pages.item(reading, r.path_params["ident"])),
            "/edit/{ident:path}": shown("edit", "", lambda r: pages.to_edit(reading, r.path_params["ident"])),
            "/file/{name:path}": shown(
                "file", "", lambda r: pages.file_lines(reading, r.path_params["name"], r.query_params)
            ),
            "/search": shown("search", "Search", lambda r: pages.search(reading, r.query_params)),
            "/{file}": _file,
        }
        post = {"/do": self.do, "/answer": self.answer, "/edit/{ident:path}": self.save}
        routes = [Route(path, page, methods=["POST"]) for path, page in post.items()]
        return Starlette(routes=[*routes, *(Route(path, page, methods=["GET"]) for path, page in get.items())])

    def most_bytes(self, path: str) -> int:
        """Return how many bytes a form sent to a path can have; a byte of text takes up to three."""
        if not path.startswith("/edit/"):
            return _ANSWERS_BYTES if path == "/answer" else _VERB_BYTES
        with suppress(CurateError, OSError, ValueError):
            ident = path.removeprefix("/edit/")
            return 6 * (self._reading.root / (document_path(ident))).stat().st_size + _MORE_TEXT_BYTES
        return _MORE_TEXT_BYTES

    async def do(self, request: Request) -> Response:
        """Run a verb and return to the page of the form, which shows what the verb printed."""
        given = await _form(request)
        verb, fields = given.get("verb", ""), {"id": "", "text": "", "type": "", **given}
        if self._may and verb in VERBS and (seen := self._changed_since(given)):
            self._said = seen
        elif self._may and verb == LEAVE_OUT:
            await self._leave_out(fields["text"])
        elif self._may and verb in VERBS:
            words = [*verb.split(), *(part.format_map(fields) for part in VERBS[verb])]
            await self._run([word for word in words if word])
        else:
            self._said = _READS
        return RedirectResponse(_own_path(given.get("back", "/")), 303)

    async def answer(self, request: Request) -> Response:
        """Apply decisions on one or several questions."""
        given = await _form(request)
        said = []
        for key, choice in given.items() if self._may else ():
            ident = key.removeprefix("choice-")
            if ident != key:
                text, was = given.get(f"text-{ident}", ""), given.get(f"was-{ident}", "")
                if seen := self._changed_since({"id": ident, "was": was, "text": text}):
                    said.append(seen)
                    continue
                words = [f"--text={text}"] if text != was else []
                await self._run(["review", f"--choose={choice}", *words, "--", ident])
                said.append(self._said)
        self._said = "".join(said) or ("Nothing was chosen." if self._may else _READS)
        self._undo = self._undo if len(said) == 1 else ""
        return RedirectResponse("/inbox", 303)

    async def save(self, request: Request) -> Response:
        """Save a document that was edited, where nothing speaks against it; else show the text again, with why."""
        reading, ident = self._reading, request.path_params["ident"]
        given = await _form(request)
        base, text = given.get("base", ""), given.get("text", "")
        if not self._may:
            self._said = _READS
            return RedirectResponse(f"/document/{ident}", 303)
        try:
            what = reading.root, reading.settings, reading.now, document_path(ident), base, text
            saved = await run_in_threadpool(save_document, *what)
        except CurateError as fault:
            saved = Saved("", (str(fault),), text, base)
        if saved.faults:
            return self._shown(request, "edit", "", lambda _: pages.to_edit(reading, ident, saved))
        self._said = saved.said
        return RedirectResponse(f"/document/{ident}", 303)

    def _changed_since(self, given: Mapping[str, str]) -> str:
        """Return what to say where an item has other words than the form showed, or an empty string.

        Args:
            given: the form's fields: `id`, `was` with the words that it showed, and `text` with those that were typed.
        """
        was, text = given.get("was", ""), given.get("text", "")
        held = items_by_id(self._reading.documents).get(given.get("id", ""))
        if not was or held is None or held[1].text == was:
            return ""
        typed = f" You wrote: “{text}”." if text not in {"", was} else ""
        return f"It changed meanwhile, so nothing was done. It says now: “{held[1].text}”.{typed}\n"

    async def _leave_out(self, words: str) -> None:
        try:
            saved = await run_in_threadpool(today.leave_out, self._reading, words)
            self._said, self._undo = saved.said or "\n".join(saved.faults), ""
        except CurateError as fault:
            self._said = str(fault)

    async def _run(self, words: Sequence[str]) -> None:
        git = Git(self._reading.root)
        before = await run_in_threadpool(git.head)
        _, self._said = await run_in_threadpool(self._act, words)
        made = await run_in_threadpool(git.head) or ""
        self._undo = made if made != before and words[0] != "forget" else ""

    def _shown(self, request: Request, name: str, title: str, values: Callable[[Request], pages.Values]) -> Response:
        status = 200
        try:
            given = values(request)
        except CurateError as fault:
            is_absent = isinstance(fault, UsageFault | UnknownItem)
            status, title = (404, "Not found") if is_absent else (500, "That did not work")
            name, given = "missing", {"why": str(fault)}
        said, undo = self._said, self._undo
        self._said, self._undo = "", ""
        frame: pages.Values = {}
        with suppress(CurateError):  # the page itself says what is wrong
            frame = self._reading.frame()
        around = {
            "title": title, "said": said, "undo": undo, "token": self._token, "may_change": self._may, "frame": frame,
            "here": request.url.path, "back": f"{request.url.path}?{request.url.query}".rstrip("?"), "asked": {"q": ""},
            "memory": self._reading.root.name, "today": frame.get("today", ""),
            "pages": self._reading.documents if frame else {},
        }  # fmt: skip
        text = templates().get_template(f"{name}.html.j2").render(around | given)
        return HTMLResponse(text, status)


async def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await request.body()).decode(errors="replace"), keep_blank_values=True))


def _file(request: Request) -> Response:
    """Return one of the files that reveal nothing about a memory."""
    name = request.path_params["file"]
    if name not in _FILES:
        return Response("There is no such page.", 404)
    return Response(_FOLDER.joinpath(name).read_bytes(), media_type=_FILES[name])


_FOLDER = Path(__file__).with_name("templates")


def _own_path(path: str) -> str:
    """Return a path of this page; anything else that a form names becomes the start page."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"


def word_changes(old: str, new: str) -> list[tuple[str, str]]:
    """Return the word changes between two sentences, in order: (`same`, `old` or `new`, the words)."""
    one, other = old.split(), new.split()
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            found.append(("same", " ".join(one[a:b])))
            continue
        found += [("old", " ".join(one[a:b]))] if b > a else []
        found += [("new", " ".join(other[c:d]))] if d > c else []
    return found


def said_day(day: str, today: str) -> str:
    """Return a day as people say it: “yesterday”, “in 11 days”, “12 May”; what is no day stays as it is."""
    try:
        when, now = date.fromisoformat(day[:10]), date.fromisoformat(today)
    except ValueError:
        return day
    gap = (when - now).days
    near = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get(gap) or (f"in {gap} days" if 0 < gap < _NEAR else "")
    return near or f"{when.day} {when:%b}{'' if when.year == now.year else f' {when.year}'}"


def marked(text: str, query: str) -> list[tuple[bool, str]]:
    """Return a text in pieces, each with whether it is a word of a query."""
    words = [re.escape(word) for word in re.findall(r"\w+", query)]
    parts = re.split(rf"\b({'|'.join(words)})\b", text, flags=re.IGNORECASE) if words else [text]
    return [(at % 2 == 1, part) for at, part in enumerate(parts) if part]


def long_day(day: str) -> str:
    """Return a day as in “Thursday, 30 April 2026”."""
    when = date.fromisoformat(day)
    return f"{when:%A}, {when.day} {when:%B %Y}"


@cache
def templates() -> Any:  # noqa: ANN401  Jinja's environment, which is imported when the page is
    """Return the templates, which escape the memory's text and write out its control characters."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  as above

    made = Environment(
        loader=PackageLoader("pipelines.view", "templates"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, autoescape=True,
    )  # fmt: skip
    made.filters |= {
        "address": pages.file_address,
        "plain": escape_terminal_line,
        "changes": word_changes,
        "keys": choice_keys,
        "whose": trust_label,
        "day": long_day,
        "said": said_day,
        "marked": marked,
    }
    made.globals["htmx"] = f"sha384-{HTMX}"
    return made


# ---------------------------------------- the server
# On a free port of 127.0.0.1, for one browser, until it has been idle for an hour.


IDLE_SECONDS: Final = 3600
_LOOKS_EACH = 5.0


def serve(  # noqa: PLR0913  the last two are given by tests alone
    root: Path,
    act: Act,
    clock: Callable[[], datetime],
    opened: Callable[[Path], None],
    *,
    may_change: bool,
    idle: float = IDLE_SECONDS,
    patience: float = TimedConnection.seconds,
) -> None:
    """Serve a memory's page until it has been idle for some time, or is interrupted.

    Args:
        root: the memory.
        act: runs a verb; returns its exit code and what it printed.
        clock: tells the moment, with a zone.
        opened: called with the file to open in the browser, once the server listens.
        may_change: whether the page shows and accepts forms.
        idle: how many seconds without a request end it.
        patience: how many seconds a request may take to arrive.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()  # requests wait until the server runs
        key = Pass(f"127.0.0.1:{listening.getsockname()[1]}")
        last = [time.monotonic()]

        def seen() -> None:
            last[0] = time.monotonic()

        page = App(root, act, key.form, clock, may_change=may_change)
        config = uvicorn.Config(
            Gate(page.starlette, key, page.most_bytes, seen), log_config=None, access_log=False, server_header=False,
            date_header=False, ws="none", proxy_headers=False,  # or a header could say who the client is
            http=type("Connection", (TimedConnection,), {"seconds": patience}),
        )  # fmt: skip
        server = uvicorn.Server(config)

        def watch() -> None:
            while not server.should_exit:
                time.sleep(min(_LOOKS_EACH, idle))
                if time.monotonic() - last[0] > idle:
                    server.should_exit = True  # never False: a signal may set it at the same time

        threading.Thread(target=watch, daemon=True).start()
        with _entry_file(key) as entry, _ended_by_signals(server):
            opened(entry)
            server.run(sockets=[listening])


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the server cleanly, even before it listens."""

    def end(*_: object) -> None:
        server.should_exit = True

    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _entry_file(key: Pass) -> Iterator[Path]:
    """Give a file with the one-time code that only the owner can read; it is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="curate-view-") as folder:
        path = Path(folder, "open.html")
        path.touch(0o600, exist_ok=False)
        path.write_text(key.entry_page(), encoding="utf-8")
        yield path
