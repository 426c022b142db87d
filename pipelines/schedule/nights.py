"""When a night is due: once a calendar day, also when the hour is skipped or comes twice.

APScheduler's own CronTrigger fires twice where the clocks go back over its time, so the days are counted here.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from apscheduler.triggers.base import BaseTrigger

if TYPE_CHECKING:
    from datetime import date
    from zoneinfo import ZoneInfo

_DAY: Final = timedelta(days=1)


class NightTrigger(BaseTrigger):  # type: ignore[misc]  # APScheduler tells no types
    """Fires at a time of day, in a zone, exactly once for each calendar day.

    A time that the change to summer time skips fires when the clocks have gone forward. One that the change back makes
    come twice fires at its first coming alone, also where the program was started between the two.

    Args:
        clock: the time of day, `HH:MM`.
        zone: the memory's time zone.
    """

    def __init__(self, clock: str, zone: ZoneInfo) -> None:
        self._clock, self._zone = time.fromisoformat(clock), zone

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Return, in UTC, the first moment at which a night is due: after the previous one, else from `now` on."""
        if previous_fire_time:
            return self._on(previous_fire_time.astimezone(self._zone).date() + _DAY)
        day = now.astimezone(self._zone).date()
        due = self._on(day)
        return due if due.timestamp() >= now.timestamp() else self._on(day + _DAY)

    def last_due(self, now: datetime) -> datetime:
        """Return the last moment up to `now` at which a night was due."""
        day = now.astimezone(self._zone).date()
        due = self._on(day)
        return due if due.timestamp() <= now.timestamp() else self._on(day - _DAY)

    def _on(self, day: date) -> datetime:
        """Return when a day's night is due; a skipped time is read as if the clocks had not gone forward."""
        named = datetime.combine(day, self._clock, self._zone)
        return named.astimezone(UTC)  # times of two zones do not compare in the hour that comes twice
