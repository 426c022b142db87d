"""Alike: whether two sentences mean the same, told by the local model where there is one.

Nothing is sent to anybody. Which model it was is in the run's report, so that a replay asks the same one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.stages.judging.opposites import are_opposite
from pipelines.stages.judging.repeats import same_guards, same_order
from pipelines.stages.judging.sentence import read_sentence
from pipelines.stages.nearness import Vectors, where_there_is_one

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.embedders.embedder import Embedder

SAME: Final = 0.92
"""The cosine from which on two sentences of one type are taken for one (memori merges there, too)."""
_SHARED: Final = 0.3
"""The share of the shorter one's words that both must have: what shares less never came near in meaning."""


class Alike:
    """Tells which sentences say the same in other words, as far as an embedder is there.

    Args:
        embedder: gives the local model, or None; it is asked when the first pair is compared.
        vectors: those of items, by which neighbours are found; words alone find them where none is given.
    """

    def __init__(self, embedder: Callable[[], Embedder | None] = lambda: None, vectors: Vectors | None = None) -> None:
        self._choose = embedder
        self.vectors = vectors or Vectors()
        self._vectors: dict[str, NDArray[np.float32]] = {}

    @cached_property
    def _embedder(self) -> Embedder | None:
        return where_there_is_one(self._choose)

    @property
    def name(self) -> str:
        """Which model compares; empty where none does."""
        return self._embedder.name if self._embedder else ""

    def repeated(self, text: str, others: Sequence[str]) -> list[bool]:
        """Return, for each of some sentences, whether it says what `text` says.

        What differs in a number, a date, a name or a negation never does, nor what says the opposite or turns the
        words round, however near the vectors are.
        """
        told = [False] * len(others)
        asked = [at for at, other in enumerate(others) if _may_be_same(other, text)]
        if not asked or self._embedder is None:
            return told
        try:
            vectors = self._embed([text, *(others[at] for at in asked)])
        except CurateError:
            self._embedder = None
            return told
        for at, vector in zip(asked, vectors[1:], strict=True):
            told[at] = float(vector @ vectors[0]) >= SAME
        return told

    def _embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new and self._embedder:
            self._vectors |= dict(zip(new, self._embedder.embed_documents(new), strict=True))
        return [self._vectors[text] for text in texts]


def _may_be_same(old: str, new: str) -> bool:
    before, after = read_sentence(old), read_sentence(new)
    shared, left, more = before.keys & after.keys, before.keys - after.keys, after.keys - before.keys
    if len(shared) < _SHARED * min(len(before.keys), len(after.keys)) or are_opposite(left, more):
        return False
    return same_guards(before, after) and same_guards(after, before) and same_order(before, after)
