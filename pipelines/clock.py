"""Time: one moment a command, taken once, cut into days in the memory's own zone."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from pipelines.settings import Settings


def moment(text: str | None, settings: Settings) -> datetime:
    """Return the moment at which a command acts, in the memory's zone.

    Args:
        text: what `--now` says (ISO 8601; without an offset it is local to the memory), or None for the real clock.
        settings: the memory's settings, for the zone.

    Raises:
        UsageFault: `text` is no ISO time.
    """
    zone = ZoneInfo(settings.timezone)
    if text is None:
        return datetime.now(UTC).astimezone(zone)
    try:
        named = datetime.fromisoformat(text)
    except ValueError:
        raise UsageFault(f"--now {text} is no ISO time.", "Write it like 2026-03-18T02:00.") from None
    return named.replace(tzinfo=zone) if named.tzinfo is None else named.astimezone(zone)


def day_of(now: datetime, settings: Settings) -> str:
    """Return the memory's day at a moment: until `day_end`, the night still belongs to the day before."""
    end = time.fromisoformat(settings.day_end)
    local = now.replace(tzinfo=None) - timedelta(hours=end.hour, minutes=end.minute)
    return local.date().isoformat()


def system_zone() -> str:
    """Return the IANA name of the system's zone, or UTC where the system does not tell one."""
    from tzlocal import get_localzone_name  # noqa: PLC0415  only `curate init` asks

    try:
        return get_localzone_name() or "UTC"
    except (LookupError, ValueError, OSError):
        return "UTC"
