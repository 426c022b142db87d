"""What calls cost: the table that comes with the package, and the arithmetic."""

import pytest

from pipelines.provider_settings import DEFAULT_MODELS, OWN_MODEL
from pipelines.usage import Price, Usage, price_of, price_table, usd_of


def test_the_table_is_whole_and_knows_every_default() -> None:
    for price in price_table():
        assert 0 <= price.input <= price.output, price.model
        assert price.written is None or price.written >= price.input, "a budget takes it for the worst case"
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


def test_an_unknown_model_has_no_price_but_that_which_its_program_says() -> None:
    assert price_of("openai:qwen3:8b") is None
    assert usd_of("openai:qwen3:8b", Usage(100)) is None
    assert usd_of("codex:default", Usage(100, usd=0.5)) == pytest.approx(0.5)


def test_each_kind_of_token_has_its_price() -> None:
    price = Price("x", input=1.0, output=10.0, cached=0.1, written=2.0)
    assert price.cost(Usage(1_000_000)) == pytest.approx(1.0)
    assert price.cost(Usage(1_000_000, 0, 600_000, 300_000)) == pytest.approx(0.1 + 0.06 + 0.6)
    assert price.cost(Usage(0, 200_000)) == pytest.approx(2.0)
    assert Price("x", 1.0, 10.0).cost(Usage(1_000_000, 0, 600_000)) == pytest.approx(1.0), "as input where not told"
