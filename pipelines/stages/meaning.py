"""Meaning: which embedder there is, and its vectors brought up to date. A help only: without it, words are searched."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from pipelines.errors import CurateError
from pipelines.store.secrets import veil

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.models.embedding import Embedder


def chosen_embedder() -> tuple[Embedder | None, str]:
    """Return the embedder that the user's settings come to, or None, and the sentence that says which and why.

    Raises:
        BadSettings: what the user's settings say of it cannot be read.
    """
    from pipelines.models.embedders.choose import choose_embedder  # noqa: PLC0415  only who embeds needs them
    from pipelines.user_embedder import embedder_settings  # noqa: PLC0415  as above

    return choose_embedder(embedder_settings(os.environ), os.environ)


def embed(root: Path, seconds: float) -> tuple[dict[str, object], tuple[str, ...]]:
    """Give what is new in the index its vectors.

    Args:
        root: the memory.
        seconds: how long that may take, about; what is left waits for the next time.

    Returns:
        What was done (empty where there is no embedder), and sentences on what failed; nothing is lost by it.
    """
    from pipelines.index.embed import embed_index  # noqa: PLC0415  as above

    try:
        embedder, _ = chosen_embedder()
        if embedder is None:
            return {}, ()
        report = embed_index(root, embedder, seconds=seconds)
    except (CurateError, sqlite3.Error, OSError) as fault:
        return {}, (f"Nothing could be embedded: {fault} What is new is found by its words.",)
    units = "1 unit is" if report.missing == 1 else f"{report.missing:,} units are"
    notes = (f"{' '.join(report.faults)} Until the next time, {units} found by words alone.",) if report.faults else ()
    return dict(report.to_json()), notes


def vector_of(embedder: Embedder, query: str) -> tuple[NDArray[np.float32] | None, str]:
    """Return a question's vector, or None and the sentence that says why there is none."""
    if not query.strip():
        return None, ""
    try:
        return embedder.embed_query(veil(query)), ""
    except CurateError as fault:
        return None, f"{fault.sentence} This answer goes by words alone."
