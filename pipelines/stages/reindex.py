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
    """Bring the index and its vectors up to date; return what was done, and sentences on what failed."""
    from pipelines.index.build import update_index  # noqa: PLC0415  sqlite-utils takes 200 ms to import

    try:
        done = dict(update_index(root).to_json())
    except (CurateError, sqlite3.Error, OSError) as fault:
        return {}, (f"The index could not be brought up to date: {fault} `curate index --full` builds it anew.",)
    vectors, notes = embed(root, EMBEDDING_SECONDS)
    return done | ({"vectors": vectors} if vectors else {}), notes
