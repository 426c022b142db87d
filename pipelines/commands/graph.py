"""`curate graph`: the links between items."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from pipelines.commands.options import memory_option, memory_root
from pipelines.commands.output import say, say_json
from pipelines.commands.telling import SHORT, item_line
from pipelines.queries.item_graph import Beliefs, all_edges
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.queries.item_graph import Edge


@click.command()
@click.option(
    "--document", metavar="NAME", help="Only links of one document's items: its path, id, title or file name."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: the items as nodes, and the links.")
@memory_option
def command(*, document: str | None, as_json: bool, memory: Path | None) -> None:
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
        _tell(edges, beliefs)


def _tell(edges: list[Edge], beliefs: Beliefs) -> None:
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
