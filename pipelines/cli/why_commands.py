"""The verbs that answer for what is believed.

`curate why` tells what an item rests on, `history` what it was, `impact` what rests on it; `audit` shows all about a
topic by how well it stands, and `graph` the links of items. `recap` tells what happened on some days.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING

import click

from pipelines.cli.item_lines import SHORT, item_line, safe, say_outdated, say_quote, say_steps
from pipelines.cli.options import day_option, json_option, with_memory, with_root, words
from pipelines.cli.output import answer, say, say_bold, say_json, say_table, warn
from pipelines.clock import day_of
from pipelines.errors import UsageFault
from pipelines.queries.history import history_of
from pipelines.queries.item_graph import Beliefs, beliefs_of
from pipelines.queries.why import impact, showings, whose, why
from pipelines.store.git import Git
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.cli.options import OpenMemory
    from pipelines.queries.audit import Audit
    from pipelines.queries.history import Commit, History
    from pipelines.queries.item_graph import Holding
    from pipelines.queries.why import Showing, Why, Witness


@click.command()
@click.argument("item", metavar="[ID]", required=False)
@click.option("--shown", is_flag=True, help="List the sessions that were shown ID, or what sessions were shown.")
@click.option("--session", metavar="ID", help="With --shown: only this session; the beginning of its id is enough.")
@json_option()
@with_root
def curate_why(*, item: str | None, shown: bool, session: str | None, as_json: bool, root: Path) -> None:
    """Say why the item ID is believed; the beginning of an id is enough.

    Shown are the words of the log that it rests on, what was said in the session behind them, the run, the model and
    the version of its prompt that extracted it, the commit that brought it, and all that it rests on by its links.

    With --shown: when sessions were shown the item, in the context they started with or by `curate recall`.
    """
    if shown:
        _tell_shown(root, item or "", session or "", as_json=as_json)
        return
    if item is None or session is not None:
        raise UsageFault("--session goes with --shown." if item else "Which item?", "See `curate why --help`.")
    answer(why(root, Git(root), item), _tell_why, as_json=as_json)


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
    days = [f"since {item.since}"] if item.since else []
    days += [f"until {item.until}"] if item.until else []
    days += [f"confirmed {item.confirmed}"] if item.confirmed else []
    say(f"  {', '.join([result.holding.place, item.status, *days])}")
    say(f"  {whose(item)}, confidence {item.confidence}{', pinned' if item.pinned else ''}")
    if item.reason:
        say(f"  kept because: {safe(item.reason)}")
    say_outdated(result.outdated)
    say_bold("Evidence")
    for witness in result.witnesses:
        _tell_witness(witness)
    if not result.witnesses:
        say("  none: a person wrote it" if not item.by else "  none is named")
    elif item.seen > len(result.witnesses):
        say(f"  seen {item.seen} times; the first and the last place are kept")
    say_bold("Origin")
    prompt = f", version {result.prompt}" if result.prompt else ""
    say(f"  extracted by {result.model}{prompt}" if result.model else "  written by a person")
    if brought := result.brought:
        commit = brought.commit
        change = f"{', '.join(brought.changed)} by {_who(commit)} on {brought.day}"
        say(f"  {change}, commit {commit.id[:10]}: {commit.subject}")
    else:
        say("  not committed yet")
    if result.part_of:
        say(f"  told of in {', '.join(result.part_of)}")
    for title, steps in (
        ("Rests on", result.grounds),
        ("Took the place of", result.superseded),
        ("Gave way to", result.successors),
    ):
        if steps:
            say_bold(title)
            say_steps(steps)


def _tell_witness(witness: Witness) -> None:
    found = witness.found
    lines = f"{found.start_line}" if found.start_line == found.end_line else f"{found.start_line}-{found.end_line}"
    if found.quote is None:
        say(f"  {found.path}:{lines}: the words stand there no longer")
        return
    say(f"  {found.path}:{lines}")
    say_quote(found.quote)
    if found.record:
        place = f"{found.record[0]}:{found.record[1]}"
        if witness.why_not:
            say(f"    behind it {place}, which {witness.why_not}")
            return
        when = f", {witness.time}" if witness.time else ""
        say(f"    said by the {witness.role}{when}, in {place}")
        say_quote(witness.text, "      ")


@click.command()
@click.argument("item", metavar="ID")
@json_option()
@with_root
def curate_history(*, item: str, as_json: bool, root: Path) -> None:
    """Show every wording and state that the item ID had, oldest first: when, by which commit, and who changed it.

    The beginning of an id is enough. An item is followed wherever it stood, and also when it was deleted since.
    """
    answer(history_of(root, Git(root), item), _tell_history, as_json=as_json)


def _tell_history(result: History) -> None:
    say_bold(result.id)
    words = ""
    for version in result.versions:
        commit = version.commit
        say(f"{commit.when or 'not committed yet'}  {', '.join(version.changed)}")
        source = f"{_who(commit)}, commit {commit.id[:10]}: {safe(commit.subject)}"
        say(f"  {source if commit.id else 'an edit by hand; the next run commits it'}")
        if version.item and not result.forgotten and version.item.text != words:
            words = version.item.text
            say(f"  {version.item.type}: {safe(words)}")
            if version.item.reason:
                say(f"  kept because: {safe(version.item.reason)}")
        if version.path:
            say(f"  in {version.path}, {version.item.status if version.item else ''}")
    if result.forgotten:
        say("  Its words were forgotten at a person's wish, and are not shown.")
    if result.buried and not result.holding:
        say(f"It stands nowhere: it was {result.buried.reason} on {result.buried.day}.")


def _who(commit: Commit) -> str:
    return f"a person ({commit.author})" if commit.is_person else f"run {commit.run}"


@click.command()
@click.argument("item", metavar="ID")
@json_option()
@with_root
def curate_impact(*, item: str, as_json: bool, root: Path) -> None:
    """Show what would come into question with the item ID; the beginning of an id is enough.

    That is what rests on it, is supported by it, is made of it or follows on it, whatever rests on those in turn, and
    what it took the place of. What is believed and rests on something that is over is marked with `!`.
    """
    holding, steps = impact(root, item)
    if as_json:
        count = len({step.id for step in steps} - {holding.item.id})
        say_json(holding.to_json() | {"count": count, "impact": [step.to_json() for step in steps]})
        return
    say_bold(item_line(holding.item))
    if not steps:
        say("  Nothing rests on it.")
    say_steps(steps)


@click.command()
@click.argument("topic", nargs=-1, required=True)
@day_option("--as-of", "What held on this day, superseded since or not.")
@day_option("--known-on", "As the memory held it by the end of this day, by git.")
@json_option()
@with_root
def curate_audit(*, topic: tuple[str, ...], as_of: str | None, known_on: str | None, as_json: bool, root: Path) -> None:
    """Show all that the agent believes about TOPIC: what holds, what held once, and what stands on weak ground.

    TOPIC is a document's name, for all of its items, or words: then the items that say them all, and those that a
    search finds.
    """
    from pipelines.queries.audit import audit  # noqa: PLC0415  an audit rests on the night's rules, too

    asked = words(topic)
    if not asked.strip():
        raise UsageFault("The topic is empty.", "Name a document, or give some words.")
    result = audit(root, Git(root), asked, as_of or "", known_on or "")
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
        ("Not confirmed for long", map(_weak_line, result.faded)),
        ("Resting on what is over", map(_weak_line, result.outdated)),
    ):
        if entries := list(lines):
            say_bold(f"{title} ({len(entries)})")
            say(*(f"  {entry}" for entry in entries))


def _lines(one: Holding) -> str:
    """Return an item with its place, its days and whose word it is on a second line."""
    days = f"{one.item.since}{f' until {one.item.until}' if one.item.until else ''}"
    details = ", ".join(filter(None, (one.place, days, f"trust {one.item.trust}")))
    return f"{item_line(one.item)}\n    {details}"


def _weak_line(found: tuple[Holding, str]) -> str:
    return f"{item_line(found[0].item)}: {found[1]}"


@click.command()
@click.option(
    "--document", metavar="NAME", help="Only links of one document's items: its path, id, title or file name."
)
@json_option("Print one JSON object: the items as nodes, and the links.")
@with_root
def curate_graph(*, document: str | None, as_json: bool, root: Path) -> None:
    """Show the links between items: because, supports, contradicts, supersedes, related, part-of, next, merged-into."""
    documents, shown = read_documents(root), layout_of(root).real
    beliefs = Beliefs.of(documents, shown)
    edges = beliefs.edges
    if document is not None:
        paths = set(named_documents(documents, document, shown))
        inside = {ident for ident, one in beliefs.by_id.items() if one.path in paths}
        edges = [edge for edge in edges if edge.source in inside or edge.target in inside]
    if as_json:
        ends = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target))
        nodes = [beliefs.by_id[end].to_json() for end in ends if end in beliefs.by_id]
        say_json({"nodes": nodes, "links": list(map(asdict, edges))})
        return
    above = ""
    for edge in sorted(edges, key=lambda edge: (edge.source, edge.kind, edge.target)):
        if edge.source != above:
            say(_named(beliefs, edge.source))
        above = edge.source
        say(f"  {edge.kind} {_named(beliefs, edge.target)}")
    if not edges:
        say("There are no links.")


def _named(beliefs: Beliefs, ident: str) -> str:
    return item_line(beliefs.by_id[ident].item) if ident in beliefs.by_id else f"{ident[:SHORT]} (stands nowhere)"


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
