"""Whether runs happen and end well; otherwise `curate status` ends with exit code 1."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.agents.install_plan import InstallRequest, this_program
from pipelines.agents.timers_cron import found_nights
from pipelines.extract.extract_days import days_to_read
from pipelines.night.fold_logs import clean_logs, with_partial_logs
from pipelines.night.run_history import PastRun, RunEnd, nights
from pipelines.queries.startup.context import OVERDUE_HOURS, ago
from pipelines.store.journal import is_unfinished
from pipelines.store.lock import SCHEDULE, is_held
from pipelines.store.secrets.redact import load_redactor
from pipelines.store.state import read_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.agents.timers import InstalledNight
    from pipelines.settings import Settings
    from pipelines.store.snapshot import Snapshot


_AHEAD = timedelta(hours=1)
_MEND = "Fix that, then run `curate run`; `curate runs` shows the details."
_START = "Run `curate run`; `curate doctor` shows why none ran by itself."
_LATE = timedelta(hours=OVERDUE_HOURS)


class State(StrEnum):
    """The result of a check: fine, worth a look, or so wrong that runs fail or do not happen."""

    OK = "ok"
    LOOK = "look"
    WRONG = "wrong"


OK, LOOK, WRONG = State.OK, State.LOOK, State.WRONG


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Args:
        state: the result.
        says: what was found, in a sentence.
        to_do: what to do about it, in a sentence; empty if there is nothing to do.
    """

    state: State
    says: str
    to_do: str = ""

    def __str__(self) -> str:
        """Return both sentences."""
        return f"{self.says} {self.to_do}".rstrip()


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a memory's nights.

    Args:
        finding: whether they happen and end well.
        last: the newest night, here or on another machine, or None.
        last_well: when the newest night ended well, here or on another machine, or None.
    """

    finding: Finding
    last: PastRun | None
    last_well: datetime | None


def health_of(root: Path, waiting: Sequence[str], now: datetime, settings: Settings) -> Health:
    """Return the state of a memory's nights, including those of other machines.

    Args:
        root: the memory.
        waiting: the days with something unread, oldest first.
        now: the moment, in the memory's zone.
        settings: the memory's settings, for the end of its days.
    """
    unfinished = is_unfinished(root) and not is_held(root)
    return health(nights(root), waiting, now, settings, unfinished=unfinished)


def health(
    runs: Sequence[PastRun], waiting: Sequence[str], now: datetime, settings: Settings, *, unfinished: bool = False
) -> Health:
    """Return the state of the nights.

    A night on another machine counts, and ended well unless its report says otherwise. If none ever ran here, nothing
    is overdue until a day waits: a run that finds nothing new on another machine leaves no trace here.

    Args:
        runs: the nights, newest first.
        waiting: the days with something unread, oldest first.
        now: the moment, in the memory's zone.
        settings: the memory's, for where its days end.
        unfinished: whether a run was interrupted while it wrote; the next one finishes it.
    """
    past = [(when, run) for run in runs if (when := run.moment) and when <= now + _AHEAD]
    here = [(when, run) for when, run in past if run.here]
    there = [(when, run) for when, run in past if not run.here and (not here or when > here[0][0])]
    well = next((when for when, run in here if run.did_its_work), None)
    end = _first_end(waiting, now, settings)
    since = well or (here[-1][0] if here else None)
    if well_there := next((when for when, run in there if run.did_its_work), None):
        since = max(well_there, since or end or now)
        well = well_there
    newest = past[0][1] if past else None
    overdue = _overdue(since or end, well, now)
    failed = _failure(newest, waiting) or (_UNFINISHED if unfinished else "")
    if overdue and not failed and newest and newest.ended is RunEnd.PENDING and now - past[0][0] <= _LATE:
        failed = f"The last run left something pending: {newest.why.rstrip('.')}."
    if failed or overdue:
        finding = Finding(WRONG, f"{overdue} {failed}".strip(), _MEND if failed else _START)
    elif waiting and newest and newest.did_its_work and (budget := newest.reported("model", "over_budget")):
        more = "Raise that limit in your settings; the next run reads the oldest day first."
        finding = Finding(LOOK, str(budget), more)
    elif well:
        finding = Finding(OK, f"The last one ended well at {minutes(well)}.")
    elif newest:
        finding = Finding(LOOK, f"The last run {newest.outcome.rstrip('.')}.", "`curate runs` shows the details.")
    else:
        finding = Finding(LOOK, "Nothing has been curated yet.", "Run `curate run`.")
    return Health(finding, newest, well)


def _first_end(waiting: Sequence[str], now: datetime, settings: Settings) -> datetime | None:
    """Return when the first unread day ended; None if nothing waits."""
    if not waiting:
        return None
    end = datetime.combine(datetime.fromisoformat(waiting[0]) + timedelta(days=1), time.fromisoformat(settings.day_end))
    return end.replace(tzinfo=now.tzinfo)


def _overdue(since: datetime | None, well: datetime | None, now: datetime) -> str:
    if since is None or now - since <= _LATE:
        return ""
    if well:
        return f"No run has ended well since {minutes(well)}, {ago(well, now)}."
    return f"No run has ended well yet; the first one was due {ago(since, now)}."


_UNFINISHED = "A run or a command was cut short while it wrote; the next run finishes it."


def _failure(newest: PastRun | None, waiting: Sequence[str]) -> str:
    """Return how the newest run failed; what it left pending counts while days wait for it."""
    if newest is None or newest.did_its_work:
        return ""
    if newest.ended is RunEnd.FAILED:
        return f"The last run failed: {newest.why}"
    if not waiting:
        return ""
    return f"The last run left days unread: {newest.reported('model', 'failure') or '`curate runs` shows why.'}"


def minutes(when: datetime) -> str:
    """Return a moment for people, to the minute."""
    return when.isoformat(" ", timespec="minutes")


def waiting_days(snapshot: Snapshot, today: str) -> list[str]:
    """Return the days with entries that no run has read."""
    return [*unread_bytes(snapshot, today)]


def unread_bytes(snapshot: Snapshot, today: str) -> Counter[str]:
    """Return day → bytes of its entries that no run has read, oldest first; days without any are left out."""
    redactor = load_redactor(snapshot.root)  # a run compares the lines without their secrets
    cleaned, partials, *_ = clean_logs(snapshot.logs, snapshot.partials, snapshot.progress, redactor)
    logs, *_ = with_partial_logs(cleaned, partials, today)
    sizes = Counter[str]()
    for log in days_to_read(logs, snapshot.progress, today, lambda *_: frozenset()):
        for entry in log.fresh:
            sizes[log.day] += len(entry.text.encode())
    return sizes


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
    days = (datetime.combine(today + timedelta(days=ahead), at, zone).astimezone(now.tzinfo) for ahead in range(2))
    return next(when for when in days if when > now)


def _next_of_daemon(root: Path) -> datetime | None:
    """Return the next run of `curate schedule`, while that is running."""
    if not is_held(root, SCHEDULE):
        return None
    try:
        return datetime.fromisoformat(str(read_record(root, "schedule.json").get("next"))).astimezone()
    except ValueError:
        return None
