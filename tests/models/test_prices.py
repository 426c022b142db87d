"""The price table: every line has a date and a source, and what is not known is not made up."""

from __future__ import annotations

from datetime import date

import pytest

from pipelines.models.prices import price_of, prices
from pipelines.models.settings import DEFAULT_MODELS


def test_every_price_says_when_and_where() -> None:
    assert set(DEFAULT_MODELS.values()) <= prices().keys()
    for price in prices().values():
        date.fromisoformat(price.checked)
        assert price.source.startswith("https://")
        assert all(figure is None or 0 < figure < 1000 for figure in (price.input, price.output))


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("claude-haiku-5-5", "claude-haiku-5-5"),
        ("anthropic:claude-haiku-5-5@extract/1", "claude-haiku-5-5"),
        ("anthropic:claude-haiku-4-5-20251001@extract/1", "claude-haiku-4-5"),
        ("gemini:gemini-2.5-flash-lite@extract/2", "gemini-2.5-flash-lite"),
        ("openai:llama3@extract/1", None),
        ("rules@1", None),
        ("", None),
    ],
)
def test_a_model_is_found_by_every_way_it_is_named(name: str, model: str | None) -> None:
    price = price_of(name)
    assert (price.model if price else None) == model


def test_tokens_become_dollars() -> None:
    price = price_of("claude-haiku-5-5")
    assert price is not None
    assert price.usd(2_000_000, 1_000_000) == pytest.approx(0.70)
    half_known = price_of("gemini-3.8-flash")
    assert half_known is not None
    assert half_known.usd(1_000_000, 0) == pytest.approx(0.75)
    assert half_known.usd(1_000_000, 1) is None
