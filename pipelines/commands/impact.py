"""`curate impact`: what rests on an item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.options import memory_option, memory_root
from pipelines.commands.output import say, say_json
from pipelines.commands.telling import item_line, say_heading, say_steps
from pipelines.queries.why import impact

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("item", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@memory_option
def command(*, item: str, as_json: bool, memory: Path | None) -> None:
    """Show what would come into question with the item ID; the beginning of an id is enough.

    That is what rests on it, is supported by it, is made of it or follows on it, whatever rests on those in turn, and
    what it took the place of.
    """
    told = impact(memory_root(memory), item)
    if as_json:
        say_json(told.to_json())
        return
    say_heading(item_line(told.holding.item))
    if not told.steps:
        say("  Nothing rests on it.")
    say_steps(told.steps, told.known)
