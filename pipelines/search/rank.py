"""Combine the scores of words and of meaning: small functions from numbers to numbers.

Measured on 759 questions about long conversations (evidence within the first 500, 1000 and 2000 words): words alone
0.80, 0.85, 0.90; half words and half meaning, each divided by its best, 0.82, 0.88, 0.93. Reciprocal ranks, decay by
age, a bonus for the day, diversity and earlier hits gained nothing there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


Mode = Literal["hybrid", "keyword", "vector"]


class Ranking(NamedTuple):
    """How hits are ranked.

    Args:
        mode: by words and meaning, or by one of them.
        vector_weight: the share of meaning, from 0 to 1.
        neighbours: the weight of a word beside a unit, relative to one in it.
        passages: the share of its best passage's score (eight units) that a unit gets by words.
    """

    mode: Mode = "hybrid"
    vector_weight: float = 0.5
    neighbours: float = 0.5
    passages: float = 0.5


def relative(scores: Mapping[int, float]) -> dict[int, float]:
    """Return each score as a share of the best; negative scores become 0.

    The floor is 0 and not the worst score, so that an answer does not depend on the number of candidates.
    """
    best = max(scores.values(), default=0.0)
    return {unit: score / best if score > 0 else 0.0 for unit, score in scores.items()}


def weighted(words: Mapping[int, float], meaning: Mapping[int, float], vector_weight: float) -> dict[int, float]:
    """Return the weighted sum of both, each relative to its best.

    A unit that none of the words found has 0 for words. One without a vector is taken to be as near, for its words, as
    those found by words are on average: search is neither for nor against what has no vector.
    """
    near, said = relative(meaning), relative(words)
    both = near.keys() & said.keys()
    share = min(1.0, sum(near[one] for one in both) / (sum(said[one] for one in both) or 1.0)) if both else 1.0
    likely = {unit: score * (1 - vector_weight + vector_weight * share) for unit, score in said.items()}
    return likely | {unit: vector_weight * near[unit] + (1 - vector_weight) * said.get(unit, 0.0) for unit in near}
