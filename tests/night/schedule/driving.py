"""A scheduler that lives through weeks in a moment: APScheduler's clock and ours are one that a test turns."""

import contextlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, TypeVar

import apscheduler.executors.base
import apscheduler.schedulers.base
import apscheduler.schedulers.blocking
import pytest
from apscheduler.executors.debug import DebugExecutor

from pipelines.night.schedule import Daemon
from pipelines.settings import load_settings


@dataclass
class Life:
    """What a daemon did: the moments of its jobs, and its lines."""

    root: Path
    now: datetime
    exits: int = 0
    takes: timedelta = timedelta(seconds=20)
    done: list[datetime] = field(default_factory=list)
    lines: list[dict[str, object]] = field(default_factory=list)

    def work(self) -> int:
        self.done.append(self.now)
        row = {"run": f"{len(self.done):08d}", "now": self.now.isoformat(), "exit_code": self.exits}
        runs = self.root / ".curate" / "runs"
        runs.mkdir(parents=True, exist_ok=True)
        (runs / f"{len(self.done):08d}.json").write_text(json.dumps(row))
        self.now += self.takes
        return self.exits

    def log(self, event: str, **values: object) -> None:
        self.lines.append({"event": event} | values)

    def daemon(self) -> Daemon:
        return Daemon(self.root, load_settings(self.root), self.work, lambda: self.now, self.log, DebugExecutor())

    def live(self, daemon: Daemon, until: datetime) -> None:
        """Let the daemon run until then, and look at it each minute; what its scheduler waits for comes at once."""
        life = self

        class Waiting:
            def __init__(self) -> None:
                self.set()

            def wait(self, seconds: float) -> None:
                if self.is_set():
                    return
                if life.now >= until:
                    raise _Until
                life.now += timedelta(seconds=min(max(seconds, 1), 60))
                daemon.look()

            def set(self) -> None:
                self._set = True

            def clear(self) -> None:
                self._set = False

            def is_set(self) -> bool:
                return self._set

        scheduler = daemon._scheduler
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(_Until):
            patch.setattr(apscheduler.schedulers.blocking, "Event", Waiting)
            if scheduler.running:
                scheduler._event = Waiting()
                scheduler._main_loop()
            daemon.run(daemon.look)

    def nights(self) -> list[datetime]:
        return self.done


class _Until(Exception):
    """Raised in the middle of a daemon's life, which goes on from there."""


_L = TypeVar("_L", bound=Life)


def living(monkeypatch: pytest.MonkeyPatch, life: _L) -> _L:
    """Let the clock of a life be APScheduler's, too."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return life.now.astimezone(tz)

    monkeypatch.setattr(apscheduler.schedulers.base, "datetime", Clock)
    monkeypatch.setattr(apscheduler.executors.base, "datetime", Clock)
    return life


def life_at(monkeypatch: pytest.MonkeyPatch, root: Path, now: str) -> Life:
    """Return a life that begins at a moment."""
    return living(monkeypatch, Life(root, datetime.fromisoformat(now).astimezone(UTC)))
