"""What calls cost, by the table in `prices.toml`: data with a date and a source, for estimates and not for bills."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

TABLE: Final = Path(__file__).with_name("prices.toml")
_MILLION: Final = 1_000_000
_VERSION = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview[\w.-]*)$")


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs.

    Args:
        model: its name.
        input: US dollars for a million tokens sent, or None where that is not known.
        output: likewise for tokens received, thinking included.
        checked: the day on which the source said so, `YYYY-MM-DD`.
        source: the address of the price page.
    """

    model: str
    input: float | None
    output: float | None
    checked: str
    source: str

    def usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return what so many tokens cost, or None where a price that is needed is not known."""
        total = 0.0
        for tokens, price in ((input_tokens, self.input), (output_tokens, self.output)):
            if tokens and price is None:
                return None
            total += tokens * (price or 0.0) / _MILLION
        return total


@cache
def prices() -> dict[str, Price]:
    """Return the table, by the name of the model."""
    told: dict[str, Any] = tomllib.loads(TABLE.read_text("utf-8"))
    return {
        model: Price(model, one.get("input"), one.get("output"), f"{group['checked']}", group["source"])
        for group in told.values()
        for model, one in group["models"].items()
    }


def price_of(name: str) -> Price | None:
    """Return the price of a model, or None where the table does not have it.

    Args:
        name: the model, bare or as an item's `by` records it (`anthropic:claude-haiku-5-5@extract/1`).
    """
    model = name.partition(":")[2] if ":" in name else name
    model = model.partition("@")[0]
    return prices().get(model) or prices().get(_VERSION.sub("", model))
