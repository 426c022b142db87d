"""Nearness: which items are nearest in meaning to a candidate, by the vectors that the index keeps of them.

The index is derived and may be old or gone: what it lacks is embedded, and where it lacks too much, words alone tell.
Whether vectors took part is in the run's report, so that a replay asks them, too, or does without.
"""

from __future__ import annotations

import sqlite3
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.search.embed import embedded_text, key
from pipelines.search.vectors import Model, fetch, has_vectors, vector_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.embedders.embedder import Embedder

    Kept = Callable[[Embedder, Sequence[str]], Mapping[str, NDArray[np.float32]]]

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


def where_there_is_one(choose: Callable[[], Embedder | None]) -> Embedder | None:
    """Return the local model, or None where it cannot be had: who reads the logs by it says why."""
    try:
        return choose()
    except CurateError:
        return None


class Vectors:
    """Vectors of sentences, each looked up or embedded once.

    Args:
        embedder: gives the local model, or None; it is asked when the first sentence is compared.
        kept: looks up what was embedded before.
        most: how many of the memory's items are embedded where they have no vector yet; None for all.
    """

    def __init__(
        self,
        embedder: Callable[[], Embedder | None] = lambda: None,
        kept: Kept = lambda _embedder, _texts: {},
        most: int | None = MOST_MISSING,
    ) -> None:
        self._choose, self._kept, self._most = embedder, kept, most
        self._found: dict[str, NDArray[np.float32]] = {}
        self.used = False
        """Whether any neighbour was looked up by them."""

    @cached_property
    def _embedder(self) -> Embedder | None:
        return where_there_is_one(self._choose)

    def are_there(self) -> bool:
        """Whether there is a model at all: without one, nothing need be put into words for it."""
        return self._embedder is not None

    def held(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return the vectors of what the memory holds, a row each, or None where words alone have to tell."""
        return self._rows(texts, self._most)

    def new(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return the vectors of candidates, however many they are; None as above."""
        return self._rows(texts, None)

    def _rows(self, texts: Sequence[str], most: int | None) -> NDArray[np.float32] | None:
        embedder = self._embedder
        try:
            if embedder is None or not self._fill(embedder, list(dict.fromkeys(texts)), most):
                self._embedder = embedder = None
        except CurateError:
            self._embedder = embedder = None
        if embedder is None:
            return None
        import numpy as np  # noqa: PLC0415  as above

        self.used = True
        table = [self._found[text] for text in texts]
        return np.stack(table) if table else np.empty((0, embedder.dimension), np.float32)

    def _fill(self, embedder: Embedder, texts: list[str], most: int | None) -> bool:
        """Look up or embed what is not known yet; False where that is too much."""
        new = [text for text in texts if text not in self._found]
        self._found |= self._kept(embedder, new) if new else {}
        missing = [text for text in new if text not in self._found]
        if most is not None and len(missing) > most:
            return False
        if missing:
            self._found |= dict(zip(missing, embedder.embed_documents(missing), strict=True))
        return True


class Nearness:
    """The sentences of one look at the memory, to be asked which of them are nearest; more may be added.

    Args:
        vectors: gives each sentence its vector.
        texts: the sentences, by their places.
    """

    def __init__(self, vectors: Vectors, texts: Sequence[str]) -> None:
        self._vectors = vectors
        self._table = vectors.held(texts)
        self._count = len(texts)

    def add(self, text: str) -> None:
        """Add a sentence behind the others."""
        row = self._vectors.new([text]) if self._table is not None else None
        if row is None or self._table is None:
            self._table = None
            return
        if self._count == len(self._table):
            import numpy as np  # noqa: PLC0415  as above

            room = np.zeros((max(64, self._count), self._table.shape[1]), np.float32)
            self._table = np.concatenate([self._table, room])
        self._table[self._count] = row[0]
        self._count += 1

    def nearest(self, text: str) -> Iterator[int]:
        """Yield the places of the sentences nearest in meaning, nearest first, as far as they are near at all."""
        question = self._vectors.new([text]) if self._table is not None and self._count else None
        if question is None or self._table is None:
            return
        import numpy as np  # noqa: PLC0415  as above

        # Row by row, as a search scans: a product of matrices would wake a thread for each processor.
        cosines = np.vecdot(self._table[: self._count], question[0]).round(_PLACES)
        near = np.flatnonzero(cosines >= LEAST)
        yield from near[np.argsort(-cosines[near], kind="stable")].tolist()
