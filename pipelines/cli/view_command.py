"""`curate view`: open the memory in the owner's browser."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import with_root
from pipelines.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_ONE_AT_A_TIME = threading.Lock()


@click.command()
@click.option("--read-only", is_flag=True, help="Do not allow changes.")
@click.option("--no-browser", is_flag=True, help="Only print the file to open.")
@with_root
def curate_view(*, read_only: bool, no_browser: bool, root: Path) -> None:
    """Open the memory in your browser: last night, what waits for you, documents, items and search.

    Only the browser that this starts has access. Each change that you make there is committed, just as with the verbs.
    The server stops after an idle hour, or with Ctrl-C.
    """
    from pipelines.settings import load_settings  # noqa: PLC0415  the verb's work, not its help
    from pipelines.view.serve import open_browser, serve  # noqa: PLC0415  as above

    load_settings(root)  # report faults in them before a browser opens

    def opened(entry: Path) -> None:
        where = f" at {entry.as_uri()}" if no_browser else ""
        say(f"The page is open{where}. Press Ctrl-C to stop.")
        sys.stdout.flush()  # a program that reads a pipe waits for the path
        if not no_browser:
            open_browser(entry)

    serve(
        root, lambda words: run_verb(root, words), lambda: datetime.now(UTC), opened,
        may_change=not read_only,
    )  # fmt: skip


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
