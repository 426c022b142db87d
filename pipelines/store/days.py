"""How a memory cuts time into days: its zone, and the hour until which the night belongs to the day before.

Runs name the moment at which they acted with its zone; so they are read back here, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from datetime import time as clock
from typing import TYPE_CHECKING

from pipelines.errors import BadSettings, read_toml
from pipelines.store.layout import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Days:
    """The cut of a memory's days.

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
        """The zone itself; UTC for a name that is none."""
        from zoneinfo import ZoneInfo  # noqa: PLC0415  only who reads a transcript needs it

        try:
            return ZoneInfo(self.timezone)
        except (LookupError, ValueError, OSError):
            return UTC

    def of(self, moment: datetime) -> str:
        """Return the day, `YYYY-MM-DD`, to which a moment of any zone belongs."""
        try:
            end = clock.fromisoformat(self.day_end)
        except ValueError:
            end = clock()
        local = moment.astimezone(self.zone).replace(tzinfo=None)
        return (local - timedelta(hours=end.hour, minutes=end.minute)).date().isoformat()


def parse_days(text: str) -> Days:
    """Return the cut that `str` wrote."""
    zone, _, end = text.rpartition(" ")
    return Days(zone, end)


def read_days(root: Path) -> Days:
    """Return how the memory cuts its days. Settings that cannot be read are said elsewhere; here they are the usual."""
    try:
        settings = read_toml(root / SETTINGS)
    except BadSettings:
        return Days()
    keys = ("timezone", "day_end")
    return Days(**{key: value for key in keys if isinstance(value := settings.get(key), str) and value})


def moment_of(report: Mapping[str, object]) -> datetime | None:
    """Return the moment at which a run acted, or None where its report does not tell one."""
    try:
        when = datetime.fromisoformat(str(report.get("now")))
    except ValueError:
        return None
    return when if when.tzinfo else when.astimezone()
