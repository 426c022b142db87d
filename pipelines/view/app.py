"""The pages as Starlette serves them: their routes, what a form may do, and the server.

A form names a verb from a closed list and gives its arguments; the verb runs as on the command line, with its own lock,
its own transaction and its own commit, and the page shows what it prints. No lock is held while a person thinks.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections import defaultdict
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pipelines.errors import CurateError, UnknownItem, UsageFault
from pipelines.night.edit_page import Saved, save_document
from pipelines.store.git import Git
from pipelines.store.layout import document_id, document_path
from pipelines.text import escape_terminal
from pipelines.view import markup, pages, today
from pipelines.view.entrance import ENTER, STATIC, Gate, Pass, TimedConnection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from starlette.requests import Request

    Act = Callable[[Sequence[str]], tuple[int, str]]
    """Runs a verb with its arguments; returns its exit code and what it printed."""


class Verb(NamedTuple):
    """What a form may ask for: what its button says, what is said when it has changed an item, and its command line.

    The line has the form's fields for what stands in braces; `{id}` may be several.
    """

    button: str
    said: str = ""
    line: str = "{verb} -- {id}"


VERBS: Final = {
    "done": Verb("Done", "Done"), "close": Verb("Done or over", "Over"), "drop": Verb("Drop", "Dropped"),
    "retract": Verb("Wrong", "Never true"), "reopen": Verb("Reopen", "Open again"),
    "pin": Verb("Pin", "Pinned"), "unpin": Verb("Unpin", "As usual"),
    "set last": Verb("Demote", "Comes last", "set -- {id} last=yes"),
    "set usual": Verb("As usual", "As usual", "set -- {id} last="),
    "change": Verb("Save"), "correct": Verb("Save", "Changed", "correct -- {id} {text}"),
    "move": Verb("Move", "Moved", "move -- {id} {page}"),
    "undo": Verb("Undo"), "undo --item": Verb("Undo", "", "undo --item {id}"),
    "review": Verb("", "", "review --choose={choice} -- {id}"),
}  # fmt: skip
PAGES: Final[Mapping[str, Callable[..., pages.Values]]] = {
    "/": today.today, "/agents": today.agents, "/nights": today.nights, "/night/{ident}": today.night,
    "/items": pages.items, "/inbox": today.inbox, "/document/{ident:path}": pages.page,
    "/item/{ident}": pages.item, "/edit/{ident:path}": pages.to_edit, "/file/{name:path}": pages.file_lines,
}  # fmt: skip
"""What is shown where: the template is named like the path."""
_TELLS_EACH = 1.0


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
        self._told: dict[str, str | None] = {}
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
                now = await run_in_threadpool(self._reading.look)
                yield f"data: {now}\n\n" if now != last else ":\n\n"
                last = now
                await asyncio.sleep(_TELLS_EACH)

        return StreamingResponse(told(), media_type="text/event-stream")

    def do(self, request: Request) -> Response:
        """Run a verb and return to the page of the form, which shows what became of the item."""
        given = defaultdict[str, str](str, request.scope["form"])
        verb, was, text, due = (given[name] for name in ("verb", "was", "text", "due"))
        self._reading.look()
        held = self._reading.beliefs.by_id.get(given["id"])
        says = escape_terminal(held.item.text) if held else ""
        given["was"] = was or says
        said = "Nothing was changed."
        self._told = {}
        if verb not in VERBS:
            said = "Nothing was done: no form asks for that."
        elif held and was not in {"", says}:
            typed = f" You wrote: “{text}”." if text not in {"", was} else ""
            said = f"It changed meanwhile, so nothing was done. It says now: “{says}”.{typed}"
        elif verb != "change":
            self._run(verb, given)
        elif held:
            stays = given["page"] in {"", document_id(held.path)}
            if (stays or self._run("move", given)) and (text, due) != (held.item.text, held.item.due):
                self._run("correct", given | {"text": f"{text} (due {due})" if due else text})
        self._told = self._told or {"said": said}
        back = f"/inbox?at={quote(given['next'])}" if given["next"] else request.headers.get("referer", "/")
        return RedirectResponse(back, 303)

    def _run(self, verb: str, given: dict[str, str]) -> bool:
        """Run a verb, keep what to say of it and what undoes it, and return whether it went well."""
        git, idents = Git(self._reading.root), [*given["id"].split(), *given["also"].split()]
        before, one, fields = git.head(), VERBS[verb], given | {"verb": verb}
        words = (idents if part == "{id}" else [part.format_map(fields)] for part in one.line.split())
        code, said = self._act([one for some in words for one in some if one])
        made = git.head()
        if not code and (label := today.answer_label(given["choice"]) if verb == "review" else one.said):
            more = f" and {len(idents) - 1} more" if idents[1:] else ""
            said = f"{label}: " + (f"“{given['was']}”{more}" if given["was"] else f"{len(idents)} marked")
        self._told = {"said": said, "undo": made if made != before else ""}
        return not code

    def save(self, request: Request) -> Response:
        """Save a document that was edited, where nothing speaks against it; else, or to preview it, show its text."""
        reading, ident, given = self._reading, request.path_params["ident"], defaultdict(str, request.scope["form"])
        base, text = given["base"], given["text"]
        saved = Saved("", (), text, base)
        if not given["preview"]:
            try:
                reading.begin()
                saved = save_document(reading.root, reading.settings, reading.now, document_path(ident), base, text)
            except CurateError as fault:
                saved = Saved("", (str(fault),), text, base)
            if not saved.faults:
                self._told = {"said": saved.said}
                return RedirectResponse(f"/document/{ident}", 303)
        return self._shown(request, "edit", lambda of, asked: pages.to_edit(of, {**given, **asked}, saved))

    def _shown(self, request: Request, name: str, values: Callable[..., pages.Values]) -> Response:
        reading, status, state = self._reading, 200, ""
        frame: pages.Values = {}
        try:
            state = reading.begin()
            with suppress(CurateError):  # the page itself says what is wrong
                frame = reading.frame()
            given = values(reading, {**request.query_params, **request.path_params})
        except CurateError as fault:
            is_absent = isinstance(fault, UsageFault | UnknownItem)
            status, title = (404, "Not found") if is_absent else (500, "That did not work")
            name, given = "", {"title": title, "lead": str(fault)}
        told: dict[str, str | None] = {}
        if "x-beside" not in request.headers:  # not what the script asks beside
            told, self._told = self._told, told
        around = {
            "title": name.capitalize(), "name": name, "here": request.url.path, "state": state, "token": self._token,
            "frame": frame, "memory": reading.root.name, "today": reading.today, **told, **given,
        }  # fmt: skip
        return HTMLResponse(_templates().get_template("frame.html.j2").render(around), status)


@cache
def _templates() -> Any:  # noqa: ANN401  Jinja's environment, which is imported when the page is
    """Return the templates, which escape the memory's text and write out its control characters."""
    from jinja2 import ChainableUndefined, Environment, PackageLoader  # noqa: PLC0415  as above

    made = Environment(
        loader=PackageLoader("pipelines.view", "templates"), undefined=ChainableUndefined, trim_blocks=True,
        lstrip_blocks=True, line_statement_prefix="%", autoescape=True, finalize=markup.plain,
    )  # fmt: skip
    made.filters |= {"sentence": markup.sentence, "told": markup.told, "answer": today.answer_label}
    made.globals["verbs"] = VERBS
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
