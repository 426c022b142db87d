"""Reindex: the index follows the files. It is derived, so a failure loses nothing and never undoes a night."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.search.embed import embed
from pipelines.search.matrix import read_stamp
from pipelines.store.files import making
from pipelines.store.layout import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


NIGHT_SECONDS: Final = 1800.0
"""A night's time for vectors, enough for some megabytes of new logs; the rest waits for the next night."""
_BY_HAND_SECONDS: Final = 7.0
NAMED: Final = 100
"""The most files without text that a report lists, since it is kept for good; `curate status` lists all."""
CHECK_SECONDS: Final = 7 * 24 * 3600
"""The index is checked for damage once a week: a check reads all of it, and a night should not."""


def reindex(
    root: Path, seconds: float = _BY_HAND_SECONDS, advance: Callable[[int, int], None] = lambda _, __: None
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Bring the index and its vectors up to date; return what was done, and sentences on what failed.

    If no file changed and no vector is missing, nothing is embedded, and this ends at once. In a clone whose index a
    search has built, all vectors are missing. No embedding starts after `seconds`; `advance` receives how many texts
    are done, and of how many.
    """
    from pipelines.search.build import refresh_index, update_index  # noqa: PLC0415  sqlite-utils takes 200 ms to import
    from pipelines.search.indexed_files import unread  # noqa: PLC0415  as above

    stamp = root / PRIVATE / "index.checked"
    try:
        if stamp.exists() and 0 <= time.time() - stamp.stat().st_mtime < CHECK_SECONDS:
            report = refresh_index(root)
        else:
            report = update_index(root)
            with making(root, PRIVATE) as folder:
                descriptor = folder.open(stamp.name, os.O_WRONLY | os.O_CREAT)
                os.utime(descriptor)
                os.close(descriptor)
    except (CurateError, sqlite3.Error, OSError) as fault:
        return {}, (f"The index could not be brought up to date: {fault} To rebuild it, run `curate index --full`.",)
    row = report.to_json()
    done: dict[str, object] = row | {files: row[files][:NAMED] for files in ("skipped", "partial")}
    vectors_of = read_stamp(root)
    if vectors_of and not (report.added or report.changed or report.removed or vectors_of.missing):
        return done, ()
    vectors, notes = embed(root, seconds, advance)
    done["partial"] = [one._asdict() for one in unread(root)[1][:NAMED]]
    return done | ({"vectors": vectors} if vectors else {}), notes
