"""`curate unpin`: an item that fades again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.options import memory_option, now_option
from pipelines.commands.pin import tell_pin

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("ident", metavar="ID")
@memory_option
@now_option
def command(ident: str, memory: Path | None, now: str | None) -> None:
    """Take the pin of an item away: it fades like any other. ID is an item's id or its beginning."""
    tell_pin(ident, memory, now, pinned=False)
