"""Words that cannot both hold of one thing."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from pipelines.review.judging.stems import stem

if TYPE_CHECKING:
    from collections.abc import Iterable


_SIDES: Final = (
    ("enable activate on", "disable deactivate off"),
    ("allow permit accept", "forbid ban prohibit disallow reject refuse"),
    ("public open", "private closed close internal secret"), ("mandatory required compulsory", "optional voluntary"),
    ("pass succeed work", "fail break crash"), ("increase raise grow rise", "decrease reduce lower shrink fall"),
    ("always", "never"), ("fixed works working intact whole", "broken faulty defective"), ("before", "after"),
    ("love like enjoy", "hate dislike detest"), ("safe", "unsafe dangerous"), ("cheap", "expensive"),
    ("hot warm", "cold cool"), ("early", "late"), ("morning", "evening afternoon"), ("left", "right"),
    ("single", "married double"), ("manual manually", "automatic automatically"),
    ("sync synchronous", "async asynchronous"),
    ("paid", "unpaid free"), ("available", "unavailable"), ("finished done complete", "unfinished incomplete pending"),
    ("alive", "dead"), ("full", "empty"), ("fast", "slow"), ("minimum least", "maximum most"), ("win", "lose"),
    ("include", "exclude"), ("indoor indoors", "outdoor outdoors"), ("online", "offline"), ("add", "remove"),
    ("healthy", "sick ill"), ("true", "false"), ("stable", "unstable"), ("approve accept", "reject deny"),
    ("start begin", "stop end"), ("open", "close"), ("daily day", "weekly week"), ("temporary", "permanent"),
    ("north", "south"), ("east", "west"), ("inside", "outside"), ("remote", "onsite"), ("up", "down"),
)  # fmt: skip
_OPPOSITES: Final = frozenset(
    frozenset((stem(one), stem(other)))
    for left, right in _SIDES
    for one, other in product(left.split(), right.split())
    if stem(one) != stem(other)
)


def are_opposite(ones: Iterable[str], others: Iterable[str]) -> bool:
    """Whether a word of the first cannot hold together with one of the second; both by their stems."""
    return any(frozenset(pair) in _OPPOSITES for pair in product(ones, others))
