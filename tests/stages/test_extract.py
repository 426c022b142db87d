"""Which days stay pending when a model fails, and what of the failed ones is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines.errors import FailureKind as Kind
from pipelines.errors import ModelFailed
from pipelines.memory.entries import Entry
from pipelines.models.calling import Spent, Tally, Usage
from pipelines.models.extraction import Extraction, Failure
from pipelines.stages.extract import DayToRead, extract

if TYPE_CHECKING:
    from pipelines.models.extraction import ExtractionRequest
    from pipelines.stages.extract import Extracted

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
            return Extraction((), (Spent("a:1", 1, Usage(10, 1)),), (Failure("b", Kind.DOWN),), ("k",), dropped=2)
        fault = ModelFailed("a", f"was {self.kind}", self.kind)
        fault.tally = Tally([Spent("a:1", 1, Usage(5, 1))])
        fault.tally.failed(fault)
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
    assert found.spent == (Spent("a:1", 4, Usage(35, 4)),)
    assert found.failures == (Failure("a", kind), Failure("b", Kind.DOWN, 3))
    assert (found.replies, found.ungrounded) == (("k",) * 3, 6)


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
    assert found.spent == (Spent("a:1", 2, Usage(15, 2)),)


def test_every_kind_is_one_or_the_other() -> None:
    assert not [kind for kind in Kind if kind.concerns_provider and kind.concerns_content]
