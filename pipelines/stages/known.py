"""What the memory holds, as the review looks it up: by the same words, and by the nearest ones.

The words of all items are looked up in a small index that is made anew when a night has something to judge, and their
vectors, where there are any, are read then; so the cost of a night follows what is new.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.stages.judging.stems import STOP, stem
from pipelines.stages.nearness import Nearness, Vectors, sentence_of
from pipelines.store.item import ACTIVE, ItemType, Status, folded
from pipelines.store.layout import BRIEFING, GENERAL, USER, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from pipelines.extract.extraction import Candidate
    from pipelines.store.item import Item, Trust

NEAREST: Final = 12
"""So many of the nearest items by words are judged for each candidate, current and closed ones each."""
MEANT: Final = 6
"""So many of the nearest by meaning join them."""
_RANK: Final = 60
"""How gently a rank counts less than the one before it, where two orders become one."""
_COMMON: Final = 400
"""A word of more items than this tells nothing of any of them."""
_WORD: Final = re.compile(r"[^\W_]+")
_SHARED: Final = frozenset({BRIEFING, USER, GENERAL})
_CURRENT: Final = ACTIVE | {Status.WAITING}
BELIEFS: Final = frozenset({ItemType.DECISION, ItemType.FACT, ItemType.RULE})
"""Types of which one may take the place of another: a decision is known as a fact once it is carried out."""


@dataclass(slots=True)
class Belief:
    """An item that stands, or one that this run lets in.

    Args:
        type: what it is.
        text: its sentence.
        document: where it stands; empty where nothing was said of that.
        trust: whose word it rests on.
        since: the day it is of.
        status: where it stands.
        id: its id; empty where it is new in this run.
        born: the candidate of which this run made it.
        until: the day on which it ended.
    """

    type: ItemType
    text: str
    document: str
    trust: Trust
    since: str
    status: Status
    id: str = ""
    born: Candidate | None = None
    until: str = ""

    @property
    def active(self) -> bool:
        """Whether it is believed now."""
        return self.status in ACTIVE

    @property
    def current(self) -> bool:
        """Whether it is believed or waits for a decision, as against what is closed."""
        return self.status in _CURRENT


class Known:
    """All items, to be looked up.

    Args:
        items: document path and item.
        vectors: tells who is near in meaning; words alone do where it knows none.
    """

    def __init__(self, items: Iterable[tuple[str, Item]], vectors: Vectors | None = None) -> None:
        self._vectors = vectors or Vectors()
        self._all: list[Belief] = []
        self._same: dict[ItemType, dict[str, list[Belief]]] = {}
        self._words: dict[str, list[int]] | None = None
        self._meaning: Nearness | None = None
        self._ids: dict[str, Belief] | None = None
        self._removed: Counter[str] = Counter()
        self._closed: set[str] = set()
        for path, item in items:
            one = Belief(item.type, item.text, path, item.trust, item.since, item.status, item.id, until=item.until)
            self._all.append(one)
        self._held = Counter(one.document for one in self._all if one.active)

    def add(self, one: Belief) -> None:
        """Let a new item in."""
        if self._words is not None:
            self._enter(len(self._all), one)
        if self._meaning is not None:
            self._meaning.add(_meant(one))
        if one.type in self._same:
            self._same[one.type].setdefault(folded(one.text), []).append(one)
        self._all.append(one)

    def close(self, one: Belief, day: str) -> None:
        """Mark an item as superseded."""
        one.status, one.until = Status.SUPERSEDED, day
        self._closed.add(one.id)
        if one.id:
            self._removed[one.document] += 1

    def closed_tonight(self, one: Belief) -> bool:
        """Whether an item of the memory was superseded in this run."""
        return bool(one.id) and one.id in self._closed

    def may_close(self, one: Belief) -> bool:
        """Whether one more item of its document may be superseded tonight: a quarter of them, and three in any case."""
        return not one.id or self._removed[one.document] < max(3, self._held[one.document] // 4)

    def same(self, kind: ItemType, text: str, document: str) -> Belief | None:
        """Return the item that says the same words in a place that counts, what is closed last; or None."""
        found = [one for one in self._of(kind).get(folded(text), ()) if repeats_there(one.document, document)]
        return min(found, key=lambda one: not one.current, default=None)

    def _of(self, kind: ItemType) -> dict[str, list[Belief]]:
        """Return what is known of a type by its folded words: they are folded once somebody asks for them."""
        if kind not in self._same:
            self._same[kind] = {}
            for one in self._all:
                if one.type is kind:
                    self._same[kind].setdefault(folded(one.text), []).append(one)
        return self._same[kind]

    def find(self, ident: str) -> Belief | None:
        """Return the item of an id, or None."""
        if self._ids is None:
            self._ids = {one.id: one for one in self._all if one.id}
        return self._ids.get(ident)

    def near(self, candidate: Candidate) -> list[Belief]:
        """Return the items nearest to a candidate by its telling words and by meaning, the nearest first.

        What is believed and what is closed are ranked apart, so that a long history hides nothing that holds.
        """
        family = BELIEFS if candidate.type in BELIEFS else {candidate.type}
        postings = [self._apart(places, family) for places in self._postings(candidate.text)]
        meant = self._apart(self._by_meaning(candidate), family)
        found: list[int] = []
        for current in (True, False):
            found += _joined(_by_words([places[current] for places in postings]), meant[current][:MEANT])
        return [self._all[at] for at in found]

    def _apart(self, places: Iterable[int], family: Container[ItemType]) -> dict[bool, list[int]]:
        """Return those of a family, what is current apart from what is closed, each in its order."""
        apart: dict[bool, list[int]] = {True: [], False: []}
        for at in places:
            if (one := self._all[at]).type in family:
                apart[one.current].append(at)
        return apart

    def _postings(self, text: str) -> list[Sequence[int]]:
        if self._words is None:
            self._words = {}
            for at, one in enumerate(self._all):
                self._enter(at, one)
        return [self._words.get(word, ()) for word in _words(text)]

    def _by_meaning(self, candidate: Candidate) -> list[int]:
        if not self._vectors.are_there():
            return []
        if self._meaning is None:
            self._meaning = Nearness(self._vectors, [_meant(one) for one in self._all])
        return list(self._meaning.nearest(sentence_of(candidate.type, candidate.text, candidate.entry.day)))

    def _enter(self, at: int, one: Belief) -> None:
        words = self._words if self._words is not None else {}
        for word in _words(one.text):
            words.setdefault(word, []).append(at)


def _by_words(postings: Iterable[Sequence[int]]) -> list[int]:
    """Return the places that share the most telling words, the nearest first."""
    scores: dict[int, float] = {}
    for places in postings:
        if len(places) <= _COMMON:
            for at in places:
                scores[at] = scores.get(at, 0.0) + 1 / (1 + len(places))
    return sorted(scores, key=lambda at: (-round(scores[at], 9), at))[:NEAREST]


def _joined(words: Sequence[int], meant: Sequence[int]) -> list[int]:
    """Return the places of two orders in one, by the sum of their reciprocal ranks; what both have comes first."""
    scores: dict[int, float] = {}
    for order in (words, meant):
        for rank, at in enumerate(order):
            scores[at] = scores.get(at, 0.0) + 1 / (_RANK + rank)
    return sorted(scores, key=lambda at: (-round(scores[at], 9), at)) if meant else list(words)


def _meant(one: Belief) -> str:
    return sentence_of(one.type, one.text, one.since)


def _words(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text.lower()) if word not in STOP}


def repeats_there(place: str, document: str) -> bool:
    """Whether what stands in `place` is not said again in `document`: it is the same one, or speaks for all.

    What waits, or is archived, speaks for all, too.
    """
    if not document or place in {document, ""}:
        return True
    return place in _SHARED or kind_of(place) in {Kind.ARCHIVE, Kind.REVIEW}


def speaks_for(place: str, home: str) -> bool:
    """Whether what is filed in `home` can correct what stands in `place`: one document, or two that speak for all."""
    return place == home or (place in _SHARED and home in _SHARED)
