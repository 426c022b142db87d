"""Which days stay pending when a model fails, and what of the failed ones is counted."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.errors import ModelFailed
from pipelines.extract.extract_days import DayToRead, extract
from pipelines.extract.extraction import Extraction
from pipelines.store.log import Entry
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Spent, Tally, Usage

if TYPE_CHECKING:
    from pipelines.extract.extract_days import Extracted
    from pipelines.extract.extraction import ExtractionRequest

DAYS = [
    DayToRead(f"Logs/2026-03-1{n}.md", f"2026-03-1{n}", "0", (entry,), (entry,))
    for n in range(1, 5)
    for entry in [Entry(f"Logs/2026-03-1{n}.md", 1, 1, "- x", day=f"2026-03-1{n}")]
]


class Failing:
    """Fails on the second day, in one way."""

    name = "test"

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def extract(self, request: ExtractionRequest) -> Extraction:
        if request.day != "2026-03-12":
            tally = Tally([Spent("a:1", 1, Usage(10, 1))], Counter({("b", Kind.DOWN): 1}), ["k"])
            return Extraction((), tally=tally, dropped=2)
        fault = ModelFailed("a", f"was {self.kind}", self.kind)
        fault.tally = Tally([Spent("a:1", 1, Usage(5, 1))])
        fault.tally.failed(fault.provider, fault.kind)
        raise fault


def extracted(kind: Kind) -> tuple[Extracted, list[int]]:
    told: list[int] = []
    return extract(DAYS, Failing(kind), (), told.append), told


def days(found: tuple[DayToRead, ...]) -> list[str]:
    return [day.day[-2:] for day in found]


@pytest.mark.parametrize(
    "kind",
    [
        Kind.REFUSED, Kind.BLOCKED, Kind.TOO_LONG, Kind.OUTSIDE_SCHEMA, Kind.TRUNCATED, Kind.EMPTY, Kind.BAD_REQUEST,
        Kind.TIMED_OUT, Kind.CUT_OFF, Kind.FAILED,
    ],
)  # fmt: skip
def test_what_may_be_the_days_own_leaves_that_day_pending(kind: Kind) -> None:
    found, told = extracted(kind)
    assert (days(found.read), days(found.pending)) == (["11", "13", "14"], ["12"])
    assert told == [1, 2, 3, 4]
    assert found.failure == f"a was {kind}."
    assert found.tally.by_model == (Spent("a:1", 4, Usage(35, 4)),)
    assert found.tally.failures == {("a", kind): 1, ("b", Kind.DOWN): 3}
    assert (found.tally.replies, found.ungrounded) == (["k"] * 3, 6)


@pytest.mark.parametrize(
    "kind",
    [
        Kind.DOWN, Kind.RATE_LIMITED, Kind.OVER_QUOTA, Kind.UNAUTHORISED, Kind.UNKNOWN_MODEL, Kind.GARBLED,
        Kind.NOT_ASKED,
    ],
)  # fmt: skip
def test_what_is_the_providers_leaves_the_later_days_pending_too(kind: Kind) -> None:
    found, told = extracted(kind)
    assert (days(found.read), days(found.pending)) == (["11"], ["12", "13", "14"])
    assert told == [1]
    assert found.tally.by_model == (Spent("a:1", 2, Usage(15, 2)),)


class Reversed:
    """Answers days at the same time, each window of four from its last to its first; fails as it was told."""

    name = "test"

    def __init__(self, failing: dict[str, Kind], at_once: int) -> None:
        self.failing, self.at_once = failing, at_once
        self.days = [day.day for day in MANY]
        self.ended = [threading.Event() for _ in MANY]

    def extract(self, request: ExtractionRequest) -> Extraction:
        number = self.days.index(request.day)
        if (number + 1) % self.at_once and number + 1 < len(self.days):
            assert self.ended[number + 1].wait(30)
        kind = self.failing.get(request.day)
        for event in self.ended if kind and kind.concerns_provider else [self.ended[number]]:
            event.set()
        if kind:
            raise ModelFailed("a", f"was {kind} on {request.day}", kind)
        return Extraction((), tally=Tally([Spent("a:1", 1)], replies=[request.day]), notes=("read",))


MANY = [
    DayToRead(f"Logs/2026-04-{n:02}.md", f"2026-04-{n:02}", "0", (entry,), (entry,))
    for n in range(1, 13)
    for entry in [Entry(f"Logs/2026-04-{n:02}.md", 1, 1, "- x", day=f"2026-04-{n:02}")]
]


@given(
    st.dictionaries(st.sampled_from([day.day for day in MANY]), st.sampled_from([*Kind]), max_size=4),
    st.sampled_from([2, 3, 4, 12]),
)
@settings(deadline=None)
def test_the_outcome_does_not_hang_on_the_order_in_which_days_end(failing: dict[str, Kind], at_once: int) -> None:
    one_by_one = extract(MANY, Reversed(failing, 1), (), lambda _: None)
    told: list[int] = []
    at_the_same_time = extract(MANY, Reversed(failing, at_once), (), told.append, at_once)
    calls = at_the_same_time.tally.calls
    at_the_same_time.tally.spent = one_by_one.tally.spent
    assert at_the_same_time == one_by_one
    assert told == list(range(1, len(told) + 1))
    assert calls >= len(one_by_one.tally.replies)


def test_what_was_paid_for_days_that_a_failure_overtook_is_counted() -> None:
    found = extract(MANY, Reversed({"2026-04-01": Kind.DOWN}, 4), (), lambda _: None, 4)
    assert (found.read, found.tally.replies, len(found.pending)) == ((), [], 12)
    assert found.tally.spent[0].calls >= 1


def test_every_kind_is_one_or_the_other() -> None:
    assert not [kind for kind in Kind if kind.concerns_provider and kind.concerns_content]
