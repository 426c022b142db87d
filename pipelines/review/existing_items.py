"""What the memory holds, as the review looks it up: by the same words, and by the nearest ones.

The words of all items are looked up in a small index that is made anew when a night has something to judge, and their
vectors, where there are any, are read then; so the cost of a night follows what is new. No look-up by words walks
through all that is held: ten thousand new items cost ten times what a thousand do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import is_pending
from pipelines.review import meaning
from pipelines.review.compare import keywords
from pipelines.review.meaning import Vectors, sentence_of
from pipelines.store.item import ItemType, Status, Trust, folded
from pipelines.store.layout import BRIEFING, GENERAL, USER, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.extract.extraction import Candidate
    from pipelines.store.item import Item

    Words = defaultdict[tuple[str, bool], set[int]]


NEAREST: Final = 12
"""So many of the nearest items by words are looked at for each candidate, current and closed ones each."""
MEANT: Final = 6
"""So many of the nearest by meaning join them."""
MOST_OPEN: Final = 20
"""So many of a document's open Todos, Risks and questions are neighbours of all that is filed there."""
CURRENT_SHOWN: Final = 12
CLOSED_SHOWN: Final = 2
_RANK: Final = 60
"""How gently a rank counts less than the one before it, where two orders become one."""
_COMMON: Final = 400
"""A word of more items than this tells nothing of any of them."""
_EVEN: Final = 1e-8
"""Sums that differ by less count as even."""
_MOST_MEANT: Final = 1_000
"""After so many look-ups of a night words alone say what is near: each looks through all that is held."""
_SHARED: Final = frozenset({BRIEFING, USER, GENERAL})
BELIEFS: Final = frozenset({ItemType.DECISION, ItemType.FACT, ItemType.RULE})
"""Types of which one may take the place of another: a decision is known as a fact once it is carried out."""


@dataclass(slots=True, eq=False)
class Belief:
    """An item of the memory, or one that this run lets in, as it stands after what was reviewed so far.

    Args:
        item: the item; of one that is new, as it would stand.
        document: where it stands; empty where nothing was said of that.
        learnt: the day on which the log told of it.
        is_new: whether this run lets it in.
        stands_in: what stands in its place; a candidate that repeats an item is that item.
        at: its place in the order in which the items were let in.
    """

    item: Item
    document: str
    learnt: str
    is_new: bool = False
    stands_in: Belief | None = None
    at: int = 0

    @property
    def stands(self) -> bool:
        """Whether it stands for itself: it was not taken for another, though another may have taken its place."""
        return self.stands_in is None or self.item.status is Status.SUPERSEDED

    @property
    def current(self) -> bool:
        """Whether it is believed or waits for a decision, as against what is closed."""
        return self.item.active or self.item.status is Status.WAITING


class Known:
    """All items, to be looked up, and what a night makes of them.

    Args:
        items: document path and item.
        vectors: tells who is near in meaning; words alone do where it knows none.
    """

    def __init__(self, items: Iterable[tuple[str, Item]], vectors: Vectors | None = None) -> None:
        self._vectors = vectors or Vectors()
        self._all = [Belief(item, path, item.learnt, at=at) for at, (path, item) in enumerate(items)]
        self._ids = {one.item.id: one for one in self._all if one.item.id}
        self._tables: list[NDArray[np.float32]] = []
        self._looked_up = 0
        self._there = defaultdict[str, dict[Belief, None]](dict)
        self._pending = defaultdict[str, dict[Belief, None]](dict)
        for one in self._all:
            self._place(one)
        self._removed: Counter[tuple[str, str]] = Counter()
        self._born: Counter[tuple[str, str]] = Counter()
        self._held = Counter(one.document for one in self._all if one.item.active)

    def add(self, one: Belief) -> None:
        """Let a new item in."""
        if one.stands and one.item.active:
            self._held[one.document] += 1
            self._born[one.document, one.learnt] += 1
        one.at = len(self._all)
        self._all.append(one)
        self._place(one)
        if "_words" in self.__dict__:
            self._enter(one, self._words)
        if (
            self._tables
            and self._looked_up < _MOST_MEANT
            and (row := self._vectors.rows([_meant(one.item)])) is not None
        ):
            import numpy as np  # noqa: PLC0415  a night with nothing to judge needs none

            self._tables[1] = np.concatenate([self._tables[1], row])
        if "_same" in self.__dict__:
            self._same[_words_of(one.item.text)].append(one)
        self._ids[one.item.id] = one

    @cached_property
    def _same(self) -> defaultdict[str, list[Belief]]:
        found = defaultdict[str, list[Belief]](list)
        for one in self._all:
            found[_words_of(one.item.text)].append(one)
        return found

    @cached_property
    def _words(self) -> Words:
        """By each word, and whether it is of what is current, the places of those that stand for themselves."""
        found: Words = defaultdict(set)
        for one in self._all:
            self._enter(one, found)
        return found

    def get(self, ident: str) -> Belief | None:
        """Return what was first called by an id, or None."""
        return self._ids.get(ident)

    def find(self, ident: str) -> Belief | None:
        """Return what stands for an id now, at the end of its chain; or None."""
        found = self.get(ident)
        while found and found.stands_in:
            found = found.stands_in
        return found

    def held(self) -> list[tuple[str, Item]]:
        """Return document path and item of all that is believed as things stand."""
        return [(one.document, one.item) for one in self._all if one.stands and one.item.active]

    def take_out(self, one: Belief, status: Status, until: str, day: str, successor: Belief | None = None) -> None:
        """Let an item end on a day; that of the log that says so may be another one, and counts for the bound."""
        self._held[one.document] -= one.item.active
        if self._is_bound(one, day):
            self._removed[one.document, day] += one.item.active
        elif one.is_new:
            self._born[one.document, day] -= one.item.active
        for word in keywords(one.item.text) if "_words" in self.__dict__ else ():
            self._words[word, one.current].discard(one.at)
        self._there[one.document].pop(one, None)
        self._pending[one.document].pop(one, None)
        one.item = replace(one.item, status=status, until=max(until, one.item.since))
        one.stands_in = successor
        if "_words" in self.__dict__:
            self._enter(one, self._words)

    def _place(self, one: Belief) -> None:
        """Remember what is believed of a document, and what of it is open, the newest last."""
        if one.stands and one.item.active:
            self._there[one.document][one] = None
            if is_pending(one.item):
                self._pending[one.document][one] = None

    def may_take_out(self, one: Belief, day: str) -> bool:
        """Whether one more item of its document may end by a day's log: a quarter of them, and three in any case.

        What was held when the day began counts, be it the memory's or of an earlier day of the run; Todos are done.
        """
        place = one.document, day
        held = self._held[one.document] + self._removed[place] - self._born[place]
        return not self._is_bound(one, day) or self._removed[place] < max(3, held // 4)

    def _is_bound(self, one: Belief, day: str) -> bool:
        return one.item.type is not ItemType.TODO and not (one.is_new and one.learnt == day)

    def same(self, kind: ItemType, text: str, document: str, trust: Trust = Trust.EXTERNAL) -> Belief | None:
        """Return the item that says the same words in a place that counts, what is closed last; or None.

        What is external stands for nothing that the owner or the agent says, for they say it by their own `trust`.
        """
        said = (one for one in self._same.get(_words_of(text), ()) if one.item.type is kind)
        found = [
            one
            for one in said
            if (one.stands or one.item.status is Status.SUPERSEDED)
            and repeats_there(one.document, document)
            and speaks_as(one.item, trust)
        ]
        return min(found, key=lambda one: not one.current, default=None)

    def near(self, candidate: Candidate, document: str) -> list[Belief]:
        """Return the neighbours of a candidate: what is open in its document, and the nearest items of every type.

        What is believed and what is closed are ranked apart, so that a long history hides nothing that holds.

        Args:
            candidate: the candidate.
            document: where it would stand.
        """
        words = sorted(keywords(candidate.text))
        meant = self._apart(self._by_meaning(candidate))
        near = {
            current: _joined(_by_words(self._words.get((word, current), ()) for word in words), meant[current][:MEANT])
            for current in (True, False)
        }
        # Where words find few, the newest of the document are near enough: what replaces it may say it all otherwise.
        newest = islice(reversed(self._there[document]), max(0, CURRENT_SHOWN - len(near[True])))
        pending = islice(reversed(self._pending[document]), MOST_OPEN)
        here = [one.at for one in (*newest, *pending)]
        found = dict.fromkeys([*near[True][:CURRENT_SHOWN], *here, *near[False][:CLOSED_SHOWN]])
        return [self._all[at] for at in found]

    def _apart(self, places: Iterable[int]) -> dict[bool, list[int]]:
        """Return what is current apart from what is closed, each in its order; the rest is neither."""
        apart: dict[bool, list[int]] = {True: [], False: []}
        for at in places:
            if (one := self._all[at]).stands and one.item.id:
                apart[one.current].append(at)
        return apart

    def _by_meaning(self, candidate: Candidate) -> list[int]:
        """Return the items nearest in meaning, nearest first, as far as they are near at all."""
        if not self._tables and self._vectors.model:
            tables = self._vectors.rows([_meant(one.item) for one in self._all], held=True), self._vectors.rows([])
            self._tables = [table for table in tables if table is not None]
        if not (self._tables and self._all) or self._looked_up >= _MOST_MEANT:
            return []
        self._looked_up += 1
        if (question := self._vectors.rows([sentence_of(candidate.type, candidate.text, candidate.day)])) is None:
            return []
        import numpy as np  # noqa: PLC0415  as above

        # Row by row, as a search scans: a product of matrices would wake a thread for each processor.
        cosines = np.concatenate([np.vecdot(table, question[0]) for table in self._tables]).round(meaning.PLACES)
        near = np.flatnonzero(cosines >= meaning.LEAST)
        found: list[int] = near[np.argsort(-cosines[near], kind="stable")].tolist()
        return found

    @staticmethod
    def _enter(one: Belief, words: Words) -> None:
        for word in keywords(one.item.text) if one.stands and one.item.id else ():
            words[word, one.current].add(one.at)


def _by_words(postings: Iterable[Collection[int]]) -> list[int]:
    """Return the places that share the most telling words, the nearest first.

    The rarest words come first: once what is left cannot lift a new place among the nearest, only those found count on.
    """
    telling = sorted((places for places in postings if 0 < len(places) <= _COMMON), key=len)
    left = sum(1 / (1 + len(places)) for places in telling)
    scores: dict[int, float] = {}
    least = 0.0
    for places in telling:
        weight = 1 / (1 + len(places))
        for at in scores.keys() & places if least > left else places:
            scores[at] = scores.get(at, 0.0) + weight
        left -= weight
        least = nlargest(NEAREST, scores.values())[-1] - _EVEN if len(scores) > NEAREST else 0.0
    near = [at for at, score in scores.items() if score >= least]
    return sorted(near, key=lambda at: (-round(scores[at], 9), at))[:NEAREST]


def _joined(words: Sequence[int], meant: Sequence[int]) -> list[int]:
    """Return the places of two orders in one, by the sum of their reciprocal ranks; what both have comes first."""
    scores: dict[int, float] = {}
    for order in (words, meant):
        for rank, at in enumerate(order):
            scores[at] = scores.get(at, 0.0) + 1 / (_RANK + rank)
    return sorted(scores, key=lambda at: (-round(scores[at], 9), at))


def _meant(one: Item) -> str:
    return sentence_of(one.type, one.text, one.since)


def _words_of(text: str) -> str:
    """Return what two texts share that say the same words; what asks states nothing."""
    return folded(text) + "?" * text.rstrip().endswith("?")


def speaks_as(item: Item, trust: Trust) -> bool:
    """Whether words of some trust may be taken for an item's: for what is external, external words alone."""
    return item.trust.reaches(Trust.SELF) or not trust.reaches(Trust.SELF)


def repeats_there(place: str, document: str) -> bool:
    """Whether what stands in `place` is not said again in `document`: it is the same one, or speaks for all.

    What waits, or is archived, speaks for all, too.
    """
    if not document or place in {document, ""}:
        return True
    return place in _SHARED or kind_of(place) in {Kind.ARCHIVE, Kind.REVIEW}


def speaks_for(place: str, home: str) -> bool:
    """Whether what is filed in `home` can change what stands in `place`: they are one, or one speaks for all."""
    return place == home or place in _SHARED or home in _SHARED
