"""`curate context`: what a new session should start with."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pipelines.clock import day_of, moment
from pipelines.commands.options import memory_option, memory_root, now_option
from pipelines.commands.output import say, say_json
from pipelines.context import context_parts, render_context
from pipelines.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option("--budget", type=click.IntRange(min=1), default=4000, show_default=True, help="Tokens of four bytes.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@memory_option
@now_option
def command(budget: int, form: str, memory: Path | None, now: str | None) -> None:
    """Print SOUL, USER, MEMORY and the logs of today and yesterday, within a budget."""
    root = memory_root(memory)
    settings = load_settings(root)
    parts = context_parts(root, day_of(moment(now, settings), settings), budget)
    if form == "json":
        say_json([asdict(part) for part in parts])
    else:
        say(render_context(parts).rstrip("\n"))
