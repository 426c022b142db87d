"""The items for other programs: as JSON lines, which `curate import` reads back, and as GraphML.

Both are made document by document, so that a memory of any size needs no more room than its largest document;
GraphML keeps the ids that it has written, besides: each must stand in it once. In JSON lines documents have the
program's own names, which mean the same in every memory; in GraphML those on the disk.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape, quoteattr

from pipelines.errors import BadFile
from pipelines.queries.item_graph import SUPERSEDES, edges_of, holdings_in
from pipelines.store.document import Document
from pipelines.store.files import read_bytes
from pipelines.store.jsonl import document_record, header_record, to_record
from pipelines.store.snapshot import document_paths
from pipelines.store.user_layout import real_path
from pipelines.text import plain_json, plain_xml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pipelines.queries.item_graph import Edge, Holding


_KEYS: Final = (
    "type", "text", "status", "document", "section", "since", "until", "confirmed", "trust", "confidence", "by", "seen",
    "evidence",
)  # fmt: skip
_HEAD: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""
# What no XML document can hold, however it is escaped.
_UNFIT: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def json_lines(root: Path) -> Iterator[str]:
    """Yield the lines of the export as JSON; `pipelines.store.jsonl` says what is in them.

    Raises:
        BadFile: a document cannot be read.
    """
    for record in _records(root):
        yield plain_json(record, separators=(",", ":")) + "\n"


def _records(root: Path) -> Iterator[dict[str, object]]:
    yield header_record()
    for document in _documents(root):
        if document.items:
            yield document_record(document)
        for one in holdings_in(document):
            yield to_record(one.path, one.item, section=one.section, notes=one.notes)


def _documents(root: Path) -> Iterator[Document]:
    """Yield the documents of a memory, in order of paths.

    Raises:
        BadFile: one cannot be read, or is not UTF-8: an export that silently lacks a part is none.
    """
    for path in sorted(document_paths(root)):
        data = read_bytes(root, path)
        if data is not None:
            try:
                yield Document(path, data.decode())
            except UnicodeDecodeError as fault:
                raise BadFile(real_path(root, path), f"is not UTF-8 at byte {fault.start}") from None


def graphml(root: Path) -> Iterator[str]:
    """Yield the export as GraphML: a node an item, an edge a link.

    What a link names and stands nowhere is a node with the status `missing`. Of an item that stands twice, the second
    is a node of its own, named by its place.

    Raises:
        BadFile: a document cannot be read.
    """
    yield _HEAD
    for key in _KEYS:
        kind = "int" if key == "seen" else "string"
        yield f'  <key id="{key}" for="node" attr.name="{key}" attr.type="{kind}"/>\n'
    yield '  <key id="kind" for="edge" attr.name="kind" attr.type="string"/>\n'
    yield '  <graph id="memory" edgedefault="directed">\n'
    written: set[str] = set()
    awaited: set[str] = set()
    superseding: set[Edge] = set()  # both ends tell of such a link
    shown = partial(real_path, root)
    for document in _documents(root):
        for one in holdings_in(document, shown):
            ident = one.item.id if one.item.id and one.item.id not in written else one.place
            written.add(ident)
            awaited.discard(ident)
            yield _node(ident, one, shown)
            for edge in edges_of(one):
                awaited.update({edge.source, edge.target} - written)
                if edge not in superseding:
                    ends = f"source={_xml(edge.source, quoteattr)} target={_xml(edge.target, quoteattr)}"
                    yield f'    <edge {ends}><data key="kind">{edge.kind}</data></edge>\n'
                if edge.kind == SUPERSEDES:
                    superseding.add(edge)
    for ident in sorted(awaited):
        yield f'    <node id={_xml(ident, quoteattr)}><data key="status">missing</data></node>\n'
    yield "  </graph>\n</graphml>\n"


def _node(ident: str, one: Holding, shown: Callable[[str], str]) -> str:
    item = one.item
    evidence = " ".join(replace(place, path=shown(place.path).replace(" ", "%20")).render() for place in item.evidence)
    values = (
        item.type, item.text, item.status, one.shown, one.section, item.since, item.until, item.confirmed, item.trust,
        item.confidence, item.by, str(max(item.seen, len(item.evidence))), evidence,
    )  # fmt: skip
    data = (f'<data key="{key}">{_xml(value)}</data>' for key, value in zip(_KEYS, values, strict=True) if value)
    return f"    <node id={_xml(ident, quoteattr)}>{''.join(data)}</node>\n"


def _xml(value: str, quote: Callable[[str], str] = escape) -> str:
    """Return a value as text of an XML document, or with `quoteattr` as an attribute with its quotes."""
    return plain_xml(quote(_UNFIT.sub("\ufffd", value)))
