"""Reindex: the index follows the files. It is derived, so its failure loses nothing and never undoes a night."""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.search.embed import embed
from pipelines.store.files import making
from pipelines.store.layout import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


NIGHT_SECONDS: Final = 600.0
"""A night's share for vectors: some megabytes of new logs; what is left of more waits for the next one."""
_BY_HAND_SECONDS: Final = 7.0
NAMED: Final = 100
"""Files without text that a run's report names at most: it is kept for good, and `curate status` names them all."""
CHECK_SECONDS: Final = 7 * 24 * 3600
"""The whole index is checked for damage once a week: a check reads all of it, and a night shall follow what is new."""


def reindex(
    root: Path, seconds: float = _BY_HAND_SECONDS, advance: Callable[[int, int], None] = lambda _, __: None
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Bring the index and its vectors up to date; return what was done, and sentences on what failed.

    A run that finds no file changed embeds nothing, so that it ends at once; `curate index` embeds what is left.
    Embedding begins nothing new after `seconds`; `advance` is told how many texts are done, and of how many.
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
        return {}, (f"The index could not be brought up to date: {fault} `curate index --full` builds it anew.",)
    row = asdict(report)
    done: dict[str, object] = row | {files: row[files][:NAMED] for files in ("skipped", "partial")}
    if not (report.added or report.changed or report.removed):
        return done, ()
    vectors, notes = embed(root, seconds, advance)
    done["partial"] = [asdict(one) for one in unread(root)[1][:NAMED]]
    return done | ({"vectors": vectors} if vectors else {}), notes
