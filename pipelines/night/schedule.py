"""The daemon: APScheduler runs each night at its time, in the memory's time zone, as a process of its own.

A night in the daemon's own process could bring it down: a crash in a library, leaked memory, a hanging client. A child
process can be stopped, and killed if it does not stop; the next one starts fresh. A night looks for new sessions, and
every search brings the index up to date, so that the daemon needs no other jobs.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from apscheduler.events import EVENT_JOB_ERROR, EVENT_SCHEDULER_STARTED
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger

from pipelines.errors import INTERRUPTED, CurateError
from pipelines.night.report import read_reports, was_cut_short
from pipelines.store.days import moment_of
from pipelines.store.state import write_record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from apscheduler.triggers.base import BaseTrigger

    from pipelines.settings import Settings


NEXT = "schedule.json"
"""The record of when the next night is due, in which process, and since when."""
STOP_SECONDS = 30.0
_BARE = re.compile(r"[\w.,:+/-]+", re.ASCII)


def log(event: str, *, level: str = "info", **values: object) -> None:
    """Write one line of `key=value` without text of the memory. Other values than words are quoted as in JSON."""
    told = ((key, str(value)) for key, value in {"event": event, "level": level, **values}.items())
    line = " ".join(f"{key}={text if _BARE.fullmatch(text) else json.dumps(text)}" for key, text in told)
    print(line, file=sys.stderr, flush=True)  # noqa: T201  the daemon's log


class Daemon:
    """Runs the nights of one memory until stopped.

    Args:
        root: the memory.
        settings: its settings.
        work: runs a night and returns its exit code.
        now: the clock.
        log: writes one line: an event and its values, without text of the memory.
        executor: APScheduler's executor for the nights.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        work: Callable[[], int],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        log: Callable[..., None] = log,
        executor: object = None,
    ) -> None:
        self._root, self._zone = root, ZoneInfo(settings.timezone)
        self._work, self._now, self._log = work, now, log
        self._written: datetime | None = None
        logging.getLogger("apscheduler").setLevel(logging.CRITICAL + 1)  # we log ourselves
        self._pool: Any = executor or ThreadPoolExecutor(1)
        defaults = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}  # late is better than never
        self._scheduler = BlockingScheduler(timezone=UTC, executors={"default": self._pool}, job_defaults=defaults)
        self._scheduler.add_listener(
            lambda event: log("job-broke", level="error", job="night", error=type(event.exception).__name__),
            EVENT_JOB_ERROR,
        )
        night = night_trigger(settings.schedule.night, self._zone)
        due = now() if self._has_missed(night) else night.get_next_fire_time(None, now())
        self._scheduler.add_job(self._do, night, id="night", next_run_time=due)

    def run(self, begun: Callable[[], None]) -> None:
        """Run nights when they are due, until `stop` is called.

        Args:
            begun: called once, as soon as the daemon can be stopped.
        """
        self._scheduler.add_listener(lambda _: begun(), EVENT_SCHEDULER_STARTED)
        self._scheduler.start()

    def look(self) -> None:
        """Check the time: after a machine's sleep, another night is due."""
        if self._scheduler.running:
            self._scheduler.wakeup()
        if (due := self.next_night()) != self._written:
            at, then = (one.isoformat(timespec="seconds") if one else "" for one in (self._now(), due))
            with contextlib.suppress(CurateError):  # of a full disk the night itself tells
                write_record(self._root, NEXT, {"process": os.getpid(), "next": then, "at": at})
            self._written = due

    def next_night(self) -> datetime | None:
        """Return when the next night is due."""
        due: datetime | None = getattr(self._scheduler.get_job("night"), "next_run_time", None)
        # Via UTC, so that a time skipped by the clocks becomes the one they show then.
        return due.astimezone(UTC).astimezone(self._zone) if due else None

    def stop(self) -> None:
        """Start nothing more, and let `run` return without waiting for a running night."""
        self._scheduler.shutdown(wait=False)

    def wait(self) -> None:
        """Wait until the night has said how it ended. After `run`, when all that it started has ended."""
        self._pool.shutdown(wait=True)

    def _has_missed(self, night: BaseTrigger) -> bool:
        """Whether no run has completed since a night was due; a failed run is not repeated.

        A night that was cut short, by a restart or a crash of the machine, is started again. What a model answered is
        kept, so that a loop of restarts does not bill for each.
        """
        reports = [one for one in read_reports(self._root).values() if moment_of(one)]
        ended = [when for one in reports if (when := moment_of(one)) and not was_cut_short(one)]
        last = max(ended, default=None)
        due = night.get_next_fire_time(None, last + timedelta(seconds=1)) if last else None
        is_missed = bool(reports) if last is None else due is not None and due <= self._now()
        if is_missed:
            self._log("night-missed", since=last.isoformat(timespec="seconds") if last else "")
        return is_missed

    def _do(self) -> None:
        begun, code = self._now(), self._work()
        seconds = round((self._now() - begun).total_seconds(), 1)
        self._log("job-ended", level="warning" if code else "info", job="night", exit=code, seconds=seconds)


def night_trigger(nights: Sequence[str], zone: ZoneInfo) -> BaseTrigger:
    """Return the trigger for nights.

    If a change of the clocks skips the time, the night runs after the change; if the time comes twice, so does the
    night, and the second finds nothing new. If the time is before 01:00, APScheduler skips the day after the clocks
    went forward; the next night then covers both days.

    Args:
        nights: times of day, `HH:MM`.
        zone: the memory's time zone.
    """
    clocks = [clock.split(":") for clock in nights]
    return OrTrigger([CronTrigger(hour=hour, minute=minute, timezone=zone) for hour, minute in clocks])


class NightProcess:
    """A night as a child process of the daemon.

    Args:
        root: the memory.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closing = False

    def run(self) -> int:
        """Run a night; return its exit code."""
        with self._lock:
            if self._closing:
                return INTERRUPTED
            # A run's output may quote the memory; operators find what they need in its report (`curate runs`).
            self._child = child = subprocess.Popen(
                [sys.executable, "-P", "-m", "pipelines.cli", "run", "--memory", str(self._root)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # only the daemon gets its terminal's Ctrl-C
            )
        code = child.wait()
        return code if code >= 0 else 128 - code

    def stop(self) -> bool:
        """Stop the night: ask, wait half a minute, then kill. Return whether it was killed.

        The next run recovers from a killed one, wherever it was killed.
        """
        with self._lock:
            self._closing = True
        if (child := self._child) is None or child.poll() is not None:
            return False
        try:
            _kill(child, signal.SIGTERM)
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            _kill(child, signal.SIGKILL)
            return True
        return False


def _kill(child: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)
