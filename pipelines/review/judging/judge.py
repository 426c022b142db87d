"""The verdict on a pair of sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pipelines.review.judging.changes import corrects
from pipelines.review.judging.clashes import clashes
from pipelines.review.judging.repeats import repeats
from pipelines.review.judging.sentence import read_sentence
from pipelines.store.item import folded

if TYPE_CHECKING:
    from pipelines.store.item import ItemType


class Relation(StrEnum):
    """How a newer sentence stands to an older one."""

    DUPLICATE = "duplicate"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    DISTINCT = "distinct"


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a newer sentence stands to an older one, and why, as the end of a sentence."""

    relation: Relation
    why: str


def judge(old: str, new: str, kind: ItemType | None = None) -> Judgement:
    """Return how the newer of two sentences stands to the older.

    Args:
        old: the text of the item that stands.
        new: the text that is said later.
        kind: the type of both, where it is known: two tasks never contradict each other.
    """
    if folded(old) == folded(new):
        return Judgement(Relation.DUPLICATE, "it says the same words")
    before, after = read_sentence(old), read_sentence(new)
    if repeats(before, after):
        return Judgement(Relation.DUPLICATE, "it says the same in other words")
    if why := corrects(before, after, kind):
        return Judgement(Relation.SUPERSEDE, why)
    if why := clashes(before, after, kind):
        return Judgement(Relation.CONTRADICT, why)
    return Judgement(Relation.DISTINCT, "it is about something else, or both can hold")
