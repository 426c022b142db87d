"""The daemon: APScheduler runs nights, captures and index refreshes at their times, in the memory's time zone."""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_SCHEDULER_STARTED
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from pipelines.errors import CurateError
from pipelines.night.report import read_reports, was_cut_short
from pipelines.night.schedule_jobs import NEXT, commands_of, log
from pipelines.store.days import moment_of
from pipelines.store.state import write_record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from apscheduler.triggers.base import BaseTrigger

    from pipelines.settings import Settings


class Daemon:
    """Runs nights, captures and index refreshes of one memory until stopped.

    Args:
        root: the memory.
        settings: its settings.
        work: does the commands of a job and returns its exit code.
        now: the clock.
        log: writes one line: an event and its values, without text of the memory.
        executor: APScheduler's executor for the jobs.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        work: Callable[[Sequence[Sequence[str]]], int],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        log: Callable[..., None] = log,
        executor: object = None,
    ) -> None:
        self._root, self._settings = root, settings
        self._work, self._now, self._log = work, now, log
        self._written: datetime | None = None
        logging.getLogger("apscheduler").setLevel(logging.CRITICAL + 1)  # we log ourselves
        # One thread for each job, so that a long night delays no capture.
        self._pool: Any = executor or ThreadPoolExecutor(3)
        defaults = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}  # late is better than never
        self._scheduler = BlockingScheduler(timezone=UTC, executors={"default": self._pool}, job_defaults=defaults)
        self._scheduler.add_listener(self._on_event, EVENT_JOB_ERROR | EVENT_JOB_MAX_INSTANCES)
        self._plan_jobs(night_at=now() if self._missed_a_night() else None)

    def run(self, begun: Callable[[], None]) -> None:
        """Run jobs when they are due, until `stop` is called.

        Args:
            begun: called once, as soon as the daemon can be stopped.
        """
        self._scheduler.add_listener(lambda _: begun(), EVENT_SCHEDULER_STARTED)
        self._scheduler.start()

    def look(self) -> None:
        """Check the time: after a machine's sleep, other jobs are due."""
        if self._scheduler.running:
            self._scheduler.wakeup()
        if (due := self.next_night()) != self._written:
            at, then = (one.isoformat(timespec="seconds") if one else "" for one in (self._now(), due))
            self._note(NEXT, {"process": os.getpid(), "next": then, "at": at})
            self._written = due

    def next_night(self) -> datetime | None:
        """Return when the next night is due."""
        job = self._scheduler.get_job("night")
        due: datetime | None = getattr(job, "next_run_time", None)
        # Via UTC, so that a time skipped by the clocks becomes the one they show then.
        return due.astimezone(UTC).astimezone(ZoneInfo(self._settings.timezone)) if due else None

    def stop(self) -> None:
        """Start nothing more, and let `run` return without waiting for running jobs."""
        self._scheduler.shutdown(wait=False)

    def wait(self) -> None:
        """Wait until each job has said how it ended. After `run`, when all that jobs started has ended."""
        self._pool.shutdown(wait=True)

    @property
    def _night(self) -> BaseTrigger:
        return night_trigger(self._settings.schedule.night, ZoneInfo(self._settings.timezone))

    def _plan_jobs(self, night_at: datetime | None) -> None:
        """Plan each job from now on, with the first night at a given time, if any."""
        now, times = self._now(), self._settings.schedule
        pauses = {"capture": timedelta(hours=times.capture_hours), "index": timedelta(minutes=times.index_minutes)}
        triggers = {"night": (self._night, night_at or self._night.get_next_fire_time(None, now))}
        for name, pause in pauses.items():
            if pause:
                seconds = int(pause.total_seconds())
                triggers[name] = (IntervalTrigger(seconds=seconds, start_date=now + pause, timezone=UTC), now + pause)
        for name, (trigger, due) in triggers.items():
            self._scheduler.add_job(self._do, trigger, id=name, args=[name], next_run_time=due)

    def _missed_a_night(self) -> bool:
        """Whether no run has completed since a night was due; a failed run is not repeated.

        A night that was cut short, by a restart or a crash of the machine, is started again. What a model answered is
        kept, so that a loop of restarts does not bill for each.
        """
        reports = [one for one in read_reports(self._root).values() if moment_of(one)]
        ended = [when for one in reports if (when := moment_of(one)) and not was_cut_short(one)]
        last = max(ended, default=None)
        due = self._night.get_next_fire_time(None, last + timedelta(seconds=1)) if last else None
        is_missed = bool(reports) if last is None else due is not None and due <= self._now()
        if is_missed:
            self._log("night-missed", since=last.isoformat(timespec="seconds") if last else "")
        return is_missed

    def _do(self, name: str) -> None:
        if not (commands := commands_of(name, os.environ)):
            return
        begun = self._now()
        code = self._work(commands)
        seconds = round((self._now() - begun).total_seconds(), 1)
        level = "info" if code == 0 else "warning"
        self._log("job-ended", level=level, job=name, exit=code, seconds=seconds)

    def _note(self, name: str, row: dict[str, object]) -> None:
        """Write a record. A full disk does not stop the daemon: the night itself reports the problem."""
        try:
            write_record(self._root, name, row)
        except CurateError as fault:
            self._log("not-noted", level="warning", why=type(fault).__name__)

    def _on_event(self, event: object) -> None:
        job = getattr(event, "job_id", "")
        if isinstance(fault := getattr(event, "exception", None), BaseException):
            self._log("job-broke", level="error", job=job, error=type(fault).__name__)
        else:
            self._log("job-skipped", level="warning", job=job, why="still-running")


def night_trigger(night: str | Sequence[str], zone: ZoneInfo) -> BaseTrigger:
    """Return the trigger for nights.

    If a change of the clocks skips the time, the night runs after the change; if the time comes twice, so does the
    night, and the second finds nothing new. If the time is before 01:00, APScheduler skips the day after the clocks
    went forward; the next night then covers both days.

    Args:
        night: a time of day, `HH:MM`; several of them; or a cron expression of five fields.
        zone: the memory's time zone.

    Raises:
        ValueError: `night` is none of these.
    """
    if isinstance(night, str) and " " in night:
        return CronTrigger.from_crontab(night, timezone=zone)
    clocks = [clock.split(":") for clock in ([night] if isinstance(night, str) else night)]
    return OrTrigger([CronTrigger(hour=hour, minute=minute, timezone=zone) for hour, minute in clocks])
