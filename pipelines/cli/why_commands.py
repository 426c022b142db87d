"""The verbs that answer for one item: `curate why`, what it rests on, `history`, and `impact`, what rests on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.cli.item_lines import item_line, safe, say_quote, say_steps
from pipelines.cli.options import json_option, with_root
from pipelines.cli.output import answer, say, say_bold, say_json
from pipelines.queries.history import history_of
from pipelines.queries.why import impact, whose, why
from pipelines.store.git import Git

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.queries.history import Commit, History
    from pipelines.queries.why import Why, Witness


@click.command()
@click.argument("item", metavar="ID")
@json_option()
@with_root
def curate_why(*, item: str, as_json: bool, root: Path) -> None:
    """Say why the item ID is believed; the beginning of an id is enough.

    Shown are the words of the log that it rests on, what was said in the session behind them, the run, the model and
    the version of its prompt that extracted it, the commit that brought it, and all that it rests on by its links.
    """
    answer(why(root, Git(root), item), _tell_why, as_json=as_json)


def _tell_why(told: Why) -> None:
    item = told.item
    say_bold(item_line(item))
    days = [f"since {item.since}"] if item.since else []
    days += [f"until {item.until}"] if item.until else []
    days += [f"confirmed {item.confirmed}"] if item.confirmed else []
    say(f"  {', '.join([told.holding.place, item.status, *days])}")
    say(f"  {whose(item)}, confidence {item.confidence}{', pinned' if item.pinned else ''}")
    say_bold("Evidence")
    for witness in told.witnesses:
        _tell_witness(witness)
    if not told.witnesses:
        say("  none: a person wrote it" if not item.by else "  none is named")
    elif item.seen > len(told.witnesses):
        say(f"  seen {item.seen} times; the first and the last place are kept")
    say_bold("Origin")
    prompt = f", version {told.prompt}" if told.prompt else ""
    say(f"  extracted by {told.model}{prompt}" if told.model else "  written by a person")
    if brought := told.brought:
        commit = brought.commit
        change = f"{', '.join(brought.changed)} by {_who(commit)} on {brought.day}"
        say(f"  {change}, commit {commit.id[:10]}: {commit.subject}")
    else:
        say("  not committed yet")
    for title, steps in (
        ("Rests on", told.grounds),
        ("Took the place of", told.superseded),
        ("Gave way to", told.successors),
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


def _tell_history(told: History) -> None:
    say_bold(told.id)
    words = ""
    for version in told.versions:
        commit = version.commit
        say(f"{commit.when or 'not committed yet'}  {', '.join(version.changed)}")
        source = f"{_who(commit)}, commit {commit.id[:10]}: {safe(commit.subject)}"
        say(f"  {source if commit.id else 'an edit by hand; the next run commits it'}")
        if version.item and not told.forgotten and version.item.text != words:
            words = version.item.text
            say(f"  {version.item.type}: {safe(words)}")
        if version.path:
            say(f"  in {version.path}, {version.item.status if version.item else ''}")
    if told.forgotten:
        say("  Its words were forgotten at a person's wish, and are not shown.")
    if told.buried and not told.holding:
        say(f"It stands nowhere: it was {told.buried.reason} on {told.buried.day}.")


def _who(commit: Commit) -> str:
    return f"a person ({commit.author})" if commit.is_person else f"run {commit.run}"


@click.command()
@click.argument("item", metavar="ID")
@json_option()
@with_root
def curate_impact(*, item: str, as_json: bool, root: Path) -> None:
    """Show what would come into question with the item ID; the beginning of an id is enough.

    That is what rests on it, is supported by it, is made of it or follows on it, whatever rests on those in turn, and
    what it took the place of.
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
