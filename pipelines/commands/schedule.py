"""`curate schedule`: stay, and run the nights."""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from pipelines.commands.options import memory_option, memory_root
from pipelines.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from pipelines.night.schedule import Daemon


@click.command("schedule")
@memory_option
def command(*, memory: Path | None) -> None:
    """Stay in the foreground and run each night at its time, capture sessions, and keep the index fresh.

    For containers and servers; elsewhere a timer does (`curate install`). The times are in curate.toml, [schedule].
    SIGTERM and SIGINT end it, SIGHUP lets it read the settings again. What it does goes to standard error, a line each.
    """
    from pipelines.night.schedule import Daemon, World  # noqa: PLC0415  as above
    from pipelines.night.schedule_jobs import Children, log  # noqa: PLC0415  as above
    from pipelines.store.lock import schedule_lock  # noqa: PLC0415  the verb's work, not its help

    root = memory_root(memory)
    settings = load_settings(root)
    with schedule_lock(root):
        children = Children(root)
        daemon = Daemon(root, settings, World(lambda: datetime.now(UTC), children.run, log))
        _listen(daemon)
        due = daemon.next_night()
        log("started", zone=settings.timezone, next=due.isoformat(timespec="minutes") if due else "")
        daemon.run()
        daemon.close()
        killed = children.stop(settings.schedule.stop_seconds)
        log("stopped", level="warning" if killed else "info", killed=killed)


def _listen(daemon: Daemon) -> None:
    """Let signals reach the daemon; one that comes in the middle of a turn is acted on after it."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        daemon.stop()

    def reread(_number: int, _frame: FrameType | None) -> None:
        daemon.reread()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGHUP, reread)
