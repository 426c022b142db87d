"""Reindex: the index follows the files. It is derived, so its failure loses nothing and never undoes a night."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.stages.meaning import embed

if TYPE_CHECKING:
    from pathlib import Path


EMBEDDING_SECONDS: Final = 10.0
"""A run's share for vectors: a first night over years of logs is done by words; `curate index` embeds all of them."""


def reindex(root: Path) -> tuple[dict[str, object], tuple[str, ...]]:
    """Bring the index and its vectors up to date; return what was done, and sentences on what failed.

    A run that finds no file changed embeds nothing, so that it ends at once; `curate index` embeds what is left.
    """
    from pipelines.index.build import update_index  # noqa: PLC0415  sqlite-utils takes 200 ms to import

    try:
        report = update_index(root)
    except (CurateError, sqlite3.Error, OSError) as fault:
        return {}, (f"The index could not be brought up to date: {fault} `curate index --full` builds it anew.",)
    done = dict(report.to_json())
    if not (report.added or report.changed or report.removed):
        return done, ()
    vectors, notes = embed(root, EMBEDDING_SECONDS)
    return done | ({"vectors": vectors} if vectors else {}), notes
