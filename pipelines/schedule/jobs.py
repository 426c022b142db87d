"""What the daemon starts: `curate` itself, as processes of their own.

A job in the daemon's own process could take it along: a crash in a library, memory that is never given back, a model's
client that hangs. A child can be told to end, and killed where it does not, and the next one starts afresh.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.agents.capture import sessions_folder
from pipelines.errors import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

AGENTS: Final = ("claude-code", "codex", "openclaw")
_LOOK_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Job:
    """One kind of work: its name in the log, and what `curate` is told, once or several times."""

    name: str
    commands: tuple[tuple[str, ...], ...]


def night_job() -> Job:
    """Return the nightly curation."""
    return Job("night", (("run",),))


def index_job() -> Job:
    """Return the refreshing of the index."""
    return Job("index", (("index",),))


def capture_job(environ: Mapping[str, str]) -> Job:
    """Return the capture of the sessions of every agent that keeps some here; none where no agent does."""
    there = [agent for agent in AGENTS if sessions_folder(agent, environ).is_dir()]
    return Job("capture", tuple(("capture", "--from", agent) for agent in there))


class Children:
    """The processes that the daemon started and that have not ended."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closing = False

    def run(self, job: Job) -> int:
        """Do a job, and return its exit code: the first that is not 0, else 0."""
        codes = [self._run(command) for command in job.commands]
        return next((code for code in codes if code), 0)

    def _run(self, command: tuple[str, ...]) -> int:
        with self._lock:
            if self._closing:
                return INTERRUPTED
            # What a run says may quote the memory; what an operator needs of it is in its report (`curate runs`).
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "pipelines.commands", *command, "--memory", str(self._root)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a Ctrl-C at the daemon's terminal reaches it through the daemon alone
            )
            self._running.add(child)
        try:
            code = child.wait()
        finally:
            with self._lock:
                self._running.discard(child)
        return code if code >= 0 else 128 - code

    def stop(self, seconds: float) -> int:
        """End what runs: ask, wait so long at the most, then kill. Returns how many had to be killed.

        A run that is killed at whatever point leaves a memory that the next one finishes or puts right.
        """
        with self._lock:
            self._closing = True
            running = list(self._running)
        for child in running:
            _signal(child, signal.SIGTERM)
        until = time.monotonic() + seconds
        while any(child.poll() is None for child in running) and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
        left = [child for child in running if child.poll() is None]
        for child in left:
            _signal(child, signal.SIGKILL)
        return len(left)


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)
