"""`curate log`: append one line to today's log."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from pipelines.cli.options import TEXT_SETTINGS, memory_option, memory_root, now_option, words
from pipelines.cli.output import say, warn
from pipelines.clock import day_of, moment
from pipelines.errors import UsageFault
from pipelines.night.manual import direct_change, file_own_item
from pipelines.night.shelves import Shelves
from pipelines.settings import load_settings
from pipelines.store.append_log import append_line, log_line
from pipelines.store.item import ItemType, fold
from pipelines.store.layout import Kind
from pipelines.store.secrets import format_found, load_redactor
from pipelines.store.secrets.redact import without_private
from pipelines.store.template import named_documents
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path


MAX_BYTES: Final = 1024 * 1024


@click.command(context_settings=TEXT_SETTINGS)
@click.argument("text", nargs=-1, required=True)
@click.option("--project", default="", metavar="NAME", help="The project that the line belongs to.")
@memory_option
@now_option
def curate_log(text: tuple[str, ...], project: str, memory: Path | None, now: str | None) -> None:
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
        warn(f"curate log: {format_found(line.found)} redacted before it was written.")


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


# ---------------------------------------- `curate add`
# file an item of the owner's at once.


@click.command(context_settings=TEXT_SETTINGS)
@click.argument("kind", metavar="TYPE", type=click.Choice([t.value for t in ItemType], case_sensitive=False))
@click.argument("text", nargs=-1, required=True)
@click.option("--document", metavar="NAME", help="Where it goes: a document's path, id, title or file name.")
@memory_option
@now_option
def curate_add(kind: str, text: tuple[str, ...], document: str | None, memory: Path | None, now: str | None) -> None:
    """File an item of your own at once: TYPE is Decision, Fact, Rule, Todo or Risk.

    Without --document it goes where a run would file it. The change is committed.
    """
    root = memory_root(memory)
    settings = load_settings(root)
    clean = load_redactor(root).redact(fold(words(text)))
    if clean.found:
        warn(f"curate add: {format_found(clean.found)} redacted before it was filed.")
    sentence = clean.text
    if not sentence:
        raise UsageFault("There is nothing to file.", "Give a TEXT.")
    when = moment(now, settings)
    with direct_change(root, settings, when, "curate add") as direct:
        shelves = Shelves(direct.snapshot.documents, direct.snapshot.unreadable())
        path = _document(root, shelves, document) if document else ""
        today = day_of(when, settings)
        filed = file_own_item(ItemType(kind), sentence, path, today, direct.snapshot, shelves, settings)
        if filed.changes:
            summary = f"Add {filed.item.id}: one {kind.lower()} by its owner"
            direct.apply(filed.changes, summary, added=1, changed=0)
    done = "Added" if filed.changes else "The memory holds it already:"
    say(f"{done} {filed.item.id} in {real_path(root, filed.path)}.")


def _document(root: Path, shelves: Shelves, name: str) -> str:
    """Return the path of the one document that a name means; archives take nothing new."""
    found = named_documents(dict(shelves.documents), name, partial(real_path, root))
    open_ones = [path for path in found if shelves.documents[path].kind is not Kind.ARCHIVE]
    if len(open_ones) == 1:
        return open_ones[0]
    raise UsageFault(
        f"{name} means {' and '.join(real_path(root, path) for path in found)}.",
        "Name one by its path; archives take no new items.",
    )
