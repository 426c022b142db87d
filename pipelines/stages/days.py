"""A day that a night is to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.store.log import Entry


@dataclass(frozen=True, slots=True)
class DayToRead:
    """One log with something to read in it.

    Args:
        path: the log.
        day: its day.
        file: the hash of its bytes.
        entries: all of its entries.
        fresh: those that no run has read.
        again: those that only the rules read, and that a model is to read.
    """

    path: str
    day: str
    file: str
    entries: tuple[Entry, ...]
    fresh: tuple[Entry, ...]
    again: tuple[Entry, ...] = ()

    @property
    def asked(self) -> tuple[Entry, ...]:
        """What is to be read, in the order of the log."""
        return tuple(sorted((*self.fresh, *self.again), key=lambda entry: entry.start_line))
