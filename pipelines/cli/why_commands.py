"""The verbs that explain what is believed.

`curate why` shows what an item rests on, `history` its past, `impact` what depends on it, and `audit` everything about
a topic. `recap` shows what happened on some days.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import click

from pipelines.cli.item_lines import SHORT, item_line, safe, say_outdated, say_quote, say_steps
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
    say_table,
    warn,
)
from pipelines.clock import day_of, span_of
from pipelines.errors import UsageFault
from pipelines.night.name_items import looks_like_id
from pipelines.queries.history import History, Version, history_of
from pipelines.queries.item_graph import Beliefs, Holding, beliefs_of
from pipelines.queries.why import Showing, Why, Witness, impact, showings, trust_label, why
from pipelines.store.git import Git
from pipelines.store.snapshot import read_documents
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.cli.options import OpenMemory
    from pipelines.queries.audit import Audit


_ID = click.argument("item", metavar="ID", nargs=-1, required=True)


@click.command(cls=TextCommand)
@click.argument("item", metavar="[ID]", nargs=-1)
@click.option("--shown", is_flag=True, help="List the sessions that were shown ID, or what sessions were shown.")
@click.option("--session", metavar="ID", help="With --shown: only this session; the start of its id is enough.")
@json_option()
@with_root
def curate_why(*, item: tuple[str, ...], shown: bool, session: str | None, as_json: bool, root: Path) -> None:
    """Show why the item ID is believed. ID is the start of an item's id, or a few words of it.

    This shows the words of the log that it rests on, what was said in the session behind them, the run, model and
    prompt version that extracted it, the commit that added it, and the items it rests on.

    With --shown: when sessions were shown the item, in the context they started with or by `curate recall`.
    """
    if shown:
        _tell_shown(root, _id(root, item) if item else "", session or "", as_json=as_json)
        return
    if not item or session is not None:
        raise UsageFault("--session goes with --shown." if item else "Which item?", "See `curate why --help`.")
    answer(why(root, Git(root), _id(root, item)), _tell_why, as_json=as_json)


def _id(root: Path, words: tuple[str, ...]) -> str:
    """Return the id that a person typed, or its beginning, which may be of an item that is gone; else look words up."""
    name = " ".join(words)
    return name if looks_like_id(name) else item_named(read_documents(root), name, layout_of(root).real)


def _tell_shown(root: Path, item: str, session: str, *, as_json: bool) -> None:
    """Print which sessions were shown an item, or what one session was shown, or how much each session was."""
    beliefs = beliefs_of(root)
    found = showings(root, beliefs, item, session)
    if as_json:
        say_json({"shown": [one.to_json() for one in found]})
        return
    if not found:
        say("No session is known to have been shown that." if item or session else "No session was shown anything yet.")
    elif item or not session:
        by_session: dict[str, list[Showing]] = {}
        for one in found:
            by_session.setdefault(one.session, []).append(one)
        rows = [
            [name, f"{ones[0].at:%Y-%m-%d %H:%M}", f"{ones[-1].at:%Y-%m-%d %H:%M}", *_counted(ones)]
            for name, ones in by_session.items()
        ]
        say_table(("session", "first", "last", "starts", "recalls", "items"), rows)
    else:
        for one in found:
            say_bold(f"{one.at:%Y-%m-%d %H:%M}  {one.how}")
            say(*(f"  {_named(beliefs, ident)}" for ident in one.items))


def _counted(ones: list[Showing]) -> list[str]:
    """Return how often a session was shown something at its start and by recall, and how many items in all."""
    starts = sum(one.how == "start" for one in ones)
    return [str(starts), str(len(ones) - starts), str(len({ident for one in ones for ident in one.items}))]


def _tell_why(result: Why) -> None:
    item = result.item
    say_bold(item_line(item))
    dated = {"since": item.since, "until": item.until, "confirmed": item.confirmed}
    days = [f"{word} {day_shown(day)}" for word, day in dated.items() if day]
    say(f"  {', '.join([result.holding.place, item.status, *days])}")
    say(f"  {trust_label(item)}, confidence {item.confidence}{', pinned' if item.pinned else ''}")
    if item.reason:
        say(f"  kept because: {safe(item.reason)}")
    say_outdated(result.outdated)
    say_bold("Evidence")
    for witness in result.witnesses:
        _tell_witness(witness)
    if not result.witnesses:
        say("  none: a person wrote it" if not item.by else "  none given")
    elif item.seen > len(result.witnesses):
        say(f"  seen {item.seen} times; the first and the last place are kept")
    say_bold("Origin")
    prompt = f", version {result.prompt}" if result.prompt else ""
    say(f"  extracted by {result.model}{prompt}" if result.model else "  written by a person")
    if brought := result.brought:
        change = f"{', '.join(brought.changed)} by {_who(brought)}, {day_shown(brought.day)}"
        say(f"  {change}, commit {brought.commit[:10]}: {brought.subject}")
    else:
        say("  not committed yet")
    if result.part_of:
        say(f"  mentioned in {', '.join(result.part_of)}")
    for title, steps in (
        ("Rests on", result.grounds),
        ("Replaced", result.superseded),
        ("Replaced by", result.successors),
    ):
        if steps:
            say_bold(title)
            say_steps(steps)


def _tell_witness(witness: Witness) -> None:
    found = witness.found
    lines = f"{found.start_line}" if found.start_line == found.end_line else f"{found.start_line}-{found.end_line}"
    if found.quote is None:
        say(f"  {found.path}:{lines}: the words are no longer there")
        return
    say(f"  {found.path}:{lines}")
    say_quote(found.quote)
    if found.record:
        place = f"{found.record[0]}:{found.record[1]}"
        if witness.why_not:
            say(f"    behind it {place}, which {witness.why_not}")
            return
        when = f", {moment_shown(witness.time)}" if witness.time else ""
        say(f"    said by the {witness.role}{when}, in {place}")
        say_quote(witness.text, "      ")


@click.command(cls=TextCommand)
@_ID
@json_option()
@with_root
def curate_history(*, item: tuple[str, ...], as_json: bool, root: Path) -> None:
    """Show every wording and status of the item ID, oldest first: when, in which commit, and who changed it.

    ID is the start of an item's id, or a few words of it. This follows items that were moved, and finds items that were
    deleted by their ids.
    """
    answer(history_of(root, Git(root), _id(root, item)), _tell_history, as_json=as_json)


def _tell_history(result: History) -> None:
    say_bold(result.id)
    words = ""
    for version in result.versions:
        say(f"{moment_shown(version.when) or 'not committed yet'}  {', '.join(version.changed)}", hang="  ")
        source = f"{_who(version)}, commit {version.commit[:10]}: {safe(version.subject)}"
        say(f"  {source if version.commit else 'an edit by hand; the next run commits it'}")
        if version.item and not result.forgotten and version.item.text != words:
            words = version.item.text
            say(f"  {version.item.type}: {safe(words)}")
            if version.item.reason:
                say(f"  kept because: {safe(version.item.reason)}")
        if version.path:
            say(f"  in {version.path}, {version.item.status if version.item else ''}")
    if result.forgotten:
        say("  Its words were forgotten on request and are not shown.")
    if result.buried and not result.holding:
        say(f"It is gone: it was {result.buried.reason} on {day_shown(result.buried.day)}.")


def _who(version: Version) -> str:
    return f"a person ({version.author})" if version.is_person else f"run {version.run}"


@click.command(cls=TextCommand)
@_ID
@json_option()
@with_root
def curate_impact(*, item: tuple[str, ...], as_json: bool, root: Path) -> None:
    """Show what would be in doubt without the item ID: the start of an item's id, or a few words of it.

    That is everything that rests on it, directly or through other items, and what it replaced. `!` marks an item that
    is believed but rests on one that no longer holds.
    """
    holding, steps = impact(root, _id(root, item))
    if as_json:
        count = len({step.id for step in steps} - {holding.item.id})
        say_json(holding.to_json() | {"count": count, "impact": [step.to_json() for step in steps]})
        return
    say_bold(item_line(holding.item))
    if not steps:
        say("  Nothing depends on it.")
    say_steps(steps)


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
    disputes = [
        f"{item_line(one.item)}\n    {f'asked in {result.review} against' if is_open else 'against'}"
        f" {item_line(other.item)}"
        for one, other, is_open in result.disputes
    ]
    for title, lines in (
        ("Current", map(_lines, result.current)),
        ("Superseded or closed", map(_lines, result.past)),
        ("Archived", map(_lines, result.archived)),
        ("Contradicting", disputes),
        (f"Waiting in {result.review}", map(_lines, result.waiting)),
        ("Low confidence", map(_weak_line, result.unsure)),
        ("Without evidence", map(_weak_line, result.unproven)),
        ("Not confirmed lately", map(_weak_line, result.faded)),
        ("Resting on what no longer holds", map(_weak_line, result.outdated)),
    ):
        if entries := list(lines):
            say_bold(f"{title} ({len(entries)})")
            say(*(f"  {entry}" for entry in entries), hang="      ")


def _lines(one: Holding) -> str:
    """Return an item, with its place, days and trust on a second line."""
    days = " until ".join(day_shown(day) for day in (one.item.since, one.item.until) if day)
    details = ", ".join(filter(None, (one.place, days, f"trust {one.item.trust}")))
    return f"{item_line(one.item)}\n    {details}"


def _weak_line(found: tuple[Holding, str]) -> str:
    return f"{item_line(found[0].item)}: {found[1]}"


def _named(beliefs: Beliefs, ident: str) -> str:
    return item_line(beliefs.by_id[ident].item) if ident in beliefs.by_id else f"{ident[:SHORT]} (no longer exists)"


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
