"""`curate why`: what an item rests on, who brought it, and what lies under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.options import memory_option, memory_root
from pipelines.commands.output import say, say_json
from pipelines.commands.telling import item_line, say_heading, say_quote, say_steps
from pipelines.queries.why import whose, why
from pipelines.store.git import Git

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.queries.history import Version
    from pipelines.queries.why import Why, Witness


@click.command()
@click.argument("item", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@memory_option
def command(*, item: str, as_json: bool, memory: Path | None) -> None:
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
            say_steps(steps, told.known)


def _tell_witness(witness: Witness) -> None:
    found, spoken = witness.found, witness.spoken
    lines = f"{found.start_line}" if found.start_line == found.end_line else f"{found.start_line}-{found.end_line}"
    if found.quote is None:
        say(f"  {found.path}:{lines}: the words stand there no longer")
        return
    say(f"  {found.path}:{lines}")
    say_quote(found.quote)
    if spoken and spoken.why_not:
        say(f"    behind it {spoken.path}:{spoken.line}, which {spoken.why_not}")
    elif spoken:
        when = f", {spoken.time}" if spoken.time else ""
        say(f"    said by the {spoken.role}{when}, in {spoken.path}:{spoken.line}")
        say_quote(spoken.text, "      ")


def _reader(told: Why) -> str:
    if not told.model:
        return "written by a person"
    return f"extracted by {told.model}{f', version {told.prompt}' if told.prompt else ''}"


def _origin(brought: Version | None) -> str:
    if brought is None:
        return "not committed yet"
    who = f"a person ({brought.author.name})" if brought.author.is_person else f"run {brought.author.run}"
    return f"{', '.join(brought.changed)} by {who} on {brought.day}, commit {brought.commit[:10]}: {brought.subject}"
