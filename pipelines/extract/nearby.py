"""What a model is shown beside a day's log: existing items, which it can name by id, and the calendar."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cached_property, lru_cache
from math import fsum, sqrt
from typing import TYPE_CHECKING, TypeVar

from pipelines.extract.extraction import is_pending, matter_words
from pipelines.store.priority import priority

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from pipelines.store.item import HeldItem


MOST_OPEN = 60
"""The most todos, risks and questions to consider, most important first; a prompt shows as many as fit."""
MOST_NAMED = 15
"""How many open items a model is shown first because the log speaks of them."""
MOST_NEAR = 30
"""The most other items to consider, nearest to the log first; likewise."""
_COMMON = 200
"""A word in more items than this is too common to be distinctive."""


BYTES_A_TOKEN = 4
Row = TypeVar("Row")


def fitting(rows: Iterable[Row], tokens: int, size: Callable[[Row], int]) -> list[Row]:
    """Return the first rows that take at most this many tokens in a prompt; `size` returns a row's bytes."""
    room, kept = tokens * BYTES_A_TOKEN, list[Row]()
    for row in rows:
        room -= size(row)
        if room < 0:
            break
        kept.append(row)
    return kept


class Nearby:
    """Existing items to show a model beside a day's log; threads may share it.

    Words alone decide which are near, so that tracked files and the log decide, and a replay shows the same.

    Args:
        items: the items that may be shown, each with its document's id, in an order set by tracked files alone.
        newest: the latest date in any log.
    """

    def __init__(self, items: Iterable[HeldItem], newest: str = "") -> None:
        self._items, self._newest = tuple(items), newest

    def open(self, text: str) -> list[HeldItem]:
        """Return todos, risks and questions with their documents' ids: those that a text speaks of, then by weight.

        At most fifteen come first for their words, so that what matters most is shown on every day. Of the others,
        questions come after what somebody owes, and last what nobody mentions any more.
        """
        pending = [one for one in self._items if is_pending(one[1])]

        def place(one: HeldItem) -> tuple[bool, bool, float, str]:
            item = one[1]
            return bool(item.quiet), item.page_section == "questions", -priority(item, self._newest), item.id

        named = [one for one in self._by_words(text) if is_pending(one[1])]
        rows = (*named[:MOST_NAMED], *sorted(pending, key=place))
        return list({one[1].id: one for one in rows}.values())[:MOST_OPEN]

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [matter_words(f"{home} {one.text}") for home, one in self._items]

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """Word → positions of the items that have it; built on first use, since the rules need none."""
        found: dict[str, list[int]] = {}
        for at, words in enumerate(self._words):
            for word in words:
                found.setdefault(word, []).append(at)
        return found

    @lru_cache(8)  # noqa: B019  it lives for one night, as its pieces do
    def _by_words(self, text: str) -> list[HeldItem]:
        """Return the items that share distinctive words with a text, nearest first.

        What one line speaks of counts most: the words of a long item are somewhere in any long day.
        """
        best = dict[int, float]()
        for line in dict.fromkeys(text.split("\n")):
            shared = dict[int, float]()  # the weight of the words that each item shares with the line
            for word in sorted(matter_words(line)):
                having = self._places.get(word, ())
                for at in having if len(having) <= _COMMON else ():
                    shared[at] = shared.get(at, 0.0) + self._weight(word)
            for at, score in shared.items():
                best[at] = max(score, best.get(at, 0.0))
        scores = {at: score / sqrt(fsum(map(self._weight, self._words[at]))) for at, score in best.items()}
        return [self._items[at] for at in sorted(scores, key=lambda at: (-round(scores[at], 9), at))]

    def _weight(self, word: str) -> float:
        return 1 / (1 + len(self._places[word]))

    def nearest(self, text: str, shown: Container[str]) -> list[HeldItem]:
        """Return `MOST_NEAR` items without those shown: those with distinctive words in common first, then the newest.

        A belief may be overruled in words, or in a language, that it does not share.
        """
        newest = sorted(self._items, key=lambda one: (one[1].learnt, one[1].id), reverse=True)
        found = (*self._by_words(text), *(one for one in newest if one[1].active))
        rest = {one[1].id: one for one in found if one[1].id not in shown}
        return list(rest.values())[:MOST_NEAR]

    def texts(self, idents: Container[str]) -> list[str]:
        """Return the texts of the items with these ids."""
        return [one.text for _, one in self._items if one.id in idents]


CALENDAR_DAYS = 12


def weekday(day: str) -> str:
    """Return the weekday of a day, as models are told of it: `Wed`."""
    return f"{date.fromisoformat(day):%a}"


def with_weekday(day: str) -> str:
    """Return a day as models are told of it: `Wed 2026-04-01`."""
    return f"{weekday(day)} {day}" if day else ""


def calendar(day: str) -> list[str]:
    """Return the twelve days after a day, each with its weekday, so that a model need not count."""
    first = date.fromisoformat(day)
    return [with_weekday((first + timedelta(n)).isoformat()) for n in range(1, CALENDAR_DAYS + 1)]


def days_before(day: str) -> list[str]:
    """Return as many days before a day, which a log may call yesterday or last week."""
    last = date.fromisoformat(day)
    return [(last - timedelta(n)).isoformat() for n in range(1, min(CALENDAR_DAYS, last.toordinal() - 1) + 1)]
