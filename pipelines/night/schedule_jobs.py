"""What the daemon starts: `curate` itself, as processes of their own.

A job in the daemon's own process could take it along: a crash in a library, memory that is never given back, a model's
client that hangs. A child can be told to end, and killed where it does not, and the next one starts afresh.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.agents.capture import sessions_folder
from pipelines.errors import INTERRUPTED
from pipelines.store import files
from pipelines.store.layout import PRIVATE
from pipelines.store.state import read_record, write_record
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path


AGENTS: Final = ("claude-code", "codex", "openclaw")
_LOOK_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Job:
    """One kind of work: its name in the log, and what `curate` is told, once or several times."""

    name: str
    commands: tuple[tuple[str, ...], ...]


NIGHT: Final = Job("night", (("run",),))
INDEX: Final = Job("index", (("index",),))


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
                [sys.executable, "-P", "-m", "pipelines.cli", *command, "--memory", str(self._root)],
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


# ---------------------------------------- what the daemon leaves behind for others to read
# and how it sees that files changed.


NEXT: Final = "schedule.json"
BEGUN: Final = "begun.json"
_DERIVED: Final = frozenset({".git", PRIVATE})


def stamp_of(root: Path) -> str:
    """Return a hash of what the disk tells of the memory's files without reading them: names, sizes, times.

    Of more names than a memory may have, those that come later are left out; a night over so many is refused.
    """
    told, seen = hashlib.sha256(), 0
    for folder, below, names in os.walk(root):
        below[:] = sorted(set(below) - _DERIVED)
        seen += len(below) + len(names)
        if seen > files.MOST_SEEN:
            break
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118  ten thousand files are looked at every few minutes
            try:
                stat = os.lstat(path)
            except FileNotFoundError:
                continue
            told.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return told.hexdigest()


def write_next(root: Path, due: datetime | None, now: datetime) -> None:
    """Leave word in `.curate/schedule.json` of when the next night is due, in which process, and since when it is."""
    row = {"process": os.getpid(), "next": due.isoformat(timespec="seconds") if due else ""}
    write_record(root, NEXT, row | {"at": now.isoformat(timespec="seconds")})


def note_begun(root: Path, due: datetime) -> None:
    """Leave word in `.curate/begun.json` that the night that was due then is begun, before it is."""
    write_record(root, BEGUN, {"due": due.isoformat(), "times": times_begun(root, due) + 1})


def times_begun(root: Path, due: datetime) -> int:
    """Return how often the night that was due then was begun."""
    told = read_record(root, BEGUN)
    times = told.get("times")
    return times if told.get("due") == due.isoformat() and isinstance(times, int) else 0


# ---------------------------------------- the daemon's log
# a line an event on standard error, `key=value`, without a word of the memory.


_PRIORITIES: Final = {"error": 3, "warning": 4, "info": 6}


def log(event: str, *, level: str = "info", **values: object) -> None:
    """Write one line. Under systemd it begins with the priority by which the journal files it."""
    pairs = {"event": event, "level": level} | values
    mark = f"<{_PRIORITIES[level]}>" if os.environ.get("JOURNAL_STREAM") else ""
    print(mark + " ".join(f"{key}={_value(value)}" for key, value in pairs.items()), file=sys.stderr, flush=True)  # noqa: T201  the daemon's voice


def _value(value: object) -> str:
    text = escape_terminal_line(str(value))
    return text if re.fullmatch(r"[^\s\"=]+", text) else '"' + re.sub(r"[\"\\\x00-\x1f]", " ", text) + '"'
