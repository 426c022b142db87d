"""Each calendar day has one night, in every zone and through every change of its clocks."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.night.schedule_jobs import NightTrigger

ODD = (
    "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Africa/Cairo", "Asia/Beirut",
    "America/Santiago", "Africa/Casablanca", "Atlantic/Azores", "Pacific/Chatham", "Asia/Kathmandu", "UTC",
)  # fmt: skip


@given(
    zone=st.sampled_from(ODD).map(ZoneInfo),
    minutes=st.integers(0, 24 * 60 - 1),
    begun=st.datetimes(datetime(2024, 1, 1), datetime(2029, 1, 1)),  # noqa: DTZ001  the zone is added
)
def test_each_day_has_one_night(zone: ZoneInfo, minutes: int, begun: datetime) -> None:
    clock = f"{minutes // 60:02}:{minutes % 60:02}"
    trigger = NightTrigger(clock, zone)
    now = datetime.fromtimestamp(begun.replace(tzinfo=ZoneInfo("UTC")).timestamp(), zone)
    nights = [trigger.get_next_fire_time(None, now)]
    assert trigger.last_due(now).timestamp() <= now.timestamp() <= nights[0].timestamp()
    for _ in range(370):
        nights.append(trigger.get_next_fire_time(nights[-1], nights[-1]))
    days = [night.astimezone(zone).date() for night in nights]
    assert days == [days[0] + timedelta(days=number) for number in range(371)]
    hours = [(after.timestamp() - night.timestamp()) / 3600 for night, after in itertools.pairwise(nights)]
    assert all(22 <= pause <= 26 for pause in hours)


@pytest.mark.parametrize(
    ("day", "told"),
    [("2026-03-29T00:00+01:00", "2026-03-29T03:30+02:00"), ("2026-10-25T00:00+02:00", "2026-10-25T02:30+02:00")],
)
def test_the_skipped_hour_and_the_one_that_comes_twice(day: str, told: str) -> None:
    trigger = NightTrigger("02:30", ZoneInfo("Europe/Zurich"))
    assert trigger.get_next_fire_time(None, datetime.fromisoformat(day)) == datetime.fromisoformat(told)


def test_a_start_between_the_two_comings_waits_for_the_next_day() -> None:
    trigger = NightTrigger("02:30", ZoneInfo("Europe/Zurich"))
    between = datetime.fromisoformat("2026-10-25T02:10+01:00")
    assert trigger.get_next_fire_time(None, between) == datetime.fromisoformat("2026-10-26T02:30+01:00")
    assert trigger.last_due(between) == datetime.fromisoformat("2026-10-25T02:30+02:00")
