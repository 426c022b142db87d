"""`curate audit`: all that the agent believes about a topic, sorted by how well it stands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import Day, memory_option, memory_root, words
from pipelines.cli.output import SHORT, item_line, say, say_heading, say_json, warn, write_out
from pipelines.errors import UsageFault
from pipelines.queries.audit import audit
from pipelines.queries.item_graph import Beliefs, all_edges
from pipelines.store.git import Git
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.queries.audit import Audit
    from pipelines.queries.item_graph import Edge, Holding


@click.command()
@click.argument("topic", nargs=-1, required=True)
@click.option("--as-of", type=Day(), metavar="DAY", help="What held on this day, superseded since or not.")
@click.option("--known-on", type=Day(), metavar="DAY", help="As the memory held it by the end of this day, by git.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--html", metavar="FILE", help="Write one page for a browser, with a timeline and the links; - is standard output."
)
@memory_option
def curate_audit(
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
    asked = words(topic)
    if not asked.strip():
        raise UsageFault("The topic is empty.", "Name a document, or give some words.")
    told = audit(root, Git(root), asked, as_of or "", known_on or "")
    if html is not None:
        from pipelines.queries.audit_page import page_of  # noqa: PLC0415  only a page needs Jinja2

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
        say(f"Nothing is believed about {told.topic}.")
        return
    _list("Current", told.current)
    _list("Superseded or closed", told.past)
    _list("Archived", told.archived)
    if told.disputes:
        say_heading(f"Contradicting ({len(told.disputes)})")
        for one, other, is_open in told.disputes:
            say(f"  {item_line(one.item)}")
            say(f"    {f'asked in {told.review} against' if is_open else 'against'} {item_line(other.item)}")
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


def _list_weak(title: str, found: Sequence[tuple[Holding, str]]) -> None:
    if found:
        say_heading(f"{title} ({len(found)})")
    for one, why in found:
        say(f"  {item_line(one.item)}: {why}")


# ---------------------------------------- `curate graph`
# the links between items.


@click.command()
@click.option(
    "--document", metavar="NAME", help="Only links of one document's items: its path, id, title or file name."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: the items as nodes, and the links.")
@memory_option
def curate_graph(*, document: str | None, as_json: bool, memory: Path | None) -> None:
    """Show the links between items: because, supports, contradicts, supersedes, related, part-of, next, merged-into."""
    root = memory_root(memory)
    documents, shown = read_documents(root), partial(real_path, root)
    beliefs = Beliefs.of(documents, shown)
    edges = all_edges(beliefs.holdings)
    if document is not None:
        paths = set(named_documents(documents, document, shown))
        inside = {ident for ident, one in beliefs.by_id.items() if one.path in paths}
        edges = [edge for edge in edges if edge.source in inside or edge.target in inside]
    if as_json:
        ends = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target))
        nodes = [beliefs.by_id[end].to_json() for end in ends if end in beliefs.by_id]
        say_json({"nodes": nodes, "links": [edge.to_json() for edge in edges]})
    else:
        _graph_tell(edges, beliefs)


def _graph_tell(edges: list[Edge], beliefs: Beliefs) -> None:
    above = ""
    for edge in sorted(edges, key=lambda edge: (edge.source, edge.kind, edge.target)):
        if edge.source != above:
            say(_named(edge.source, beliefs))
        above = edge.source
        say(f"  {edge.kind} {_named(edge.target, beliefs)}")
    if not edges:
        say("There are no links.")


def _named(ident: str, beliefs: Beliefs) -> str:
    return item_line(beliefs.by_id[ident].item) if ident in beliefs.by_id else f"{ident[:SHORT]} (stands nowhere)"
