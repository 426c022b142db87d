"""A memory's days: its time zone, and the time until which the night belongs to the day before.

Runs record their time with its zone; `moment_of` reads it back.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as clock
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import BadSettings, read_toml
from pipelines.store.layout import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Days(NamedTuple):
    """The time zone and day boundary of a memory.

    Args:
        timezone: an IANA name.
        day_end: until this time, `HH:MM`, the night still belongs to the day before.
    """

    timezone: str = "UTC"
    day_end: str = "00:00"

    def __str__(self) -> str:
        return f"{self.timezone} {self.day_end}"

    @property
    def zone(self) -> tzinfo:
        """The time zone; UTC if the name is unknown."""
        from zoneinfo import ZoneInfo  # noqa: PLC0415  only needed to read transcripts

        try:
            return ZoneInfo(self.timezone)
        except (LookupError, ValueError, OSError):
            return UTC

    def of(self, moment: datetime) -> str:
        """Return the day, `YYYY-MM-DD`, of a time in any zone."""
        try:
            end = clock.fromisoformat(self.day_end)
        except ValueError:
            end = clock()
        local = moment.astimezone(self.zone).replace(tzinfo=None)
        return (local - timedelta(hours=end.hour, minutes=end.minute)).date().isoformat()


def day_before(day: str, count: int = 1) -> str:
    """Return the day so many days before another."""
    return (date.fromisoformat(day) - timedelta(days=count)).isoformat()


def read_days(root: Path) -> Days:
    """Return a memory's days. Defaults apply if its settings cannot be read; other code reports that."""
    try:
        settings = read_toml(root / SETTINGS)
    except BadSettings:
        return Days()
    keys = ("timezone", "day_end")
    return Days(**{key: value for key in keys if isinstance(value := settings.get(key), str) and value})


def moment_of(report: Mapping[str, object]) -> datetime | None:
    """Return the time at which a run acted, or None if its report has no valid one."""
    try:
        when = datetime.fromisoformat(str(report.get("now")))
    except ValueError:
        return None
    return when if when.tzinfo else when.astimezone()
