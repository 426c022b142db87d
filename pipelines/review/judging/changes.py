"""Whether a sentence corrects another one: it is about the same thing, says another value, and says that it changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pipelines.review.judging.opposites import are_opposite
from pipelines.review.judging.stems import stem
from pipelines.review.judging.values import comparable, same_value
from pipelines.review.judging.verbs import BE, EVENTS, OFTEN, OWNING, PREPOSITIONS, PRONOUNS, SINGLE, VERBS
from pipelines.store.item import ItemType

if TYPE_CHECKING:
    from pipelines.review.judging.sentence import Sentence, Word
    from pipelines.review.judging.values import Value


_MOST_LEFT, _MOST_NEW = 3, 6
"""Words of the older sentence that the newer may leave unsaid, and words that it may add."""
_MOST: Final = 0.6
_FEW: Final = 2
"""Words that may say more of how it ended: `cancelled by Anna`."""


_ATTRIBUTES: Final = frozenset(map(stem, "deadline date time start end price cost name location room version".split()))
"""What a value is of, which the older sentence may have told by its verb alone."""
_SINCE: Final = re.compile(
    r"\b(?:as of|effective|effective from|starting|starting from|starting in|from|since) $", re.IGNORECASE
)


def corrects(old: Sentence, new: Sentence, kind: ItemType | None = None) -> str:
    """Return why the newer sentence takes the place of the older, or an empty string where it does not.

    A task is corrected only where a day or a number in it is another, or where it names what it was before.
    """
    if not new.marked.changed:
        return ""
    if new.was and (why := _replaces(old, new)):
        return why
    left, more = old.keys - new.keys, new.keys - old.keys
    if len(left) > _MOST_LEFT or len(more) > _MOST_NEW:
        return ""
    if not _same_subject(old, new) or (new.was and not _known(old, new.was)):
        return ""
    if _denies(old, new):
        return "it says that this holds no longer"
    return _says_other(old, new, kind) if _same_verb(old, new) else ""


def _says_other(old: Sentence, new: Sentence, kind: ItemType | None) -> str:
    left, more = old.keys - new.keys, new.keys - old.keys
    if other_value(old, new):
        return "it says another value of the same, and that it changed"
    if kind in {ItemType.TODO, ItemType.RISK}:
        return ""
    if are_opposite(left, more):
        return "it says the opposite, and that it changed"
    return "it says that the same changed" if _other_words(old, new, left, more) else ""


def _replaces(old: Sentence, new: Sentence) -> str:
    """Whether it names what the older sentence says as what was before, and is about the same."""
    if not _known(old, new.was):
        return ""
    was = {w.key for w in new.was}
    rest = old.keys - was - new.keys
    about = (old.keys & (new.keys | new.subject)) - was
    alone = (len(old.keys - was) <= 1 and (old.is_order or not was <= old.subject)) or not (
        new.keys - VERBS - _value_words(new)
    )
    shares = not new.subject - was or new.subject & old.keys or len(about) > 1 or alone
    if len(rest) <= _MOST_LEFT and (about or alone) and shares:
        return "it names what was before"
    return ""


def _value_words(sentence: Sentence) -> frozenset[str]:
    return frozenset(w.key for w in sentence.core if w.named)


def tells_event(sentence: Sentence) -> bool:
    """Whether it tells what happened once, which nothing later makes untrue."""
    first = next((w for w in sentence.words if w.content or w.value), None)
    return first is not None and first.raw in EVENTS


def _known(old: Sentence, was: tuple[Word, ...]) -> bool:
    """Whether what was before is what the older sentence says: most of its words stand there."""
    values = [w.value for w in was if w.value]
    words = {w.key for w in was if not w.value}
    told = [any(same_value(value, one) for one in old.values) for value in values]
    told += [key in old.keys for key in words]
    return bool(told) and sum(told) >= _MOST * len(told)


def _same_subject(old: Sentence, new: Sentence) -> bool:
    """Whether what the newer sentence is about stands in the older, and is what that is about."""
    if _moved(old, new) or (new.turned and new.turned <= old.keys and new.turned & old.subject):
        return True
    about = new.subject - (_ATTRIBUTES if other_value(old, new) else frozenset())
    if not about or not about <= old.keys:
        return _is_taken_over(old, new)
    marks = {w.value.key for w in old.subject_words if w.value and w.value.kind == "mark"}
    if marks != {w.value.key for w in new.subject_words if w.value and w.value.kind == "mark"}:
        return False
    if old.is_order or new.is_order:
        return _same_object(old, new)
    if old.subject & new.subject:
        return True
    return old.verb_key in OWNING


def _moved(old: Sentence, new: Sentence) -> bool:
    """Whether who lived or worked somewhere says, of the same person, `I moved to …`."""
    turn = new.marked.turn
    bare = turn >= 0 and re.match(r"(?:\w+ )?moved to\b", new.text[turn:], re.IGNORECASE)
    return (
        bool(bare)
        and old.verb_key in _STAYING
        and old.words[0].raw == new.words[0].raw
        and old.words[0].raw in PRONOUNS
    )


_STAYING: Final = frozenset(map(stem, "live reside base stay".split()))


def _same_object(old: Sentence, new: Sentence) -> bool:
    """Whether two orders are about the same numbers, where those are what something is done to: `accept erratum 6`."""
    if not (old.is_order and new.is_order) or old.verb_key in SINGLE or new.verb_key in SINGLE:
        return True
    counted = [[w.value for w in s.subject_words if w.value and not _counted(s, w.value)] for s in (old, new)]
    return all(any(same_value(one, other) for other in counted[1]) for one in counted[0])


def _is_taken_over(old: Sentence, new: Sentence) -> bool:
    """Whether only who does it is another: `Bob now leads the mobile team`."""
    verb = old.verb_key if old.verb_key in OWNING else new.verb_key
    if verb not in OWNING or (new.subject_words and any(w.value for w in new.subject_words)):
        return False
    return bool(old.keys - old.subject) and old.keys - old.subject <= new.keys - new.subject | {verb}


def _denies(old: Sentence, new: Sentence) -> bool:
    """Whether it takes back what the older sentence says, and adds little."""
    if old.denials == new.denials or any(not _among(value, old.values) for value in new.values):
        return False
    more = new.keys - old.keys
    return len(more) <= _FEW and len(new.keys & old.keys) >= max(1, len(more))


def _among(value: Value, values: tuple[Value, ...]) -> bool:
    return any(same_value(value, one) for one in values)


def _same_verb(old: Sentence, new: Sentence) -> bool:
    """Whether both say the same of their subject: one verb, or one that says no more than that it is."""
    one, other = old.verb_key, new.verb_key
    if new.marked.turn >= 0 or not one or not other or one == other:
        return True
    if are_opposite([one], [other]):
        return not (old.values or new.values)
    light = BE | {"be", "have"}
    return one in light or other in light or other in old.keys or one in new.keys or (one in OWNING and other in OWNING)


def other_value(old: Sentence, new: Sentence) -> bool:
    """Whether they give two values of one kind, and of the same thing."""
    return any(
        comparable(one, other)
        for one in old.values
        for other in new.values
        if not _among(one, new.values) and not _among(other, old.values) and _of_same(old, new, one, other)
    )


def _of_same(old: Sentence, new: Sentence, one: Value, other: Value) -> bool:
    """Whether two values are of the same thing: what is counted by them is not two things."""
    if one.kind == "mark" and old.verb_key != "be" and new.marked.turn < 0:  # `for drill 1` is no value of what is used
        return False
    counted, others = _counted(old, one), _counted(new, other)
    return not counted or not others or counted in new.keys or others in old.keys


def _counted(sentence: Sentence, value: Value) -> str:
    """Return the word right behind a value, in its own clause."""
    follow = next((w for w in sentence.words if w.start >= value.end), None)
    near = follow is not None and follow.start - value.end <= 1
    return follow.key if follow and near and follow.content and not follow.value and not follow.named else ""


def _other_words(old: Sentence, new: Sentence, left: frozenset[str], more: frozenset[str]) -> bool:
    """Whether it gives other words where only one can hold: the older ones are gone, the newer in their place."""
    verbs = {old.verb_key, new.verb_key}
    if not more - VERBS or tells_event(old):
        return False
    if verbs & OFTEN and new.marked.turn < 0:
        return False
    values = [value for value in new.values if not _SINCE.search(new.text[: value.start])]
    if values and not old.values:
        return False
    renamed = new.marked.turn >= 0 and any(w.named and w.key in more for w in new.core)
    return renamed or (bool(left - VERBS) and _slot(old, left) == _slot(new, more))


def _slot(sentence: Sentence, keys: frozenset[str]) -> bool:
    """Whether the first of these words stands behind a preposition: a place for a place, a name for a name."""
    at = next(n for n, w in enumerate(sentence.words) if w.key in keys - VERBS)
    before = next((w.raw for w in reversed(sentence.words[:at]) if not w.content and w.raw not in _ARTICLES), "")
    return before in PREPOSITIONS


_ARTICLES: Final = frozenset("a an the our my your his her their its".split())
