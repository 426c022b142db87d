"""Judge how much was found: nothing, little, or an answer. Words and meaning are judged separately.

By meaning, a unit is relevant if it is nearer to the question than by chance. Chance depends on the embedder and the
index, so it is measured: how near its units are to unrelated questions. By words, a unit is relevant if enough of the
question's words occur, and occur together.
"""

from __future__ import annotations

import heapq
import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.vectors import StoredVectors


Found = Literal["yes", "little", "nothing"]
Near = tuple[float, int]
"""A cosine, and the unit that has it."""

QUESTIONS: Final = """\
Which moons does Jupiter have?
How is goat cheese made?
What did the Romans build their roads of?
Which vitamins are in oranges?
When did the dinosaurs die out?
How do bees find their way home?
What is the capital of Mongolia?
How does a volcano erupt?
Who discovered penicillin?
How do glaciers carve valleys?
How are pearls formed?
What was the treaty of Westphalia about?
What is the exchange rate of the yen?
Which bird lays the largest egg?
How does a jet engine work?
What does the queen of spades mean in the tarot?
How is silk dyed?
What are the rules of curling?
Who wrote the libretto of the opera?
pyramid burial chamber
Who tunes our pipe organ?
Which fertiliser do the orchids get?
When was the submarine last inspected?
What did the beekeeper say about the swarm?
Who is the captain of the rugby team?
How much does the sapphire necklace cost?
Where do we keep the fencing masks?
Which judge hears the inheritance case?
What is wrong with the tractor's clutch?
Who lent us the telescope?
How many sheep were shorn in spring?
What is our quota for herring?
Why was the ballet cancelled?
Which dose of insulin does grandfather take?
When does the monastery receive visitors?
Did we decide on marble or granite for the fountain?
Who translated the Sanskrit poem?
How do we seal the cracks in the kayak?
What is the password of the casino's safe?
mortar recipe for the lighthouse""".split("\n")
"""On so many subjects that a memory covers two or three of them at most: more would look like chance."""

_SHARE: Final = 0.95
_HALF, _THIRD = 0.5, 0.34
_TELLING: Final = 0.5
"""Nearness beyond chance plus the share of words' weight: few unrelated questions have more."""
_ANSWER: Final = 0.8
"""Nearness beyond chance plus words: above this, the question is usually answered."""
_WEIGHT: Final = 2.0
"""What nearness counts beside words. It is the share of the way from chance to the same text, since some embedders put
unrelated texts at a cosine of 0.3 and others at 0.8."""
_BEST: Final = 10
"""The number of units found by words to check."""
_BLOCK: Final = 16_384
_COMMON: Final = 5_000
"""The limit up to which the units with a word are counted: a more frequent word says little anyway."""
_COUNT: Final = "SELECT count(*) FROM (SELECT 1 FROM units_fts WHERE units_fts MATCH ? LIMIT ?)"
_HOLDING: Final = "SELECT rowid FROM units_fts WHERE units_fts MATCH ? AND rowid IN (SELECT value FROM json_each(?))"
_THERE: Final = "SELECT id FROM units WHERE hidden < 2 AND id IN (SELECT value FROM json_each(?))"


def chance_keys() -> list[bytes]:
    """Return the keys for the vectors of `QUESTIONS`; no text of a memory has the same key."""
    import hashlib  # noqa: PLC0415  words alone need none

    return [hashlib.blake2b(f"\0{one}".encode(), digest_size=16).digest() for one in QUESTIONS]


def nearest_by_chance(
    index: sqlite3.Connection, kept: StoredVectors, places: NDArray[np.int64], known: Sequence[Near], new: Sequence[int]
) -> tuple[Near, ...]:
    """Return for each of `QUESTIONS` the nearest unit with its cosine; nothing until all have vectors.

    Args:
        index: the index, open to read.
        kept: the vectors.
        places: the position of each unit's vector among them.
        known: the previous result.
        new: units that had no vector then.
    """
    found = kept.find(keys := chance_keys())
    if len(found) < len(keys):
        return ()
    questions = kept.vectors([found[key] for key in keys])
    there = {unit for (unit,) in index.execute(_THERE, (json.dumps([unit for _, unit in known]),))}
    if not known or not all(unit in there for _, unit in known):
        known, new = [(-1.0, 0)] * len(keys), range(len(places))
    shown = [unit for (unit,) in index.execute(_THERE, (json.dumps([*new]),)) if places[unit] >= 0]
    for some in (shown[first : first + _BLOCK] for first in range(0, len(shown), _BLOCK)):
        cosines = kept.vectors(places[some]) @ questions.T
        nearest = zip(cosines.max(axis=0).tolist(), cosines.argmax(axis=0).tolist(), strict=True)
        # Rounded, so that neither the order of the units nor the size of a block matters.
        near = [(round(cosine, 4), some[row]) for cosine, row in nearest]
        known = list(map(max, known, near))
    return tuple(known)


def floor_of(chance: Sequence[Near]) -> float:
    """Return the 95th percentile of unrelated questions, or 0 if it is unknown: then anything counts as near."""
    cosines = sorted(cosine for cosine, _ in chance)
    return cosines[int(_SHARE * len(cosines)) - 1] if cosines else 0.0


def judge(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    words: Mapping[int, float],
    meaning: Mapping[int, float],
    floor: float | None,
) -> Found:
    """Return how much was found.

    Args:
        connection: the index.
        terms: the FTS5 terms of the question.
        words: the scores of the units found by them.
        meaning: the cosines of units.
        floor: the cosine expected by chance; None if the search was not by meaning.
    """
    if floor is None:
        unknown, together = _occurring(connection, terms, words, lambda _: 1.0, most=1)
        # If one of two words occurs, it may be the important one.
        if unknown == 1 or (unknown >= _HALF and len(terms) > 2) or (unknown and together <= _THIRD):  # noqa: PLR2004  as said
            return "nothing"
        return "yes" if together > _HALF else "little"
    # A floor of 0 is unknown, and at 1 the embedder puts all texts in one place: then anything counts as near.
    reach = (max(meaning.values(), default=0.0) - floor) / (1 - floor) if floor and floor < 1 else 1.0
    near = max(0.0, _WEIGHT * reach)
    if near > _ANSWER:
        return "yes"
    (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
    _, together = _occurring(
        connection, terms, words, lambda count: math.log((units + 1) / (min(count, units) + 1)), most=_COMMON
    )
    if near + together < _TELLING:
        return "nothing"
    return "yes" if near + together > _ANSWER else "little"


def _occurring(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    words: Mapping[int, float],
    weight: Callable[[int], float],
    most: int,
) -> tuple[float, float]:
    """Return the share of terms that do not occur at all, and the share of their weight in the best unit.

    Args:
        connection: the index.
        terms: the terms of a question.
        words: the scores of the units found by them.
        weight: the weight of a term, by the number of units with it.
        most: the limit up to which units are counted.
    """
    if not words or not terms:
        return 1.0, 0.0
    counts = [connection.execute(_COUNT, (f"{{text grams about}} : {term}", most)).fetchone()[0] for term in terms]
    best = json.dumps(heapq.nlargest(_BEST, words, key=words.__getitem__))
    held: Counter[int] = Counter()
    for term, count in zip(terms, counts, strict=True):
        held.update({unit: weight(count) for (unit,) in connection.execute(_HOLDING, (term, best))})
    whole = sum(map(weight, counts))
    return counts.count(0) / len(terms), max(held.values(), default=0.0) / whole if whole else 1.0
