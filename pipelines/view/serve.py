"""The page's server: on a free port of 127.0.0.1, for one browser, until it has been idle for an hour."""

from __future__ import annotations

import signal
import socket
import tempfile
import threading
import time
import webbrowser
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import uvicorn

from pipelines.errors import CurateError
from pipelines.store.git import Git
from pipelines.store.git_history import commits_of
from pipelines.view.app import App
from pipelines.view.entrance import Gate, Pass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from pipelines.view.app import Act


IDLE_SECONDS: Final = 3600
_LOOKS_EACH: Final = 5.0


def serve(
    root: Path,
    act: Act,
    clock: Callable[[], datetime],
    opened: Callable[[Path], None],
    *,
    may_change: bool,
    idle: float = IDLE_SECONDS,
) -> None:
    """Serve a memory's page until it has been idle for some time, or is interrupted.

    Args:
        root: the memory.
        act: runs a verb; returns its exit code and what it printed.
        clock: tells the moment, with a zone.
        opened: called with the file to open in the browser, once the server listens.
        may_change: whether the page shows and accepts forms.
        idle: how many seconds without a request end it.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()  # requests wait until the server runs
        key = Pass(f"127.0.0.1:{listening.getsockname()[1]}")
        last = [time.monotonic()]

        def seen() -> None:
            last[0] = time.monotonic()

        app = Gate(App(root, act, key.form, clock, may_change=may_change).starlette, key, seen)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, date_header=False, ws="none"
        )
        server = uvicorn.Server(config)

        def watch() -> None:
            while not server.should_exit:
                time.sleep(min(_LOOKS_EACH, idle))
                if time.monotonic() - last[0] > idle:
                    server.should_exit = True  # never False: a signal may set it at the same time

        def read_ahead() -> None:
            with suppress(CurateError):  # the page that needs it says why
                commits_of(Git(root), "")  # a long history takes seconds the first time

        for beside in (watch, read_ahead):
            threading.Thread(target=beside, daemon=True).start()
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


def open_browser(entry: Path) -> None:
    """Open a file in the owner's browser; without one, nothing happens."""
    webbrowser.open(entry.as_uri())
