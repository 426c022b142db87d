"""Order what was found: small functions from scores and places to scores.

benchmarks/RESULTS.md says what each part is worth. The defaults are what puts most right answers of one's own memory
first.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from datetime import date
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.search.candidates import CandidatePlace


Mode = Literal["hybrid", "keyword", "vector"]
Fusion = Literal["weighted", "rrf"]

OVERFETCH = 3
"""Units per requested hit whose ranks are fused, or that are compared for diversity."""
_RRF_K = 60
# A text of a few words is near to many questions and answers few. It counts half at this many characters.
_SHORT = 15
# By what a unit is: written in a document, said in a log, another's turn in a transcript, retold by an episode. Replies
# repeat what they were asked: 0.52 of the evidence of BEAM is in the first ten turns this way, and 0.46 if all count
# alike. An episode repeats items, and its many words find it: it comes first only where no item answers.
_WORTH = (1.0, 0.95, 0.8, 0.3)
_QUIET = 0.8
_OVER = 0.6
# Items of one page and type whose scores differ by less are rivals.
_RIVALS = 0.03
_ABOVE = 1 + 1e-6
_WORD = re.compile(r"\w+")


class Ranking(NamedTuple):
    """How hits are ranked.

    Args:
        mode: by words and meaning, or by one of them.
        fusion: whether the scores of both are added, weighted, or their reciprocal ranks.
        vector_weight: the share of meaning in a weighted sum, from 0 to 1.
        mmr: the share of relevance against being unlike the hits above, from 0 to 1; 1 leaves the order as it is.
        half_life_days: the days after which what is in a dated file counts half; 0 if it never fades.
        access: how much higher what was found before can score, from 0 to 1.
        neighbours: the weight of a word beside a unit, relative to one in it.
        passages: the share of its best passage's score (eight units) that a unit gets by words.
    """

    mode: Mode = "hybrid"
    fusion: Fusion = "weighted"
    vector_weight: float = 0.5
    mmr: float = 1.0
    half_life_days: int = 0
    access: float = 0.0
    neighbours: float = 0.25
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


def reciprocal(words: Mapping[int, float], meaning: Mapping[int, float], count: int) -> dict[int, float]:
    """Return the sum of 1 / (60 + rank) over both lists, relative to the best; each list ends after `count` units."""
    fused: dict[int, float] = {}
    for found in (words, meaning):
        best = heapq.nsmallest(count, ((-score, unit) for unit, score in found.items() if score > 0))
        for rank, (_, unit) in enumerate(best, 1):
            fused[unit] = fused.get(unit, 0.0) + 1 / (_RRF_K + rank)
    return relative(fused)


def by_length(meaning: Mapping[int, float], lengths: Mapping[int, int]) -> dict[int, float]:
    """Return cosines, lowered for short texts.

    Args:
        meaning: the cosines of units.
        lengths: their characters.
    """
    return {unit: cosine * lengths[unit] / (lengths[unit] + _SHORT) for unit, cosine in meaning.items()}


def worth(place: CandidatePlace, day: str) -> float:
    """Return by how much a unit's score counts: an item before its line, what is live before what is quiet or over.

    Args:
        place: what the unit is.
        day: the day of which an answer was asked for; empty for now.
    """
    state = _OVER if place.until and not day else _QUIET if place.status == "quiet" else 1.0
    return _WORTH[place.kind] * state


def _peers(place: CandidatePlace) -> tuple[str, ...]:
    """Return what items of one page and type that hold alike have in common."""
    return place.path, place.types, place.until and "over", place.status


def newer_first(scores: Mapping[int, float], places: Mapping[int, CandidatePlace]) -> dict[int, float]:
    """Return the scores so that of items of one page and type with nearly the same score, the newest is first."""
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for unit, place in places.items():
        if unit in scores and place.types and not place.kind:
            groups[_peers(place)].append(unit)
    changed = dict(scores)
    for group in groups.values():
        group.sort(key=lambda unit: -scores[unit])
        while group:
            rivals = [unit for unit in group if scores[unit] >= (1 - _RIVALS) * scores[group[0]]]
            newest = sorted(rivals, key=lambda unit: places[unit].date, reverse=True)
            changed |= dict(zip(newest, (scores[unit] for unit in rivals), strict=True))
            del group[: len(rivals)]
    return changed


def whole_first(
    scores: Mapping[int, float], held: dict[int, int], count: int, places: Mapping[int, CandidatePlace]
) -> dict[int, float]:
    """Return the scores of what has all `count` words of a question, none below a unit that has none of them.

    Of several words, an item alone has them all on purpose, and its line's score lifts none of a page and type above
    one with more of them; a single one is a name, and what has it is first. What is over counts less, but who asks for
    it by its name asks for nothing beside it.

    Args:
        scores: the scores of units.
        held: how many of the words units have themselves; the best by words first.
        count: the number of words.
        places: what the units are.
    """
    floor = max((score for unit, score in scores.items() if not held.get(unit)), default=0.0)
    changed, least = dict[int, float](), dict[tuple[str, ...], float]()
    for unit in reversed([unit for unit in held if unit in scores and held[unit] == count]):
        if count == 1:
            changed[unit] = max(scores[unit], _ABOVE * floor)
        elif places[unit].types and not places[unit].kind:
            peers = _peers(places[unit])
            changed[unit] = least[peers] = max(scores[unit], _ABOVE * least.get(peers, floor))
    return changed


def faded(day: str, today: str, half_life_days: int) -> float:
    """Return what is left of 1 on `today` if it halves every `half_life_days`; all of it without a valid day."""
    try:
        age = (date.fromisoformat(today) - date.fromisoformat(day)).days
    except ValueError:
        return 1.0
    return float(0.5 ** (max(age, 0) / half_life_days))


def diverse(ranked: Sequence[tuple[str, float]], share: float) -> list[int]:
    """Return the positions of texts in the order of maximal marginal relevance.

    Each next one has the most of `share` × its score, relative to the best, minus (1 - `share`) × its likeness to the
    one most like it above. Likeness is the part of their words that two texts have in common (Jaccard).

    Args:
        ranked: texts with their scores, best first.
        share: from 0 to 1.
    """
    words = [frozenset(_WORD.findall(text.casefold())) for text, _ in ranked]
    best = max((score for _, score in ranked), default=1.0) or 1.0
    like, left, order = [0.0] * len(ranked), list(range(len(ranked))), list[int]()
    while left:
        chosen = max(left, key=lambda at: (share * ranked[at][1] / best - (1 - share) * like[at], -at))
        left.remove(chosen)
        order.append(chosen)
        for at in left:
            like[at] = max(like[at], len(words[at] & words[chosen]) / (len(words[at] | words[chosen]) or 1))
    return order
