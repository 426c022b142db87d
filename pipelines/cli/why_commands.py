"""The verbs that explain what is believed.

`curate why` shows what an item rests on, its past and what needs it, `audit` everything about a topic, and `recap` what
happened on some days.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import click

from pipelines.cli.manual_changes import item_named
from pipelines.cli.options import (
    TextCommand,
    as_of_option,
    json_option,
    project_option,
    with_memory,
    with_root,
)
from pipelines.cli.output import (
    answer,
    day_shown,
    moment_shown,
    on_terminal,
    say,
    say_bold,
    say_json,
    warn,
)
from pipelines.clock import day_of, span_of
from pipelines.errors import ItemGone, UsageFault
from pipelines.night.name_items import looks_like_id
from pipelines.queries.history import history_of
from pipelines.queries.item_graph import Holding, beliefs_of
from pipelines.queries.item_lines import item_line, safe
from pipelines.queries.why import why
from pipelines.queries.why_lines import history_lines, why_lines
from pipelines.store.git import Git
from pipelines.store.snapshot import read_documents
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pipelines.cli.options import OpenMemory
    from pipelines.queries.audit import Audit


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
    git, beliefs, ident = Git(root), beliefs_of(root), _id(root, item)
    try:
        found = why(root, git, ident, beliefs)
        answer(found, lambda one: _say_under_headings(why_lines(one, moment_shown)), as_json=as_json)
    except ItemGone:
        past = history_of(root, git, ident, beliefs)
        answer(past, lambda one: _say_under_headings(history_lines(one, moment_shown)), as_json=as_json)


def _id(root: Path, words: tuple[str, ...]) -> str:
    """Return the id that a person typed, or its beginning, which may be of an item that is gone; else look words up."""
    name = " ".join(words)
    return name if looks_like_id(name) else item_named(read_documents(root), name, layout_of(root).real)


def _say_under_headings(lines: Iterable[str]) -> None:
    """Print lines; what begins without a blank is a heading."""
    for line in lines:
        (say if line.startswith(" ") else say_bold)(line)


@click.command(cls=TextCommand)
@click.argument("topic", nargs=-1, required=True)
@as_of_option
@json_option()
@with_root
def curate_audit(*, topic: tuple[str, ...], as_of: str | None, as_json: bool, root: Path) -> None:
    """Show everything the agent believes about TOPIC: what holds, what once held, and what is poorly supported.

    TOPIC is a document's name, for all its items, or words, for items that contain them all or that a search finds.
    """
    from pipelines.queries.audit import audit  # noqa: PLC0415  an audit rests on the night's rules, too

    asked = " ".join(topic)
    if not asked.strip():
        raise UsageFault("The topic is empty.", "Name a document, or give some words.")
    result = audit(root, Git(root), asked, as_of or "")
    answer(result, _tell_audit, as_json=as_json)


def _tell_audit(result: Audit) -> None:
    warn(*result.notes)
    if not result.holdings:
        say(f"Nothing is believed about {result.topic}.")
        return
    for title, held in (
        ("Current", result.current),
        ("Superseded or closed", result.past),
        ("Archived", result.archived),
        (f"Waiting in {result.review}", result.waiting),
    ):
        if held:
            say_bold(f"{title} ({len(held)})")
            say(*(f"  {_lines(one, result.weak.get(one.place, []))}" for one in held), hang="      ")


def _lines(one: Holding, weak: list[str]) -> str:
    """Return an item, with its place, days and trust on a second line, and below how it is poorly supported."""
    days = " until ".join(day_shown(day) for day in (one.item.since, one.item.until) if day)
    details = ", ".join(filter(None, (one.place, days, f"trust {one.item.trust}")))
    return "\n    ".join([item_line(one.item), details, *(f"! {safe(why)}" for why in weak)])


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
    from pipelines.store.snapshot import read_documents  # noqa: PLC0415  as above

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
        say(f"There is no episode for {days}{f' about {project}' if project else ''}. `curate run` writes them.")
    return 0
