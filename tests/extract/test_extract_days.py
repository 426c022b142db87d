"""Which days stay pending when a model fails, and what of the failed ones is counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.errors import ModelFailed
from pipelines.extract.extract_days import DayToRead, extract
from pipelines.extract.extraction import Extraction, OpenList, Place, Told
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
            tally = Tally([Spent("a:1", 1, Usage(10, 1))], Counter({("b", Kind.DOWN): 1}))
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
    assert found.ungrounded == 6


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


MANY = [
    DayToRead(f"Logs/2026-04-{n:02}.md", f"2026-04-{n:02}", "0", (entry,), (entry,))
    for n in range(1, 13)
    for entry in [Entry(f"Logs/2026-04-{n:02}.md", 1, 1, "- x", day=f"2026-04-{n:02}")]
]


class Noting:
    """Says what each day says again and lists, and notes whom it was asked about."""

    name = "test"

    def __init__(self, failing: dict[str, Kind]) -> None:
        self.failing, self.asked = failing, list[str]()

    def extract(self, request: ExtractionRequest) -> Extraction:
        self.asked.append(request.day)
        if kind := self.failing.get(request.day):
            raise ModelFailed("a", f"was {kind}", kind)
        places = (Place.whole(request.entries[0]),)
        return Extraction((), (), ("k1", f"k{request.day}"), (OpenList(places),), (Told("It was.", places),))


@given(st.dictionaries(st.sampled_from([day.day for day in MANY]), st.sampled_from([*Kind]), max_size=4))
@settings(deadline=None)
def test_days_are_read_one_by_one_oldest_first_up_to_a_failure_of_the_provider(failing: dict[str, Kind]) -> None:
    reader = Noting(failing)
    found = extract(MANY, reader, (), lambda _: None)
    whole = [day.day for day in MANY]
    stop = next((at for at, day in enumerate(whole) if day in failing and failing[day].concerns_provider), len(whole))
    assert reader.asked == whole[: stop + 1]
    read = [day.day for day in found.read]
    assert read == [day for day in whole[:stop] if day not in failing]
    assert sorted([*read, *(day.day for day in found.pending)]) == whole
    assert [day for day, _ in found.open_lists] == [*found.episodes] == read
    assert found.seen == ({"k1": read[-1], **{f"k{day}": day for day in read}} if read else {}), "the last day counts"


def test_every_kind_is_one_or_the_other() -> None:
    assert not [kind for kind in Kind if kind.concerns_provider and kind.concerns_content]
