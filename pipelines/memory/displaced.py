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
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from pipelines.memory.files import make_folders, read_bytes, sync_folder, writing
from pipelines.memory.layout import PRIVATE
from pipelines.memory.lock import log_lock
from pipelines.memory.names import at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

KEPT_SECONDS: Final = 3 * 86400.0
"""Longer than a session that keeps its log open; a log's day is closed by then."""

_LOG: Final = re.compile(r"(\d+)\.(\w{16})~(.+)")


def keep_log(root: Path, path: str, file: Path, data: bytes) -> None:
    """Keep a displaced log, the very file, for `carry_over` to look at; `data` is what of it has been seen to."""
    file.chmod(0o600)
    file.rename(_folder(root) / _name(path, data))


def keep_text(root: Path, path: str, file: Path) -> None:
    """Keep a text of somebody's for which there was no place, under its file's name and a hash."""
    data = file.read_bytes()
    file.chmod(0o600)
    with contextlib.suppress(FileExistsError):
        os.link(file, _folder(root) / f"{hashlib.sha256(data).hexdigest()[:16]}-{quote(path, safe='')}")


def carry_over(root: Path) -> list[str]:
    """Append to each log what came into the file that it replaced, and return the logs that grew."""
    folder = root / PRIVATE / "displaced"
    grown = []
    with writing(folder):
        for file, size, digest, path in _logs(folder):
            data = file.read_bytes()
            if len(data) > size and hashlib.sha256(data[:size]).hexdigest().startswith(digest):
                with log_lock(root):
                    _append(root, path, data[size:])
                    file.rename(folder / _name(path, data))
                grown.append(path)
            elif time.time() - file.stat().st_ctime > KEPT_SECONDS:
                file.unlink()
    return grown


def mask(root: Path, masked: Callable[[str, bytes], bytes]) -> None:
    """Make what must not be read any more unreadable in the logs that runs displaced.

    It is done in the very files, at the same length, so that a program that writes into one goes on doing so. Each has
    two names meanwhile, one for what it held and one for what it will hold: whenever this is killed, one is right.

    Args:
        root: the memory.
        masked: a log's path and bytes → the bytes that it shall have, as many.
    """
    folder = root / PRIVATE / "displaced"
    with writing(folder), log_lock(root):
        for file, _, _, path in list(_logs(folder)):
            data = file.read_bytes()
            new = masked(path, data)
            if new != data:
                name = folder / _name(path, new)
                name.unlink(missing_ok=True)
                os.link(file, name)
                with file.open("r+b") as there:
                    there.write(new)
                    there.flush()
                    os.fsync(there.fileno())
                file.unlink()


def _append(root: Path, path: str, tail: bytes) -> None:
    there = read_bytes(root, path) or b""
    if there.endswith(tail):
        return  # a start that was killed had appended it
    target = at(root, path)
    make_folders(root, target.parent)
    gap = b"" if not there or there.endswith(b"\n") or tail.startswith(b"\n") else b"\n"
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(gap + tail)
        file.flush()
        os.fsync(descriptor)
    sync_folder(target.parent)


def _logs(folder: Path) -> Iterator[tuple[Path, int, str, str]]:
    for file in sorted(folder.glob("*~*")) if folder.is_dir() else ():
        if parts := _LOG.fullmatch(file.name):
            yield file, int(parts[1]), parts[2], unquote(parts[3])


def _name(path: str, data: bytes) -> str:
    return f"{len(data)}.{hashlib.sha256(data).hexdigest()[:16]}~{quote(path, safe='')}"


def _folder(root: Path) -> Path:
    folder = root / PRIVATE / "displaced"
    make_folders(root, folder)
    return folder
