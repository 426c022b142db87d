"""What the daemon leaves behind for others to read, and how it sees that files changed."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Final

from pipelines.memory.files import replace_synced, writing
from pipelines.memory.layout import PRIVATE
from pipelines.memory.lock import private

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

NEXT: Final = f"{PRIVATE}/schedule.json"
_DERIVED: Final = frozenset({".git", PRIVATE})


def stamp_of(root: Path) -> str:
    """Return a hash of what the disk tells of the memory's files without reading them: names, sizes, times."""
    told = hashlib.sha256()
    for folder, below, names in os.walk(root):
        below[:] = sorted(set(below) - _DERIVED)
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
    text = json.dumps(row | {"at": now.isoformat(timespec="seconds")})
    with private(root) as folder, writing(NEXT):
        replace_synced(folder, NEXT.rpartition("/")[2], text.encode())
