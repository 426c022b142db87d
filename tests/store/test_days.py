"""A memory's days: cut in its zone, at its hour; settings that are broken break nothing here."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.store.days import Days, read_days


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
