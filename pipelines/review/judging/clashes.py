"""Whether two sentences cannot both hold, though neither says that something changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.review.judging.changes import other_value, tells_event
from pipelines.review.judging.opposites import are_opposite
from pipelines.review.judging.stems import stem
from pipelines.review.judging.values import comparable, same_value
from pipelines.review.judging.verbs import DIRECT, OFTEN, OWNING, PREPOSITIONS, SINGLE
from pipelines.store.item import ItemType

if TYPE_CHECKING:
    from pipelines.review.judging.sentence import Sentence, Word
    from pipelines.review.judging.values import Value


_ON_A_DAY: Final = frozenset({"date", "time", "weekday"})
_LEAST: Final = 2
"""Words that must be left to compare."""
_LONGEST: Final = 3
"""Words that one value may have."""


def clashes(old: Sentence, new: Sentence, kind: ItemType | None = None) -> str:
    """Return why the two cannot both hold, or an empty string.

    Everything but one value must be the same, and the value must be one that a thing has once: its price, its place,
    who owns it. Two tasks and two events never clash; two days by which the same is due do.
    """
    if old.limits != new.limits or any(tells_event(one) or _is_any(one) for one in (old, new)):
        return ""
    left, more = old.keys - new.keys, new.keys - old.keys
    values, others = _apart(old, new)
    if old.denials != new.denials:
        alike = not (left | more) and not values and not others
        return "one denies what the other says" if alike and len(old.core) >= _LEAST else ""
    if left == more == frozenset():
        return "they differ in one value" if _one_value(old, new, values, others, kind) else ""
    if values or others or kind is ItemType.TODO:
        return ""
    if are_opposite(left, more) and len(left) == len(more) == 1:
        return "" if _in_subject(old, left) and _in_subject(new, more) else "they say opposite things"
    return "they differ in one value" if _one_span(old, new, left, more) else ""


def _is_any(sentence: Sentence) -> bool:
    """Whether it is about some thing rather than one that is known: two photos of a sunset may differ."""
    return bool(sentence.words) and sentence.words[0].raw in {"a", "an", "some", "another"}


def _apart(old: Sentence, new: Sentence) -> tuple[list[Value], list[Value]]:
    """Return the values that only the one has, and those that only the other has."""
    return (
        [one for one in old.values if not any(same_value(one, other) for other in new.values)],
        [one for one in new.values if not any(same_value(one, other) for other in old.values)],
    )


def _one_value(old: Sentence, new: Sentence, values: list[Value], others: list[Value], kind: ItemType | None) -> bool:
    kinds = {one.base for one in (*values, *others)}
    if not values or len(values) != len(others) or len(kinds) != 1:
        return False
    if any(_stands_before_verb(old, value) for value in values):
        return False
    if kinds <= _ON_A_DAY and ({old.verb_key, new.verb_key} & OFTEN or (_is_past(old) and _is_past(new))):
        return False
    if kind is ItemType.TODO or (old.is_order and old.verb_key not in SINGLE | {"be"}):
        return kinds <= _ON_A_DAY and all(_is_due(old, value) for value in values)
    if kinds == {"mark"}:
        return not old.is_order and old.verb_key in (SINGLE - DIRECT) | {"be"}
    return all(comparable(one, other) for one, other in zip(values, others, strict=True)) and other_value(old, new)


def _is_past(sentence: Sentence) -> bool:
    """Whether it tells how something was: on another day it may have been so again."""
    return sentence.verb >= 0 and sentence.words[sentence.verb].raw in {"was", "were"}


def _stands_before_verb(sentence: Sentence, value: Value) -> bool:
    return any(w.value == value for w in sentence.subject_words) and not sentence.is_order


def _is_due(sentence: Sentence, value: Value) -> bool:
    return sentence.text[: value.start].rstrip().lower().endswith((" by", " until", " before", " due"))


def _in_subject(sentence: Sentence, keys: frozenset[str]) -> bool:
    return bool(keys & sentence.subject) and not sentence.is_order


def _one_span(old: Sentence, new: Sentence, left: frozenset[str], more: frozenset[str]) -> bool:
    """Whether the two differ in one value of words, in a place that holds one value."""
    one, other = _span(old, left), _span(new, more)
    if not one or not other or not (old.keys & new.keys) - {old.verb_key}:
        return False
    if _in_subject(old, left) or _in_subject(new, more):
        return is_owning(old) and is_owning(new) and old.keys - left == new.keys - more and _rest(old, left) > 0
    verbs = {old.verb_key, new.verb_key}
    if len(verbs) != 1 or verbs & OFTEN or not verbs <= SINGLE:
        return False
    return _holds_value(old, one) and _holds_value(new, other)


def is_owning(sentence: Sentence) -> bool:
    """Whether its subject is its value: who owns, leads or is responsible."""
    return sentence.verb_key in OWNING or (sentence.verb_key == "be" and bool(sentence.keys & _OWNERS))


_OWNERS: Final = frozenset(map(stem, "responsible accountable".split()))


def _rest(sentence: Sentence, keys: frozenset[str]) -> int:
    return len(sentence.keys - keys - {sentence.verb_key})


def _span(sentence: Sentence, keys: frozenset[str]) -> list[Word]:
    """Return the words that only this sentence has, where they stand together."""
    core = sentence.core
    at = [n for n, w in enumerate(core) if w.key in keys]
    if not at or at[-1] - at[0] + 1 != len(at) or len(at) > _LONGEST:
        return []
    between = [w.raw for w in sentence.words if core[at[0]].start < w.start < core[at[-1]].start]
    return [] if PREPOSITIONS & set(between) else [core[n] for n in at]


def _holds_value(sentence: Sentence, span: list[Word]) -> bool:
    """Whether the words stand where a verb has its one value: right behind it, or behind a preposition."""
    first = next(n for n, w in enumerate(sentence.words) if w.start == span[0].start)
    before = next((w for w in reversed(sentence.words[:first]) if w.raw not in _BETWEEN), None)
    if before is None:
        return False
    verb = sentence.words[sentence.verb] if sentence.verb >= 0 else None
    if before == verb:
        return sentence.verb_key in DIRECT
    return before.raw in PREPOSITIONS and before.raw not in {"for", "with"}


_BETWEEN: Final = frozenset("a an the our my your their his her its to be shown".split()) - {"to"}
