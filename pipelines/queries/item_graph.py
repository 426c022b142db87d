"""The items of a memory with their places, the links between them as a graph, and the export of both.

Links are what their words say: `A because=B` and `B supports=A` both mean that A rests on B, `A part-of=B` that B is
made of A, `A next=B` that B follows on A. No cycle and no chain, however long, makes any of this fail.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pipelines.store.item import LINK_KINDS, Item, Status
from pipelines.store.snapshot import read_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pipelines.store.document import Document

    Edge = tuple[str, str, str]
    """The item that holds a link, its kind, and the item that it names."""
    # Kind of link → how the far end stands to the near one, and whether the near one holds the link.
    Relations = Mapping[str, tuple[str, bool]]


SUPERSEDES: Final = "supersedes"
MERGED: Final = "merged-into"


@dataclass(frozen=True, slots=True)
class Holding:
    """An item with its place.

    Args:
        item: the item.
        path: its document, relative to the memory.
        line: its line, counted from 1.
        section: the title of the section that holds it.
        notes: the lines that a person wrote under it, with their ends.
    """

    item: Item
    path: str
    line: int
    section: str
    notes: tuple[str, ...]

    @property
    def place(self) -> str:
        """Its citation, `PATH:LINE`."""
        return f"{self.path}:{self.line}"

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON, without its evidence."""
        return item_json(self.item, self.path, line=self.line) | {
            "superseded_by": self.item.superseded_by or None,
            "merged_into": self.item.merged_into or None,
        }


def item_json(item: Item, path: str, **more: object) -> dict[str, Any]:
    """Return the JSON fields that every item has; `more` follows its document."""
    return {
        "id": item.id or None,
        "type": item.type,
        "text": item.text,
        "status": item.status,
        "document": path,
        **more,
        "since": item.since or None,
        "until": item.until or None,
        "confirmed": item.confirmed or None,
        "due": item.due or None,
        "trust": item.trust,
        "confidence": item.confidence,
        "reason": item.reason or None,
        "by": item.by or None,
    }


def holdings_in(document: Document) -> Iterator[Holding]:
    """Yield the items of a document, in order of lines."""
    for placed in document.items:
        notes = tuple(document.lines[placed.notes : placed.end])
        yield Holding(placed.item, document.path, placed.line + 1, placed.section, notes)


@dataclass(frozen=True)
class Beliefs:
    """All items of a memory, now or at some time.

    Args:
        holdings: every item, in order of documents and lines, including those without an id.
        documents: path → the document that holds them.
    """

    holdings: tuple[Holding, ...]
    documents: Mapping[str, Document]

    @classmethod
    def of(cls, documents: Mapping[str, Document]) -> Beliefs:
        """Return the items of some documents."""
        return cls(tuple(one for path in sorted(documents) for one in holdings_in(documents[path])), documents)

    @cached_property
    def by_id(self) -> Mapping[str, Holding]:
        """Id → item; if an id occurs twice, the first one."""
        return {one.item.id: one for one in reversed(self.holdings) if one.item.id}

    @cached_property
    def edges(self) -> Sequence[Edge]:
        """All links, each once; a supersession is told by the successor, and a reopened item is not superseded."""
        found: dict[Edge, None] = {}
        for item in (one.item for one in self.holdings if one.item.id):
            links = [(item.id, kind, end) for kind, ends in item.links for end in ends if kind in LINK_KINDS]
            links += [(item.superseded_by, SUPERSEDES, item.id)] if item.superseded_by else []
            links += [(item.id, MERGED, item.merged_into)] if item.merged_into else []
            found |= dict.fromkeys(links)
        held = {one.item.id for one in self.holdings if one.item.active}
        return [edge for edge in found if edge[1] != SUPERSEDES or edge[2] not in held]

    @cached_property
    def outdated(self) -> Mapping[str, tuple[Outdated, ...]]:
        """What no longer holds although something believed rests on it; see `outdated`."""
        return outdated(self)


def beliefs_of(root: Path) -> Beliefs:
    """Return all items of a memory."""
    return Beliefs.of(read_documents(root))


Steps = dict[str, list[tuple[str, str]]]
"""Id → the relations and ids of the items one step away."""

GROUNDS: Final[Relations] = {"because": ("because of", True), "supports": ("supported by", False)}
"""What an item rests on."""
DEPENDENTS: Final[Relations] = {
    "because": ("rests on it", False),
    "supports": ("is supported by it", True),
    "part-of": ("is made of it", True),
    "next": ("follows on it", True),
    SUPERSEDES: ("was superseded by it", True),
}
"""What depends on an item, and would be in doubt without it."""
PREDECESSORS: Final[Relations] = {SUPERSEDES: ("superseded", True), MERGED: ("took in", False)}
"""What an item superseded, or absorbed in a merge."""
SUCCESSORS: Final[Relations] = {SUPERSEDES: ("superseded by", False), MERGED: ("merged into", True)}
"""What replaced an item; several if it was superseded twice."""


def steps_of(beliefs: Beliefs, relations: Relations) -> Steps:
    """Return the steps along some kinds of links, of every item."""
    found: Steps = defaultdict(list)
    for source, kind, target in beliefs.edges:
        if kind in relations:
            relation, forward = relations[kind]
            near, far = (source, target) if forward else (target, source)
            found[near].append((relation, far))
    return found


@dataclass(frozen=True, slots=True)
class Outdated:
    """Something that an item rests on and that no longer holds.

    Args:
        ground: the item that no longer holds.
        successor: what replaced it, or None.
    """

    ground: Item
    successor: Item | None = None

    def __str__(self) -> str:
        """Return it as a sentence about what rests on it, without the subject and the full stop."""
        one, day = self.ground, f" on {self.ground.until}" if self.ground.until else ""
        if one.status is Status.NEVER_HELD:
            return f"rests on {one.id}, which never held: {one.text}"
        if self.successor:
            return f"rests on {one.id}, superseded{day} by {self.successor.id}: {self.successor.text}"
        return f"rests on {one.id}, {one.status}{day}: {one.text}"

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        one = self.ground
        fields = {"id": one.id, "type": one.type, "text": one.text, "status": one.status, "until": one.until or None}
        return fields | {"superseded_by": one.superseded_by or None, "why": str(self)}


_OVER = frozenset({Status.SUPERSEDED, Status.ENDED, Status.NEVER_HELD, Status.RETRACTED})


def outdated(beliefs: Beliefs) -> dict[str, tuple[Outdated, ...]]:
    """Return what no longer holds although something believed rests on it: id of that item → what it rests on.

    A link keeps what was true when it was made: a queue that was built because a limit was 100 does not rest on the
    limit of 1,000 that took its place.
    """
    known, found = beliefs.by_id, dict[str, tuple[Outdated, ...]]()
    for ident, steps in steps_of(beliefs, GROUNDS).items():
        if ident in known and known[ident].item.active:
            named = dict.fromkeys(below for _, below in steps if below in known)
            over = (one for below in named if (one := known[below].item).status in _OVER)
            if here := tuple(Outdated(one, _successor(one, known)) for one in over):
                found[ident] = here
    return found


def _successor(item: Item, known: Mapping[str, Holding]) -> Item | None:
    return known[item.superseded_by].item if item.superseded_by in known else None


class Mark(StrEnum):
    """Why a walk stops at an item."""

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
        relation: its relation to that item, as the start of a phrase: `because of`, `supported by`.
        holding: the item with its place, or None if it no longer exists.
        mark: why the walk stops here, or None: the item closes a cycle, was shown above, or no longer exists.
        outdated: what the item rests on that no longer holds, if it is itself believed.
    """

    id: str
    depth: int
    under: str
    relation: str
    holding: Holding | None
    mark: Mark | None
    outdated: tuple[Outdated, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON, with what the item says."""
        fields = self.holding.to_json() if self.holding else {"id": self.id, "text": None}
        fields |= {"depth": self.depth, "under": self.under, "relation": self.relation, "mark": self.mark}
        return fields | {"outdated_grounds": [one.to_json() for one in self.outdated]}


def walk(
    start: str,
    steps: Steps,
    known: Mapping[str, Holding],
    over: Mapping[str, tuple[Outdated, ...]] = MappingProxyType({}),
) -> list[Step]:
    """Return every item that can be reached, depth first; each is visited once.

    Args:
        start: the id at which the walk starts.
        steps: what is one step away from each item.
        known: the items that exist.
        over: what each item rests on that no longer holds; see `outdated`.
    """
    found: list[Step] = []
    depths, above = {start: 0}, [start]
    waiting = [(ident, 1, start, relation) for relation, ident in reversed(steps.get(start, ()))]
    while waiting:
        ident, depth, under, relation = waiting.pop()
        del above[depth:]
        mark = None if ident in known else Mark.NOWHERE
        if (before := depths.get(ident)) is not None:
            mark = Mark.CYCLE if before < len(above) and above[before] == ident else Mark.AGAIN
        found.append(Step(ident, depth, under, relation, known.get(ident), mark, over.get(ident, ())))
        if before is None:
            depths[ident] = depth
            above.append(ident)
            waiting += [(below, depth + 1, ident, relation) for relation, below in reversed(steps.get(ident, ()))]
    return found
