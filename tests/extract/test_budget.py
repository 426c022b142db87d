"""The caps of a night hold whatever failures, dead runs and the clock do."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.llm.budget import Budget, BudgetedModel, Cost, Ledger
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.provider_settings import Price
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Usage
from pipelines.user_settings import CostCaps
from tests.extract.fakes import Scripted

if TYPE_CHECKING:
    from pathlib import Path

CALL = Call("extract", "extract", 2, "s", "u", {})
PRICE = Price("a:1", input=10_000.0, output=100_000.0)  # a cent a token of input, ten cents a token of output
NONE = Ledger(None, "2026-03-20")


def budget(**caps: float) -> Budget:
    return Budget(CostCaps(**caps), NONE)  # type: ignore[arg-type]  # whole numbers where they must be


def kinds(model: BudgetedModel, count: int) -> list[Kind | None]:
    found: list[Kind | None] = []
    for _ in range(count):
        try:
            model.ask(CALL)
            found.append(None)
        except ModelFailed as fault:
            found.append(fault.kind)
    return found


def test_what_is_spent_is_what_calls_really_cost() -> None:
    # Each call may cost 2 bytes of text and 2 of schema as 2 tokens, and 10 of output: 12; and costs 110.
    model = BudgetedModel(Scripted("a:1", ["yes"], output_tokens=10), budget(max_tokens=230), PRICE)
    assert kinds(model, 3) == [None, None, Kind.OVER_BUDGET]
    dear = BudgetedModel(Scripted("a:1", ["yes"], output_tokens=10), budget(max_usd=3.0), PRICE)
    assert kinds(dear, 3) == [None, Kind.OVER_BUDGET, Kind.OVER_BUDGET], "$2 a call, and $1.02 at the most before it"


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
    kept = Noted()
    model = BudgetedModel(Scripted("a:1", [fault], output_tokens=10), Budget(CostCaps(max_tokens=10_000), kept), PRICE)
    assert kinds(model, 1) == [kind]
    assert kept.noted[-1].tokens == spent


@pytest.mark.parametrize(("longest", "spent"), [(10, 12), (0, 0)])
def test_who_tells_no_tokens_counts_as_its_most_unless_it_has_none(longest: int, spent: int) -> None:
    kept = Noted()
    model = Scripted("a:1", ["yes"], output_tokens=longest)
    said = ModelAnswer("yes", "a:1")
    model.ask = lambda _: said  # type: ignore[method-assign,assignment]  # an answer without usage
    BudgetedModel(model, Budget(CostCaps(max_tokens=10_000), kept), PRICE).ask(CALL)
    assert kept.noted[-1].tokens == spent


class Noted(Ledger):
    """A ledger that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__(None, "2026-03-20")
        self.noted: list[Cost] = []

    def note(self, call: str, cost: Cost) -> None:  # noqa: ARG002  the base class's name
        self.noted.append(cost)


# ---------------------------------------------------------------- time


def test_nothing_is_begun_after_the_end_of_the_night() -> None:
    now = [0.0]
    caps = Budget(CostCaps(max_minutes=10), NONE, lambda: now[0])
    model = BudgetedModel(Scripted("a:1", ["yes"]), caps, PRICE)
    assert kinds(model, 1) == [None]
    now[0] = 600.0
    with pytest.raises(ModelFailed, match="the night's max_minutes = 10 are over"):
        model.ask(CALL)


def test_what_is_under_way_at_the_end_is_left_and_counts_as_its_most() -> None:
    held, kept = threading.Event(), Noted()

    def answer(_: Call) -> str:
        held.wait(30)
        return "late"

    model = BudgetedModel(Scripted("a:1", answers=answer), Budget(CostCaps(max_minutes=0.0005), kept), None)
    with pytest.raises(ModelFailed) as caught:
        model.ask(CALL)
    held.set()
    assert caught.value.kind is Kind.OVER_BUDGET
    assert kept.noted == [Cost(1002), Cost(1002)]


# ---------------------------------------------------------------- over runs


def test_runs_of_one_day_share_the_caps_and_a_dead_one_counts_as_its_most(tmp_path: Path) -> None:
    file = tmp_path / ".curate" / "ledger.jsonl"
    first = Budget(CostCaps(max_tokens=500), Ledger(file, "2026-03-20"))
    first.settle(first.hold("a", Cost(200, 0.5)), Cost(100, 0.25))
    first.hold("a", Cost(300, 0.5))  # and the run died
    assert Ledger(file, "2026-03-20").total() == Cost(400, 0.75)
    second = Budget(CostCaps(max_tokens=500), Ledger(file, "2026-03-20"))
    with pytest.raises(ModelFailed, match="400 of max_tokens = 500 is spent"):
        second.hold("a", Cost(200))
    assert file.stat().st_mode & 0o777 == 0o600
    third = Ledger(file, "2026-03-21")
    assert third.total() == Cost()
    assert Ledger(file, "2026-03-20").total() == Cost(400, 0.75), "who only looks changes nothing"
    third.note("x", Cost(1))
    third.note("y", Cost(2))
    assert (Ledger(file, "2026-03-21").total(), len(file.read_text().splitlines())) == (Cost(3), 2)


def test_a_ledger_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    row = json.dumps({"day": "2026-03-20", "call": "x", "tokens": 7, "usd": 0.0})
    file.write_bytes(b"\xff\n[]\n{}\n" + row.encode() + b"\n" + row.encode()[:20])
    assert Ledger(file, "2026-03-20").total() == Cost(7)
    (tmp_path / "elsewhere").write_text("")
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    Ledger(file, "2026-03-20").note("x", Cost(1))
    assert (tmp_path / "elsewhere").read_text() == ""
