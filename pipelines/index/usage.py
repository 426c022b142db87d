"""What searches gave back, and when: `.curate/usage.db`, by which what is used comes to be found more easily.

Nothing else hangs on it. It is no part of the index, so no reindex waits for it nor it for one; it may be deleted at
any time; and whatever is wrong with it, a search goes on as if nothing had ever been used.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from pipelines.index.store import FAULTS, check_header, is_broken
from pipelines.store.layout import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

USAGE: Final = f"{PRIVATE}/usage.db"
MOST: Final = 20_000
"""So many units are remembered, some 2 MB; beyond them, those that were used longest ago are forgotten."""

_BUSY_SECONDS: Final = 0.05
_DAY: Final = 86_400
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS uses(
        name TEXT PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL
    ) WITHOUT ROWID
"""
_COUNT: Final = (
    "INSERT INTO uses SELECT value, 1, :now FROM json_each(:names) WHERE true"
    " ON CONFLICT(name) DO UPDATE SET count = count + 1, last = max(last, excluded.last)"
)
_FORGET: Final = (
    "DELETE FROM uses WHERE name IN (SELECT name FROM uses ORDER BY last, name"
    " LIMIT max(0, (SELECT count(*) FROM uses) - ?))"
)
_USED: Final = "SELECT name, count, last FROM uses WHERE name IN (SELECT value FROM json_each(?))"


def record_uses(root: Path, names: Collection[str], now: float | None = None) -> bool:
    """Count one use of each, and return whether that came about; nothing is raised, and nobody is waited for.

    Args:
        root: the memory.
        names: what was given back, by `Hit.known_as`.
        now: the moment, in seconds of the epoch; the clock's without it.
    """
    if not names:
        return False
    try:
        _count(root, names, int(time.time() if now is None else now))
    except FAULTS as error:
        if is_broken(error):  # what was in it is a help and no more: the next search begins anew
            _remove(root)
        return False
    except OSError:
        return False
    return True


def _count(root: Path, names: Collection[str], now: int) -> None:
    path = root / USAGE
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600))
    check_header(path)
    with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        # Nothing is flushed: a use that a power cut takes is no loss, and a search shall not wait for a disk.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        connection.execute(_COUNT, {"now": now, "names": json.dumps(sorted(set(names)))})
        connection.execute(_FORGET, (MOST,))
        connection.execute("COMMIT")


def _remove(root: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            (root / f"{USAGE}{suffix}").unlink()


def uses_of(root: Path, names: Collection[str], now: float | None = None) -> Mapping[str, tuple[int, float]]:
    """Return how often each was used, and how many days ago it last was; what never was is not in it.

    Args:
        root: the memory.
        names: whose uses, by `Hit.known_as`.
        now: the moment, in seconds of the epoch; the clock's without it.
    """
    path, moment = root / USAGE, time.time() if now is None else now
    if not path.is_file() or path.is_symlink():
        return {}
    try:
        found = f"file:{quote(str(path))}?mode=ro"
        with contextlib.closing(sqlite3.connect(found, uri=True, timeout=_BUSY_SECONDS)) as connection:
            rows = connection.execute(_USED, (json.dumps(sorted(set(names))),)).fetchall()
            return {str(name): (int(count), (moment - int(last)) / _DAY) for name, count, last in rows}
    except (sqlite3.Error, OSError, TypeError, ValueError):
        return {}
