"""`curate project`: rename, merge and close projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.cli.manual_changes import confirm, project_named
from pipelines.cli.options import flag_option, with_memory
from pipelines.cli.output import count, say
from pipelines.errors import UsageFault
from pipelines.night.choose_document import Catalog
from pipelines.night.file_items import document_title
from pipelines.night.manual import ManualChange, change_by_hand
from pipelines.night.projects import archived_project, merged_projects, renamed_project
from pipelines.store.item import Status
from pipelines.store.layout import slug
from pipelines.store.snapshot import read_documents

if TYPE_CHECKING:
    from pipelines.cli.options import OpenMemory


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
    with change_by_hand(*opened, "curate project rename") as held:
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
    with change_by_hand(*opened, "curate project merge") as held:
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
    with change_by_hand(*opened, "curate project close") as held:
        path = project_named(held.documents, name)
        archived = archived_project(held.documents, path)
        after = next(iter(archived.keys() - held.documents.keys()))
        summary = f"Close {path}: it is now {after}"
        held.write(ManualChange(archived, summary, changed=len(held.documents[path].items)))
    say(f"Closed {path}: it is now {after}.")
