"""The daemon's jobs: each runs `curate` as a process of its own.

A job in the daemon's own process could bring it down: a crash in a library, leaked memory, a hanging client. A child
process can be stopped, and killed if it does not stop; the next one starts fresh.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from pipelines.agents.session_places import AGENTS_SESSIONS, sessions_folder
from pipelines.errors import INTERRUPTED
from pipelines.text import key_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


_LOOK_SECONDS = 0.05


def commands_of(job: str, environ: Mapping[str, str]) -> list[list[str]]:
    """Return the `curate` commands of a job: `night`, `index`, or `capture` of each agent that keeps sessions here."""
    if job == "capture":
        return [["capture", "--from", agent] for agent in AGENTS_SESSIONS if sessions_folder(agent, environ).is_dir()]
    return [["run" if job == "night" else job]]


class Children:
    """The daemon's running child processes."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closing = False

    def run(self, commands: Sequence[Sequence[str]]) -> int:
        """Run the commands of a job; return the first exit code that is not 0, else 0."""
        codes = [self._run(command) for command in commands]
        return next((code for code in codes if code), 0)

    def _run(self, command: Sequence[str]) -> int:
        with self._lock:
            if self._closing:
                return INTERRUPTED
            # A run's output may quote the memory; operators find what they need in its report (`curate runs`).
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "pipelines.cli", *command, "--memory", str(self._root)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # only the daemon gets its terminal's Ctrl-C
            )
            self._running.add(child)
        try:
            code = child.wait()
        finally:
            with self._lock:
                self._running.discard(child)
        return code if code >= 0 else 128 - code

    def stop(self, seconds: float) -> int:
        """Stop all children: ask, wait up to `seconds`, then kill. Return how many were killed.

        The next run recovers from a killed one, wherever it was killed.
        """
        with self._lock:
            self._closing = True
            running = list(self._running)
        for child in running:
            _kill(child, signal.SIGTERM)
        until = time.monotonic() + seconds
        while any(child.poll() is None for child in running) and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
        left = [child for child in running if child.poll() is None]
        for child in left:
            _kill(child, signal.SIGKILL)
        return len(left)


def _kill(child: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


# ---------------------------------------- the daemon's records for others


NEXT: Final = "schedule.json"
"""When the next night is due, in which process, and since when."""


# ---------------------------------------- the daemon's log
# One line per event on standard error, `key=value`, without text of the memory.


_PRIORITIES = {"error": 3, "warning": 4, "info": 6}


def log(event: str, *, level: str = "info", **values: object) -> None:
    """Write one line; under systemd, with the priority for the journal first."""
    mark = f"<{_PRIORITIES[level]}>" if os.environ.get("JOURNAL_STREAM") else ""
    print(mark + key_values(event=event, level=level, **values), file=sys.stderr, flush=True)  # noqa: T201  the daemon's log
