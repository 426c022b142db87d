"""Similarity in meaning: the items nearest to a sentence, and sentences that mean the same.

The vectors are those of the index. It is derived, and may be stale or missing: missing vectors are computed, and if too
many are missing, words decide alone. Nothing leaves the machine. The run's report records the model and whether vectors
were used, so that a replay does the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.review.compare import same_guards
from pipelines.search.embed import embedded_text, key
from pipelines.search.vectors import VectorModel, load, packed, unpacked
from pipelines.text import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.embedders.embedder import Embedder

    Kept = Callable[[Embedder, Sequence[str]], Mapping[str, NDArray[np.float32]]]


MOST_MISSING: Final = 200
"""How many items without a vector a night embeds, in about a second; the index embeds the rest."""
LEAST: Final = 0.5
"""The cosine below which two sentences of a document are no more similar than any two."""
PLACES: Final = 4
"""Decimals of a cosine that count for the order, since machines may differ in rounding."""


def sentence_of(label: str, text: str, day: str) -> str:
    """Return the text to embed for an item: the same as the index embeds, so that its vectors can be used."""
    return embedded_text(f"{label}: {text}", "", (), day, status="live")


def kept_in(root: Path, embedder: Embedder, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
    """Return the vectors of sentences from a memory's cache; none if it is missing or damaged."""
    try:
        kept = load(root, VectorModel(embedder.name, embedder.dimension))
    except (CurateError, OSError):
        return {}
    places = zip(texts, kept.places([key(text) for text in texts]), strict=True)
    return {text: kept.vectors(slice(place, place + 1))[0] for text, place in places if place >= 0}


@dataclass
class Vectors:
    """Vectors of sentences, each looked up or embedded once.

    Args:
        embedder: returns the local model, or None; called for the first comparison.
        kept: looks up vectors of earlier runs.
        most: how many of the memory's items without a vector to embed; None for all.
        used: whether they were used to find neighbours.
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
            return None  # the extractor reports the reason

    @property
    def model(self) -> str:
        """The name of the local model; empty if there is none."""
        return self._embedder.name if self._embedder else ""

    def rows(self, texts: Sequence[str], *, held: bool = False) -> NDArray[np.float32] | None:
        """Return the vectors of some sentences, a row each, or None if words must decide alone.

        Args:
            texts: the sentences.
            held: whether they are the memory's own, of which at most `most` are embedded.
        """
        embedder, new = self._embedder, [text for text in dict.fromkeys(texts) if text not in self._found]
        if embedder is None:
            return None
        try:
            self._found |= self.kept(embedder, new) if new else {}
            missing = [text for text in new if text not in self._found]
            fails = held and self.most is not None and len(missing) > self.most
            if missing and not fails:
                # In the precision of the cache, so that a replay without it gets the same result.
                vectors = unpacked(*packed(embedder.embed_documents(missing)))
                self._found |= dict(zip(missing, vectors, strict=True))
        except CurateError:
            fails = True
        if fails:
            self._embedder = None
            return None
        import numpy as np  # noqa: PLC0415  as above

        self.used = True
        table = [self._found[text] for text in texts]
        return np.stack(table) if table else np.empty((0, embedder.dimension), np.float32)


SAME: Final = 0.92
"""The cosine from which `[review] duplicates = "merge"` takes two sentences of one type for the same."""
_SHARED = 0.3
"""The share of the shorter one's words that both must have; pairs with less were never similar in meaning."""


def repeated(text: str, others: Sequence[str], vectors: Vectors) -> list[bool]:
    """Return, for each of some sentences, whether it means what `text` means; used only where a person asked for it.

    Sentences that differ in a number, date, name or negation never do, however similar their vectors.
    """
    asked = [at for at, other in enumerate(others) if _shares_words(other, text) and same_guards(other, text)]
    rows = vectors.rows([text, *(others[at] for at in asked)]) if asked else None
    if rows is None:
        return [False] * len(others)
    near = {at for at, row in zip(asked, rows[1:], strict=True) if float(row @ rows[0]) >= SAME}
    return [at in near for at in range(len(others))]


def _shares_words(old: str, new: str) -> bool:
    before, after = content_words(old), content_words(new)
    return len(before & after) >= _SHARED * min(len(before), len(after))
