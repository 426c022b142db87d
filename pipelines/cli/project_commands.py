"""`curate project`: projects are made, renamed and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.cli.changes import confirm, do_by_hand, project_named
from pipelines.cli.options import TEXT_SETTINGS, memory_option, memory_root, now_option, words
from pipelines.cli.output import say, say_lines
from pipelines.errors import UsageFault
from pipelines.night.choose_document import Catalog
from pipelines.night.file_items import document_title, new_document
from pipelines.night.manual import Deed
from pipelines.night.projects import archived_project, open_todos, renamed_project
from pipelines.store.layout import slug
from pipelines.store.snapshot import read_documents
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipelines.night.manual import Held
    from pipelines.store.document import Document


@click.group()
def curate_project() -> None:
    """Make, rename or close a project. NAME is its title, its file's name, or its path."""


@curate_project.command(context_settings=TEXT_SETTINGS)
@click.argument("name", nargs=-1, required=True)
@memory_option
@now_option
def new(name: tuple[str, ...], memory: Path | None, now: str | None) -> None:
    """Make a project: a document with its sections, under Projects/."""
    title, made = _title(words(name)), ""

    def decide(held: Held) -> Deed:
        nonlocal made
        _refuse_taken(held, held.documents, title)
        path = f"Projects/{slug(title)}.md"
        made = held.snapshot.shown(path)
        return Deed({**held.documents, path: new_document(path, title, held.today)}, f"Make {path}")

    do_by_hand(memory, now, "curate project new", decide)
    say(f"Made {made}.")


@curate_project.command()
@click.argument("name")
@click.argument("new_name")
@memory_option
@now_option
def rename(name: str, new_name: str, memory: Path | None, now: str | None) -> None:
    """Rename a project: its file and its title. Links follow, and the old name goes on meaning it."""
    title, before, after = _title(new_name), "", ""

    def decide(held: Held) -> Deed | None:
        nonlocal before, after
        shown = held.snapshot.shown
        path = project_named(held.documents, name, shown)
        document = held.documents[path]
        if document.title == title and slug(title) == document.id.rpartition("/")[2]:
            before = shown(path)
            return None
        _refuse_taken(held, {one: two for one, two in held.documents.items() if one != path}, title)
        documents = renamed_project(held.documents, path, title, held.snapshot.theirs())
        new = next(iter(documents.keys() - held.documents.keys()), path)
        before, after = shown(path), shown(new)
        return Deed(documents, f"Rename {path} to {new}", changed=len(document.items))

    deed = do_by_hand(memory, now, "curate project rename", decide)
    say(f"{before} is {after} now, titled {title}." if deed else f"{before} is called {title} already.")


@curate_project.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask, though todos are open.")
@memory_option
@now_option
def close(*, name: str, yes: bool, memory: Path | None, now: str | None) -> None:
    """Close a project: it goes to Archives/ with its items, is loaded no more, and is found still."""
    root = memory_root(memory)
    documents = read_documents(root)
    left = open_todos(documents[project_named(documents, name, layout_of(root).real)])
    say_lines(f"open: {item.id} {item.text}" for item in left)
    if left:
        count = "1 todo is open, and is" if len(left) == 1 else f"{len(left)} todos are open, and are"
        confirm(f"{count} archived with it. Close the project?", yes=yes)
    before = after = ""

    def decide(held: Held) -> Deed:
        nonlocal before, after
        shown = held.snapshot.shown
        path = project_named(held.documents, name, shown)
        archived = archived_project(held.documents, path, held.snapshot.theirs())
        new = next(iter(archived.keys() - held.documents.keys()))
        before, after = shown(path), shown(new)
        return Deed(archived, f"Close {path}: it is {new} now", changed=len(held.documents[path].items))

    do_by_hand(memory, now, "curate project close", decide)
    say(f"{before} is closed: it stands in {after}.")


def _title(name: str) -> str:
    """Return a name as a title.

    Raises:
        UsageFault: nothing of it can be one.
    """
    if not (title := document_title(name)):
        raise UsageFault(f"“{name}” is no name for a project.", "Give one with letters or digits.")
    return title


def _refuse_taken(held: Held, documents: Mapping[str, Document], title: str) -> None:
    """Make sure that no document goes by that name.

    Raises:
        UsageFault: one does.
    """
    if path := Catalog(documents).names.get(slug(title)):
        raise UsageFault(f"{held.snapshot.shown(path)} goes by the name {title} already.", "Choose another name.")
