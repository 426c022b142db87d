"""Appending to a log: one line, whole, whoever else writes at the same moment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pipelines.memory.files import making, read_bytes, writing
from pipelines.memory.items import fold
from pipelines.memory.layout import log_path
from pipelines.memory.lock import log_lock
from pipelines.memory.names import real_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def log_line(clock: str, text: str, project: str) -> str:
    """Return the line that `curate log` writes.

    Args:
        clock: `HH:MM`.
        text: what happened; folded to one line.
        project: a project's name, or empty.
    """
    marker = f"[project: {fold(project.replace('[', '(').replace(']', ')'))}] " if project.strip() else ""
    return f"- {clock} {marker}{fold(text)}"


def append_line(root: Path, day: str, line: str) -> str:
    """Append one line to the log of a day, made where it is missing, and return the log's path.

    The line is written by one call at the end of the file under the log's lock, and is on the disk on return.

    Raises:
        NotWritable: the disk refused; the log is as it was.
        BadFile: the log is a symbolic link.
    """
    return append_to_log(root, day, lambda _: f"{line}\n")


def append_to_log(root: Path, day: str, told: Callable[[str], str]) -> str:
    """Append to the log of a day what is to be told after what it says already, and return the log's path.

    Args:
        root: the memory.
        day: the log's day; the log is made where it is missing.
        told: what the log says → what it gains, whole lines; it is asked under the log's lock, so that nobody writes
            in between. Nothing is written where it returns an empty string.

    Raises:
        NotWritable: the disk refused; the log is as it was.
        BadFile: the log is a symbolic link.
    """
    path = log_path(day)
    with log_lock(root):
        before = (read_bytes(root, path) or b"").decode(errors="replace")
        if more := told(before):
            _append(root, path, f"{'' if before else f'# {day}{chr(10) * 2}'}{more}".encode())
    return path


def append_bytes(root: Path, path: str, data: bytes) -> None:
    """Append whole lines to a file of the memory, made where it is missing.

    Raises:
        NotWritable: the disk refused; the file is as it was.
        BadFile: the file is a symbolic link.
    """
    with log_lock(root):
        _append(root, path, data)


def _append(root: Path, path: str, data: bytes) -> None:
    path = real_path(root, path)
    above, _, name = path.rpartition("/")
    with writing(path), making(root, above) as folder:
        descriptor = folder.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            whole = size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"
            _write_whole(descriptor, size, data if whole else b"\n" + data)
        finally:
            os.close(descriptor)
        if size == 0:
            folder.sync()


def _write_whole(descriptor: int, size: int, data: bytes) -> None:
    """Write and flush all of `data` or nothing: what the disk did not take is cut off, if nobody wrote after it."""
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
        os.fsync(descriptor)
    except OSError:
        if written and os.fstat(descriptor).st_size == size + written:
            os.ftruncate(descriptor, size)
        raise
