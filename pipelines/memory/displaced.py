"""What a run displaced, under `.curate/displaced/`: logs that somebody may still append to, and texts that lost a race.

A program that keeps a log open goes on writing into the file that a run replaced. That file is kept for some days, and
each start looks whether it grew: what came is appended to the log that took its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from pipelines.memory.files import making, read_bytes, writing
from pipelines.memory.folders import holding
from pipelines.memory.layout import PRIVATE
from pipelines.memory.lock import log_lock
from pipelines.memory.names import real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pipelines.memory.folders import Folder
    from pipelines.memory.swap import Swap

KEPT_SECONDS: Final = 3 * 86400.0
"""Longer than a session that keeps its log open; a log's day is closed by then."""

_FOLDER: Final = f"{PRIVATE}/displaced"
_LONGEST: Final = 255
_SIZE: Final = 99_999_999
_LOG: Final = re.compile(r"(\d+)\.(\w{16})~(.+)")


def can_be_kept(path: str) -> bool:
    """Whether the file at that path can be kept: its name there tells the whole path, and a disk has a bound."""
    return len(os.fsencode(_named(path, _SIZE, "0" * 16))) <= _LONGEST


def keep_log(root: Path, path: str, swap: Swap, data: bytes) -> None:
    """Keep a displaced log, the very file, for `carry_over` to look at; `data` is what of it has been seen to."""
    with making(root, _FOLDER) as folder:
        swap.folder.chmod(swap.name, 0o600)
        swap.folder.rename(swap.name, folder, _name(path, data))


def keep_text(root: Path, path: str, swap: Swap) -> None:
    """Keep a text of somebody's for which there was no place, under its file's name and a hash."""
    digest = hashlib.sha256(swap.folder.read(swap.name)).hexdigest()[:16]
    with making(root, _FOLDER) as folder:
        swap.folder.chmod(swap.name, 0o600)
        with contextlib.suppress(FileExistsError):
            swap.folder.link(swap.name, folder, f"{digest}-{quote(path, safe='')}"[:_LONGEST])


def carry_over(root: Path) -> list[str]:
    """Append to each log what came into the file that it replaced, and return the logs that grew."""
    grown = []
    with _logs(root) as logs:
        for log in logs:
            folder, data = log.folder, log.folder.read(log.name)
            if len(data) > log.seen and hashlib.sha256(data[: log.seen]).hexdigest().startswith(log.digest):
                with log_lock(root):
                    _append(root, log.path, data[log.seen :])
                    folder.rename(log.name, folder, _name(log.path, data))
                grown.append(log.path)
            elif (there := folder.lstat(log.name)) and time.time() - there.st_ctime > KEPT_SECONDS:
                folder.unlink(log.name)
    return grown


def mask(root: Path, masked: Callable[[str, bytes], bytes]) -> None:
    """Make what must not be read any more unreadable in the logs that runs displaced.

    It is done in the very files, at the same length, so that a program that writes into one goes on doing so. Each has
    two names meanwhile, one for what it held and one for what it will hold: whenever this is killed, one is right.

    Args:
        root: the memory.
        masked: a log's path and bytes → the bytes that it shall have, as many.
    """
    with log_lock(root), _logs(root) as logs:
        for log in logs:
            folder, old = log.folder, log.name
            data = folder.read(old)
            new = masked(log.path, data)
            if new != data:
                name = _name(log.path, new)
                folder.unlink(name)
                folder.link(old, folder, name)
                descriptor = folder.open(old, os.O_RDWR)
                with os.fdopen(descriptor, "r+b") as there:
                    there.write(new)
                    there.flush()
                    os.fsync(descriptor)
                folder.unlink(old)


def _append(root: Path, path: str, tail: bytes) -> None:
    there = read_bytes(root, path) or b""
    if there.endswith(tail):
        return  # a start that was killed had appended it
    above, _, name = real_path(root, path).rpartition("/")
    gap = b"" if not there or there.endswith(b"\n") or tail.startswith(b"\n") else b"\n"
    with making(root, above) as target:
        descriptor = target.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        with os.fdopen(descriptor, "wb") as file:
            file.write(gap + tail)
            file.flush()
            os.fsync(descriptor)
        target.sync()


@dataclass(frozen=True, slots=True)
class _Log:
    """A displaced log: where it lies, how much of it was seen to, the hash of that, and whose place it had."""

    folder: Folder
    name: str
    seen: int
    digest: str
    path: str


@contextlib.contextmanager
def _logs(root: Path) -> Iterator[list[_Log]]:
    """Hold the folder, if there is one, and give the logs in it. To look makes nothing."""
    logs: list[_Log] = []
    with writing(_FOLDER), contextlib.ExitStack() as held:
        with contextlib.suppress(FileNotFoundError):
            folder = held.enter_context(holding(root, _FOLDER))
            parts = [_LOG.fullmatch(name) for name in folder.names()]
            logs = [_Log(folder, part[0], int(part[1]), part[2], unquote(part[3])) for part in parts if part]
        yield logs


def _name(path: str, data: bytes) -> str:
    return _named(path, len(data), hashlib.sha256(data).hexdigest()[:16])


def _named(path: str, size: int, digest: str) -> str:
    return f"{size}.{digest}~{path.replace('%', '%25').replace('/', '%2F')}"
