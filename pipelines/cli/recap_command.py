"""`curate recap`: what happened on some days."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import click

from pipelines.cli.item_lines import safe
from pipelines.cli.options import json_option, with_memory, words
from pipelines.cli.output import say, say_bold, say_json
from pipelines.clock import day_of

if TYPE_CHECKING:
    from pipelines.cli.options import OpenMemory


@click.command()
@click.argument("when", metavar="[WHEN]", nargs=-1)
@click.option("--project", metavar="NAME", default="", help="Only what is about this project or area.")
@json_option("Print one JSON list, an object a day.")
@with_memory
def curate_recap(*, when: tuple[str, ...], project: str, as_json: bool, opened: OpenMemory) -> int:
    """Say what happened: the episodes of WHEN, in order.

    WHEN is a day (2026-04-09), a month (2026-04), today, yesterday, "this week", "last week", "this month" or "last
    month". Without it, the last seven days are told.
    """
    from pipelines.queries.recap import recap, span_of  # noqa: PLC0415  the verb's work, not its help
    from pipelines.store.snapshot import read_documents  # noqa: PLC0415  as above

    root, settings, moment = opened
    since, until = span_of(words(when), day_of(moment, settings))
    found = recap(read_documents(root), since, until, project)
    if as_json:
        say_json([one.to_json() for one in found])
    for one in () if as_json else found:
        say_bold(f"{one.day}, {date.fromisoformat(one.day):%A}")
        say(*(f"  {safe(sentence.text)}" for sentence in one.sentences))
    if not (found or as_json):
        days = since if since == until else f"{since} to {until}"
        say(f"Nothing is told of {days}{f' about {project}' if project else ''}. `curate run` writes episodes.")
    return 0
