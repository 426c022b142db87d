"""The tables `[limits]` and `[prices]` of the user's settings. Importing this brings in pydantic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from pipelines.models.caps import Caps
from pipelines.models.prices import Price, price_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.models.prices import Prices

Usd = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]


class LimitsTable(BaseModel):
    """The caps of a night."""

    model_config = ConfigDict(extra="forbid", strict=True)

    max_usd: Usd | None = None
    max_tokens: Annotated[int, Field(ge=1, le=10**12)] | None = None
    max_minutes: Annotated[float, Field(gt=0, le=1440)] | None = None

    def caps(self) -> Caps:
        """Return them."""
        return Caps(self.max_usd, self.max_tokens, self.max_minutes)


class PriceTable(BaseModel):
    """The price of a model, in USD per million tokens."""

    model_config = ConfigDict(extra="forbid", strict=True)

    input: Usd
    output: Usd
    cached: Usd | None = None
    written: Usd | None = None


def prices(tables: Mapping[str, PriceTable]) -> Prices:
    """Return the user's own prices; each table is named by a pattern for models (`openai:qwen3*`)."""
    return tuple(
        Price(pattern, one.input, one.output, one.cached, one.written, source="the user's settings")
        for pattern, one in tables.items()
    )


def lack_of_price(model: str, caps: Caps, own: Prices) -> str:
    """Return what is wrong with asking a model under these caps, or an empty string: what is capped must be known."""
    if caps.max_usd is None or price_of(model, own):
        return ""
    return f'the price of {model} is not known, and limits.max_usd is set; name it in a table [prices."{model}"]'
