"""Time: each command takes the time once, and days are days in the memory's time zone."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from pipelines.settings import Settings


def moment(text: str | None, settings: Settings) -> datetime:
    """Return the time at which a command acts, in the memory's time zone.

    Args:
        text: the value of `--now` (ISO 8601; in the memory's zone unless it has an offset), or None for the real clock.
        settings: the memory's settings, for the time zone.

    Raises:
        UsageFault: `text` is not an ISO 8601 time.
    """
    zone = ZoneInfo(settings.timezone)
    if text is None:
        return datetime.now(UTC).astimezone(zone)
    try:
        named = datetime.fromisoformat(text)
    except ValueError:
        raise UsageFault(f"--now {text} is not an ISO 8601 time.", "Write it like 2026-03-18T02:00.") from None
    return named.replace(tzinfo=zone) if named.tzinfo is None else named.astimezone(zone)


def day_of(now: datetime, settings: Settings) -> str:
    """Return the memory's day at `now`. Until `day_end`, the night belongs to the day before."""
    end = time.fromisoformat(settings.day_end)
    local = now.replace(tzinfo=None) - timedelta(hours=end.hour, minutes=end.minute)
    return local.date().isoformat()


def system_zone() -> str:
    """Return the IANA name of the system's time zone, or UTC if it is unknown."""
    from tzlocal import get_localzone_name  # noqa: PLC0415  only `curate init` asks

    try:
        return get_localzone_name() or "UTC"
    except (LookupError, ValueError, OSError):
        return "UTC"
