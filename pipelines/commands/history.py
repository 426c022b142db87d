"""`curate history`: every wording and state that an item had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.options import memory_option, memory_root
from pipelines.commands.output import say, say_json
from pipelines.commands.telling import safe, say_heading
from pipelines.queries.history import history_of
from pipelines.store.git import Git

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.queries.history import History, Version


@click.command()
@click.argument("item", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@memory_option
def command(*, item: str, as_json: bool, memory: Path | None) -> None:
    """Show every wording and state that the item ID had, oldest first: when, by which commit, and who changed it.

    The beginning of an id is enough. An item is followed wherever it stood, and also when it was deleted since.
    """
    root = memory_root(memory)
    told = history_of(root, Git(root), item)
    if as_json:
        say_json(told.to_json())
    else:
        _tell(told)


def _tell(told: History) -> None:
    say_heading(told.id)
    words = ""
    for version in told.versions:
        say(f"{version.when or 'not committed yet'}  {', '.join(version.changed)}")
        say(f"  {_who(version)}")
        if version.item and not told.forgotten and version.item.text != words:
            words = version.item.text
            say(f"  {version.item.type}: {safe(words)}")
        if version.path:
            say(f"  in {version.path}, {version.item.status if version.item else ''}")
    if told.forgotten:
        say("  Its words were forgotten at a person's wish, and are not shown.")
    if told.buried and not told.holding:
        say(f"It stands nowhere: it was {told.buried.reason} on {told.buried.day}.")


def _who(version: Version) -> str:
    if not version.commit:
        return "an edit by hand; the next run commits it"
    author = version.author
    who = f"a person ({author.name})" if author.is_person else f"run {author.run}"
    return f"{who}, commit {version.commit[:10]}: {safe(version.subject)}"
