"""The memory's items, indexed for the review: by the same words, and by those in common.

A night that has something to judge builds a small index of all items' words, so its cost follows what is new. No
look-up by words walks through all items: ten thousand new items cost ten times as much as a thousand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from math import fsum
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import is_pending
from pipelines.review.match_forms import parts_at
from pipelines.store.item import Item, ItemType, Status, Trust, brought_back
from pipelines.store.layout import BRIEFING, GENERAL, REVIEW, USER, Kind, is_archive_of, kind_of
from pipelines.store.wording import veto_key, words_key
from pipelines.text import content_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pipelines.extract.extraction import Candidate

    Words = defaultdict[str, set[int]]


NEAREST: Final = 12
"""How many of the nearest active items by words are neighbours of a candidate."""
OWN_SHOWN: Final = 40
"""How many of a document's items are neighbours of everything filed there, those with words in common first, then the
newest: a belief may change in words, or in a language, that nothing near has."""
_COMMON = 400
"""A word in more items than this is too common to be distinctive."""
_STEM = 5
"""The letters of a word that count: `deliver` and `delivery` are one."""
_MOST_TWINS = 2
_TWIN_WORDS = 3
"""The least words in common of two items that say about the same."""
_EVEN = 1e-8
"""Sums that differ by less are equal."""
_SHARED = frozenset({BRIEFING, USER, GENERAL})
BELIEFS: Final = frozenset({ItemType.DECISION, ItemType.FACT, ItemType.RULE})
"""Types that may replace each other: a decision becomes a fact once it is carried out."""


@dataclass(slots=True, eq=False)
class Belief:
    """An item, existing or added by this run, as the review so far leaves it.

    Args:
        item: the item.
        document: its document; empty if none was named.
        learnt: the day of the log that it was learnt from.
        is_new: whether this run adds it.
        stands_in: the item in its place; a candidate that repeats an item is that item.
        at: its position in the order in which items were added.
    """

    item: Item
    document: str
    learnt: str
    is_new: bool = False
    stands_in: Belief | None = None
    at: int = 0

    @property
    def stands(self) -> bool:
        """Whether it is an item of its own, and not a repeat of another; it may have been superseded."""
        return self.stands_in is None or self.item.status is Status.SUPERSEDED

    @property
    def home(self) -> str:
        """Its document; for an item that waits, the one that it would be filed in."""
        return dict(self.item.extra).get("home", self.document)

    @property
    def current(self) -> bool:
        """Whether it is active or waits for a decision, and is not closed."""
        return self.item.active or self.item.status is Status.WAITING

    @property
    def is_archived(self) -> bool:
        """Whether it only made room for others, and would be active if it were said again."""
        return self.item.status is Status.ARCHIVED


class KnownItems:
    """All items with indexes for look-ups, and the changes of a night.

    Args:
        items: document path and item.
    """

    def __init__(self, items: Iterable[tuple[str, Item]]) -> None:
        self._all = [Belief(item, path, item.learnt, at=at) for at, (path, item) in enumerate(items)]
        self._ids = {one.item.id: one for one in self._all if one.item.id}
        self._there = defaultdict[str, dict[Belief, None]](dict)
        self._removed: Counter[tuple[str, str]] = Counter()
        self._born: Counter[tuple[str, str]] = Counter()
        self._held: Counter[str] = Counter()
        for one in self._all:
            self._place(one)

    def add(self, one: Belief) -> None:
        """Add a new item."""
        if one.stands and one.item.active:
            self._born[one.document, one.learnt] += 1
        one.at = len(self._all)
        self._all.append(one)
        self._place(one)
        if "_words" in self.__dict__:
            self._enter(one, self._words)
        if "_same" in self.__dict__:
            self._same[words_key(one.item.text)].append(one)
        self._ids[one.item.id] = one

    @cached_property
    def _same(self) -> defaultdict[str, list[Belief]]:
        found = defaultdict[str, list[Belief]](list)
        for one in self._all:
            found[words_key(one.item.text)].append(one)
        return found

    @cached_property
    def _closed_by_people(self) -> defaultdict[str, list[Belief]]:
        found = defaultdict[str, list[Belief]](list)
        for one in self._all:
            if one.item.closed_by_person:
                found[veto_key(one.item.text)].append(one)
        return found

    @cached_property
    def _words(self) -> Words:
        """Word → positions of the active items of their own that have it."""
        found: Words = defaultdict(set)
        for one in self._all:
            self._enter(one, found)
        return found

    def get(self, ident: str) -> Belief | None:
        """Return the belief that first had an id, or None."""
        return self._ids.get(ident)

    def find(self, ident: str, day: str = "", text: str = "") -> Belief | None:
        """Return the belief at the end of an id's chain of successors, or None.

        Args:
            ident: an item's id, or a temporary one.
            day: the day of a log that changes the item. What the same log has put in its place is then no successor:
                one belief may be replaced by two.
            text: what the log says. If it gives another value than what the log has put there, that is the successor
                after all.
        """
        own = found = self.get(ident)
        while found and found.stands_in:
            found = found.stands_in
        is_of_log = own and own.item.status is Status.SUPERSEDED and found and found.is_new and found.learnt == day
        return own if is_of_log and found and parts_at(text, found.item.text) is None else found

    def overtaker(self, many: Iterable[Belief], day: str) -> Belief | None:
        """Return the item that took the place of others by what was learnt after a day; None if any still holds."""
        found = [self._overtaker(one, day) for one in many]
        return found[0] if found and all(found) else None

    def _overtaker(self, one: Belief | None, day: str) -> Belief | None:
        """Return the first in an item's chain of successors, itself included, that was learnt after a day."""
        seen: set[Belief] = set()
        while one and one.learnt <= day and one not in seen:
            seen.add(one)
            one = self.find(one.item.superseded_by)
        return None if one in seen else one

    def held(self) -> list[tuple[str, Item]]:
        """Return document path and item of all active items."""
        return [(one.document, one.item) for one in self._all if one.stands and one.item.active]

    def take_out(self, one: Belief, status: Status, until: str, day: str, successor: Belief | None = None) -> None:
        """End an item on `until`. `day`, the day of the log that says so, counts for the bound."""
        self._held[one.document] -= one.item.active
        if self._is_bound(one, day):
            self._removed[one.document, day] += one.item.active
        elif one.is_new:
            self._born[one.document, day] -= one.item.active
        for word in _keys(one.item.text) if "_words" in self.__dict__ else ():
            self._words[word].discard(one.at)
        self._there[one.document].pop(one, None)
        one.item = replace(one.item, status=status, until=max(until, one.item.since))
        one.stands_in = successor

    def bring_back(self, one: Belief, document: str) -> None:
        """Make an archived item active again, in a document."""
        one.item, one.document = brought_back(one.item), document
        self._place(one)
        if "_words" in self.__dict__:
            self._enter(one, self._words)

    def _place(self, one: Belief) -> None:
        """Count and index a document's active items, newest last."""
        if one.item.active and one.stands:
            self._held[one.document] += 1
            self._there[one.document][one] = None

    def may_take_out(self, one: Belief, day: str) -> bool:
        """Whether a day's log may end one more item of the document: at most a quarter of them, but at least three.

        The quarter is of the items at the start of the day, earlier days of the run included. Todos do not count.
        """
        place = one.document, day
        held = self._held[one.document] + self._removed[place] - self._born[place]
        return not self._is_bound(one, day) or self._removed[place] < max(3, held // 4)

    def _is_bound(self, one: Belief, day: str) -> bool:
        return one.item.type is not ItemType.TODO and not (one.is_new and one.learnt == day)

    def same(self, kind: ItemType, text: str, document: str, trust: Trust = Trust.EXTERNAL) -> Belief | None:
        """Return the item with the same words in a place that counts, the most current one; or None.

        Words of the owner or the agent never match an external item: they carry their own `trust`.
        """
        matching = (one for one in self._same.get(words_key(text), ()) if one.item.type is kind)
        found = [
            one
            for one in matching
            if (one.stands or one.item.status is Status.SUPERSEDED)
            and repeats_there(one.document, document)
            and speaks_as(one.item, trust)
        ]
        return self.most_current(found)

    def was_closed_by_person(self, candidate: Candidate, document: str) -> bool:
        """Whether a person closed an item that a candidate repeats; a todo that is set again later is a new one."""
        day = candidate.entry.day
        return any(
            {one.item.type, candidate.type} <= BELIEFS or one.item.type is candidate.type
            for one in self._closed_by_people.get(veto_key(candidate.text), ())
            if repeats_there(one.document, document) and (one.item.type is not ItemType.TODO or one.item.until >= day)
        )

    @staticmethod
    def most_current(beliefs: Iterable[Belief]) -> Belief | None:
        """Return a current item, else an archived one, else the one that was closed last; None if there is none."""
        return max(beliefs, key=lambda one: (one.current, one.is_archived, one.item.until), default=None)

    def near(self, candidate: Candidate, document: str) -> list[Belief]:
        """Return the neighbours of a candidate: active items of its document, and the nearest by words of every type.

        Args:
            candidate: the candidate.
            document: the document it would be filed in.
        """
        words = sorted(_keys(candidate.text))
        near = _by_words(self._words.get(word, ()) for word in words)
        own = list(reversed(self._there[document]))
        if OWN_SHOWN < len(own) <= _COMMON:
            weight = {word: 1 / (1 + len(self._words.get(word, ()))) for word in words}
            own.sort(key=lambda one: -sum(weight.get(word, 0.0) for word in sorted(_keys(one.item.text))))
        return [self._all[at] for at in dict.fromkeys([*near, *(one.at for one in own[:OWN_SHOWN])])]

    def twins(self, ending: Sequence[Belief], day: str) -> list[Belief]:
        """Return the active items that say of old what others do which end on a day, most alike first, two at most.

        They are of one page and share half of the shorter one's words. Of a row of like sentences, each differs from
        another in one word.
        """
        found: dict[Belief, float] = {}
        for one in ending:
            mine = content_words(one.item.text)
            for other in self._there[one.document]:
                theirs = content_words(other.item.text)
                both, least, most = len(mine & theirs), *sorted((len(mine), len(theirs)))
                is_old = other.learnt < day and other not in ending and is_pending(one.item) == is_pending(other.item)
                if is_old and both >= max(_TWIN_WORDS, least / 2) and most > both + 1:
                    found[other] = max(found.get(other, 0.0), both / least)
        return sorted(found, key=lambda one: -found[one])[:_MOST_TWINS]

    def share(self, one: str, other: str) -> float:
        """Return the share of their words that two sentences have in common, by number or by rarity: the lesser one."""
        first, second = _keys(one), _keys(other)
        weights = {word: 1 / (1 + len(self._words.get(word, ()))) for word in first | second}
        common, whole = first & second, fsum(weights.values()) or 1
        return min(len(common) / (len(weights) or 1), fsum(weights[word] for word in common) / whole)

    def nearest(self, candidate: Candidate, document: str) -> list[Belief]:
        """Return the active items that a candidate may change and shares words with, nearest first."""
        order = _by_words(self._words.get(word, ()) for word in sorted(_keys(candidate.text)))
        return [one for at in order if (one := self._all[at]).item.active and speaks_for(one.document, document)]

    @staticmethod
    def _enter(one: Belief, words: Words) -> None:
        for word in _keys(one.item.text) if one.stands and one.item.id and one.item.active else ():
            words[word].add(one.at)


def _by_words(postings: Iterable[Collection[int]]) -> list[int]:
    """Return the positions that share the most distinctive words, nearest first.

    The rarest words come first. Once the remaining words cannot lift a new position among the nearest, only positions
    already found are scored.
    """
    distinctive = sorted((places for places in postings if 0 < len(places) <= _COMMON), key=len)
    left = sum(1 / (1 + len(places)) for places in distinctive)
    scores: dict[int, float] = {}
    least = 0.0
    for places in distinctive:
        weight = 1 / (1 + len(places))
        for at in scores.keys() & places if least > left else places:
            scores[at] = scores.get(at, 0.0) + weight
        left -= weight
        least = nlargest(NEAREST, scores.values())[-1] - _EVEN if len(scores) > NEAREST else 0.0
    near = [at for at, score in scores.items() if score >= least]
    return sorted(near, key=lambda at: (-round(scores[at], 9), at))[:NEAREST]


def _keys(text: str) -> set[str]:
    """Return what texts on one matter share: their content words without endings, cheap enough for every item."""
    return {word[:_STEM] for word in content_words(text)}


def speaks_as(item: Item, trust: Trust) -> bool:
    """Whether words of some trust may match an item: only external words match an external item."""
    return item.trust.reaches(Trust.SELF) or not trust.reaches(Trust.SELF)


def repeats_there(place: str, document: str) -> bool:
    """Whether a text in `document` repeats one in `place`: it is of the same page, or `place` speaks for all.

    Items that wait speak for all, too.
    """
    return not document or place in {"", REVIEW} or _is_for_all(place) or _is_of(place, document)


def speaks_for(place: str, home: str) -> bool:
    """Whether an item filed in `home` can change one in `place`: the same page, or either speaks for all."""
    return home in _SHARED or _is_for_all(place) or _is_of(place, home)


def home_of_successor(place: str, home: str) -> str:
    """Return where the successor of an item in `place` is filed: in its place if that is no archive, else at `home`."""
    return place if speaks_for(place, home) and kind_of(place) is not Kind.ARCHIVE else home


def _is_of(place: str, page: str) -> bool:
    """Whether a place is a page, or an archive of what was there."""
    return place == page or is_archive_of(place, page)


def _is_for_all(place: str) -> bool:
    return place in _SHARED or _is_of(place, GENERAL)
