"""What goes to a model that reviews candidates and what comes back: one operation a candidate, each checked by code."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.models.extraction import Candidate, DocumentChoice, Failure
    from pipelines.models.shown import Links
    from pipelines.store.item import ItemType, Status
    from pipelines.usage import Spent


class OperationKind(StrEnum):
    """What a model may say of a candidate."""

    ADD = "add"
    DUPLICATE = "duplicate"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    NOISE = "noise"


AGAINST_AN_ITEM = frozenset({OperationKind.DUPLICATE, OperationKind.SUPERSEDE, OperationKind.CONTRADICT})
"""The operations that name an item."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An item of the memory that is near to a candidate, as a model sees it."""

    id: str
    type: ItemType
    status: Status
    since: str
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Posed:
    """A candidate about which a model is asked.

    Args:
        number: by which the answer names it; no other of the night has it.
        candidate: what was found.
        document: the id of the document where it would stand.
        neighbours: the items that the answer may name, the nearest first.
    """

    number: int
    candidate: Candidate
    document: str
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """What a model says of one candidate.

    Args:
        kind: what is to become of it.
        id: the item that it repeats, supersedes or contradicts; empty for the others.
        document: the id of the document where it belongs, or empty where the one it was filed in will do.
        links: kind and id of items that were shown for it.
        unlinked: how many links could not be kept.
    """

    kind: OperationKind
    id: str = ""
    document: str = ""
    links: Links = ()
    unlinked: int = 0


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """The candidates of a night about which a model is asked.

    Args:
        posed: the candidates, each with its neighbours.
        documents: the closed list of documents.
        check: returns the rule that an operation on a candidate breaks, as a sentence for the model, or nothing.
    """

    posed: tuple[Posed, ...]
    documents: tuple[DocumentChoice, ...]
    check: Callable[[Posed, Operation], str]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What came back.

    Args:
        operations: number of a candidate → its operation; what is missing is judged without a model.
        broken: how many candidates have none because the answers about them broke a rule twice.
        spent: what each model was used for.
        failures: how often calls failed in which way.
        replies: the keys of the kept replies that it rests on.
        failure: why candidates could not be asked about, a sentence each, or empty.
    """

    operations: Mapping[int, Operation] = field(default_factory=dict)
    broken: int = 0
    spent: tuple[Spent, ...] = ()
    failures: tuple[Failure, ...] = ()
    replies: tuple[str, ...] = ()
    failure: str = ""


class Reviewer(Protocol):
    """Who is asked what becomes of the candidates."""

    def review(self, request: ReviewRequest) -> Reviewed:
        """Return one operation for each candidate, as far as usable ones came; it never fails."""
