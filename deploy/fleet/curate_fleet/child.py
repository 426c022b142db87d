"""The child of one night: a plain `curate run REMOTE` that sees one tenant's settings and keys, and nothing else.

Its environment is built from nothing, its home is a new folder, its group of processes dies with it, and its time,
memory and disk are limited. Of the fleet it has one end of a socket, over which it asks before each call of a model.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID, uuid4

from curate_fleet.say import clean
from curate_fleet.spending import SpendingRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from curate_fleet.settings import ChildLimits


GUARD: Final = "CURATE_GUARD"
"""The environment variable by which a child knows the number of its end of the socket."""
_LOOK = 1.0
_GRACE = 15.0
_MOST_READ = 4 * 1024 * 1024
_TAIL = 600
_CONFIG = ".config/memcurate"
_MB = 1024 * 1024
# `exec` keeps one process; a limit that a system does not know is no reason not to run.
CONFINE: Final = 'ulimit -d "$1" 2>/dev/null; ulimit -f "$2" 2>/dev/null; shift 2; exec "$@"'


@dataclass(frozen=True, slots=True)
class Bank:
    """How a child's questions are answered: `reserve` returns why not, once it is the call's turn."""

    reserve: Callable[[SpendingRequest], Awaitable[str]]
    settle: Callable[[UUID, int, float, float | None], Awaitable[None]]


@dataclass(slots=True)
class Ran:
    """How a child ended.

    Args:
        code: its exit code, negative for a signal.
        why: why it was ended by its worker, or empty.
        report: what it printed as JSON, or nothing.
        tail: the end of what it printed on standard error, without secrets.
        refused: why the fleet refused a call, or empty.
        waited: how many seconds it waited for its turn; they do not count as its time.
    """

    code: int = 0
    why: str = ""
    report: dict[str, Any] = field(default_factory=dict)
    tail: str = ""
    refused: str = ""
    waited: float = 0.0


def folder_of(remote: str, workdir: Path) -> Path:
    """Return the folder of a memory's clone: its name, and a hash that tells equal names apart."""
    name = re.sub(r"[^\w.-]+", "-", remote)[-60:].strip("-.")
    return workdir / f"{name}-{hashlib.sha256(remote.encode()).hexdigest()[:12]}"


async def run_child(  # noqa: PLR0913, PLR0917  what a child is made of
    program: str,
    remote: str,
    folder: Path,
    home: Path,
    config: Path,
    keys: Mapping[str, str],
    limits: ChildLimits,
    bank: Bank,
) -> Ran:
    """Run the night of a memory as a child, and return how it ended. However this ends, nothing of it is left.

    Args:
        program: the program `curate`.
        remote: the memory.
        folder: the folder of its clone.
        home: the folder in which the child's home is made.
        config: the folder of the tenant's own settings and secrets, which it may add to.
        keys: the tenant's keys, as environment variables.
        limits: its limits.
        bank: answers its questions.
    """
    own, theirs = socket.socketpair()
    place = home / uuid4().hex
    place.mkdir(mode=0o700)
    process = None
    ran = Ran()
    try:
        with (place / "out").open("wb") as out, (place / "err").open("wb") as err, theirs:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh", "-c", CONFINE, "sh", str(limits.memory_mb * 1024), str(limits.disk_mb * _MB // 512),
                program, "run", remote, "--workdir", str(folder), "--json",
                env=_environment(place, config, keys) | {GUARD: str(theirs.fileno())}, cwd=place,
                stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=err,
                pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip
        answering = asyncio.create_task(_answer(own, bank, ran))
        try:
            ran.why = await watch(process, limits, ran, (folder, place))
        finally:
            await _end(process)
            with contextlib.suppress(TimeoutError):  # what it said last is still in the socket
                await asyncio.wait_for(answering, _GRACE)
        ran.code = process.returncode or 0
        ran.report = _printed(_read(place / "out").replace(str(place / _CONFIG), str(config)))
        ran.tail = _without(_read(place / "err")[-_TAIL:], keys)
        return ran
    finally:
        own.close()
        shutil.rmtree(place, ignore_errors=True)


def _environment(place: Path, config: Path, keys: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of a child; of this process it has the PATH alone."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    models = (cache if cache.is_absolute() else Path.home() / ".cache") / "memcurate" / "models"
    if models.is_dir():
        below = place / ".cache" / "memcurate"
        below.mkdir(parents=True)
        (below / "models").symlink_to(models)
    (place / _CONFIG).parent.mkdir()
    (place / _CONFIG).symlink_to(config)
    own = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(place), "TMPDIR": str(place), "LC_ALL": "C.UTF-8"}
    return {**keys, **own}


async def watch(process: asyncio.subprocess.Process, limits: ChildLimits, ran: Ran, folders: tuple[Path, ...]) -> str:
    """Wait for a child; return which limit it broke, or nothing."""
    began = time.monotonic()
    looks = 0
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _LOOK)
            return ""
        if time.monotonic() - began - ran.waited > limits.minutes * 60:
            return f"was ended after {limits.minutes:g} minutes"
        looks += 1
        if looks % 5 == 0 and await asyncio.to_thread(_size, folders) > limits.disk_mb * _MB:
            return f"was ended because it had more than {limits.disk_mb:,} MB on the disk"


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a child that still runs, politely first, so that git's processes end, too; then its group for certain."""
    with contextlib.suppress(ProcessLookupError):
        if process.returncode is None:
            process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(process.wait()), _GRACE)
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def _answer(own: socket.socket, bank: Bank, ran: Ran) -> None:
    """Answer a child's questions until it closes its end; a question that waits holds up no other."""
    own.setblocking(False)  # noqa: FBT003  its only form
    reader, writer = await asyncio.open_connection(sock=own)
    asking: dict[UUID, asyncio.Task[None]] = {}

    async def ask(request: SpendingRequest) -> None:
        began = time.monotonic()
        why = await bank.reserve(request)
        ran.waited += (time.monotonic() - began) / len(asking)  # several may wait at once
        ran.refused = ran.refused or why
        told = {"call": request.id.hex, **({"why": why} if why else {"granted": True})}
        with contextlib.suppress(ConnectionError):
            writer.write(json.dumps(told).encode() + b"\n")
            await writer.drain()

    try:
        with contextlib.suppress(ConnectionError):
            async for line in reader:
                told = json.loads(line)
                call = UUID(told["call"])
                if "spent" not in told:
                    request = SpendingRequest(call, str(told["bucket"]), int(told["tokens"]), told["usd"])
                    asking[call] = asyncio.create_task(ask(request))
                    continue
                if task := asking.pop(call, None):  # answered, or not waited for any more
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                await bank.settle(call, int(told["spent"][0]), float(told["spent"][1]), told["slow"])
    finally:
        for task in asking.values():
            task.cancel()
        await asyncio.gather(*asking.values(), return_exceptions=True)
        writer.close()


def _size(folders: tuple[Path, ...]) -> int:
    total = 0
    for folder in folders:
        for above, _, names in os.walk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    total += os.lstat(os.path.join(above, name)).st_size  # noqa: PTH118  thousands of files
    return total


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MOST_READ).decode(errors="replace")


def _printed(text: str) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        told = json.loads(text)
        if isinstance(told, dict):
            return told
    return {}


def _without(text: str, keys: Mapping[str, str]) -> str:
    for value in keys.values():
        text = text.replace(value, "…") if value else text
    return clean(text)


@contextlib.contextmanager
def homes(workdir: Path) -> Iterator[Path]:
    """Give the folder of one worker's homes; delete it after, and those of workers of this machine that were killed."""
    above = workdir / "homes"
    above.mkdir(mode=0o700, parents=True, exist_ok=True)
    mine = above / uuid4().hex
    with (above / "lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        for other in above.glob("*/lock"):
            with other.open("r") as lock, contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(other.parent, ignore_errors=True)
        mine.mkdir(mode=0o700)
        lock = (mine / "lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
    with lock:
        try:
            yield mine
        finally:
            shutil.rmtree(mine, ignore_errors=True)
