"""The caps of a night hold whatever failures and dead runs do."""

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.llm.budget import Budget
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Price, Usage
from pipelines.user_settings import CostCaps
from tests.extract.fakes import Scripted

CALL = Call("extract", "extract", 2, "s", "u", {})
PRICE = Price("a:1", input=10_000.0, output=100_000.0)  # a cent a token of input, ten cents a token of output


@pytest.fixture(autouse=True)
def _prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.usage.price_of", lambda _: PRICE)


def budget(**caps: float) -> Budget:
    return Budget(CostCaps(**caps), Usage())  # type: ignore[arg-type]  # whole numbers where they must be


def kinds(model: Scripted, caps: Budget, count: int) -> list[Kind | None]:
    found: list[Kind | None] = []
    for _ in range(count):
        try:
            caps.ask(model, CALL)
            found.append(None)
        except ModelFailed as fault:
            found.append(fault.kind)
    return found


def test_what_is_spent_is_what_calls_really_cost() -> None:
    # Each call may cost 2 bytes of text and 2 of schema as 2 tokens, and 10 of output: 12; and costs 110.
    model = Scripted("a:1", ["yes"], output_tokens=10)
    assert kinds(model, budget(max_tokens=230), 3) == [None, None, Kind.OVER_BUDGET]
    dear = budget(max_usd=3.0)
    assert kinds(model, dear, 3) == [None, Kind.OVER_BUDGET, Kind.OVER_BUDGET], (
        "$2 a call, and $1.02 at the most before it"
    )


@pytest.mark.parametrize(
    ("kind", "usage", "spent"),
    [
        (Kind.UNUSABLE, Usage(100, 10), 110),
        (Kind.UNAUTHORISED, None, 0),
        (Kind.DOWN, None, 0),
        (Kind.TIMED_OUT, None, 12),
    ],
)
def test_failed_calls_count_too(kind: Kind, usage: Usage | None, spent: int) -> None:
    fault = ModelFailed("a", "failed", kind, usage=usage)
    caps = budget(max_tokens=10_000)
    assert kinds(Scripted("a:1", [fault], output_tokens=10), caps, 1) == [kind]
    assert caps.spent.tokens == spent


@pytest.mark.parametrize(("longest", "spent"), [(10, 12), (0, 0)])
def test_who_tells_no_tokens_counts_as_its_most_unless_it_has_none(longest: int, spent: int) -> None:
    model, caps = Scripted("a:1", ["yes"], output_tokens=longest), budget(max_tokens=10_000)
    said = ModelAnswer("yes")
    model.ask = lambda _: said  # type: ignore[method-assign,assignment]  # an answer without usage
    caps.ask(model, CALL)
    assert caps.spent.tokens == spent


def test_what_earlier_runs_of_the_day_spent_counts() -> None:
    caps = Budget(CostCaps(max_tokens=500), Usage(300, 100, usd=0.75))
    with pytest.raises(ModelFailed, match="400 of max_tokens = 500 is spent"):
        caps.ask(Scripted("a:1", ["yes"], output_tokens=200), CALL)
