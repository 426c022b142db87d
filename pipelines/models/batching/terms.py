"""What the sending and the collecting of batches go by."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.models.budget import Cost
from pipelines.models.capped import WORST_BYTES_A_TOKEN
from pipelines.models.patience import Patience
from pipelines.models.prices import price_of

if TYPE_CHECKING:
    from pipelines.models.batching.notes import Note
    from pipelines.models.budget import Budget
    from pipelines.models.calling import Call
    from pipelines.models.prices import Prices
    from pipelines.spending import Usage

HOURS: Final = 24.0
"""A batch that has not ended after so many hours is given up; Anthropic gives up at that time, too."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a run.

    Args:
        now: its moment.
        day: the memory's day.
        hours: how long a batch is waited for.
        prices: the user's own prices.
        budget: what is left of the night, or None for no end.
        patience: how a batch that was refused is sent again.
    """

    now: datetime
    day: str
    hours: float = HOURS
    prices: Prices = ()
    budget: Budget | None = None
    patience: Patience = field(default_factory=Patience)

    def is_overdue(self, note: Note, times: int = 1) -> bool:
        """Whether a batch was sent longer ago than `times` the hours for which one is waited for."""
        return self.now - datetime.fromisoformat(note.at) >= timedelta(hours=self.hours * times)

    def usd(self, name: str, usage: Usage) -> float | None:
        """Return what a call in a batch costs, in USD, or None where the price is not known."""
        price = price_of(name, self.prices)
        return price.cost(usage) * price.batch if price else None

    def worst(self, name: str, call: Call, output_tokens: int) -> Cost:
        """Return the most that a call in a batch may cost."""
        sent = -(-call.bytes // WORST_BYTES_A_TOKEN)
        received = call.max_output_tokens or output_tokens
        price = price_of(name, self.prices)
        return Cost(sent + received, price.worst(sent, received) * price.batch if price else 0.0)
