"""The verbs that list items and move them about: `curate items`, `pin`, `unpin` and `move`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from pipelines.cli.changes import do_by_hand, item_named, open_document
from pipelines.cli.item_lines import item_json
from pipelines.cli.options import day_option, json_option, memory_option, memory_root, now_option
from pipelines.cli.output import say, say_json, say_table, warn
from pipelines.errors import UsageFault
from pipelines.night.manual import Deed
from pipelines.queries.as_of import days_updated, documents_on, first_day_note, holds_on
from pipelines.queries.item_graph import Beliefs
from pipelines.store.change_set import moved, placed_item, with_pin
from pipelines.store.evidence import Quotes
from pipelines.store.git import Git
from pipelines.store.item import ItemType, Status
from pipelines.store.layout import REVIEW, Kind
from pipelines.store.template import named_documents
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.night.manual import Held


@click.command()
@click.option(
    "--type",
    "kinds",
    type=click.Choice([t.value for t in ItemType], case_sensitive=False),
    multiple=True,
    help="Only these; may be repeated.",
)
@click.option("--document", metavar="NAME", help="Only those of one document: its path, id, title or file name.")
@click.option(
    "--status",
    "statuses",
    type=click.Choice([s.value for s in Status], case_sensitive=False),
    multiple=True,
    help="Only these; may be repeated.",
)
@day_option("--as-of", "Only what held on this day, superseded since or not.")
@day_option("--known-on", "As the memory held them by the end of this day, by git.")
@json_option("Print a JSON array, with the evidence of each item.")
@memory_option
def curate_items(  # noqa: PLR0913  what a list can be narrowed down by
    *,
    kinds: tuple[str, ...],
    document: str | None,
    statuses: tuple[str, ...],
    as_of: str | None,
    known_on: str | None,
    as_json: bool,
    memory: Path | None,
) -> None:
    """List the items of the memory, whatever their status."""
    root = memory_root(memory)
    documents, note = documents_on(root, Git(root), known_on or "")
    if document is not None and not note:
        documents = {path: documents[path] for path in named_documents(documents, document, partial(real_path, root))}
    updated = days_updated(documents)
    found = [
        (real_path(root, one.path), one.item)
        for one in Beliefs.of(documents).holdings
        if (not kinds or one.item.type in kinds) and (not statuses or one.item.status in statuses)
        if not as_of or holds_on(one, as_of, updated)
    ]
    if as_of and not found and not note:
        note = first_day_note(documents, as_of)
    if note:
        warn(note)
    if as_json:
        quotes = Quotes(root)
        say_json([item_json(path, item, quotes) for path, item in found])
    else:
        rows = [(item.id[:8], item.type, item.status, item.since, path, item.text) for path, item in found]
        say_table(("id", "type", "status", "since", "document", "text"), rows)


@click.command()
@click.argument("ident", metavar="ID")
@memory_option
@now_option
def curate_pin(ident: str, memory: Path | None, now: str | None) -> None:
    """Pin an item: it does not fade, comes first, and leaves MEMORY.md only when all that is not pinned is gone.

    ID is an item's id or its beginning.
    """
    _set_pin(ident, memory, now, pinned=True)


@click.command()
@click.argument("ident", metavar="ID")
@memory_option
@now_option
def curate_unpin(ident: str, memory: Path | None, now: str | None) -> None:
    """Take the pin of an item away: it fades like any other. ID is an item's id or its beginning."""
    _set_pin(ident, memory, now, pinned=False)


def _set_pin(prefix: str, memory: Path | None, now: str | None, *, pinned: bool) -> None:
    """Pin an item or take its pin away, and say so."""
    verb, done, already = (
        ("pin", "is pinned", "is pinned already") if pinned else ("unpin", "is no longer pinned", "is not pinned")
    )
    ident = path = ""

    def decide(held: Held) -> Deed | None:
        nonlocal ident, path
        ident = item_named(held.documents, prefix)
        path, placed = placed_item(held.documents, ident)
        path = held.snapshot.shown(path)
        if pinned and not placed.item.active:
            raise UsageFault(f"{ident} is {placed.item.status}.", "Only what holds now, or is open, can be pinned.")
        if placed.item.pinned == pinned:
            return None
        return Deed(with_pin(held.documents, ident, pinned=pinned), f"{verb.capitalize()} {ident}", changed=1)

    deed = do_by_hand(memory, now, f"curate {verb}", decide)
    say(f"{ident} in {path} {done if deed else already}.")


@click.command()
@click.argument("ident", metavar="ID")
@click.argument("document")
@memory_option
@now_option
def curate_move(ident: str, document: str, memory: Path | None, now: str | None) -> None:
    """Move an item to another document: its path, id, title or file name. It keeps its id, and links lead to it."""
    name = target = shown = ""

    def decide(held: Held) -> Deed | None:
        nonlocal name, target, shown
        real = held.snapshot.shown
        name, queue = item_named(held.documents, ident), real(REVIEW)
        advice = f"Name one by its path; archives and {queue} take no items."
        target = open_document(held.documents, document, real, {Kind.ARCHIVE, Kind.REVIEW}, advice)
        path, _ = placed_item(held.documents, name)
        shown = real(target)
        if path == REVIEW:
            raise UsageFault(f"{name} waits in {queue}.", f"Decide on it first: `curate review {name}`.")
        if path == target:
            return None
        return Deed(moved(held.documents, name, target), f"Move {name} from {path} to {target}", changed=1)

    deed = do_by_hand(memory, now, "curate move", decide)
    if deed and (there := placed_item(deed.documents, name)[0]) != target:
        there = real_path(memory_root(memory), there)
        say(f"{shown} has no room for {name}: it stands in {there}. `curate pin {name}` gives it precedence.")
    else:
        say(f"{name} stands in {shown}{'' if deed else ' already'}.")
