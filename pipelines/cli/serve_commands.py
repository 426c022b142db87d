"""The verbs that serve agents, other programs and the owner's browser.

`curate mcp` serves the memory as tools (MCP), `schedule` runs the nights in the foreground, `context` prints what
a new session starts with, and `view` shows the memory as a page.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import signal
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import flag_option, memory_option, named_memory, now_option, project_option, with_root
from pipelines.cli.output import say
from pipelines.clock import moment
from pipelines.queries.startup.fast import print_context
from pipelines.queries.startup.kept import BUDGET, FORMATS, LEAST_BUDGET
from pipelines.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pipelines.night.schedule import Daemon


_LOOK_SECONDS = 60.0
"""Time asleep does not count as waiting, so a scheduler that is not woken regularly would run hours late."""


@click.command()
@memory_option
def curate_mcp(memory: Path | None) -> None:
    """Serve the memory to an agent over standard input and output (MCP): search, read, context, log.

    The agent's client starts it; `curate install` sets that up.
    """
    from pipelines.mcp import serve  # noqa: PLC0415  the verb's work, not its help

    serve(str(named_memory(memory) or ""))


@click.command("schedule")
@with_root
def curate_schedule(*, root: Path) -> None:
    """Run every night in the foreground.

    This is for containers and servers; elsewhere use a timer (`curate install`). Set the times in [schedule] in
    curate.toml. SIGTERM and SIGINT end it. It logs to standard error.
    """
    from pipelines.night.schedule import Daemon, NightProcess, log  # noqa: PLC0415  as above
    from pipelines.store.lock import SCHEDULE, run_lock  # noqa: PLC0415  the verb's work, not its help

    settings = load_settings(root)
    with run_lock(root, "which runs the nights", SCHEDULE):
        night = NightProcess(root)
        daemon = Daemon(root, settings, night.run)
        watch = _listening(daemon)
        due = daemon.next_night()
        log("started", zone=settings.timezone, next=due.isoformat(timespec="minutes") if due else "")
        daemon.run(watch)
        killed = night.stop()
        daemon.wait()
        log("stopped", level="warning" if killed else "info", killed=int(killed))


def _listening(daemon: Daemon) -> Callable[[], None]:
    """Collect signals from now on, and return a function that starts the thread which acts on them.

    A handler may run while the scheduler holds a lock, so it does nothing itself: the signal's number waits in a pipe,
    which stays open until the process ends. If the thread dies, it stops the daemon, which no signal could end.
    """
    heard, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)

    def watch() -> None:
        try:
            daemon.look()
            while not select.select([heard], [], [], _LOOK_SECONDS)[0]:
                daemon.look()
        finally:
            daemon.stop()

    return threading.Thread(target=watch, daemon=True).start


@click.command()
@click.option(
    "--budget",
    type=click.IntRange(min=LEAST_BUDGET),
    default=BUDGET,
    show_default=True,
    help="How many tokens at most.",
)
@project_option("The project whose state to show (default: that of the working directory).")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@with_root
@now_option
def curate_context(budget: int, project: str, form: str, root: Path, now: str | None) -> None:
    """Print what a new session starts with.

    That is SOUL.md, USER.md, MEMORY.md, the project's document, the logs of yesterday and today, and a line on the
    memory's health, cut to the budget. With --format claude-code it answers as a SessionStart hook, and reports errors
    in the answer instead of failing.
    """
    print_context(str(root), form, budget, project, moment(now, load_settings(root)) if now else None)


# ---------------------------------------- the page


_ONE_AT_A_TIME = threading.Lock()


@click.command()
@flag_option("--no-browser", "Only print the address and the code.")
@click.option("--port", type=int, default=0, help="Where to listen (default: a free port).")
@with_root
@now_option
def curate_view(*, no_browser: bool, port: int, root: Path, now: str | None) -> None:
    """Open the memory in your browser: what the night changed, what waits, what agents read first, and search.

    Only the browser that this starts, or the first that gives the code, has access. Each change that you make there is
    committed, just as with the verbs. The server stops after an idle hour, or with Ctrl-C. Over ssh, forward the port:
    `ssh -L 8123:127.0.0.1:8123 HOST curate view --no-browser --port 8123`.
    """
    from pipelines.view.app import serve  # noqa: PLC0415  the verb's work, not its help

    settings = load_settings(root)  # report faults in them before a browser opens

    def opened(address: str) -> None:
        place, _, code = address.partition("#")
        say(f"The page is at {place}, code {code}\nPress Ctrl-C to stop.")
        sys.stdout.flush()  # a program that reads a pipe waits for the address
        if not no_browser:
            where = address if sys.platform == "linux" else place  # where others cannot use the code that they see
            threading.Thread(target=webbrowser.open, args=(where,), daemon=True).start()

    serve(root, lambda words: run_verb(root, words), lambda: moment(now, settings), opened, port=port)


def run_verb(root: Path, words: Sequence[str]) -> tuple[int, str]:
    """Run a verb as the command line does, and return its exit code and what it printed.

    With --json only the JSON is returned, without the notes for people.
    """
    from pipelines.cli import run_cli  # noqa: PLC0415  it imports this module

    out, notes = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with _ONE_AT_A_TIME, contextlib.redirect_stdout(out), contextlib.redirect_stderr(notes):
        code = run_cli([words[0], "--memory", str(root), *words[1:]])
    said, beside = (one.buffer.getvalue().decode() for one in (out, notes))
    return code, said if said and "--json" in words else said + beside
