"""`curate log`: append one line to today's log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from pipelines.clock import day_of, moment
from pipelines.commands.options import TEXT_SETTINGS, memory_option, memory_root, now_option, words
from pipelines.commands.output import warn
from pipelines.errors import UsageFault
from pipelines.settings import load_settings
from pipelines.store.append_log import append_line, log_line
from pipelines.store.secrets import load_redactor
from pipelines.store.secrets import told as said
from pipelines.store.secrets.redact import without_private

if TYPE_CHECKING:
    from pathlib import Path


MAX_BYTES: Final = 1024 * 1024


@click.command(context_settings=TEXT_SETTINGS)
@click.argument("text", nargs=-1, required=True)
@click.option("--project", default="", metavar="NAME", help="The project that the line belongs to.")
@memory_option
@now_option
def command(text: tuple[str, ...], project: str, memory: Path | None, now: str | None) -> None:
    """Append `- HH:MM TEXT` to today's log; a TEXT of `-` is read from standard input.

    The line is whole and on the disk on return, whoever else writes at the same moment. Secrets in it are redacted, and
    what stands between <private> and </private> is left out.
    """
    root = memory_root(memory)
    settings = load_settings(root)
    told = _standard_input() if text == ("-",) else words(text)
    if not told.strip():
        raise UsageFault("There is nothing to log.", "Give a TEXT, or pipe one in with `curate log -`.")
    when = moment(now, settings)
    line = load_redactor(root).redact(log_line(f"{when:%H:%M}", without_private(told), project))
    append_line(root, day_of(when, settings), line.text)
    if line.found:
        warn(f"curate log: {said(line.found)} redacted before it was written.")


def _standard_input() -> str:
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageFault(
            f"Standard input has more than the {MAX_BYTES:,} bytes that one line of a log may have.",
            "Log what it says in short, or keep it in a file of its own.",
        )
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        raise UsageFault(f"Standard input is not UTF-8 at byte {fault.start}.", "Convert it first.") from None
