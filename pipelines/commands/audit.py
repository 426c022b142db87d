"""`curate audit`: all that the agent believes about a topic, sorted by how well it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.files import write_out
from pipelines.commands.narrowing import Day
from pipelines.commands.options import memory_option, memory_root, words
from pipelines.commands.output import say, say_json, warn
from pipelines.commands.telling import item_line, say_heading
from pipelines.errors import UsageFault
from pipelines.queries.audit import Question, audit
from pipelines.store.git import Git

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.queries.audit import Audit, Weak
    from pipelines.queries.item_graph import Holding


@click.command()
@click.argument("topic", nargs=-1, required=True)
@click.option("--as-of", type=Day(), metavar="DAY", help="What held on this day, superseded since or not.")
@click.option("--known-on", type=Day(), metavar="DAY", help="As the memory held it by the end of this day, by git.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--html", metavar="FILE", help="Write one page for a browser, with a timeline and the links; - is standard output."
)
@memory_option
def command(
    *,
    topic: tuple[str, ...],
    as_of: str | None,
    known_on: str | None,
    as_json: bool,
    html: str | None,
    memory: Path | None,
) -> None:
    """Show all that the agent believes about TOPIC: what holds, what held once, and what stands on weak ground.

    TOPIC is a document's name, for all of its items, or words: then the items that say them all, and those that a
    search finds.
    """
    root = memory_root(memory)
    question = Question(words(topic), as_of or "", known_on or "")
    if not question.topic.strip():
        raise UsageFault("The topic is empty.", "Name a document, or give some words.")
    told = audit(root, Git(root), question)
    if html is not None:
        from pipelines.queries.audit import page_of  # noqa: PLC0415  only a page needs Jinja2

        write_out(html, [page_of(told)])
    if as_json:
        say_json(told.to_json())
    elif html != "-":
        _tell(told)
        if html is not None:
            say(f"The page is {html}.")


def _tell(told: Audit) -> None:
    for note in told.notes:
        warn(note)
    if not told.holdings:
        say(f"Nothing is believed about {told.question.topic}.")
        return
    _list("Current", told.current)
    _list("Superseded or closed", told.past)
    _list("Archived", told.archived)
    if told.disputes:
        say_heading(f"Contradicting ({len(told.disputes)})")
        for pair in told.disputes:
            say(f"  {item_line(pair.one.item)}")
            say(f"    {f'asked in {told.review} against' if pair.open else 'against'} {item_line(pair.other.item)}")
    _list(f"Waiting in {told.review}", told.waiting)
    _list_weak("Low confidence", told.unsure)
    _list_weak("Without evidence", told.unproven)
    _list_weak("Not confirmed for long", told.faded)


def _list(title: str, holdings: Sequence[Holding]) -> None:
    if holdings:
        say_heading(f"{title} ({len(holdings)})")
    for one in holdings:
        days = f"{one.item.since}{f' until {one.item.until}' if one.item.until else ''}"
        say(f"  {item_line(one.item)}")
        say(f"    {', '.join(part for part in (one.place, days, f'trust {one.item.trust}') if part)}")


def _list_weak(title: str, found: Sequence[Weak]) -> None:
    if found:
        say_heading(f"{title} ({len(found)})")
    for one in found:
        say(f"  {item_line(one.holding.item)}: {one.why}")
