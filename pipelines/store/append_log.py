"""Appending to logs: a line is written completely or not at all, whoever else writes at the same time."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pipelines.store.files import make_folder, open_own, read_bytes, sync_folder, writing
from pipelines.store.layout import PRIVATE, log_path
from pipelines.store.lock import log_lock
from pipelines.store.whole_lines import append_whole
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


_BULLETS = ("- ", "* ", "+ ", "• ")
_LABELLED = re.compile(
    r"^(?=[ \t]*(?:[-*+•][ ])?\**(?:decision|fact|rule|todo|risk|done|correction)\**:)", re.IGNORECASE | re.MULTILINE
)


def log_line(clock: str, text: str, project: str) -> str:
    """Return the line, or lines, that `curate log` writes.

    Args:
        clock: `HH:MM`.
        text: what happened; folded to one line, without a bullet of its own. Of several lines with a label of their own
            each becomes a line of the log, with what follows it.
        project: a project's name, or empty.
    """
    starts = [found.start() for found in _LABELLED.finditer(text)]
    if len(starts) > 1:
        starts = [0, *starts] if text[: starts[0]].strip() else starts
        parts = [text[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
        return "\n".join(log_line(clock, part, project) for part in parts)
    marker = f"[project: {fold(project.replace('[', '(').replace(']', ')'))}] " if project.strip() else ""
    sentence = fold(text)
    if sentence[:2] in _BULLETS:
        sentence = sentence[2:].lstrip()
    return f"- {clock} {marker}{sentence}"


def append_line(root: Path, day: str, line: str) -> str:
    """Append one line to the log of a day, creating it if needed, and return the log's path.

    One write under the log's lock appends the line; it is flushed on return.

    Raises:
        NotWritable: the disk refused; the log is unchanged.
        BadFile: the log is a symbolic link.
    """
    return append_to_log(root, day, lambda _: f"{line}\n")


def append_to_log(root: Path, day: str, added: Callable[[str], str]) -> str:
    """Append to the log of a day, depending on its content, and return the log's path.

    Args:
        root: the memory.
        day: the log's day; the log is created if needed.
        added: the log's text → the whole lines to append, or an empty string to write nothing. It is called under the
            log's lock, so that nobody writes in between.

    Raises:
        NotWritable: the disk refused; the log is unchanged.
        BadFile: the log is a symbolic link.
    """
    path = log_path(day)
    with log_lock(root):
        data, kept = read_bytes(root, path), b""
        if data is None and (root / PRIVATE / "left-out.json").exists():
            from pipelines.store.trees import left_out  # noqa: PLC0415  hardly any memory needs it

            kept = left_out(root).get(path, b"")  # what git has of a log that it leaves out of the disk
        before = (data or kept).decode(errors="replace")
        if more := added(before):
            append_bytes(root, path, kept + f"{'' if before else f'# {day}{chr(10) * 2}'}{more}".encode())
    return path


def append_bytes(root: Path, path: str, data: bytes) -> None:
    """Append whole lines to a file of the memory, creating it if needed; the caller holds the log's lock.

    All lines are written and flushed, or none: an incomplete write is cut off if nobody wrote after it.

    Raises:
        NotWritable: the disk refused; the file is unchanged.
        BadFile: the file is a symbolic link.
    """
    mode = 0o600 if path.startswith(f"{PRIVATE}/") else 0o644
    with writing(path):
        folder = make_folder(root, path.rpartition("/")[0])
        descriptor = open_own(root, path, os.O_RDWR | os.O_CREAT | os.O_APPEND, mode)
        try:
            was_empty = append_whole(descriptor, data)
        finally:
            os.close(descriptor)
        if was_empty:
            sync_folder(folder)
