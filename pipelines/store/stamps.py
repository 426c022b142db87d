"""Stamps: size, times and inode at which a file was found to have certain bytes, so that these need not be read again.

No write leaves a file's change time as it was. They are in `.curate/stamps.json`, which is safe to delete.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import CurateError
from pipelines.store.state import read_record, write_record

if TYPE_CHECKING:
    import os
    from pathlib import Path


FILE: Final = "stamps.json"
_SETTLED_NS = 60_000_000_000
"""The age from which a file's times distinguish it from any later version, and its bytes are on the disk."""
_COLUMNS = 6
_WORTH = 8
"""How many stamps to write at once: a change of a few files writes none."""


class Stamps:
    """The stamps of a memory's files, as they were written last.

    Args:
        root: the memory.
    """

    def __init__(self, root: Path) -> None:
        self._root, self._began = root, time.time_ns()
        rows = read_record(root, FILE).items()
        self._known = {path: row for path, row in rows if isinstance(row, list) and len(row) == _COLUMNS}
        self._seen = dict[str, list[Any]]()

    def hashes(self, path: str, status: os.stat_result) -> tuple[str, str] | None:
        """Return the hashes of a file that is as it was when they were taken, as `keep` got them; else None."""
        row = self._known.get(path)
        if row is None or row[:-2] != _stamp(status):
            return None
        self._seen[path] = row
        return row[-2], row[-1]

    def keep(self, path: str, status: os.stat_result, blob: str, file: str) -> None:
        """Remember git's id of a file's bytes, and their `file_hash`.

        A file that was written just now may change again within the same moment, so it is left out.
        """
        if max(status.st_mtime_ns, status.st_ctime_ns) + _SETTLED_NS <= self._began:
            self._seen[path] = [*_stamp(status), blob, file]

    def write(self) -> None:
        """Replace the stamps by those that were asked for or kept since, if many are new."""
        if sum(self._known.get(path) is not row for path, row in self._seen.items()) >= _WORTH:
            with contextlib.suppress(CurateError):  # it only saves time
                write_record(self._root, FILE, self._seen)


def _stamp(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
