"""`curate why`: what an item rests on, who brought it, and what lies under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.cli.options import memory_option, memory_root
from pipelines.cli.output import item_line, safe, say, say_heading, say_json, say_quote, say_steps
from pipelines.queries.history import history_of
from pipelines.queries.why import impact, whose, why
from pipelines.store.git import Git

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.queries.history import Commit, History, Version
    from pipelines.queries.why import Why, Witness


@click.command()
@click.argument("item", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@memory_option
def curate_why(*, item: str, as_json: bool, memory: Path | None) -> None:
    """Say why the item ID is believed; the beginning of an id is enough.

    Shown are the words of the log that it rests on, what was said in the session behind them, the run, the model and
    the version of its prompt that extracted it, the commit that brought it, and all that it rests on by its links.
    """
    root = memory_root(memory)
    told = why(root, Git(root), item)
    if as_json:
        say_json(told.to_json())
    else:
        _tell(told)


def _tell(told: Why) -> None:
    item = told.item
    say_heading(item_line(item))
    days = [f"since {item.since}"] if item.since else []
    days += [f"until {item.until}"] if item.until else []
    days += [f"confirmed {item.confirmed}"] if item.confirmed else []
    say(f"  {', '.join([told.holding.place, item.status, *days])}")
    say(f"  {whose(item)}, confidence {item.confidence}{', pinned' if item.pinned else ''}")
    say_heading("Evidence")
    for witness in told.witnesses:
        _tell_witness(witness)
    if not told.witnesses:
        say("  none: a person wrote it" if not item.by else "  none is named")
    elif item.seen > len(told.witnesses):
        say(f"  seen {item.seen} times; the first and the last place are kept")
    say_heading("Origin")
    say(f"  {_reader(told)}")
    say(f"  {_origin(told.brought)}")
    for title, steps in (
        ("Rests on", told.grounds),
        ("Took the place of", told.superseded),
        ("Gave way to", told.successors),
    ):
        if steps:
            say_heading(title)
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


def _reader(told: Why) -> str:
    if not told.model:
        return "written by a person"
    return f"extracted by {told.model}{f', version {told.prompt}' if told.prompt else ''}"


def _origin(brought: Version | None) -> str:
    if brought is None:
        return "not committed yet"
    commit = brought.commit
    changed = ", ".join(brought.changed)
    return f"{changed} by {_author(commit)} on {brought.day}, commit {commit.id[:10]}: {commit.subject}"


def _author(commit: Commit) -> str:
    return f"a person ({commit.author})" if commit.is_person else f"run {commit.run}"


# ---------------------------------------- `curate history`
# every wording and state that an item had.


@click.command()
@click.argument("item", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@memory_option
def curate_history(*, item: str, as_json: bool, memory: Path | None) -> None:
    """Show every wording and state that the item ID had, oldest first: when, by which commit, and who changed it.

    The beginning of an id is enough. An item is followed wherever it stood, and also when it was deleted since.
    """
    root = memory_root(memory)
    told = history_of(root, Git(root), item)
    if as_json:
        say_json(told.to_json())
    else:
        _tell_history(told)


def _tell_history(told: History) -> None:
    say_heading(told.id)
    words = ""
    for version in told.versions:
        say(f"{version.commit.when or 'not committed yet'}  {', '.join(version.changed)}")
        say(f"  {_who(version)}")
        if version.item and not told.forgotten and version.item.text != words:
            words = version.item.text
            say(f"  {version.item.type}: {safe(words)}")
        if version.path:
            say(f"  in {version.path}, {version.item.status if version.item else ''}")
    if told.forgotten:
        say("  Its words were forgotten at a person's wish, and are not shown.")
    if told.buried and not told.holding:
        say(f"It stands nowhere: it was {told.buried.reason} on {told.buried.day}.")


def _who(version: Version) -> str:
    if not version.commit.id:
        return "an edit by hand; the next run commits it"
    return f"{_author(version.commit)}, commit {version.commit.id[:10]}: {safe(version.commit.subject)}"


# ---------------------------------------- `curate impact`
# what rests on an item.


@click.command()
@click.argument("item", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@memory_option
def curate_impact(*, item: str, as_json: bool, memory: Path | None) -> None:
    """Show what would come into question with the item ID; the beginning of an id is enough.

    That is what rests on it, is supported by it, is made of it or follows on it, whatever rests on those in turn, and
    what it took the place of.
    """
    holding, steps = impact(memory_root(memory), item)
    if as_json:
        count = len({step.id for step in steps} - {holding.item.id})
        say_json(holding.to_json() | {"count": count, "impact": [step.to_json() for step in steps]})
        return
    say_heading(item_line(holding.item))
    if not steps:
        say("  Nothing rests on it.")
    say_steps(steps)
