"""Whether runs happen and end well; otherwise `curate status` ends with exit code 1."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from pipelines.agents.install_plan import InstallRequest, this_program
from pipelines.agents.timers_cron import found_nights
from pipelines.errors import FINE
from pipelines.extract.extract_days import days_to_read
from pipelines.night.fold_logs import capture
from pipelines.night.report import TRAVELLING, left_pending, read_reports
from pipelines.queries.startup.context import OVERDUE_HOURS
from pipelines.store.days import moment_of
from pipelines.store.git_history import nights_elsewhere
from pipelines.store.journal import is_unfinished
from pipelines.store.lock import scheduler_runs
from pipelines.store.state import read_record

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pipelines.agents.timers import InstalledNight
    from pipelines.settings import Settings
    from pipelines.store.snapshot import Snapshot

    Report = Mapping[str, object]


_HOURS_OF_TWO_DAYS: Final = 48
_AHEAD: Final = timedelta(hours=1)
_UNKNOWN: Final = MappingProxyType({"exit_code": FINE})
"""The report of a run whose commit came without one: it did its work."""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a memory's runs; an empty sentence means that all is well.

    Args:
        overdue: since when no run has ended well, if that is more than a day and a half, and what the last one left.
        failed: how the last run failed, if days still wait for it or it is unfinished.
        ahead: that a run is dated in the future, because the clock was set back.
        last_well: when the newest run ended well, here or on another machine, or None.
        elsewhere: when another machine ran, if that is newer than all runs here, or None.
        ended_elsewhere: how that run ended, if its report came with its commit; else empty.
        happens: whether the last run came in time, and is overdue only for what it left pending.
    """

    overdue: str
    failed: str
    ahead: str
    last_well: datetime | None
    elsewhere: datetime | None
    ended_elsewhere: str
    happens: bool

    @property
    def is_bad(self) -> bool:
        """Whether somebody should look."""
        return bool(self.overdue or self.failed)


def health_of(
    root: Path, reports: Mapping[str, Report], waiting: Sequence[str], now: datetime, settings: Settings
) -> Health:
    """Return the state of a memory's runs, including those of other machines.

    Args:
        root: the memory.
        reports: the runs of this machine, as `read_reports` gives them.
        waiting: the days with something unread, oldest first.
        now: the moment, in the memory's zone.
        settings: the memory's settings, for the end of its days.
    """
    nights = nights_elsewhere(root, reports)
    travelled = read_reports(root, TRAVELLING) if nights else {}
    elsewhere = {when: travelled.get(run, _UNKNOWN) for run, when in nights.items()}
    return health(reports.values(), waiting, now, settings, elsewhere, unfinished=is_unfinished(root))


def health(
    reports: Collection[Report],
    waiting: Sequence[str],
    now: datetime,
    settings: Settings,
    elsewhere: Mapping[datetime, Report] = MappingProxyType({}),
    *,
    unfinished: bool = False,
) -> Health:
    """Return the state of the runs.

    A run on another machine counts, and ended well unless its report says otherwise. If none ever ran here, nothing is
    overdue until a day waits: a run that finds nothing new on another machine leaves no trace here.

    Args:
        reports: the runs of this machine.
        waiting: the days with something unread, oldest first.
        now: the moment, in the memory's zone.
        settings: the memory's, for where its days end.
        elsewhere: the runs of other machines, each with the report that came with its commit, or `_UNKNOWN`.
        unfinished: whether a run was interrupted while it wrote; the next one finishes it.
    """
    dated = [(when, report) for report in reports if (when := moment_of(report))]
    past = [(when, report) for when, report in dated if when <= now + _AHEAD]
    ahead = ""
    if len(past) < len(dated):
        ahead = (
            f"A run is dated {minutes(max(when for when, _ in dated))}, which is in the future. Was the clock set back?"
        )
    moments = [when for when, _ in past]
    first, last = min(moments, default=None), max(moments, default=None)
    newest = max(past, key=lambda run: run[0])[1] if past else None
    well = max((when for when, report in past if _ended_well(report)), default=None)
    there = {when: run for when, run in elsewhere.items() if when <= now + _AHEAD and (last is None or when > last)}
    end = _first_end(waiting, now, settings)
    since = well or first
    if well_there := max((when for when, report in there.items() if _ended_well(report)), default=None):
        since = max(well_there, since or end or now)
        well = well_there
    latest = max(there, default=None)
    if latest and not unfinished:
        newest, last = there[latest], latest
    failed = _failure(newest) if newest and (waiting or unfinished) and not _ended_well(newest) else ""
    overdue = _overdue(since or end, well, now)
    left = left_pending(newest) if newest and last and now - last <= timedelta(hours=OVERDUE_HOURS) else ""
    if overdue and left:
        overdue = f"{overdue} The last run left something pending: {left.rstrip('.')}."
    ended = _ending(there[latest]) if latest else ""
    return Health(overdue, failed, ahead, well, latest, ended, happens=bool(overdue and left))


def _ending(report: Report) -> str:
    """Return how a run on another machine ended, or an empty string if that is unknown."""
    if left := left_pending(report):
        return f"left something pending: {left}"
    return "" if report is _UNKNOWN else "ended well"


def _ended_well(report: Report) -> bool:
    """Whether a run did its work; one that stopped at the user's budget did."""
    return report.get("exit_code") == 0 and not report.get("error")


def _first_end(waiting: Sequence[str], now: datetime, settings: Settings) -> datetime | None:
    """Return when the first unread day ended; None if nothing waits."""
    if not waiting:
        return None
    end = datetime.combine(datetime.fromisoformat(waiting[0]) + timedelta(days=1), time.fromisoformat(settings.day_end))
    return end.replace(tzinfo=now.tzinfo)


def _overdue(since: datetime | None, well: datetime | None, now: datetime) -> str:
    if since is None or now - since <= timedelta(hours=OVERDUE_HOURS):
        return ""
    hours = int((now - (well or since)).total_seconds() // 3600)
    ago = f"{hours // 24} days" if hours >= _HOURS_OF_TWO_DAYS else f"{hours} hours"
    if well:
        return f"No run has ended well since {minutes(well)}, {ago} ago."
    return f"No run has ended well yet; the first one was due {ago} ago."


def _failure(report: Report) -> str:
    error, model = report.get("error"), report.get("model")
    if isinstance(error, dict):
        return f"The last run failed: {error.get('sentence') or error.get('kind')}"
    why = model.get("failure") if isinstance(model, dict) else None
    return f"The last run left days unread: {why or '`curate runs` shows why.'}"


def minutes(when: datetime) -> str:
    """Return a moment for people, to the minute."""
    return when.isoformat(" ", timespec="minutes")


def waiting_days(snapshot: Snapshot, today: str) -> list[str]:
    """Return the days with entries that no run has read."""
    logs = capture(snapshot.logs.fresh, snapshot.partials, today).logs
    days = days_to_read(logs, snapshot.progress, today, lambda *_: None)
    return list(dict.fromkeys(day.day for day in days if day.fresh))


def installed_nights(root: Path) -> list[InstalledNight]:
    """Return the nightly schedules installed for this memory; none if HOME is not set."""
    if not os.environ.get("HOME"):
        return []
    return [one for one in found_nights(InstallRequest(this_program(root), Path.home())) if one.ours]


def next_run(root: Path, nights: list[InstalledNight], now: datetime) -> tuple[datetime, str] | None:
    """Return when the next run begins, in the memory's zone, and what starts it; None if none is scheduled.

    Args:
        root: the memory.
        nights: the installed schedules.
        now: the moment, in the memory's zone.
    """
    nights_to_come = [(_next(one, now), one.target) for one in nights if one.time and one.enabled is not False]
    if (when := _next_of_daemon(root)) and when > now:
        nights_to_come.append((when.astimezone(now.tzinfo), "curate schedule"))
    return min(nights_to_come, default=None)


def _next(found: InstalledNight, now: datetime) -> datetime:
    try:
        zone = ZoneInfo(found.zone) if found.zone else None
    except (LookupError, ValueError, OSError):
        zone = None  # the machine's own
    today, at = now.astimezone(zone).date(), time.fromisoformat(found.time)
    days = (datetime.combine(today + timedelta(days=ahead), at, zone) for ahead in range(2))
    first, second = (when.astimezone(UTC).astimezone(now.tzinfo) for when in days)
    return first if first > now else second


def _next_of_daemon(root: Path) -> datetime | None:
    """Return the next run of `curate schedule`, while that is running."""
    if not scheduler_runs(root):
        return None
    try:
        return datetime.fromisoformat(str(read_record(root, "schedule.json").get("next"))).astimezone()
    except ValueError:
        return None
