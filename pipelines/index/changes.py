"""What changed on the disk since the files were read into the index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.index.fingerprints import fingerprint
from pipelines.index.sources import Stamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from pathlib import Path

    from pipelines.index.sources import Scan

# A file can change twice within one tick of its file system's clock and show the same times; so a stamp that was this
# young when it was taken is not believed, and the file is read.
SETTLED_NS: Final = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the index knows of a file: its stamp, when that was taken, its fingerprint, why it has no units."""

    stamp: Stamp
    checked_ns: int
    sha256: str
    reason: str

    def covers(self, stamp: Stamp) -> bool:
        """Return whether the file with this stamp is surely the one that was read."""
        return stamp == self.stamp and max(stamp.mtime_ns, stamp.ctime_ns) + SETTLED_NS < self.checked_ns


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths in order: new files, files with other bytes, files that are no more, and those whose bytes are the same.

    `touched` are those of the unchanged whose stamp has to be taken anew, so that the next scan need not read them.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: tuple[str, ...]
    touched: tuple[str, ...]

    @property
    def stale(self) -> tuple[str, ...]:
        """The paths for which the index would not tell the truth."""
        return (*self.added, *self.changed, *self.removed)


def recorded(connection: sqlite3.Connection) -> dict[str, Recorded]:
    """Return what the index knows of its files, by path."""
    rows = connection.execute("SELECT path, size, mtime_ns, ctime_ns, beside, checked_ns, sha256, reason FROM files")
    return {path: Recorded(Stamp(*stamp), *rest) for path, *stamp, rest in ((*row[:5], row[5:]) for row in rows)}


def compare(root: Path, found: Scan, known: Mapping[str, Recorded]) -> Changes:
    """Return what changed. A file is read only where its stamp does not settle the question."""
    added, changed, unchanged, touched = [], [], [], []
    for path, stamp in found.files.items():
        if (old := known.get(path)) is None:
            added.append(path)
        elif old.covers(stamp):
            unchanged.append(path)
        elif (now := fingerprint(root, path, stamp.beside)) and now == old.sha256:
            unchanged.append(path)
            touched.append(path)
        else:
            changed.append(path)
    removed = sorted(known.keys() - found.files.keys())
    return Changes(tuple(added), tuple(changed), tuple(removed), tuple(unchanged), tuple(touched))
