"""The verbs that explain what is believed.

`curate why` shows what an item rests on, its past and what needs it, `recap` what happened on some days.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import click

from pipelines.cli.manual_changes import item_named
from pipelines.cli.options import (
    TextCommand,
    json_option,
    project_option,
    with_memory,
    with_root,
)
from pipelines.cli.output import (
    moment_shown,
    on_terminal,
    say,
    say_bold,
    say_json,
)
from pipelines.clock import day_of, span_of
from pipelines.errors import ItemGone
from pipelines.night.name_items import looks_like_id
from pipelines.queries.item_graph import Beliefs, safe
from pipelines.queries.why import history_lines, history_of, why, why_lines
from pipelines.store.files import list_files
from pipelines.store.git import Git
from pipelines.store.layout import LOGS, day_of_log
from pipelines.store.snapshot import read_documents

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.cli.options import OpenMemory


@click.command(cls=TextCommand)
@click.argument("item", metavar="ID", nargs=-1, required=True)
@json_option()
@with_root
def curate_why(*, item: tuple[str, ...], as_json: bool, root: Path) -> None:
    """Show why the item ID is believed. ID is the start of an item's id, or a few words of it.

    This shows the words of the log that it rests on, what was said in the session behind them, the run, model and
    prompt version that extracted it, the items it rests on, what would be in doubt without it, and every wording and
    status that it had, with who changed it. Of a deleted item, its id finds the past.
    """
    git, beliefs = Git(root), Beliefs.of(read_documents(root))
    name = " ".join(item)  # an id may be of an item that is gone
    ident = name if looks_like_id(name) else item_named(beliefs.documents, name)
    try:
        found = why(root, git, ident, beliefs)
        as_data, lines = found.to_json, why_lines(found, moment_shown)
    except ItemGone:
        past = history_of(root, git, ident, beliefs)
        as_data, lines = past.to_json, history_lines(past, moment_shown)
    if as_json:
        say_json(as_data())
    for line in () if as_json else lines:  # what begins without a blank is a heading
        (say if line.startswith(" ") else say_bold)(line)


@click.command(cls=TextCommand)
@click.argument("when", metavar="[WHEN]", nargs=-1)
@project_option("Only what is about this project or area.")
@json_option("Print a JSON array with an object for each day.")
@with_memory
def curate_recap(*, when: tuple[str, ...], project: str, as_json: bool, opened: OpenMemory) -> int:
    """Show what happened: the episodes of WHEN, in order.

    WHEN is a day (2026-04-09, "9 Apr", yesterday, Monday, "3 days ago"), a month (2026-04), or "this week", "last
    week", "this month" or "last month". The default is the last seven days.
    """
    from pipelines.queries.recap import recap  # noqa: PLC0415  the verb's work, not its help

    root, settings, moment = opened
    since, until = span_of(" ".join(when), day_of(moment, settings))
    found = recap(read_documents(root), since, until, project)
    if as_json:
        say_json([one.to_json() for one in found])
    for one in () if as_json else found:
        day = date.fromisoformat(one.day)
        say_bold(f"{day:%A}, {day.day} {day:%b %Y}" if on_terminal() else f"{one.day}, {day:%A}")
        say(*(f"  {safe(sentence.text)}" for sentence in one.sentences))
    if not (found or as_json):
        days = since if since == until else f"{since} to {until}"
        about = f" about {project}" if project else ""
        say(f"There is no episode for {days}{about}. A run writes one for each day that left an item.")
    told = {one.day for one in found}
    left = [at for at in list_files(root, LOGS, ".md") if since <= (own := day_of_log(at)) <= until and own not in told]
    if left and not (project or as_json):
        say(f"Without an episode: {', '.join(left)}. `curate view` shows it.")
    return 0
