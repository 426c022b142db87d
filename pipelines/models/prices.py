"""What calls cost: a table of prices as data, and the user's own prices before it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.spending import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    Prices = tuple["Price", ...]

_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in USD per million tokens.

    Args:
        model: a pattern for the names of the models that it is for (`anthropic:claude-haiku-5-5*`).
        input: tokens sent.
        output: tokens received, thinking included.
        cached: tokens sent that came out of the provider's cache; the price of input where it is not told.
        written: tokens sent that were written into it; likewise.
        long_from: the tokens of input above which a call costs more; 0 for never.
        long_input: how many times as much its input costs then.
        long_output: and its output.
        date: the day on which it was looked up.
        source: where.
    """

    model: str
    input: float
    output: float
    cached: float | None = None
    written: float | None = None
    long_from: int = 0
    long_input: float = 1.0
    long_output: float = 1.0
    date: str = ""
    source: str = ""

    def cost(self, usage: Usage) -> float:
        """Return what one call of this usage costs, in USD."""
        is_long = 0 < self.long_from < usage.input_tokens
        plain = max(0, usage.input_tokens - usage.cached_tokens - usage.written_tokens)
        sent = plain * self.input
        sent += usage.cached_tokens * (self.input if self.cached is None else self.cached)
        sent += usage.written_tokens * (self.input if self.written is None else self.written)
        received = usage.output_tokens * self.output
        return (sent * (self.long_input if is_long else 1) + received * (self.long_output if is_long else 1)) / _MILLION

    def worst(self, input_tokens: int, output_tokens: int) -> float:
        """Return the most that a call of so many tokens may cost: everything is written into the cache."""
        usages = (Usage(input_tokens, output_tokens), Usage(input_tokens, output_tokens, 0, input_tokens))
        return max(map(self.cost, usages))


def price_of(model: str, own: Prices = ()) -> Price | None:
    """Return the price of a model, by its name (`anthropic:claude-haiku-5-5`), or None where nobody knows it.

    Args:
        model: provider and model, as `Model.name` has it.
        own: the user's own prices; one of them that fits comes before the table's.
    """
    return _fitting(model, own) or _fitting(model, price_table())


def _fitting(model: str, prices: Iterable[Price]) -> Price | None:
    """Return the price with the longest pattern that fits."""
    return max(
        (price for price in prices if fnmatchcase(model, price.model)), key=lambda price: len(price.model), default=None
    )


@cache
def price_table() -> Prices:
    """Return the prices that come with the package, `prices.toml`."""
    data: dict[str, list[dict[str, Any]]] = tomllib.loads(Path(__file__).with_name("prices.toml").read_text("utf-8"))
    known = {field.name for field in fields(Price)}
    return tuple(Price(**{key: value for key, value in row.items() if key in known}) for row in data["price"])
