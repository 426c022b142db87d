"""Each calendar day has its nights, in every zone and through every change of its clocks."""

import itertools
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.night.schedule import night_trigger

ZURICH = ZoneInfo("Europe/Zurich")
ODD = (
    "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Africa/Cairo", "Asia/Beirut",
    "America/Santiago", "Africa/Casablanca", "Atlantic/Azores", "Pacific/Chatham", "Asia/Kathmandu", "UTC",
)  # fmt: skip


def nights_from(nights: list[str], zone: ZoneInfo, start: datetime, count: int) -> list[datetime]:
    trigger = night_trigger(nights, zone)
    found = [trigger.get_next_fire_time(None, start)]
    for _ in range(count - 1):
        found.append(trigger.get_next_fire_time(found[-1], found[-1]))
    return found


@given(
    zone=st.sampled_from(ODD).map(ZoneInfo),
    minutes=st.integers(0, 24 * 60 - 1),
    begun=st.datetimes(datetime(2024, 1, 1), datetime(2029, 1, 1)),  # noqa: DTZ001  the zone is added
)
def test_each_day_has_a_night_and_two_where_the_clocks_go_back_over_it(
    zone: ZoneInfo, minutes: int, begun: datetime
) -> None:
    now = datetime.fromtimestamp(begun.replace(tzinfo=ZoneInfo("UTC")).timestamp(), zone)
    nights = nights_from([f"{minutes // 60:02}:{minutes % 60:02}"], zone, now, 371)
    days = [night.date() for night in nights]
    assert len(days) - len(set(days)) <= 2, "the clocks go back once a year, in some years twice"
    pauses = [(after.timestamp() - night.timestamp()) / 3600 for night, after in itertools.pairwise(nights)]
    assert all(0 < pause <= 26 for pause in pauses if pause < 46)
    # APScheduler passes over the day after the clocks went forward where the time is in the first hour of a day.
    assert len([pause for pause in pauses if pause >= 46]) <= (2 if minutes < 60 else 0)


@pytest.mark.parametrize(
    ("day", "told"),
    [("2026-03-29T00:00+01:00", ["03:30+0200"]), ("2026-10-25T00:00+02:00", ["02:30+0200", "02:30+0100"])],
)
def test_the_skipped_hour_and_the_one_that_comes_twice(day: str, told: list[str]) -> None:
    start = datetime.fromisoformat(day)
    shown = [night.astimezone(ZoneInfo("UTC")).astimezone(ZURICH) for night in nights_from(["02:30"], ZURICH, start, 2)]
    assert [f"{night:%H:%M%z}" for night in shown if night.date() == start.date()] == told


@pytest.mark.parametrize(
    ("night", "hours"),
    [
        (["02:00", "14:30"], ["16 02:00", "16 14:30", "17 02:00"]),
    ],
)
def test_several_nights_a_day(night: list[str], hours: list[str]) -> None:
    sunday = datetime(2026, 3, 15, 20, tzinfo=ZURICH)
    assert [f"{moment:%d %H:%M}" for moment in nights_from(night, ZURICH, sunday, 3)] == hours
