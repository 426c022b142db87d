"""Order what was found: small functions from scores and places to scores.

benchmarks/RESULTS.md says what each part is worth. The defaults are what puts most right answers of one's own memory
first.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.search.candidates import CandidatePlace, Places, Scores


# By what a unit is: written in a document, said in a log, another's turn in a transcript, retold by an episode. Replies
# repeat what they were asked: 0.52 of the evidence of BEAM is in the first ten turns this way, and 0.46 if all count
# alike. An episode repeats items, and its many words find it: it comes first only where no item answers.
_WORTH = (1.0, 0.95, 0.8, 0.3)
_QUIET = 0.8
_OVER = 0.6
# Items of one page and type whose scores differ by less are rivals.
_RIVALS = 0.03
_ABOVE = 1 + 1e-6


def relative(scores: Scores) -> Scores:
    """Return each score as a share of the best; negative scores become 0.

    The floor is 0 and not the worst score, so that an answer does not depend on the number of candidates.
    """
    best = max(scores.values(), default=0.0)
    return {unit: score / best if score > 0 else 0.0 for unit, score in scores.items()}


def weighted(words: Scores, meaning: Scores, vector_weight: float) -> Scores:
    """Return the weighted sum of both, each relative to its best; the weight of meaning is from 0 to 1.

    A unit that none of the words found has 0 for words. One without a vector is taken to be as near, for its words, as
    those found by words are on average: search is neither for nor against what has no vector.
    """
    near, said = relative(meaning), relative(words)
    both = near.keys() & said.keys()
    share = min(1.0, sum(near[one] for one in both) / (sum(said[one] for one in both) or 1.0)) if both else 1.0
    likely = {unit: score * (1 - vector_weight + vector_weight * share) for unit, score in said.items()}
    return likely | {unit: vector_weight * near[unit] + (1 - vector_weight) * said.get(unit, 0.0) for unit in near}


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


def newer_first(scores: Scores, places: Places) -> Scores:
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


def whole_first(scores: Scores, held: dict[int, int], count: int, places: Places) -> Scores:
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
