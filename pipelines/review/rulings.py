"""What a night's review decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pipelines.extract.extraction import Candidate, Operation, OperationKind
from pipelines.store.item import Trust


@dataclass(frozen=True, slots=True)
class Ruling:
    """One operation of a night, ready to apply.

    Args:
        operation: what to do; its ids are those of items, or temporary ones of this run's candidates.
        candidate: the candidate it is about, which becomes an item if it is added, supersedes or updates; None if a log
            line only speaks of existing items.
        document: the candidate's document, or empty.
        trust: whose word it is.
        asks: why a person decides instead of the run, or empty. If set, the run only asks.
    """

    operation: Operation
    candidate: Candidate | None = None
    document: str = ""
    trust: Trust = Trust.SELF
    asks: str = ""

    @property
    def kind(self) -> OperationKind:
        """The kind of operation."""
        return self.operation.kind

    @property
    def day(self) -> str:
        """The day it takes effect."""
        return self.candidate.day if self.candidate else self.operation.day

    @property
    def told(self) -> str:
        """The day of the log it is from."""
        return self.candidate.entry.day if self.candidate else self.operation.day

    @property
    def makes_item(self) -> bool:
        """Whether its candidate becomes an item."""
        return self.candidate is not None and self.kind in MAKING


MAKING: Final = frozenset({OperationKind.ADD, OperationKind.SUPERSEDE, OperationKind.UPDATE})
REMOVING: Final = frozenset({
    OperationKind.SUPERSEDE, OperationKind.UPDATE, OperationKind.CLOSE, OperationKind.RETRACT,
})  # fmt: skip
"""Operations that end an active item."""
ASKED: Final = "questions"
"""The section of open questions. A question contradicts and repeats nothing but another question."""
