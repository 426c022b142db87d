"""`curate export`: the items for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.files import write_out
from pipelines.commands.options import memory_option, memory_root
from pipelines.errors import UsageFault
from pipelines.queries.item_graph import graphml, json_lines

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option(
    "--jsonl", metavar="FILE", help="Write JSON lines, which `curate import` reads back; - is standard output."
)
@click.option("--graphml", "xml", metavar="FILE", help="Write GraphML: items as nodes, links as edges; - as above.")
@memory_option
def command(*, jsonl: str | None, xml: str | None, memory: Path | None) -> None:
    """Write all items, whatever their status, with their evidence and links, for other programs."""
    if (jsonl is None) == (xml is None):
        raise UsageFault("Nobody said what to write.", "Name one of --jsonl FILE and --graphml FILE.")
    root = memory_root(memory)
    if jsonl is not None:
        write_out(jsonl, json_lines(root))
    elif xml is not None:
        write_out(xml, graphml(root))
