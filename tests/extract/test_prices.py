"""What calls cost: the table that comes with the package, the user's own prices, and the arithmetic."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from pipelines.cli.output import dollars
from pipelines.provider_settings import DEFAULT_MODELS, OWN_MODEL, Price, price_of, price_table
from pipelines.usage import Spent, Tally, Usage
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_the_table_is_whole_and_knows_every_default() -> None:
    for price in price_table():
        assert 0 <= price.input <= price.output, price.model
        assert date.fromisoformat(price.date) <= date(2026, 12, 31)
        assert price.source, price.model
    assert len({price.model for price in price_table()}) == len(price_table())
    for provider, model in DEFAULT_MODELS.items():
        assert price_of(f"{provider}:{model}") or model == OWN_MODEL, model


@pytest.mark.parametrize(
    ("model", "pattern"),
    [
        ("anthropic:claude-sonnet-5-5", "anthropic:claude-sonnet-5-5*"),
        ("anthropic:claude-sonnet-5", "anthropic:claude-sonnet-5*"),
        ("gemini:gemini-2.5-flash-lite", "gemini:gemini-2.5-flash-lite*"),
        ("anthropic:claude-haiku-4-5-20251001", "anthropic:claude-haiku-4-5*"),
        ("exec:ask-me.py", "exec:*"),
    ],
)
def test_the_longest_pattern_counts(model: str, pattern: str) -> None:
    found = price_of(model)
    assert found
    assert found.model == pattern


def test_an_unknown_model_has_no_price_unless_the_user_names_one() -> None:
    assert price_of("openai:qwen3:8b") is None
    own = (Price("openai:*", 0.0, 0.0), Price("anthropic:*", 9.0, 9.0))
    assert price_of("openai:qwen3:8b", own) == own[0]
    assert price_of("anthropic:claude-haiku-5-5", own) == own[1], "the user's own comes first"


def test_each_kind_of_token_has_its_price() -> None:
    price = Price("x", input=1.0, output=10.0, cached=0.1, written=2.0)
    assert price.cost(Usage(1_000_000)) == pytest.approx(1.0)
    assert price.cost(Usage(1_000_000, 0, 600_000, 300_000)) == pytest.approx(0.1 + 0.06 + 0.6)
    assert price.cost(Usage(0, 200_000)) == pytest.approx(2.0)
    assert Price("x", 1.0, 10.0).cost(Usage(1_000_000, 0, 600_000)) == pytest.approx(1.0), "as input where not told"
    assert price.worst(1_000_000, 100_000) == pytest.approx(3.0)


def test_long_prompts_may_cost_more_all_of_them() -> None:
    price = price_of("anthropic:claude-haiku-5-5")
    assert price
    assert price.cost(Usage(100_000, 1000)) == pytest.approx(0.01 + 0.0005)
    assert price.cost(Usage(200_000, 1000)) == pytest.approx(0.1 + 0.0025)


def test_a_tally_counts_each_call_at_its_own_price() -> None:
    price = price_of("anthropic:claude-haiku-5-5")
    assert price
    tally = Tally(cost=lambda model, usage: price.cost(usage) if model == "a" else None)
    for _ in range(2):
        tally.paid("a", Usage(60_000))
    tally.paid("b", Usage(1))
    assert sum(one.usd or 0 for one in tally.spent) == pytest.approx(0.012), "two short prompts, not a long one"
    assert (Spent("b") + Spent("b")).usd is None
    assert (Spent("a", usd=1.0) + Spent("a")).usd == 1.0


@pytest.mark.parametrize(
    ("usd", "told"), [(0, "$0.00"), (0.0000282, "$0.000028"), (0.0123, "$0.012"), (0.5, "$0.50"), (1234.5, "$1,234.50")]
)
def test_money_is_told_with_what_tells_something(usd: float, told: str) -> None:
    assert dollars(usd) == told


def test_the_users_prices_and_caps(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[limits]\nmax_usd = 0.5\nmax_minutes = 30\n[prices."openai:*"]\ninput = 0\noutput = 0.25\n')
    user = load_user_settings({"CURATE_CONFIG": str(file)})
    assert (user.caps.max_usd, user.caps.max_tokens, user.caps.max_minutes) == (0.5, None, 30)
    assert user.prices == (Price("openai:*", 0, 0.25, source="the user's settings"),)
