"""The caps of a night hold whatever failures, dead runs and the clock do."""

import threading

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.llm.budget import Budget, Cost
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.provider_settings import Price
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Usage
from pipelines.user_settings import CostCaps
from tests.extract.fakes import Scripted

CALL = Call("extract", "extract", 2, "s", "u", {})
PRICE = Price("a:1", input=10_000.0, output=100_000.0)  # a cent a token of input, ten cents a token of output
NONE = Cost()


def budget(**caps: float) -> Budget:
    return Budget(CostCaps(**caps), NONE)  # type: ignore[arg-type]  # whole numbers where they must be


def kinds(model: Scripted, caps: Budget, count: int) -> list[Kind | None]:
    found: list[Kind | None] = []
    for _ in range(count):
        try:
            caps.ask(model, CALL, PRICE)
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
    said = ModelAnswer("yes", "a:1")
    model.ask = lambda _: said  # type: ignore[method-assign,assignment]  # an answer without usage
    caps.ask(model, CALL, PRICE)
    assert caps.spent.tokens == spent


# ---------------------------------------------------------------- time


def test_nothing_is_begun_after_the_end_of_the_night() -> None:
    now = [0.0]
    caps = Budget(CostCaps(max_minutes=10), NONE, lambda: now[0])
    model = Scripted("a:1", ["yes"])
    assert kinds(model, caps, 1) == [None]
    now[0] = 600.0
    with pytest.raises(ModelFailed, match="the night's max_minutes = 10 are over"):
        caps.ask(model, CALL, PRICE)


def test_what_is_under_way_at_the_end_is_left_and_counts_as_its_most() -> None:
    held, caps = threading.Event(), budget(max_minutes=0.0005)

    def answer(_: Call) -> str:
        held.wait(30)
        return "late"

    with pytest.raises(ModelFailed) as caught:
        caps.ask(Scripted("a:1", answers=answer), CALL, None)
    held.set()
    assert caught.value.kind is Kind.OVER_BUDGET
    assert caps.spent == Cost(1002)


def test_what_earlier_runs_of_the_day_spent_counts() -> None:
    caps = Budget(CostCaps(max_tokens=500), Cost(400, 0.75))
    with pytest.raises(ModelFailed, match="400 of max_tokens = 500 is spent"):
        caps.hold("a", Cost(200))
