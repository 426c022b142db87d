"""A memory's days: cut in its zone, at its hour; settings that are broken break nothing here."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pipelines.clock import day_of
from pipelines.settings import Settings
from pipelines.store.days import Days, read_days

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("zone", ["UTC", "Europe/Zurich", "America/New_York"])
@pytest.mark.parametrize("end", ["00:00", "04:30"])
@pytest.mark.parametrize("hour", [0, 3, 5, 22, 23])
def test_a_day_is_the_same_as_that_of_a_run(zone: str, end: str, hour: int) -> None:
    days = Days(zone, end)
    moment = datetime(2026, 3, 29, hour, 40, tzinfo=UTC)
    assert days.of(moment) == day_of(moment.astimezone(days.zone), Settings(timezone=zone, day_end=end))


def test_an_evening_far_away_is_another_day() -> None:
    moment = datetime(2026, 3, 18, 23, 30, tzinfo=UTC)
    assert (Days("UTC").of(moment), Days("Asia/Tokyo").of(moment)) == ("2026-03-18", "2026-03-19")
    assert Days("Asia/Tokyo", "09:00").of(moment) == "2026-03-18"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ('timezone = "Asia/Tokyo"\nday_end = "04:00"\n', Days("Asia/Tokyo", "04:00")),
        ("", Days()),
        ("not toml", Days()),
        ("timezone = 7\nday_end = []\n", Days()),
    ],
)
def test_the_settings_say_how(tmp_path: Path, text: str, days: Days) -> None:
    (tmp_path / "curate.toml").write_text(text, encoding="utf-8")
    assert read_days(tmp_path) == days


def test_a_zone_or_an_hour_that_is_none_is_the_usual_one() -> None:
    assert Days("Mars/Base", "25:99").of(datetime(2026, 3, 18, 23, 30, tzinfo=UTC)) == "2026-03-18"
