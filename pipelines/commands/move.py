"""`curate move`: an item goes to another document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.handing import do_by_hand, item_named, open_document
from pipelines.commands.options import memory_option, memory_root, now_option
from pipelines.commands.output import say
from pipelines.errors import UsageFault
from pipelines.night.manual import Deed
from pipelines.store.change_set import moved, placed_item
from pipelines.store.layout import REVIEW
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.night.manual import Held


@click.command()
@click.argument("ident", metavar="ID")
@click.argument("document")
@memory_option
@now_option
def command(ident: str, document: str, memory: Path | None, now: str | None) -> None:
    """Move an item to another document: its path, id, title or file name. It keeps its id, and links lead to it."""
    found: list[str] = []

    def decide(held: Held) -> Deed | None:
        name, target = item_named(held.documents, ident), open_document(held, document)
        path, _ = placed_item(held.documents, name)
        found[:] = [name, target, *map(held.snapshot.shown, (target, REVIEW))]
        if path == REVIEW:
            raise UsageFault(f"{name} waits in {found[3]}.", f"Decide on it first: `curate review {name}`.")
        if path == target:
            return None
        return Deed(moved(held.documents, name, target), f"Move {name} from {path} to {target}", changed=1)

    deed = do_by_hand(memory, now, "curate move", decide)
    name, target, shown, _ = found
    if deed and (there := placed_item(deed.documents, name)[0]) != target:
        there = real_path(memory_root(memory), there)
        say(f"{shown} has no room for {name}: it stands in {there}. `curate pin {name}` gives it precedence.")
    else:
        say(f"{name} stands in {shown}{'' if deed else ' already'}.")
