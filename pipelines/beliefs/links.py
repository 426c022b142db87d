"""The links between items as a graph: what an item rests on, what rests on it, and what took whose place.

Links are what their words say: `A because=B` and `B supports=A` both mean that A rests on B, `A part-of=B` that B is
made of A, `A next=B` that B follows on A. No cycle and no chain, however long, makes any of this fail.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from pipelines.store.item import LINK_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipelines.beliefs.holdings import Beliefs, Holding

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
