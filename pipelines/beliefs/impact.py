"""What rests on an item: all that would come into question with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.beliefs.holdings import beliefs_of
from pipelines.beliefs.links import dependents, walk
from pipelines.beliefs.why import named_standing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipelines.beliefs.holdings import Holding
    from pipelines.beliefs.links import Step


@dataclass(frozen=True, slots=True)
class Impact:
    """What rests on an item.

    Args:
        holding: the item.
        steps: what rests on it, what rests on that, and what it took the place of; each is gone through once.
        known: the items that those name, by id.
    """

    holding: Holding
    steps: tuple[Step, ...]
    known: Mapping[str, Holding]

    @property
    def count(self) -> int:
        """How many items those are."""
        return len({step.id for step in self.steps} - {self.holding.item.id})

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return self.holding.to_json() | {
            "count": self.count,
            "impact": [step.to_json(self.known) for step in self.steps],
        }


def impact(root: Path, prefix: str) -> Impact:
    """Return what rests on the item whose id begins so.

    Raises:
        UnknownItem: none, or more than one, has an id that begins so, or it was deleted; the sentence says which.
    """
    beliefs = beliefs_of(root)
    ident = named_standing(root, beliefs, prefix)
    return Impact(beliefs.by_id[ident], tuple(walk(ident, dependents(beliefs), beliefs.by_id)), beliefs.by_id)
