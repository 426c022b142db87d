"""The links between items as a graph: what an item rests on, what rests on it, and what took whose place.

Links are what their words say: `A because=B` and `B supports=A` both mean that A rests on B, `A part-of=B` that B is
made of A, `A next=B` that B follows on A. No cycle and no chain, however long, makes any of this fail.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape, quoteattr

from pipelines.errors import BadFile
from pipelines.store.document import Document
from pipelines.store.files import read_bytes
from pipelines.store.item import LINK_KINDS, Status
from pipelines.store.jsonl import document_record, header_record, to_record
from pipelines.store.snapshot import document_paths, read_documents
from pipelines.store.template import named_item
from pipelines.store.user_layout import real_path
from pipelines.text import escape_terminal_json, escape_terminal_xml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pipelines.store.item import Item


SUPERSEDES: Final = "supersedes"
MERGED: Final = "merged-into"
KINDS: Final = (*LINK_KINDS, MERGED)


@dataclass(frozen=True, slots=True)
class Edge:
    """A link: the item that holds it, what it says, and the item that it names."""

    source: str
    kind: str
    target: str

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"source": self.source, "kind": self.kind, "target": self.target}


class Mark(StrEnum):
    """Why a walk does not go on at an item."""

    CYCLE = "cycle"
    AGAIN = "again"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Step:
    """One item of a walk along links.

    Args:
        id: the item's id.
        depth: how many links it is away from where the walk began, from 1.
        under: the id from which the walk came here.
        relation: how it stands to that one, as the end of a sentence: `because of`, `supported by`.
        mark: why the walk does not go on here, or None: the item closes a cycle, was shown above, or stands nowhere.
    """

    id: str
    depth: int
    under: str
    relation: str
    mark: Mark | None = None

    def to_json(self, known: Mapping[str, Holding]) -> dict[str, Any]:
        """Return it as JSON has it, with what the item says."""
        told = known[self.id].to_json() if self.id in known else {"id": self.id, "text": None}
        return told | {"depth": self.depth, "under": self.under, "relation": self.relation, "mark": self.mark}


Steps = dict[str, list[tuple[str, str]]]
"""Id → the relations and ids of the items one step away."""


def edges_of(holding: Holding) -> list[Edge]:
    """Return the links that an item holds, each once; what superseded it is told from its successor's side."""
    item = holding.item
    found = [Edge(item.id, kind, target) for kind, targets in item.links for target in targets if kind in LINK_KINDS]
    found += [Edge(item.superseded_by, SUPERSEDES, item.id)] if item.superseded_by else []
    found += [Edge(item.id, MERGED, item.merged_into)] if item.merged_into else []
    return list(dict.fromkeys(found))


def all_edges(holdings: Iterable[Holding]) -> list[Edge]:
    """Return all links, each once, in order of the items that hold them."""
    return list(dict.fromkeys(edge for one in holdings if one.item.id for edge in edges_of(one)))


def grounds(beliefs: Beliefs) -> Steps:
    """Return what each item rests on."""
    found: Steps = defaultdict(list)
    for edge in all_edges(beliefs.holdings):
        if edge.kind == "because":
            found[edge.source].append(("because of", edge.target))
        elif edge.kind == "supports":
            found[edge.target].append(("supported by", edge.source))
    return found


def dependents(beliefs: Beliefs) -> Steps:
    """Return what each item carries: what would come into question with it."""
    found: Steps = defaultdict(list)
    for edge in all_edges(beliefs.holdings):
        if edge.kind in _CARRIED:
            relation, ahead = _CARRIED[edge.kind]
            carrier, carried = (edge.source, edge.target) if ahead else (edge.target, edge.source)
            found[carrier].append((relation, carried))
    return found


# Kind → how what is carried stands to its carrier, and whether the link points at what is carried.
_CARRIED: Final = {
    "because": ("rests on it", False),
    "supports": ("is supported by it", True),
    "part-of": ("is made of it", True),
    "next": ("follows on it", True),
    SUPERSEDES: ("was superseded by it", True),
}


def predecessors(beliefs: Beliefs) -> Steps:
    """Return what each item superseded, or took in when they were merged."""
    found: Steps = defaultdict(list)
    for edge in all_edges(beliefs.holdings):
        if edge.kind == SUPERSEDES:
            found[edge.source].append(("superseded", edge.target))
        elif edge.kind == MERGED:
            found[edge.target].append(("took in", edge.source))
    return found


def successors(beliefs: Beliefs) -> Steps:
    """Return what took the place of each item; more than one where it was superseded twice."""
    found: Steps = defaultdict(list)
    for edge in all_edges(beliefs.holdings):
        if edge.kind == SUPERSEDES:
            found[edge.target].append(("superseded by", edge.source))
        elif edge.kind == MERGED:
            found[edge.source].append(("merged into", edge.target))
    return found


def walk(start: str, steps: Steps, known: Mapping[str, Holding]) -> list[Step]:
    """Return every item that can be reached, depth first; each is gone through once.

    Args:
        start: the id from which the walk goes out.
        steps: what is one step away from each.
        known: the items that stand somewhere.
    """
    found: list[Step] = []
    depths, above = {start: 0}, [start]
    waiting = [Step(ident, 1, start, relation) for relation, ident in reversed(steps.get(start, ()))]
    while waiting:
        step = waiting.pop()
        del above[step.depth :]
        mark = None if step.id in known else Mark.NOWHERE
        if (at := depths.get(step.id)) is not None:
            mark = Mark.CYCLE if at < len(above) and above[at] == step.id else Mark.AGAIN
        found.append(Step(step.id, step.depth, step.under, step.relation, mark))
        if at is None:
            depths[step.id] = step.depth
            above.append(step.id)
            below = reversed(steps.get(step.id, ()))
            waiting += [Step(ident, step.depth + 1, step.id, relation) for relation, ident in below]
    return found


# ---------------------------------------- the items for other programs
# as JSON lines, which `curate import` reads back, and as GraphML.
#
# Both are made document by document, so that a memory of any size needs no more room than its largest document;
# GraphML keeps the ids that it has written, besides: each must stand in it once. In JSON lines documents have the
# program's own names, which mean the same in every memory; in GraphML those on the disk.


def documents_one_by_one(root: Path) -> Iterator[Document]:
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


def json_lines(root: Path) -> Iterator[str]:
    """Yield the lines of the export as JSON; `pipelines.store.jsonl` says what is in them.

    Raises:
        BadFile: a document cannot be read.
    """
    yield _line(header_record())
    for document in documents_one_by_one(root):
        if document.items:
            yield _line(document_record(document))
        for one in holdings_in(document):
            yield _line(to_record(one.path, one.item, section=one.section, notes=one.notes))


def _line(record: dict[str, object]) -> str:
    return escape_terminal_json(record, separators=(",", ":")) + "\n"


# ---------------------------------------------------------------- GraphML

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
    seen: set[str] = set()
    awaited: set[str] = set()
    told: set[Edge] = set()
    shown = partial(real_path, root)
    for document in documents_one_by_one(root):
        for one in holdings_in(document, shown):
            ident = one.item.id if one.item.id and one.item.id not in seen else one.place
            seen.add(ident)
            awaited.discard(ident)
            yield _node(ident, one, shown)
            for edge in edges_of(one):
                awaited.update({edge.source, edge.target} - seen)
                if edge not in told:
                    yield _edge(edge)
                if edge.kind == SUPERSEDES:  # both ends tell of it
                    told.add(edge)
    for ident in sorted(awaited):
        yield f'    <node id={_attribute(ident)}><data key="status">missing</data></node>\n'
    yield "  </graph>\n</graphml>\n"


def _node(ident: str, one: Holding, shown: Callable[[str], str]) -> str:
    item = one.item
    evidence = " ".join(replace(place, path=shown(place.path).replace(" ", "%20")).render() for place in item.evidence)
    values = (
        item.type, item.text, item.status, one.shown, one.section, item.since, item.until, item.confirmed, item.trust,
        item.confidence, item.by, str(max(item.seen, len(item.evidence))), evidence,
    )  # fmt: skip
    told = "".join(
        f'<data key="{key}">{_text(value)}</data>' for key, value in zip(_KEYS, values, strict=True) if value
    )
    return f"    <node id={_attribute(ident)}>{told}</node>\n"


def _edge(edge: Edge) -> str:
    ends = f"source={_attribute(edge.source)} target={_attribute(edge.target)}"
    return f'    <edge {ends}><data key="kind">{escape(edge.kind)}</data></edge>\n'


def _attribute(value: str) -> str:
    return escape_terminal_xml(quoteattr(_fit(value)))


def _text(value: str) -> str:
    return escape_terminal_xml(escape(_fit(value)))


def _fit(value: str) -> str:
    return _UNFIT.sub("\ufffd", value)


# ---------------------------------------- what is held
# every item of a set of documents by its id, with where it stands and who names it.


@dataclass(frozen=True, slots=True)
class Holding:
    """An item where it stands.

    Args:
        item: the item.
        path: its document, relative to the memory, as the program calls it.
        line: its line, counted from 1.
        section: the title of the section that holds it.
        notes: the lines that a person wrote under it, with their ends.
        real: what people call the document, where that is not what the program calls it.
    """

    item: Item
    path: str
    line: int
    section: str = ""
    notes: tuple[str, ...] = ()
    real: str = ""

    @property
    def shown(self) -> str:
        """What people call its document: the path on the disk."""
        return self.real or self.path

    @property
    def place(self) -> str:
        """Its citation, `PATH:LINE`."""
        return f"{self.shown}:{self.line}"

    @property
    def home(self) -> str:
        """The document that it belongs to: for one that waits in Review.md, the one that it would be filed in."""
        return dict(self.item.extra).get("home", self.path) if self.item.status is Status.WAITING else self.path

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it, without its evidence."""
        item = self.item
        return {
            "id": item.id or None,
            "type": item.type,
            "text": item.text,
            "status": item.status,
            "document": self.shown,
            "line": self.line,
            "since": item.since or None,
            "until": item.until or None,
            "confirmed": item.confirmed or None,
            "trust": item.trust,
            "confidence": item.confidence,
            "by": item.by or None,
            "superseded_by": item.superseded_by or None,
            "merged_into": item.merged_into or None,
        }


def holdings_in(document: Document, shown: Callable[[str], str] = str) -> Iterator[Holding]:
    """Yield the items of a document, in order of lines; `shown` says what people call the file at a path."""
    real = shown(document.path)
    for placed in document.items:
        notes = tuple(document.lines[placed.line + 1 : placed.end])
        yield Holding(placed.item, document.path, placed.line + 1, placed.section, notes, real)


@dataclass(frozen=True)
class Beliefs:
    """All items of a memory, as it stands or as it stood.

    Args:
        holdings: every item, in order of documents and lines; those without an id, too.
    """

    holdings: tuple[Holding, ...]

    @classmethod
    def of(cls, documents: Mapping[str, Document], shown: Callable[[str], str] = str) -> Beliefs:
        """Return what a set of documents holds; `shown` says what people call the file at a path."""
        return cls(tuple(one for path in sorted(documents) for one in holdings_in(documents[path], shown)))

    @cached_property
    def by_id(self) -> Mapping[str, Holding]:
        """Id → item; of one that stands twice the first."""
        found: dict[str, Holding] = {}
        for one in self.holdings:
            if one.item.id:
                found.setdefault(one.item.id, one)
        return found

    @cached_property
    def newest_day(self) -> str:
        """The latest day that any item speaks of, or an empty string."""
        return max((max(one.item.since, one.item.confirmed) for one in self.holdings), default="")

    def named(self, prefix: str, *further: Iterable[str]) -> str:
        """Return the id that begins so, among those that stand, else among `further` ones.

        Raises:
            UnknownItem: there is none, or more than one.
        """
        return named_item(prefix, self.by_id, *further)


def beliefs_of(root: Path) -> Beliefs:
    """Return what a memory holds as it stands."""
    return Beliefs.of(read_documents(root), partial(real_path, root))
