"""`curate items`: every item, whatever its status, with its evidence."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from pipelines.commands.options import memory_option, memory_root
from pipelines.commands.output import say_json, say_table
from pipelines.memory.evidence import Quotes
from pipelines.memory.items import ItemType, Status
from pipelines.memory.names import real_path
from pipelines.memory.naming import named_documents
from pipelines.memory.snapshot import read_documents

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.memory.items import Item


@click.command()
@click.option(
    "--type", "kind", type=click.Choice([t.value for t in ItemType], case_sensitive=False), help="Only these."
)
@click.option("--document", metavar="NAME", help="Only those of one document: its path, id, title or file name.")
@click.option("--status", type=click.Choice([s.value for s in Status], case_sensitive=False), help="Only these.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array, with the evidence of each item.")
@memory_option
def command(*, kind: str | None, document: str | None, status: str | None, as_json: bool, memory: Path | None) -> None:
    """List the items of the memory, whatever their status."""
    root = memory_root(memory)
    documents = read_documents(root)
    if document is not None:
        documents = {path: documents[path] for path in named_documents(documents, document, partial(real_path, root))}
    found = [
        (path, placed.item)
        for path in sorted(documents)
        for placed in documents[path].items
        if kind in {None, placed.item.type} and status in {None, placed.item.status}
    ]
    if as_json:
        quotes = Quotes(root)
        say_json([item_json(real_path(root, path), item, quotes) for path, item in found])
    else:
        rows = [
            (item.id[:8], item.type, item.status, item.since, real_path(root, path), item.text) for path, item in found
        ]
        say_table(("id", "type", "status", "since", "document", "text"), rows)


def item_json(path: str, item: Item, quotes: Quotes) -> dict[str, object]:
    """Return an item as `--json` prints it; a quote that no longer stands anywhere is null."""
    return {
        "id": item.id,
        "type": item.type,
        "text": item.text,
        "status": item.status,
        "document": path,
        "since": item.since,
        "until": item.until or None,
        "confirmed": item.confirmed or None,
        "trust": item.trust,
        "confidence": item.confidence,
        "by": item.by or None,
        "seen": max(item.seen, len(item.evidence)),
        "links": {name: list(ids) for name, ids in item.links},
        "superseded_by": item.superseded_by or None,
        "evidence": [quotes.found(evidence).to_json() for evidence in item.evidence],
    }
