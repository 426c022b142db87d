"""`curate context`: what a new session should start with."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import click

from pipelines.clock import day_of, moment
from pipelines.commands.options import memory_option, memory_root, now_option
from pipelines.queries.startup.context import BUDGET, LEAST_BUDGET
from pipelines.queries.startup.fast import FORMATS, print_context
from pipelines.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option(
    "--budget", type=click.IntRange(min=LEAST_BUDGET), default=BUDGET, show_default=True, help="The most tokens."
)
@click.option("--project", metavar="NAME", default="", help="Whose state to show (else the working directory's).")
@click.option("--query", metavar="TEXT", default="", help="Also show what a search for TEXT finds.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@memory_option
@now_option
def command(budget: int, project: str, query: str, form: str, memory: Path | None, now: str | None) -> None:
    """Print what a new session should start with.

    SOUL.md, USER.md, MEMORY.md, the project's document, the logs of yesterday and today, and a line on the memory's
    health, all together under the budget; a line says what was cut. With --format claude-code it answers as a
    SessionStart hook, and never fails: what is wrong is a line of the answer.
    """
    root = memory_root(memory)
    print_context(str(root), form, budget, project, query, _day(root, now) if now else None)


def _day(root: Path, now: str) -> tuple[int, float]:
    settings = load_settings(root)
    told = moment(now, settings)
    day = date.fromisoformat(day_of(told, settings)) - date(1970, 1, 1)
    return day.days, told.timestamp()
