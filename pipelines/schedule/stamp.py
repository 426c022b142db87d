"""What the daemon leaves behind for others to read, and how it sees that files changed."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Final

from pipelines.store import files
from pipelines.store.files import replace_synced, writing
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import private
from pipelines.store.state import read_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

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
    _write(root, NEXT, row | {"at": now.isoformat(timespec="seconds")})


def note_begun(root: Path, due: datetime) -> None:
    """Leave word in `.curate/begun.json` that the night that was due then is begun, before it is."""
    _write(root, BEGUN, {"due": due.isoformat(), "times": times_begun(root, due) + 1})


def times_begun(root: Path, due: datetime) -> int:
    """Return how often the night that was due then was begun."""
    told = read_record(root, BEGUN)
    times = told.get("times")
    return times if told.get("due") == due.isoformat() and isinstance(times, int) else 0


def _write(root: Path, name: str, row: Mapping[str, object]) -> None:
    with private(root) as folder, writing(name):
        replace_synced(folder, name.rpartition("/")[2], json.dumps(row).encode())
