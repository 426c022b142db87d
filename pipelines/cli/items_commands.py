"""The verbs for items: `curate items` lists them, `pin` and `move` change one, `forget` erases one.

`curate set` says more of one, and `curate project` renames, merges and closes the pages of projects.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pipelines.cli.manual_changes import confirm, document_named, item_named, project_named, redacted_text
from pipelines.cli.options import (
    OpenMemory,
    Words,
    as_of_option,
    choice_of,
    flag_option,
    json_option,
    with_memory,
    with_root,
)
from pipelines.cli.output import day_shown, on_terminal, say, say_json, say_table, warn
from pipelines.errors import UsageFault
from pipelines.night.file_items import Catalog, document_title
from pipelines.night.forget import bereft, forget
from pipelines.night.manual import ManualChange, change_by_hand
from pipelines.night.projects import archived_project, merged_projects, renamed_project
from pipelines.queries.item_graph import Beliefs, listed_json
from pipelines.search.chunks import UNTOLD
from pipelines.search.filters import key_value
from pipelines.store.change_set import moved, placed_item, with_item_changed
from pipelines.store.evidence import Quotes
from pipelines.store.item import STRUCK, Item, ItemType, Status, brought_back, with_metadata, written_words
from pipelines.store.layout import REVIEW, Kind, slug
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.text import count

if TYPE_CHECKING:
    from pathlib import Path


_SHOWN = 5
_ID = click.argument("ident", metavar="ID")
_IDS = click.argument("idents", metavar="ID...", nargs=-1, required=True)


@click.command()
@click.option(
    "--type", "kinds", type=choice_of(ItemType), multiple=True, help="Only items of this type; may be repeated."
)
@click.option("--document", metavar="NAME", help="Only those in one document: its path, id, title or file name.")
@click.option(
    "--status",
    "statuses",
    type=choice_of(Status),
    metavar="STATUS",
    multiple=True,
    help=f"Only these: {', '.join(Status)}; may be repeated.",
)
@flag_option("--all", "Also those that are over.", "whole")
@as_of_option
@json_option("Print a JSON array of all, those that are over among them, with the evidence of each.")
@with_root
def curate_items(  # noqa: PLR0913  one option each
    *,
    kinds: Words,
    document: str | None,
    statuses: Words,
    whole: bool,
    as_of: str | None,
    as_json: bool,
    root: Path,
) -> None:
    """List the items that hold or are open."""
    documents = read_documents(root)
    if document is not None:
        documents = {path: documents[path] for path in named_documents(documents, document)}
    held = [(one.path, one.item) for one in Beliefs.of(documents).holdings]
    if as_of:  # what is over by now was not
        then = [(path, item) for path, item in held if _held_on(item, as_of)]
        held = [(path, brought_back(replace(item, status=Status.ARCHIVED))) for path, item in then]
    found = [
        (path, item)
        for path, item in held
        if (not kinds or item.type in kinds)
        and (item.status in statuses if statuses else whole or as_json or item.active)
    ]
    if as_json:
        quotes = Quotes(root)
        say_json([listed_json(path, item, quotes) for path, item in found])
    else:
        rows = [
            (item.id[:8], item.called, item.status, day_shown(item.since), path, written_words(item))
            for path, item in found
        ]
        say_table(("id", "type", "status", "since", "document", "text"), rows, by=4)
        if not rows and on_terminal():
            warn("No item fits." if documents else "The memory holds no items yet. `curate run` reads the logs.")


def _held_on(item: Item, day: str) -> bool:
    """Whether an item held on a day, from its `since` on and before its `until`, as search has it.

    What was closed on an unknown day counts for no day, and neither does what waits for a person or never held.
    """
    is_told = item.status not in UNTOLD and (item.status not in STRUCK or bool(item.until))
    return is_told and "" < item.since <= day and (not item.until or day < item.until)


@click.command()
@_IDS
@flag_option("--off", "Remove the pin, so that the items fade like any other.")
@with_memory
def curate_pin(idents: Words, opened: OpenMemory, *, off: bool) -> None:
    """Pin items: they do not fade, come first, and leave MEMORY.md only after every unpinned item has left.

    ID is the start of an item's id, or a few words of it. The opposite is `curate set ID last=yes`.
    """
    with change_by_hand(opened, "curate pin") as held:
        after = dict(held.documents)
        names = [item_named(after, ident) for ident in idents]
        for name in names:
            item = placed_item(after, name)[1].item
            if not (off or item.active):
                raise UsageFault(f"{name} is {item.status}.", "Only live and open items can be pinned.")
            after = with_item_changed(after, name, lambda item: replace(item, pinned=not off))
        if after != held.documents:
            summary = f"{'Unpin' if off else 'Pin'} {', '.join(names[:_SHOWN])}"
            held.write(ManualChange(after, summary, changed=len(names)))
    say(*(f"{name} in {placed_item(after, name)[0]} is {'not ' if off else ''}pinned." for name in names))


@click.command()
@_IDS
@click.argument("document")
@with_memory
def curate_move(idents: Words, document: str, opened: OpenMemory) -> None:
    """Move items to DOCUMENT, given by path, id, title or file name. An item keeps its id and its links."""
    with change_by_hand(opened, "curate move") as held:
        documents = held.documents
        target = document_named(documents, document, Kind.ARCHIVE, Kind.REVIEW, Kind.EPISODE)
        was = {name: placed_item(documents, name)[0] for name in (item_named(documents, i) for i in idents)}
        going = [name for name, path in was.items() if path != target]
        for name in going:
            if was[name] == REVIEW:
                raise UsageFault(f"{name} waits in {REVIEW}.", f"Decide on it first: `curate review {name}`.")
            documents = moved(documents, name, target)
        if going:
            summary = f"Move {', '.join(going[:_SHOWN])} to {target}"
            documents = held.write(ManualChange(documents, summary, changed=len(going)))
    say(*(f"{name} is in {placed_item(documents, name)[0]}." for name in was))


@click.command()
@_ID
@flag_option("--yes", "Do not ask for confirmation.")
@with_memory
def curate_forget(*, ident: str, yes: bool, opened: OpenMemory) -> None:
    """Erase an item for good from documents, logs, Review.md, the index and saved replies.

    A hash of its wording is kept, so that no run proposes it again. Git's history still has it until you rewrite it.
    """
    root, *_ = opened
    documents = read_documents(root)
    name = item_named(documents, ident)
    path, placed = placed_item(documents, name)
    if not yes:
        say(f"{name} in {path}: {placed.item.type}: {placed.item.text}")
    for one in bereft(root, placed.item):
        say(f"Note: {one.id} rests on a line that goes, too: {one.type}: {one.text}")
    confirm("Forget it? `curate undo` cannot bring it back.", yes=yes)
    done = forget(opened, name)
    parts = [f"blanked {count(done.lines, 'log line')}"] if done.lines else []
    parts += [f"removed links from {', '.join(done.unlinked)}"] if done.unlinked else []
    say(f"Forgot {name} of {path}{': ' + ', '.join(parts) if parts else ''}.")
    say(*(f"Note: {place} still has its words; memcurate does not change that file." for place in done.left))
    say("Note: git's history still has it; `git filter-repo --replace-text` rewrites that.")


@click.command()
@_ID
@click.argument("said", nargs=-1, required=True, metavar="KEY=VALUE...")
@with_memory
def curate_set(*, ident: str, said: Words, opened: OpenMemory) -> None:
    """Say more of an item, such as topic=kafka, for `curate search topic=kafka` to find; `KEY=` removes it.

    ID is the start of an item's id, or a few words of it.
    """
    pairs = {key: redacted_text(opened[0], value, "set") for key, value in map(key_value, said)}
    with change_by_hand(opened, "curate set") as held:
        name = item_named(held.documents, ident)
        after = with_item_changed(held.documents, name, lambda item: with_metadata(item, {**item.metadata, **pairs}))
        path, placed = placed_item(after, name)
        if after != held.documents:
            held.write(ManualChange(after, f"Set {', '.join(pairs)} of {name}", changed=1))
    now = ", ".join(f"{key}={value}" for key, value in placed.item.metadata.items()) or "nothing"
    say(f"{name} in {path} has {now} set.")


# ---------------------------------------- projects


@click.group()
def curate_project() -> None:
    """Rename, merge or close a project. NAME is its title, file name or path."""


@curate_project.command()
@click.argument("name")
@click.argument("new_name")
@with_memory
def rename(name: str, new_name: str, opened: OpenMemory) -> None:
    """Rename a project, both its file and its title. Links are updated, and the old name still works."""
    if not (title := document_title(new_name)):
        raise UsageFault(f"“{new_name}” cannot be a project's name.", "Use letters or digits.")
    with change_by_hand(opened, "curate project rename") as held:
        path = project_named(held.documents, name)
        document = held.documents[path]
        if document.title == title and slug(title) == document.id.rpartition("/")[2]:
            say(f"{path} is already called {title}.")
            return
        others = {one: two for one, two in held.documents.items() if one != path}
        if taken := Catalog(others).names.get(slug(title)):
            advice = "Choose another name, or join the two: `curate project merge NAME INTO`."
            raise UsageFault(f"{taken} already has the name {title}.", advice)
        documents = renamed_project(held.documents, path, title)
        after = next(iter(documents.keys() - held.documents.keys()), path)
        held.write(ManualChange(documents, f"Rename {path} to {after}", changed=len(document.items)))
    say(f"Renamed {path} to {after}, titled {title}.")


@curate_project.command()
@click.argument("name")
@click.argument("into")
@with_memory
def merge(name: str, into: str, opened: OpenMemory) -> None:
    """Merge a project into another, INTO, which gets its items, its names and the links to it.

    What else you wrote on its page is kept in Archives/.
    """
    with change_by_hand(opened, "curate project merge") as held:
        path, target = (project_named(held.documents, one) for one in (name, into))
        if path == target:
            raise UsageFault(f"{name} and {into} are the same project.", "Name two.")
        summary, moving = f"Merge {path} into {target}", len(held.documents[path].items)
        after = merged_projects(held.documents, path, target)
        held.write(ManualChange(after, summary, changed=moving))
    say(f"Merged {path} into {target}, with {count(moving, 'item')}.")
    say(*(f"Your other notes on it are in {one}." for one in after.keys() - held.documents.keys()))


@curate_project.command()
@click.argument("name")
@flag_option("--yes", "Do not ask, even if todos are open.")
@with_memory
def close(*, name: str, yes: bool, opened: OpenMemory) -> None:
    """Close a project: move it to Archives/ with its items. It is no longer loaded, but search still finds it."""
    documents = read_documents(opened[0])
    held_items = documents[project_named(documents, name)].items
    left = [placed.item for placed in held_items if placed.item.status is Status.OPEN]
    say(*(f"open: {item.id} {item.text}" for item in left))
    if left:
        confirm(f"{count(len(left), 'open todo')} will be archived with it. Close the project?", yes=yes)
    with change_by_hand(opened, "curate project close") as held:
        path = project_named(held.documents, name)
        archived = archived_project(held.documents, path)
        after = next(iter(archived.keys() - held.documents.keys()))
        summary = f"Close {path}: it is now {after}"
        held.write(ManualChange(archived, summary, changed=len(held.documents[path].items)))
    say(f"Closed {path}: it is now {after}.")
