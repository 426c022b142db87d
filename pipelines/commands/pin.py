"""`curate pin`: an item that neither fades nor is evicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.handing import do_by_hand, item_named
from pipelines.commands.options import memory_option, now_option
from pipelines.commands.output import say
from pipelines.errors import UsageFault
from pipelines.night.manual import Deed
from pipelines.store.change_set import placed_item, with_pin

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.night.manual import Held


@click.command()
@click.argument("ident", metavar="ID")
@memory_option
@now_option
def command(ident: str, memory: Path | None, now: str | None) -> None:
    """Pin an item: it does not fade, comes first, and leaves MEMORY.md only when all that is not pinned is gone.

    ID is an item's id or its beginning.
    """
    tell_pin(ident, memory, now, pinned=True)


def tell_pin(prefix: str, memory: Path | None, now: str | None, *, pinned: bool) -> None:
    """Pin an item or take its pin away, and say so."""
    verb, already = ("pin", "is pinned already") if pinned else ("unpin", "is not pinned")
    found: list[str] = []

    def decide(held: Held) -> Deed | None:
        ident = item_named(held.documents, prefix)
        path, placed = placed_item(held.documents, ident)
        found[:] = [ident, held.snapshot.shown(path)]
        if pinned and not placed.item.active:
            raise UsageFault(f"{ident} is {placed.item.status}.", "Only what holds now, or is open, can be pinned.")
        if placed.item.pinned == pinned:
            return None
        return Deed(with_pin(held.documents, ident, pinned=pinned), f"{verb.capitalize()} {ident}", changed=1)

    deed = do_by_hand(memory, now, f"curate {verb}", decide)
    ident, path = found
    done = "is pinned" if pinned else "is no longer pinned"
    say(f"{ident} in {path} {done if deed else already}.")
