"""`curate project`: projects are made, renamed and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.cli.manual_changes import confirm, project_named
from pipelines.cli.options import TEXT_SETTINGS, complete_projects, with_memory, words
from pipelines.cli.output import say
from pipelines.errors import UsageFault
from pipelines.night.choose_document import Catalog
from pipelines.night.file_items import document_title, new_document
from pipelines.night.manual import Deed, change_by_hand
from pipelines.night.projects import archived_project, open_todos, renamed_project
from pipelines.store.layout import slug
from pipelines.store.snapshot import read_documents
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.cli.options import OpenMemory
    from pipelines.night.manual import Held
    from pipelines.store.document import Document


@click.group()
def curate_project() -> None:
    """Make, rename or close a project. NAME is its title, its file's name, or its path."""


@curate_project.command(context_settings=TEXT_SETTINGS)
@click.argument("name", nargs=-1, required=True)
@with_memory
def new(name: tuple[str, ...], opened: OpenMemory) -> None:
    """Make a project: a document with its sections, under Projects/."""
    title = _title(words(name))
    with change_by_hand(*opened, "curate project new") as held:
        _refuse_taken(held, held.documents, title)
        path = f"Projects/{slug(title)}.md"
        made = f"Make {held.snapshot.shown(path)}"
        held.write(Deed({**held.documents, path: new_document(path, title, held.today)}, made))
    say(f"{made.replace('Make', 'Made', 1)}.")


@curate_project.command()
@click.argument("name", shell_complete=complete_projects)
@click.argument("new_name")
@with_memory
def rename(name: str, new_name: str, opened: OpenMemory) -> None:
    """Rename a project: its file and its title. Links follow, and the old name goes on meaning it."""
    title = _title(new_name)
    with change_by_hand(*opened, "curate project rename") as held:
        shown = held.snapshot.shown
        path = project_named(held.documents, name, shown)
        document, before = held.documents[path], shown(path)
        if document.title == title and slug(title) == document.id.rpartition("/")[2]:
            say(f"{before} is called {title} already.")
            return
        _refuse_taken(held, {one: two for one, two in held.documents.items() if one != path}, title)
        documents = renamed_project(held.documents, path, title, held.snapshot.theirs())
        after = shown(next(iter(documents.keys() - held.documents.keys()), path))
        held.write(Deed(documents, f"Rename {before} to {after}", changed=len(document.items)))
    say(f"{before} is {after} now, titled {title}.")


@curate_project.command()
@click.argument("name", shell_complete=complete_projects)
@click.option("--yes", is_flag=True, help="Do not ask, though todos are open.")
@with_memory
def close(*, name: str, yes: bool, opened: OpenMemory) -> None:
    """Close a project: it goes to Archives/ with its items, is loaded no more, and is found still."""
    documents, shown = read_documents(opened[0]), layout_of(opened[0]).real
    left = open_todos(documents[project_named(documents, name, shown)])
    say(*(f"open: {item.id} {item.text}" for item in left))
    if left:
        count = "1 todo is open, and is" if len(left) == 1 else f"{len(left)} todos are open, and are"
        confirm(f"{count} archived with it. Close the project?", yes=yes)
    with change_by_hand(*opened, "curate project close") as held:
        path = project_named(held.documents, name, shown)
        archived = archived_project(held.documents, path, held.snapshot.theirs())
        before, after = shown(path), shown(next(iter(archived.keys() - held.documents.keys())))
        summary = f"Close {before}: it is {after} now"
        held.write(Deed(archived, summary, changed=len(held.documents[path].items)))
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
