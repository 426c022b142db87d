"""Judge whether what was found is close to the question, and remember what was found before.

Weak hits are marked, and none is withheld. What was found is remembered only if `[search] access` asks for it, in
`.curate/found`: a day and the first hits, one line a search.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Literal

from pipelines.errors import CurateError
from pipelines.search.chunk_context import unspaced_pairs
from pipelines.search.rank import faded
from pipelines.store.files import open_own, read_bytes
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import private_folder

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pipelines.search.hits import Hit


Found = Literal["yes", "little", "nothing"]
"""Whether a hit is close to the question, or none is, or there is no hit."""

LITTLE = "Little was found: no hit is close to the question."

_HALF = 0.5
_BEST = 10
"""The number of units found by words to check."""
# 478 of 481 questions about long conversations reach it; 193 of 210 about what neither these nor a month of logs hold
# stay below. In a memory of a few dozen lines, right answers stay below, too.
_NEAR_MINILM = 0.4
_NEAR = 0.5
"""For other embedders, which put texts that have nothing in common at cosines from 0.1 to 0.5."""
_HOLDING = "SELECT rowid FROM units_fts WHERE units_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"


# This family's model cards say that its cosines lie between 0.7 and 1.
_NEAR_E5 = 0.8


def near_with(embedder: str) -> float:
    """Return the cosine from which on an embedder's text counts as near to a question."""
    from pipelines.search.embedders.pinned_model import LOCAL, MINILM  # noqa: PLC0415  words alone need none

    if "-e5-" in embedder:
        return _NEAR_E5
    return _NEAR_MINILM if embedder.startswith(f"{LOCAL}{MINILM.name}@") else _NEAR


def reads(embedder: str, query: str) -> bool:
    """Return whether an embedder can read a question: the pinned model knows no script without spaces, nor Korean."""
    return near_with(embedder) != _NEAR_MINILM or not unspaced_pairs(query)


def held_words(connection: sqlite3.Connection, terms: Sequence[str], words: Mapping[int, float]) -> dict[int, int]:
    """Return how many of the question's terms the units found by words have themselves, best first.

    Args:
        connection: the index.
        terms: the FTS5 terms of the question.
        words: the scores of the units found by them.
    """
    best = sorted(words if terms else (), key=words.__getitem__, reverse=True)
    held, units = dict.fromkeys(best, 0), json.dumps(best)
    for term in terms:
        for (unit,) in connection.execute(_HOLDING, (f"{{text grams about}} : {term}", units)):
            held[unit] += 1
    return held


def is_close(terms: Sequence[str], held: Mapping[int, int], meaning: Mapping[int, float], embedder: str) -> bool:
    """Return whether a unit is near to the question in meaning, or has most of its words.

    Args:
        terms: the FTS5 terms of the question.
        held: how many of them each unit has, best first.
        meaning: the cosines of units.
        embedder: whose vectors these compare.
    """
    if meaning and max(meaning.values()) >= near_with(embedder):
        return True
    return max(islice(held.values(), _BEST), default=0) > _HALF * len(terms)


_FILE = "found"
_REMEMBERED = 3
"""The first hits of a search: what comes later was shown rather than found."""
_KEPT = 600
_HALF_LIFE = 30
"""The days after which having been found counts half."""


def name_of(item: str, text: str) -> str:
    """Return what a hit is remembered by: an item's id, or a digest of the text."""
    return item or blake2b(text.encode(), digest_size=8).hexdigest()


def remember_found(root: Path, hits: Sequence[Hit], day: str) -> None:
    """Remember the first hits of a search on a day. Nothing happens if the disk refuses.

    The file keeps the last 600 searches. It is derived: without it, nothing was found before.
    """
    line = " ".join((day, *(name_of(hit.item, hit.text) for hit in hits[:_REMEMBERED]))) + "\n"
    with contextlib.suppress(CurateError, OSError):
        private_folder(root)
        with os.fdopen(open_own(root, f"{PRIVATE}/{_FILE}", os.O_RDWR | os.O_CREAT), "r+b") as file:
            kept = [*file, line.encode()][-_KEPT:]
            file.seek(0)
            file.writelines(kept)
            file.truncate()


def found_before(root: Path) -> dict[str, float]:
    """Return for what was found before, by `name_of`, how often and how lately, from 0 to 1.

    Each time counts half after 30 days, up to the day of the last search.
    """
    try:
        data = read_bytes(root, f"{PRIVATE}/{_FILE}") or b""
    except CurateError:
        return {}
    lines = [line.split() for line in data.decode(errors="replace").split("\n") if line.strip()]
    times: dict[str, float] = defaultdict(float)
    for day, *names in lines:
        left = faded(day, lines[-1][0], _HALF_LIFE)
        for name in names:
            times[name] += left
    return {name: often / (1 + often) for name, often in times.items()}
