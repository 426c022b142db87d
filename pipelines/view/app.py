"""The pages as Starlette serves them: their routes, what a form may do, and the server.

A form names a verb from a closed list and gives its arguments; the verb runs as on the command line, with its own lock,
its own transaction and its own commit, and the page shows what it prints. No lock is held while a person thinks.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

import uvicorn
from jinja2 import ChainableUndefined, Environment, PackageLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pipelines.errors import CurateError, UnknownItem, UsageFault
from pipelines.night.edit_page import Saved, save_document
from pipelines.queries.startup.kept import SETTINGS, stamp
from pipelines.settings import load_settings
from pipelines.store.evidence import Quotes
from pipelines.store.files import list_files
from pipelines.store.git import Git
from pipelines.store.layout import PRIVATE, STATE
from pipelines.store.lock import is_held
from pipelines.store.snapshot import document_paths
from pipelines.text import escape_terminal
from pipelines.view import markup, pages, today
from pipelines.view.entrance import STATIC, Gate, OwnConnection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from starlette.requests import Request

    Act = Callable[[Sequence[str]], tuple[int, str]]
    """Runs a verb with its arguments; returns its exit code and what it printed."""


BUTTONS = {
    "done": "Done", "close": "Done or over", "drop": "Drop", "retract": "Wrong", "reopen": "Reopen", "pin": "Pin",
    "unpin": "Unpin", "set last": "Demote", "set usual": "As usual", "correct": "Save", "move": "Move", "undo": "Undo",
    "undo --item": "Undo", "review": "",
}  # fmt: skip
"""What a form may ask for, and what its button says."""
_SAID = {
    "close": "Over", "drop": "Dropped", "retract": "Never true", "reopen": "Open again", "pin": "Pinned",
    "set last": "Comes last", "unpin": "As usual", "correct": "Changed", "move": "Moved",
}  # fmt: skip
"""What is said when it has been done, where that is not the button's word."""
_LINES = {
    "set last": "set -- {id} last=yes", "set usual": "set -- {id} last=", "correct": "correct -- {id} {text}",
    "move": "move -- {id} {page}", "undo --item": "undo --item {id}", "review": "review --choose={choice} -- {id}",
}  # fmt: skip
"""How a verb is called where it is not just with ids; `{id}` may be several."""
PAGES: Mapping[str, Callable[..., pages.Values]] = {
    "/": today.today, "/agents": today.agents, "/nights": today.nights, "/night/{ident}": today.night,
    "/items": pages.items, "/inbox": today.inbox, "/document/{ident:path}": pages.page,
    "/item/{ident}": pages.item, "/edit/{ident:path}": pages.to_edit, "/file/{name:path}": pages.file_lines,
}  # fmt: skip
"""What is shown where: the template is named like the path."""
_A_WHILE = 2.0
"""Seconds after which a lock is that of a run; a command is done sooner."""


class App:
    """The pages of one memory.

    Args:
        root: the memory.
        act: runs a verb.
        token: what every form carries.
        clock: tells the moment, with a zone.
    """

    def __init__(self, root: Path, act: Act, token: str, clock: Callable[[], datetime]) -> None:
        self._root, self._act, self._token, self._clock = root, act, token, clock
        self._git, self._turn, self._kept = Git(root), threading.Lock(), ("", cast("pages.MemoryReader", None))
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

    def _look(self) -> tuple[str, pages.MemoryReader]:
        """Return the memory as it is, and what is another text once a file, commit, run or hour is new."""
        lock = self._root / PRIVATE / "lock"
        with self._turn:  # one git process answers all requests
            rows = list_files(self._root, STATE, ".jsonl")
            paths = [SETTINGS, f"{PRIVATE}/runs", *document_paths(self._root), *rows]
            running = lock.exists() and time.time() - lock.stat().st_mtime > _A_WHILE and is_held(self._root)
            stamps = [stamp(f"{self._root}/{path}") for path in paths]
            state = f"{hash((*stamps, self._git.head(), running, f'{self._clock():%F %H}')):x}"
            if state != self._kept[0]:
                self._kept = state, pages.MemoryReader(self._root, self._clock(), running=running)
            self._kept[1].quotes = Quotes(self._root)  # a log may be edited by hand
            return self._kept

    async def events(self, _: Request) -> Response:
        """Tell the state of the memory's files each second, until the server ends."""

        async def told() -> AsyncIterator[str]:
            while not self.has_ended():
                looked = await run_in_threadpool(self._look)
                yield f"data: {looked[0]}\n\n"
                await asyncio.sleep(1)

        return StreamingResponse(told(), media_type="text/event-stream")

    def do(self, request: Request) -> Response:
        """Run a verb and return to the page of the form, which shows what became of the item."""
        given = request.scope["form"]
        ids, was, text = f"{given['id']} {given['also']}".split(), given["was"], given["text"]
        held = self._look()[1].held.get("".join(ids[:1]))
        says = escape_terminal(held.item.text) if held else was
        typed = f" You wrote: “{text}”." if text not in {"", was} else ""
        if given["verb"] not in BUTTONS:
            self._told = {"said": "Nothing was done: no form asks for that."}
        elif was not in {"", says}:
            self._told = {"said": f"It changed meanwhile, so nothing was done. It says now: “{says}”.{typed}"}
        else:
            due = f" (due {given['due']})" if given["due"] else ""
            self._run(given | {"text": text + due, "was": says, "typed": typed}, ids)
        back = f"/inbox?at={quote(given['next'])}" if given["next"] else request.headers.get("referer", "/")
        return RedirectResponse(back, 303)

    def _run(self, given: dict[str, str], ids: Sequence[str]) -> None:
        """Run a verb, and keep what to say of it and what undoes it."""
        verb, before = given["verb"], Git(self._root).head()
        line = _LINES.get(verb, "{verb} -- {id}").split()
        words = [one for part in line for one in (ids if part == "{id}" else [part.format_map(given)])]
        code, said = self._act(words)
        if code:
            said += given["typed"]
        elif "undo" not in verb:
            label = _SAID.get(verb) or BUTTONS[verb] or today.ANSWERS.get(given["choice"], given["choice"])
            said = f"{label}: “{given['was']}”{f' and {len(ids) - 1} more' if ids[1:] else ''}"
        made = Git(self._root).head()
        self._told = {"said": said, "undo": made if made != before else ""}

    def save(self, request: Request) -> Response:
        """Save a document that was edited, where nothing speaks against it; else, or to preview it, show its text."""
        ident, given = request.path_params["ident"], request.scope["form"]
        base, text = given["base"], given["text"]
        saved = Saved("", (), text, base)
        if not given["preview"]:
            try:
                opened = self._root, load_settings(self._root), self._clock()
                saved = save_document(opened, f"{ident}.md", base, text)
            except CurateError as fault:
                saved = Saved("", (str(fault),), text, base)
            if not saved.faults:
                self._told = {"said": saved.said}
                return RedirectResponse(f"/document/{ident}", 303)
        return self._shown(request, "edit", partial(pages.to_edit, saved=saved), preview=given["preview"])

    def _shown(self, request: Request, name: str, values: Callable[..., pages.Values], **more: str) -> Response:
        status, state, reading = 200, "", None
        try:
            state, reading = self._look()
            given = values(reading, {**request.query_params, **request.path_params, **more})
        except CurateError as fault:
            status, title, name = 500, "That did not work", ""
            if isinstance(fault, UsageFault | UnknownItem):
                status, title = 404, "Not found"
            given = {"title": title, "lead": str(fault)}
        told: dict[str, str | None] = {}
        if "x-beside" not in request.headers:  # not what the script asks beside
            told, self._told = self._told, told
        around = {
            "title": name.capitalize(), "name": name, "here": request.url.path, "state": state, "token": self._token,
            "memory": self._root.name, "reading": reading, **told, **given,
        }  # fmt: skip
        return HTMLResponse(_TEMPLATES.get_template("frame.html.j2").render(around), status)


_TEMPLATES = Environment(
    loader=PackageLoader("pipelines.view", "templates"), undefined=ChainableUndefined, trim_blocks=True,
    lstrip_blocks=True, line_statement_prefix="%", autoescape=True, finalize=markup.plain,
)  # fmt: skip
"""The templates, which escape the memory's text and write out its control characters."""
_TEMPLATES.filters["sentence"] = markup.sentence
_TEMPLATES.globals |= {"buttons": BUTTONS, "answers": today.ANSWERS}


# ---------------------------------------- the server
# On a free port of 127.0.0.1, for one browser, until it has been idle for an hour.


def serve(
    root: Path,
    act: Act,
    clock: Callable[[], datetime],
    opened: Callable[[str], None],
    *,
    port: int = 0,
    idle: float = 3600,
) -> None:
    """Serve a memory's page until it has been idle for some time, or is interrupted.

    Args:
        root: the memory.
        act: runs a verb; returns its exit code and what it printed.
        clock: tells the moment, with a zone.
        opened: called once the server listens, with the address to open; the code is what follows its `#`.
        port: where to listen; 0 for any free one.
        idle: how many seconds without a request end it.

    Raises:
        UsageFault: the port is taken.
    """
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as fault:
        raise UsageFault(f"Port {port} cannot be used: {fault}.", "Name another one.") from fault
    with listening:  # requests wait until the server runs
        token = secrets.token_urlsafe(32)
        page = App(root, act, token, clock)
        gate = Gate(page.starlette, f"127.0.0.1:{listening.getsockname()[1]}", token)

        async def look() -> None:
            server.should_exit = server.should_exit or time.monotonic() - gate.seen > idle

        config = uvicorn.Config(
            gate, log_config=None, server_header=False, ws="none", lifespan="off",
            proxy_headers=False,  # or a header says who asks
            http=OwnConnection, callback_notify=look, timeout_notify=1, timeout_graceful_shutdown=20,
        )  # fmt: skip
        server = uvicorn.Server(config)
        page.has_ended = lambda: server.should_exit

        def end(*_: object) -> None:
            server.should_exit = True

        if threading.current_thread() is threading.main_thread():  # Ctrl-C ends it cleanly, even before it listens
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, end)
        opened(gate.address)
        server.run(sockets=[listening])
