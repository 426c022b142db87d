"""`curate add`: file an item of the owner's at once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from pipelines.clock import day_of, moment
from pipelines.commands.options import TEXT_SETTINGS, memory_option, memory_root, now_option, words
from pipelines.commands.output import say, warn
from pipelines.errors import UsageFault
from pipelines.night.manual import direct_change, file_own_item
from pipelines.night.shelves import Shelves
from pipelines.settings import load_settings
from pipelines.store.item import ItemType, fold
from pipelines.store.layout import Kind
from pipelines.store.secrets import load_redactor, told
from pipelines.store.template import named_documents
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path


@click.command(context_settings=TEXT_SETTINGS)
@click.argument("kind", metavar="TYPE", type=click.Choice([t.value for t in ItemType], case_sensitive=False))
@click.argument("text", nargs=-1, required=True)
@click.option("--document", metavar="NAME", help="Where it goes: a document's path, id, title or file name.")
@memory_option
@now_option
def command(kind: str, text: tuple[str, ...], document: str | None, memory: Path | None, now: str | None) -> None:
    """File an item of your own at once: TYPE is Decision, Fact, Rule, Todo or Risk.

    Without --document it goes where a run would file it. The change is committed.
    """
    root = memory_root(memory)
    settings = load_settings(root)
    clean = load_redactor(root).redact(fold(words(text)))
    if clean.found:
        warn(f"curate add: {told(clean.found)} redacted before it was filed.")
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
