"""The daemon: APScheduler's jobs in the memory's time zone, turned by a loop that wakes after a laptop's sleep, too."""

from __future__ import annotations

import contextlib
import logging
import os
from dataclasses import dataclass
from datetime import UTC, timedelta
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.base import BaseScheduler
from apscheduler.triggers.interval import IntervalTrigger

from pipelines.errors import BadSettings, CurateError
from pipelines.night.report import read_reports, was_cut_short
from pipelines.night.schedule_jobs import (
    NightTrigger,
    capture_job,
    index_job,
    night_job,
    note_begun,
    stamp_of,
    times_begun,
    write_next,
)
from pipelines.settings import load_settings
from pipelines.store.days import moment_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from pipelines.night.schedule_jobs import Job
    from pipelines.settings import Settings


LONGEST_WAIT: Final = 60.0
"""In seconds. A machine's sleep does not count as waiting, so a longer one would end hours late."""
_SET_BACK: Final = timedelta(days=1)
_AHEAD: Final = timedelta(hours=1)
"""A run that is dated later than this from now was made while the clock was wrong: it stands for no night."""


class _Turned(BaseScheduler):  # type: ignore[misc]  # APScheduler tells no types
    """A scheduler that does what is due when it is told to, in place of a thread that waits."""

    def shutdown(self, wait: bool = True) -> None:  # noqa: FBT001, FBT002  APScheduler's signature
        super().shutdown(wait=wait)

    def wakeup(self) -> None:
        """Do nothing: the loop looks often enough."""

    def turn(self) -> float:
        """Start what is due, and return in how many seconds something will be."""
        seconds: float | None = self._process_jobs()
        return LONGEST_WAIT if seconds is None else seconds


@dataclass(frozen=True, slots=True)
class World:
    """What the daemon has from outside, and what a test replaces.

    Args:
        now: the clock.
        work: does a job and returns its exit code.
        log: writes one line: an event and its values, none of which holds a word of the memory.
        executor: APScheduler's, in which jobs run.
    """

    now: Callable[[], datetime]
    work: Callable[[Job], int]
    log: Callable[..., None]
    executor: object = None


class Daemon:
    """Runs nights, captures and index refreshes of one memory until it is told to stop.

    Args:
        root: the memory.
        settings: its settings.
        world: the clock, and who does the work.
    """

    def __init__(self, root: Path, settings: Settings, world: World) -> None:
        self._root, self._settings, self._world = root, settings, world
        self._stopped = self._reread = False
        self._bell: SimpleQueue[None] = SimpleQueue()  # unlike an event's, its lock is none that a handler could meet
        self._before: datetime | None = None
        self._stamp = ""
        self._written: datetime | None = None
        _hush()
        pool = world.executor or ThreadPoolExecutor(3)  # one of each job: a long night holds up no capture
        defaults = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}  # late is better than never
        self._scheduler = _Turned(timezone=UTC, executors={"default": pool}, job_defaults=defaults)
        self._scheduler.add_listener(self._told, EVENT_JOB_ERROR | EVENT_JOB_MAX_INSTANCES)
        self._scheduler.start()
        self._arm()
        self._make_up()

    def run(self) -> None:
        """Do what is due until `stop` is called."""
        while not self._stopped:
            with contextlib.suppress(Empty):
                self._bell.get(timeout=self.turn())

    def turn(self) -> float:
        """Start what is due now, and return how many seconds may pass until the next turn."""
        now = self._world.now()
        if self._reread:
            self._reread = False
            self._read_settings()
        if self._before and now < self._before - _SET_BACK:
            self._world.log("clock-set-back", level="warning")
            self._arm()  # what was to come years later is due tomorrow
        self._before = now
        seconds = min(self._scheduler.turn(), LONGEST_WAIT)
        if (due := self.next_night()) != self._written:
            self._noted(lambda: write_next(self._root, due, now))
            self._written = due
        return seconds

    def next_night(self) -> datetime | None:
        """Return when the next night is due."""
        job = self._scheduler.get_job("night")
        due: datetime | None = job.next_run_time if job else None
        return due.astimezone(self._zone) if due else None

    def reread(self) -> None:
        """Read the settings again at the next turn, which is now; safe in a signal handler."""
        self._reread = True
        self._bell.put(None)

    def stop(self) -> None:
        """Let `run` return; safe in a signal handler."""
        self._stopped = True
        self._bell.put(None)

    def close(self) -> None:
        """Start nothing more. What runs is not waited for."""
        self._scheduler.shutdown(wait=False)

    @property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self._settings.timezone)

    @property
    def _night(self) -> NightTrigger:
        return NightTrigger(self._settings.schedule.night, self._zone)

    def _arm(self) -> None:
        """Plan each job from now on."""
        now, times = self._world.now(), self._settings.schedule
        self._plan("night", self._night, now)
        capture, index = timedelta(hours=times.capture_hours), timedelta(minutes=times.index_minutes)
        self._plan("capture", _every(capture, now), now)
        self._plan("index", _every(index, now), now)

    def _plan(self, name: str, trigger: NightTrigger | IntervalTrigger | None, now: datetime) -> None:
        if self._scheduler.get_job(name):
            self._scheduler.remove_job(name)
        if trigger is not None:
            due = trigger.get_next_fire_time(None, now)
            self._scheduler.add_job(self._do, trigger, id=name, args=[name], next_run_time=due)

    def _make_up(self) -> None:
        """Run at once where no run came to its end since a night was due; one that failed is not repeated.

        A night that was cut short, by a restart or by a machine that died, is begun once more and no oftener: whatever
        kills it may do so each time, and a loop of restarts must not bill for each.
        """
        now = self._world.now()
        due, reports = self._night.last_due(now), read_reports(self._root).values()
        ended = [when for report in reports if (when := moment_of(report)) and not was_cut_short(report)]
        if not reports or any(due <= when <= now + _AHEAD for when in ended):
            return
        if times_begun(self._root, due) > 1:
            self._world.log("night-left", level="warning", why="cut-short-twice")
            return
        self._world.log("night-missed", since=max(ended).isoformat(timespec="seconds") if ended else "")
        self._scheduler.modify_job("night", next_run_time=now)

    def _do(self, name: str) -> None:
        job = {"night": night_job, "index": index_job}.get(name, lambda: capture_job(os.environ))()
        if not job.commands or (name == "index" and not self._changed()):
            return
        begun = self._world.now()
        if name == "night":
            self._noted(lambda: note_begun(self._root, self._night.last_due(begun)))
        code = self._world.work(job)
        seconds = round((self._world.now() - begun).total_seconds(), 1)
        level = "info" if code == 0 else "warning"
        self._world.log("job-ended", level=level, job=name, exit=code, seconds=seconds)

    def _noted(self, write: Callable[[], None]) -> None:
        """Leave word of something. A full disk ends no daemon: the night itself says what is wrong, and tells."""
        try:
            write()
        except CurateError as fault:
            self._world.log("not-noted", level="warning", why=type(fault).__name__)

    def _changed(self) -> bool:
        stamp = stamp_of(self._root)
        changed, self._stamp = stamp != self._stamp, stamp
        return changed

    def _read_settings(self) -> None:
        try:
            self._settings = load_settings(self._root)
        except BadSettings as fault:
            self._world.log("settings-kept", level="warning", faults=len(fault.faults))
            return
        self._arm()
        self._world.log("settings-read", night=self._settings.schedule.night, zone=self._settings.timezone)

    def _told(self, event: object) -> None:
        if isinstance(fault := getattr(event, "exception", None), BaseException):
            self._world.log("job-broke", level="error", job=getattr(event, "job_id", ""), error=type(fault).__name__)
        else:
            self._world.log("job-skipped", level="warning", job=getattr(event, "job_id", ""), why="still-running")


def _every(pause: timedelta, now: datetime) -> IntervalTrigger | None:
    if not pause:
        return None
    return IntervalTrigger(seconds=int(pause.total_seconds()), start_date=now + pause, timezone=UTC)


def _hush() -> None:
    """Keep APScheduler from writing lines of its own beside ours."""
    logger = logging.getLogger("apscheduler")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
