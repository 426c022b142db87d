"""The pages as Starlette serves them: their routes, what a form may do, and the server.

A form names a verb from a closed list and gives its arguments; the verb runs as on the command line, with its own lock,
its own transaction and its own commit, and the page shows what it prints. No lock is held while a person thinks.
"""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import threading
import time
from collections import defaultdict
from contextlib import suppress
from datetime import date, datetime
from difflib import SequenceMatcher
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import uvicorn
from markupsafe import escape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pipelines.clock import day_words
from pipelines.errors import CurateError, UnknownItem, UsageFault
from pipelines.night.manual import Saved, save_document
from pipelines.queries.why import trust_label
from pipelines.store.change_set import items_by_id
from pipelines.store.git import Git
from pipelines.store.layout import document_id, document_path
from pipelines.store.secrets.redact import without_secrets
from pipelines.text import escape_terminal
from pipelines.view import item_table, pages, today
from pipelines.view.entrance import ENTER, STATIC, Gate, Pass, TimedConnection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from starlette.requests import Request

    from pipelines.store.item import Item

    Act = Callable[[Sequence[str]], tuple[int, str]]
    """Runs a verb with its arguments; returns its exit code and what it printed."""


_OF_ITEM = ("--", "{id}")
VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("done", "close", "drop", "retract", "reopen", "pin", "unpin", "undo"), _OF_ITEM),
    **dict.fromkeys(("correct", "move"), (*_OF_ITEM, "{text}")),
    "add": ("--document={id}", "--", "{type}", "{text}"),
    "set last": (*_OF_ITEM, "last=yes"),
    "set usual": (*_OF_ITEM, "last="),
    "undo --item": ("{id}",),
    "review": ("--choose={choice}", "--text={text}", *_OF_ITEM),
}
"""What a form may ask for: the verb, with `set` what it sets, and its arguments by the form's fields."""
PAGES: Final[Mapping[str, Callable[..., pages.Values]]] = {
    "/": today.today, "/agents": today.agents, "/nights": lambda *_: {}, "/night/{ident}": today.night,
    "/items": item_table.items, "/inbox": today.inbox, "/document/{ident:path}": pages.page,
    "/item/{ident}": pages.item, "/edit/{ident:path}": pages.to_edit, "/file/{name:path}": pages.file_lines,
}  # fmt: skip
"""What is shown where: the template is named like the path."""
CHANGE = "change"
"""What a form asks for that moves or corrects."""
_DONE: Final = {
    "done": "Done", "close": "Over", "drop": "Dropped", "retract": "Never true",
    "reopen": "Open again", "pin": "Pinned", "set last": "Comes last",
    "set usual": "As usual", "unpin": "As usual", "move": "Moved",
    "correct": "Changed",
}  # fmt: skip
"""What is said before an item's sentence when a verb has changed it."""
_TELLS_EACH = 1.0
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:[\d:.+-]+)?")
_ALIKE = 0.5


class App:
    """The pages of one memory.

    Args:
        root: the memory.
        act: runs a verb.
        token: what every form carries.
        clock: tells the moment, with a zone.
    """

    def __init__(self, root: Path, act: Act, token: str, clock: Callable[[], datetime]) -> None:
        self._reading, self._act, self._token = pages.MemoryReader(root, clock), act, token
        self._said, self._undo = "", ""
        self.has_ended: Callable[[], bool] = bool

    @property
    def starlette(self) -> Starlette:
        """The application, which `Gate` protects."""
        return Starlette(routes=[
            Route("/do", self.do, methods=["POST"]), Route("/edit/{ident:path}", self.save, methods=["POST"]),
            Route("/events", self.events), Mount(STATIC, StaticFiles(packages=[("pipelines.view", "static")])),
            *(Route(at, partial(self._shown, name=at.split("/")[1], values=one)) for at, one in PAGES.items()),
        ])  # fmt: skip

    async def events(self, _: Request) -> Response:
        """Tell the state of the memory's files whenever it changes, and that the server ends."""

        async def told() -> AsyncIterator[str]:
            last = ""
            while not self.has_ended():
                now = await run_in_threadpool(lambda: self._reading.state)
                yield f"data: {now}\n\n" if now != last else ":\n\n"
                last = now
                await asyncio.sleep(_TELLS_EACH)

        return StreamingResponse(told(), media_type="text/event-stream")

    def do(self, request: Request) -> Response:
        """Run a verb and return to the page of the form, which shows what became of the item."""
        given = defaultdict[str, str](str, request.scope["form"])
        verb, was, text = given["verb"], given["was"], given["text"]
        self._reading.look()
        held = items_by_id(self._reading.documents).get(given["id"])
        given["was"] = was or (held[1].text if held else "")
        if verb not in {*VERBS, CHANGE}:
            self._said = "Nothing was done: no form asks for that."
        elif was and held and held[1].text != was:
            typed = f" You wrote: “{text}”." if text not in {"", was} else ""
            self._said = f"It changed meanwhile, so nothing was done. It says now: “{held[1].text}”.{typed}"
        elif verb == CHANGE:
            self._change(held, given)
        else:
            self._run(verb, given | {"text": text if text != was else ""} if verb == "review" else given)
        back = f"/inbox?at={quote(given['next'])}" if given["next"] else request.headers.get("referer", "/")
        return RedirectResponse(back, 303)

    def _change(self, held: tuple[str, Item] | None, given: Mapping[str, str]) -> None:
        """Move an item to another page, and correct its sentence or its day, where a form changed them."""
        path, item = held or ("", None)
        to, text, due = given["page"], given["text"], given["due"]
        goes, says = to not in {"", document_id(path)}, item and (text != item.text or due not in {"", item.due})
        if (not goes or self._run("move", {**given, "text": to})) and says:
            self._run("correct", {**given, "text": f"{text} (due {due})" if due else text})
        elif not goes:
            self._said = "Nothing was changed."

    def save(self, request: Request) -> Response:
        """Save a document that was edited, where nothing speaks against it; else, or to preview it, show its text."""
        reading, ident, given = self._reading, request.path_params["ident"], defaultdict(str, request.scope["form"])
        base, text = given["base"], given["text"]
        saved = Saved("", (), text, base)
        if not given["preview"]:
            try:
                saved = save_document(reading.root, reading.settings, reading.now, document_path(ident), base, text)
            except CurateError as fault:
                saved = Saved("", (str(fault),), text, base)
            if not saved.faults:
                self._said, self._undo = saved.said, ""
                return RedirectResponse(f"/document/{ident}", 303)
        return self._shown(request, "edit", lambda of, asked: pages.to_edit(of, {**given, **asked}, saved))

    def _run(self, verb: str, given: Mapping[str, str]) -> bool:
        """Run a verb, keep what to say of it and what undoes it, and return whether it went well."""
        git, idents = Git(self._reading.root), [*given["id"].split(), *given.get("also", "").split()]
        parts = (idents if part == "{id}" else [part.format_map(given)] for part in VERBS[verb])
        before = git.head()
        words = [one for part in parts for one in part if one not in {"", "--text="}]
        code, self._said = self._act([*(["set"] if verb.startswith("set ") else verb.split()), *words])
        made = git.head() or ""
        self._undo = made if made != before else ""
        if not code and (label := today.answer_label(given["choice"]) if verb == "review" else _DONE.get(verb)):
            what = f"“{given['was']}”" if given["was"] else ""
            more = f" and {len(idents) - 1} more" if idents[1:] else ""
            self._said = f"{label}: {what}{more}" if what else f"{label}: {len(idents)} marked"
        return not code

    def _shown(self, request: Request, name: str, values: Callable[..., pages.Values]) -> Response:
        name = name or "today"
        status, title, state = 200, name.capitalize(), ""
        try:
            state = self._reading.state
            given = values(self._reading, {**request.query_params, **request.path_params})
        except CurateError as fault:
            is_absent = isinstance(fault, UsageFault | UnknownItem)
            status, title = (404, "Not found") if is_absent else (500, "That did not work")
            name, given = "missing", {"why": str(fault)}
        said = undo = ""
        if "hx-request" not in request.headers:  # not what the script asks beside
            said, undo, self._said, self._undo = self._said, self._undo, "", ""
        frame: pages.Values = defaultdict(str, today=self._reading.clock().date().isoformat())
        with suppress(CurateError):  # the page itself says what is wrong
            frame = self._reading.frame()
        around = {
            "title": title, "said": said, "undo": undo, "token": self._token, "frame": frame,
            "here": request.url.path, "asked": {"q": ""},
            "memory": self._reading.root.name, "today": frame["today"], "state": state,
            "pages": self._reading.documents, **given,
        }  # fmt: skip
        macros = vars(templates().get_template("parts.html.j2").make_module(around))
        return HTMLResponse(templates().get_template("base.html.j2").render({**macros, **around, "name": name}), status)


def word_changes(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield what makes one sentence of another, in order: the tag (`del`, `ins`, `span` for what stays), the words."""
    one, other = old.split(), new.split()
    found = SequenceMatcher(None, one, other, autojunk=False)
    codes = found.get_opcodes() if found.ratio() > _ALIKE else [("", 0, len(one), 0, len(other))]
    for kind, a, b, c, d in codes:
        sides = {"span": one[a:b]} if kind == "equal" else {"del": one[a:b], "ins": other[c:d]}
        for tag, words in sides.items():
            yield from ((tag, " ".join(words)), ("span", " "))


def said_days(text: str, today: str) -> str:
    """Return a text with its days as people say them: “yesterday”, “in 11 days”, “12 May”."""
    return _MOMENT.sub(lambda found: day_words(found[1], date.fromisoformat(today)), text)


def marked(text: str, query: str) -> list[tuple[str, str]]:
    """Return a text in pieces, each with its tag: `mark` for the words of a query, else `span`."""
    words = [re.escape(word) for word in re.findall(r"\w+", query)]
    parts = re.split(rf"\b({'|'.join(words)})\b", text, flags=re.IGNORECASE) if words else [text]
    return [("mark" if at % 2 else "span", part) for at, part in enumerate(parts)]


def _plain(value: object) -> object:
    """Return what a template shows: of text, control characters written out."""
    return escape_terminal(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def templates() -> Any:  # noqa: ANN401  Jinja's environment, which is imported when the page is
    """Return the templates, which escape the memory's text and write out its control characters."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  as above

    made = Environment(
        loader=PackageLoader("pipelines.view", "templates"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, autoescape=True, finalize=_plain,
    )  # fmt: skip
    made.filters |= {
        "exact": escape,
        "address": pages.file_address,
        "shown_at": pages.address_of,
        "changes": word_changes,
        "answer": today.answer_label,
        "whose": trust_label,
        "said": said_days,
        "redacted": without_secrets,
        "marked": marked,
    }
    return made


# ---------------------------------------- the server
# On a free port of 127.0.0.1, for one browser, until it has been idle for an hour.


IDLE_SECONDS: Final = 3600


def serve(  # noqa: PLR0913  the last two are given by tests alone
    root: Path,
    act: Act,
    clock: Callable[[], datetime],
    opened: Callable[[str], None],
    *,
    port: int = 0,
    idle: float = IDLE_SECONDS,
    patience: float = TimedConnection.seconds,
) -> None:
    """Serve a memory's page until it has been idle for some time, or is interrupted.

    Args:
        root: the memory.
        act: runs a verb; returns its exit code and what it printed.
        clock: tells the moment, with a zone.
        opened: called once the server listens, with the address to open; the code is what follows its `#`.
        port: where to listen; 0 for any free one.
        idle: how many seconds without a request end it.
        patience: how many seconds a request may take to arrive.

    Raises:
        UsageFault: the port is taken.
    """
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as fault:
        raise UsageFault(f"Port {port} cannot be used: {fault}.", "Name another one.") from fault
    with listening:  # requests wait until the server runs
        key = Pass(f"127.0.0.1:{listening.getsockname()[1]}")
        last = [time.monotonic()]

        def seen() -> None:
            last[0] = time.monotonic()

        async def look() -> None:
            server.should_exit = server.should_exit or time.monotonic() - last[0] > idle

        page = App(root, act, key.form, clock)
        config = uvicorn.Config(
            Gate(page.starlette, key, seen), log_config=None, access_log=False, server_header=False,
            date_header=False, ws="none", lifespan="off", proxy_headers=False,  # or a header says who asks
            http=type("Connection", (TimedConnection,), {"seconds": patience}), callback_notify=look, timeout_notify=1,
        )  # fmt: skip
        server = uvicorn.Server(config)
        page.has_ended = lambda: server.should_exit

        def end(*_: object) -> None:
            server.should_exit = True

        if threading.current_thread() is threading.main_thread():  # Ctrl-C ends it cleanly, even before it listens
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, end)
        opened(f"{key.origin}{ENTER}#{key.code}")
        server.run(sockets=[listening])
