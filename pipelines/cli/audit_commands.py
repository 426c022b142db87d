"""`curate audit`, all that is believed about a topic by how well it stands, and `curate graph`, the links of items."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pipelines.cli.item_lines import SHORT, item_line
from pipelines.cli.options import day_option, json_option, with_root, words
from pipelines.cli.output import say, say_bold, say_json, say_lines, warn_lines, write_out
from pipelines.errors import UsageFault
from pipelines.queries.audit import audit
from pipelines.queries.item_graph import Beliefs, all_edges
from pipelines.store.git import Git
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.queries.audit import Audit
    from pipelines.queries.item_graph import Holding


@click.command()
@click.argument("topic", nargs=-1, required=True)
@day_option("--as-of", "What held on this day, superseded since or not.")
@day_option("--known-on", "As the memory held it by the end of this day, by git.")
@json_option()
@click.option(
    "--html", metavar="FILE", help="Write one page for a browser, with a timeline and the links; - is standard output."
)
@with_root
def curate_audit(
    *,
    topic: tuple[str, ...],
    as_of: str | None,
    known_on: str | None,
    as_json: bool,
    html: str | None,
    root: Path,
) -> None:
    """Show all that the agent believes about TOPIC: what holds, what held once, and what stands on weak ground.

    TOPIC is a document's name, for all of its items, or words: then the items that say them all, and those that a
    search finds.
    """
    asked = words(topic)
    if not asked.strip():
        raise UsageFault("The topic is empty.", "Name a document, or give some words.")
    result = audit(root, Git(root), asked, as_of or "", known_on or "")
    if html is not None:
        from pipelines.queries.audit_page import page_of  # noqa: PLC0415  only a page needs Jinja2

        write_out(html, [page_of(result)])
    if as_json:
        say_json(result.to_json())
    elif html != "-":
        _tell(result)
        if html is not None:
            say(f"The page is {html}.")


def _tell(result: Audit) -> None:
    warn_lines(result.notes)
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
    ):
        if entries := list(lines):
            say_bold(f"{title} ({len(entries)})")
            say_lines(f"  {entry}" for entry in entries)


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
    edges = all_edges(beliefs.holdings)
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
            say(_named(edge.source, beliefs))
        above = edge.source
        say(f"  {edge.kind} {_named(edge.target, beliefs)}")
    if not edges:
        say("There are no links.")


def _named(ident: str, beliefs: Beliefs) -> str:
    return item_line(beliefs.by_id[ident].item) if ident in beliefs.by_id else f"{ident[:SHORT]} (stands nowhere)"
