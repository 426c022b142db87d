"""The day is the settings' day, from a small cache that a changed curate.toml makes void."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.clock import day_of, moment
from pipelines.queries.startup import cache
from pipelines.queries.startup.context import moment_of
from pipelines.queries.startup.read import day_text
from pipelines.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_SETTLED", -(10**19))


@given(st.dates())
def test_days_are_counted_as_the_calendar_counts(day: date) -> None:
    number = (day - date(1970, 1, 1)).days
    if day.year >= 1900:
        assert day_text(number) == day.isoformat()


@given(st.datetimes(), st.integers(-840, 840))
def test_moments_are_read_as_the_library_reads_them(when: datetime, east: int) -> None:
    text = when.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=east))).isoformat()
    assert moment_of(text) == datetime.fromisoformat(text).timestamp()
    assert moment_of("yesterday") is None


@pytest.mark.parametrize("zone", ["UTC", "Europe/Zurich", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu"])
def test_the_day_is_that_of_the_settings_through_both_changes_of_the_clock(tmp_path: Path, zone: str) -> None:
    (tmp_path / "curate.toml").write_text(f'timezone = "{zone}"\nday_end = "04:30"\n')
    cache.write_cache(str(tmp_path), float(BEGIN))
    settings = load_settings(tmp_path)
    (tmp_path / ".curate").mkdir()
    cache.write_cache(str(tmp_path), float(BEGIN))
    assert cache.read_cache(str(tmp_path), float(BEGIN)) is not None
    for hour in range(24 * 390):
        told = BEGIN + 3600 * hour + 1799
        kept = cache.load_cached(str(tmp_path), float(told))
        expected = day_of(moment(datetime.fromtimestamp(told, UTC).isoformat(), settings), settings)
        assert day_text(kept.day_number(told)) == expected


def test_another_settings_file_makes_the_cache_void(tmp_path: Path) -> None:
    place = tmp_path / "curate.toml"
    place.write_text('timezone = "UTC"\n')
    (tmp_path / ".curate").mkdir()
    assert cache.read_cache(str(tmp_path), float(BEGIN)) is None
    cache.write_cache(str(tmp_path), float(BEGIN))
    assert cache.read_cache(str(tmp_path), float(BEGIN)) is not None
    assert (tmp_path / cache.CACHE).stat().st_mode & 0o777 == 0o600
    assert cache.read_cache(str(tmp_path), BEGIN + 86400.0 * 500) is None
    place.write_text('timezone = "Asia/Tokyo"\n')
    assert cache.read_cache(str(tmp_path), float(BEGIN)) is None
    assert cache.load_cached(str(tmp_path), float(BEGIN)).day_number(BEGIN + 15 * 3600) == BEGIN // 86400 + 1


def test_a_file_that_has_just_changed_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_SETTLED", 2_000_000_000)
    (tmp_path / "curate.toml").write_text('timezone = "UTC"\n')
    (tmp_path / ".curate").mkdir()
    now = (tmp_path / "curate.toml").stat().st_ctime_ns / 1e9
    cache.write_cache(str(tmp_path), now + 1)
    assert cache.read_cache(str(tmp_path), now + 1) is None
    cache.write_cache(str(tmp_path), now + 3)
    assert cache.read_cache(str(tmp_path), now + 3) is not None
