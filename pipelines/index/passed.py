"""What belongs in the index and is not in it, or only in part, and why.

The index keeps it, so that whoever asks need not look at every file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.errors import IndexUnusable
from pipelines.index.sources import Skipped
from pipelines.index.store import reading
from pipelines.store.user_layout import names_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

_SKIPPED: Final = (
    "SELECT path, reason FROM files WHERE reason != '' UNION SELECT path, reason FROM passed ORDER BY path, reason"
)
_PARTIAL: Final = "SELECT path, note FROM files WHERE note != '' ORDER BY path"


def skipped_files(connection: sqlite3.Connection) -> tuple[Skipped, ...]:
    """Return every file that belongs in the index and is not in it, in order of paths."""
    return tuple(Skipped(*row) for row in connection.execute(_SKIPPED))


def partial_files(connection: sqlite3.Connection) -> tuple[Skipped, ...]:
    """Return every file of which something is missing in the index, in order of paths; the reason says what."""
    return tuple(Skipped(*row) for row in connection.execute(_PARTIAL))


def unread(root: Path) -> tuple[tuple[Skipped, ...], tuple[Skipped, ...]]:
    """Return the skipped and the partial files, as of the index's last update; none where there is no index to ask."""
    try:
        with reading(root) as connection:
            return as_shown(root, skipped_files(connection)), as_shown(root, partial_files(connection))
    except IndexUnusable:
        return (), ()


def as_shown(root: Path, files: tuple[Skipped, ...]) -> tuple[Skipped, ...]:
    """Return files with the names that people know them by."""
    names = names_of(root)
    return files if names is None else tuple(replace(one, path=names.real(one.path)) for one in files)


def is_kept(connection: sqlite3.Connection, skipped: Sequence[Skipped]) -> bool:
    """Return whether the index knows exactly these files as passed over by the last scan."""
    rows = connection.execute("SELECT path, reason FROM passed ORDER BY path, reason")
    return [Skipped(*row) for row in rows] == sorted(set(skipped), key=lambda one: (one.path, one.reason))


def keep(connection: sqlite3.Connection, skipped: Sequence[Skipped]) -> None:
    """Record what a scan passed over; the caller holds a transaction."""
    connection.execute("DELETE FROM passed")
    rows = ((one.path, one.reason) for one in dict.fromkeys(skipped))
    connection.executemany("INSERT INTO passed(path, reason) VALUES (?, ?)", rows)
