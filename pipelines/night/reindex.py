"""Reindex: the index follows the files. It is derived, so a failure loses nothing and never undoes a night."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.night.report import Watch
from pipelines.search.embed import embed, embedded_units
from pipelines.search.schema import reading

if TYPE_CHECKING:
    from pathlib import Path


_VERB_SECONDS = 1.0
"""The time for vectors of a command that changes an item: enough for that item's, since new items come first."""
NAMED: Final = 100
"""The most files without text that a report lists, since it is kept for good; `curate status` lists all."""


def reindex(root: Path, watch: Watch | None = None) -> tuple[dict[str, object], tuple[str, ...]]:
    """Bring the index up to date, then make vectors for a time, items and the newest texts first.

    Ctrl-C ends the second part alone, and what it made stays. If no file changed and no vector is missing, nothing is
    embedded. In a clone whose index a search has built, all vectors are missing.

    Args:
        root: the memory.
        watch: receives the progress of a night, and has the time for vectors; the rest waits for the next one.

    Returns:
        What was done, and sentences on what failed.
    """
    from pipelines.search.build import update_index  # noqa: PLC0415  takes long to import

    seconds, watch = (watch.patience, watch) if watch else (_VERB_SECONDS, Watch())
    try:
        with watch.stage("reindex"):
            report = update_index(root)
        done = report._replace(skipped=report.skipped[:NAMED]).to_json()
        if not (report.added or report.changed or report.removed) and _is_embedded(root):
            return done, ()
    except (CurateError, sqlite3.Error, OSError) as fault:
        return {}, (f"The index could not be brought up to date: {fault} To rebuild it, run `curate index --full`.",)
    with watch.stage("embed"):
        vectors, notes = embed(root, seconds, watch.advance)
    return done | ({"vectors": vectors} if vectors else {}), notes


def _is_embedded(root: Path) -> bool:
    """Return whether each text has a vector of the model that embedded last."""
    from pipelines.search.vectors import used_model  # noqa: PLC0415  only where nothing changed

    model = used_model(root)
    if model is None:
        return False
    with reading(root) as index:
        return embedded_units(root, index, model)[1] == 0
