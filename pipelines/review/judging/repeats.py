"""Whether a sentence only says again what another one said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pipelines.review.judging.sentence import LIMITS
from pipelines.review.judging.values import same_value

if TYPE_CHECKING:
    from pipelines.review.judging.sentence import Sentence, Word
    from pipelines.review.judging.values import Value


_LEAST: Final = 2
"""Words that must be left to compare: `I like it` says nothing of what."""
_FEWEST, _DROPPED = 4, 0.34
"""A shortened repeat shares so many words at least, and leaves out so small a part of the older one."""
_RELATING: Final = frozenset("than over with from into before after".split())
_BY: Final = re.compile(r"\bby\b", re.IGNORECASE)


def repeats(old: Sentence, new: Sentence) -> bool:
    """Whether the newer sentence adds nothing to the older one.

    They have the same values, the same names, deny and limit alike, and every word of the newer stands in the older in
    the same order, or moved as a whole. What the newer leaves out is a reason, or a little of a long sentence. A reason
    that only the newer gives is no other statement.
    """
    if not same_guards(old, new) or len(new.core) < _LEAST or _people(old) != _people(new):
        return False
    if new.keys - old.keys or not same_order(old, new):
        return False
    left = old.keys - new.keys
    return not left or _is_shortened(old, new, left)


def _people(sentence: Sentence) -> frozenset[str]:
    """Return whose the sentence is, where both are said: mine, yours, or of others.

    Who is told when or under what condition to do something (`before you delete it`) is anybody.
    """
    words = [w for w in sentence.words if w.start < sentence.end]
    said = {w.raw for last, w in zip([None, *words], words, strict=False) if not (last and last.raw in LIMITS)}
    return frozenset({"you"} if said & {"you", "your", "yours"} else ())


def same_guards(old: Sentence, new: Sentence) -> bool:
    """Whether two sentences agree in what may never be merged: values, names, negations, limits."""
    if old.denials != new.denials or old.limits != new.limits:
        return False
    if old.reason_denials != new.reason_denials:
        return False
    if not _same_values(old.values, new.values):
        return False
    if {w.key for w in old.was} != {w.key for w in new.was} and (old.was and new.was):
        return False
    return _names(old, new) == _names(new, old)


def _names(one: Sentence, other: Sentence) -> frozenset[str]:
    """Return the names in a sentence; what is written as one in either is one in both."""
    named = {w.key for w in (*one.words, *other.words) if w.named and w.content}
    return frozenset(w.key for w in one.words if w.key in named)


def _same_values(old: tuple[Value, ...], new: tuple[Value, ...]) -> bool:
    found = all(any(same_value(one, other) for other in new) for one in old)
    return found and all(any(same_value(one, other) for other in old) for one in new)


def _is_shortened(old: Sentence, new: Sentence, left: frozenset[str]) -> bool:
    """Whether little of a long sentence is left out, and nothing of its beginning."""
    if any(w.named and w.key in left for w in old.words):
        return False
    shared = len(old.keys & new.keys) + len(old.values)
    return shared >= _FEWEST and len(left) <= _DROPPED * shared and _first(old) == _first(new)


def _first(sentence: Sentence) -> str:
    return sentence.core[0].key if sentence.core else ""


def same_order(old: Sentence, new: Sentence) -> bool:
    """Whether the shared words come in one order, but for one part that was moved whole: `for the cluster we use …`.

    `Replace A with B` is not `replace B with A`, though it is made of the same words; `owned by Anna` is `Anna owns`.
    """
    one, other = _sequence(old, new), _sequence(new, old)
    if one == other:
        return True
    if bool(_BY.search(old.text)) != bool(_BY.search(new.text)):
        return True
    if any(w.raw in _RELATING for s in (old, new) for w in s.words):
        return False
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return any(one[at:] + one[:at] == other for at in range(1, len(one)))


def _sequence(one: Sentence, other: Sentence) -> list[str]:
    """Return the words that both have, in the order of the first one, each once."""
    there = {_key(w) for w in other.core}
    return list(dict.fromkeys(_key(w) for w in one.core if _key(w) in there))


def _key(word: Word) -> str:
    return f"{word.value.base}:{word.value.key[-5:]}" if word.value and word.value.base == "date" else word.key
