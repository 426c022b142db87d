"""What a night would cost: its calls are made up as the night would make them, counted, and not made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.models.extraction import Extraction
from pipelines.models.pieces import BYTES_A_TOKEN
from pipelines.provider_settings import price_of
from pipelines.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.models.calling import Call, Model
    from pipelines.models.extraction import ExtractionRequest
    from pipelines.models.reading import ModelExtractor
    from pipelines.models.replies import Replies
    from pipelines.provider_settings import Prices

USUAL_OUTPUT: Final = 700
"""The tokens of a usual reply: two to five items of some 150 tokens each. What a model thinks comes on top."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the calls of a night would come to with one model, if it answered all of them.

    Args:
        model: who.
        calls: how many calls are to be paid; one that was answered before is free.
        input_tokens: what they send, at four bytes a token.
        output_tokens: what usual replies hold.
        usd: what that costs, or None where the price is not known.
        most_usd: what it would cost if every reply were as long as is allowed.
    """

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    most_usd: float | None


class Counting:
    """An extractor that makes up the calls of each day, and makes none of them."""

    def __init__(self, reader: ModelExtractor) -> None:
        self.name, self._reader = reader.name, reader
        self.calls: list[Call] = []
        self.days = 0

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Note the calls of a day, and find nothing in it."""
        self.days += 1
        self.calls += self._reader.calls(request)
        return Extraction(())


def unanswered(calls: Sequence[Call], models: Sequence[Model], replies: Replies) -> list[Call]:
    """Return the calls to which no model's reply is kept."""
    return [call for call in calls if not any(replies.find(model, call) for model in models)]


def estimate(calls: Sequence[Call], model: Model, own: Prices) -> Estimate:
    """Return what these calls would come to with one model.

    Args:
        calls: the calls that are to be paid.
        model: who would answer them.
        own: the user's own prices.
    """
    price = price_of(model.name, own)
    sent = [-(-call.bytes // BYTES_A_TOKEN) for call in calls]
    usual = min(USUAL_OUTPUT, model.output_tokens)
    return Estimate(
        model.name,
        len(calls),
        sum(sent),
        usual * len(calls),
        sum(price.cost(Usage(tokens, usual)) for tokens in sent) if price else None,
        sum(price.worst(tokens, model.output_tokens) for tokens in sent) if price else None,
    )
