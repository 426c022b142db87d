"""Reindex: the index follows the files. It is derived, so its failure loses nothing and never undoes a night."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from pipelines.errors import CurateError

if TYPE_CHECKING:
    from pathlib import Path


def reindex(root: Path) -> tuple[dict[str, object], tuple[str, ...]]:
    """Bring the index up to date, and return what was done and, where it failed, a sentence that says why."""
    from pipelines.index.build import update_index  # noqa: PLC0415  sqlite-utils takes 200 ms to import

    try:
        return dict(update_index(root).to_json()), ()
    except (CurateError, sqlite3.Error, OSError) as fault:
        return {}, (f"The index could not be brought up to date: {fault} `curate index --full` builds it anew.",)
