"""What the memory holds, as the review looks it up: by the same words, and by the nearest ones.

The words of all items are looked up in a small index that is made anew when a night has something to judge, and their
vectors, where there are any, are read then; so the cost of a night follows what is new.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.review.judging.stems import STOP, stem
from pipelines.search.embed import embedded_text, key
from pipelines.search.vectors import Model, fetch, has_vectors, vector_store
from pipelines.store.item import ACTIVE, ItemType, Status, folded
from pipelines.store.layout import BRIEFING, GENERAL, USER, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.extract.extraction import Candidate
    from pipelines.search.embedders.embedder import Embedder
    from pipelines.store.item import Item, Trust

    Kept = Callable[[Embedder, Sequence[str]], Mapping[str, NDArray[np.float32]]]


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
        self._words: defaultdict[str, list[int]] | None = None
        self._tables: list[NDArray[np.float32]] = []
        self._ids: dict[str, Belief] | None = None
        self._removed: Counter[str] = Counter()
        self._closed: set[str] = set()
        for path, item in items:
            one = Belief(item.type, item.text, path, item.trust, item.since, item.status, item.id, until=item.until)
            self._all.append(one)
        self._held = Counter(one.document for one in self._all if one.status in ACTIVE)

    def add(self, one: Belief) -> None:
        """Let a new item in."""
        if self._words is not None:
            for word in _words(one.text):
                self._words[word].append(len(self._all))
        if self._tables and (row := self._vectors.rows([_meant(one)])) is not None:
            import numpy as np  # noqa: PLC0415  a night with nothing to judge needs none

            self._tables[1] = np.concatenate([self._tables[1], row])
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
        if kind not in self._same:  # the words of a type are folded once somebody asks for them
            self._same[kind] = {}
            for one in self._all:
                if one.type is kind:
                    self._same[kind].setdefault(folded(one.text), []).append(one)
        found = [one for one in self._same[kind].get(folded(text), ()) if repeats_there(one.document, document)]
        return min(found, key=lambda one: not one.current, default=None)

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
        if self._words is None:
            self._words = defaultdict(list)
            for at, one in enumerate(self._all):
                for word in _words(one.text):
                    self._words[word].append(at)
        postings = [self._apart(self._words.get(word, ()), family) for word in _words(candidate.text)]
        meant = self._apart(self._by_meaning(candidate), family)
        found: list[int] = []
        for current in (True, False):
            words, near = _by_words([places[current] for places in postings]), meant[current][:MEANT]
            found += _joined(words, near) if near else words
        return [self._all[at] for at in found]

    def _apart(self, places: Iterable[int], family: Container[ItemType]) -> dict[bool, list[int]]:
        """Return those of a family, what is current apart from what is closed, each in its order."""
        apart: dict[bool, list[int]] = {True: [], False: []}
        for at in places:
            if (one := self._all[at]).type in family:
                apart[one.current].append(at)
        return apart

    def _by_meaning(self, candidate: Candidate) -> list[int]:
        """Return the items nearest in meaning, nearest first, as far as they are near at all."""
        if not (self._all and self._vectors.model):
            return []
        if not self._tables:
            tables = self._vectors.rows([_meant(one) for one in self._all], held=True), self._vectors.rows([])
            self._tables = [table for table in tables if table is not None]
        said = sentence_of(candidate.type, candidate.text, candidate.entry.day)
        question = self._vectors.rows([said]) if self._tables else None
        if question is None:
            return []
        import numpy as np  # noqa: PLC0415  as above

        # Row by row, as a search scans: a product of matrices would wake a thread for each processor.
        cosines = np.concatenate([np.vecdot(table, question[0]) for table in self._tables]).round(_PLACES)
        near = np.flatnonzero(cosines >= LEAST)
        found: list[int] = near[np.argsort(-cosines[near], kind="stable")].tolist()
        return found


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
    return sorted(scores, key=lambda at: (-round(scores[at], 9), at))


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


# ---------------------------------------- nearness: which items are nearest in meaning to a candidate
# by the vectors that the index keeps of them.
#
# The index is derived and may be old or gone: what it lacks is embedded, and where it lacks too much, words alone
# tell. Whether vectors took part is in the run's report, so that a replay asks them, too, or does without.


MOST_MISSING: Final = 200
"""So many items without a vector are embedded by a night, which takes about a second; the index embeds the others."""
LEAST: Final = 0.5
"""The cosine below which two sentences of the same document are no nearer than any two."""
_PLACES: Final = 4
"""Decimals of a cosine that count for the order: two machines may add up in another order."""


def sentence_of(label: str, text: str, day: str) -> str:
    """Return what is embedded of an item: the same words as the index embeds, so that its vectors can be used."""
    return embedded_text(f"{label}: {text}", "", (), day, status="live")


def kept_in(root: Path) -> Kept:
    """Return how to look up vectors in the cache of a memory; where that is gone or damaged, none are found."""

    def find(embedder: Embedder, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        if not has_vectors(root):
            return {}
        import numpy as np  # noqa: PLC0415  a night with nothing to judge needs none

        keys = {text: key(text) for text in texts}
        try:
            with vector_store(root) as store:
                found = fetch(store, Model(embedder.name, embedder.dimension), list(keys.values()))
        except (CurateError, sqlite3.Error, OSError):
            return {}
        return {text: np.frombuffer(found[one], "<f4") for text, one in keys.items() if one in found}

    return find


@dataclass
class Vectors:
    """Vectors of sentences, each looked up or embedded once.

    Args:
        embedder: gives the local model, or None; it is asked when the first sentence is compared.
        kept: looks up what was embedded before.
        most: how many of the memory's items are embedded where they have no vector yet; None for all.
        used: whether any neighbour was looked up by them.
    """

    embedder: Callable[[], Embedder | None] = lambda: None
    kept: Kept = lambda _embedder, _texts: {}
    most: int | None = MOST_MISSING
    used: bool = field(default=False, init=False)
    _found: dict[str, NDArray[np.float32]] = field(default_factory=dict, init=False)

    @cached_property
    def _embedder(self) -> Embedder | None:
        try:
            return self.embedder()
        except CurateError:
            return None  # who reads the logs by it says why

    @property
    def model(self) -> str:
        """The name of the local model; empty where there is none."""
        return self._embedder.name if self._embedder else ""

    def rows(self, texts: Sequence[str], *, held: bool = False) -> NDArray[np.float32] | None:
        """Return the vectors of some sentences, a row each, or None where words alone have to tell.

        Args:
            texts: the sentences.
            held: whether they are the memory's own, of which only so many are embedded.
        """
        embedder, new = self._embedder, [text for text in dict.fromkeys(texts) if text not in self._found]
        if embedder is None:
            return None
        try:
            self._found |= self.kept(embedder, new) if new else {}
            missing = [text for text in new if text not in self._found]
            fails = held and self.most is not None and len(missing) > self.most
            if missing and not fails:
                self._found |= dict(zip(missing, embedder.embed_documents(missing), strict=True))
        except CurateError:
            fails = True
        if fails:
            self._embedder = None
            return None
        import numpy as np  # noqa: PLC0415  as above

        self.used = True
        table = [self._found[text] for text in texts]
        return np.stack(table) if table else np.empty((0, embedder.dimension), np.float32)
