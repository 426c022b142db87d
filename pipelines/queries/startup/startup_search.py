"""What a search finds for the startup context. Importing this brings in the index: a session that asks pays for it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pipelines.queries.search_settings import asker, spare_threads
from pipelines.search.build import freshen
from pipelines.search.filters import Filters
from pipelines.search.query import search

_HITS: Final = 8


def found(root: str, query: str, oldest: str = "") -> list[tuple[str, str]]:
    """Return what a search finds, as (place, text) pairs, best first; hidden items are not among them.

    Args:
        root: the memory.
        query: what is looked for.
        oldest: of a memory that was adopted in place, logs of earlier days are left out; of others, whoever asks does.
    """
    spare_threads()
    place = Path(root)
    fresh = freshen(place)
    asked = asker(place, Filters()).ask(query)
    hits = search(place, query, _HITS, fresh.stale, asked)
    fresh_hits = [hit for hit in hits if not (hit.own_path and hit.kind == "log" and hit.date < oldest)]
    return [(f"{hit.path}:{hit.start_line}", hit.text) for hit in fresh_hits]
