"""When the next run is: by what is installed, or by the daemon that says so."""

from __future__ import annotations

import os
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.agents.install_plan import Asked, this_program
from pipelines.agents.timers_cron import found_nights
from pipelines.store.lock import scheduler_runs
from pipelines.store.state import read_record

if TYPE_CHECKING:
    from datetime import tzinfo

    from pipelines.agents.timers import Found


def installed_nights(root: Path) -> list[Found]:
    """Return what is installed for this memory to run every night; none where the environment names no home."""
    if not os.environ.get("HOME"):
        return []
    return [one for one in found_nights(Asked(this_program(root), Path.home())) if one.ours]


def next_run(root: Path, nights: list[Found], now: datetime) -> tuple[datetime, str] | None:
    """Return when the next run begins, in the memory's zone, and by what; None where nothing runs by itself.

    Args:
        root: the memory.
        nights: what is installed.
        now: the moment, in the memory's zone.
    """
    told = [(_next(one, now), one.target) for one in nights if one.time and one.enabled is not False]
    daemon = _of_daemon(root, now)
    return min([*told, *([daemon] if daemon else [])], default=None)


def _next(found: Found, now: datetime) -> datetime:
    zone = _zone(found.zone)
    today, at = now.astimezone(zone).date(), time.fromisoformat(found.time)
    days = (datetime.combine(today + timedelta(days=ahead), at, zone) for ahead in range(2))
    first, second = (when.astimezone(UTC).astimezone(now.tzinfo) for when in days)
    return first if first > now else second


def _zone(name: str) -> tzinfo | None:
    """Return a zone by its name; None, which is the machine's own, for an empty one and for one that does not exist."""
    try:
        return ZoneInfo(name) if name else None
    except (LookupError, ValueError, OSError):
        return None


def _of_daemon(root: Path, now: datetime) -> tuple[datetime, str] | None:
    """Return what `curate schedule` noted as its next night, while it runs and that is yet to come."""
    if not scheduler_runs(root):
        return None
    try:
        when = datetime.fromisoformat(str(read_record(root, "schedule.json").get("next")))
    except ValueError:
        return None
    when = when.astimezone(now.tzinfo)
    return (when, "curate schedule") if when > now else None
