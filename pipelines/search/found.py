"""Judge whether what was found is close to the question, so that weak hits can be marked. None is withheld."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence


Found = Literal["yes", "little", "nothing"]
"""Whether a hit is close to the question, or none is, or there is no hit."""

LITTLE: Final = "Little was found: no hit is close to the question."

_HALF: Final = 0.5
_BEST: Final = 10
"""The number of units found by words to check."""
# 478 of 481 questions about long conversations reach it; 193 of 210 about what neither these nor a month of logs hold
# stay below. In a memory of a few dozen lines, right answers stay below, too.
_NEAR_MINILM: Final = 0.4
_NEAR: Final = 0.5
"""For other embedders, which put texts that have nothing in common at cosines from 0.1 to 0.5."""
_HOLDING: Final = "SELECT rowid FROM units_fts WHERE units_fts MATCH ? AND rowid IN (SELECT value FROM json_each(?))"


# This family's model cards say that its cosines lie between 0.7 and 1.
_NEAR_E5: Final = 0.8


def near_with(embedder: str) -> float:
    """Return the cosine from which on an embedder's text counts as near to a question."""
    from pipelines.search.embedders.pinned_model import LOCAL, MINILM  # noqa: PLC0415  words alone need none

    if "-e5-" in embedder:
        return _NEAR_E5
    return _NEAR_MINILM if embedder.startswith(f"{LOCAL}{MINILM.name}@") else _NEAR


def is_close(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    words: Mapping[int, float],
    meaning: Mapping[int, float],
    embedder: str,
) -> bool:
    """Return whether a unit is near to the question in meaning, or has most of its words.

    Args:
        connection: the index.
        terms: the FTS5 terms of the question.
        words: the scores of the units found by them.
        meaning: the cosines of units.
        embedder: whose vectors these compare.
    """
    if meaning and max(meaning.values()) >= near_with(embedder):
        return True
    best = json.dumps(heapq.nlargest(_BEST, words, key=words.__getitem__))
    held: Counter[int] = Counter()
    for term in terms if words else ():
        held.update(unit for (unit,) in connection.execute(_HOLDING, (f"{{text grams about}} : {term}", best)))
    return max(held.values(), default=0) > _HALF * len(terms)
