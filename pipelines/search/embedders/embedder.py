"""The protocol that embedders implement, and what they share: trimming texts, checking and normalising answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


MODEL = "all-MiniLM-L6-v2"
"""The local model."""
LOCAL = f"local:{MODEL}"
"""Its embedder, which sends nothing off this machine."""


class Embedder(Protocol):
    """Turns texts into unit vectors, so that a dot product is a cosine."""

    @property
    def name(self) -> str:
        """The model, as the index records it (`local:all-MiniLM-L6-v2`). Vectors of two models are never mixed."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of documents, in order: shape (n, dimension), float32, unit length.

        Raises:
            ModelFailed: there was no usable answer for this batch.
        """

    def embed_query(self, text: str) -> Floats:
        """Return the vector of a question: shape (dimension,), float32, unit length.

        Raises:
            ModelFailed: there was no usable answer.
        """


class TwoSided:
    """Both calls of an embedder whose model treats questions and documents nearly alike."""

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of documents, as `Embedder` says."""
        return self._embed(texts, is_query=False)

    def embed_query(self, text: str) -> Floats:
        """Return the vector of a question, as `Embedder` says."""
        vector: Floats = self._embed([text], is_query=True)[0]
        return vector

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Floats:
        raise NotImplementedError


class BadVectors(ValueError):
    """Raised when an answer holds no usable vectors. Its message is a predicate, to follow the embedder's name."""


def unit_rows(rows: object, count: int, dimension: int = 0) -> Floats:
    """Return an answer's vectors as float32 (count, dimension), each of unit length.

    Args:
        rows: the vectors as received.
        count: the number of texts sent.
        dimension: the expected length of a vector, or zero if it is not known yet.

    Raises:
        BadVectors: the count or dimension is wrong, or a vector has no direction.
    """
    import numpy as np  # noqa: PLC0415  takes 70 ms, which a search without vectors saves

    try:
        table = np.asarray(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise BadVectors("answered with something other than a table of numbers") from None
    if table.ndim != 2 or table.shape[1] == 0:  # noqa: PLR2004  rows and columns
        raise BadVectors("answered with something other than a table of numbers")
    if len(table) != count:
        raise BadVectors(f"returned {len(table)} vectors for {count} texts")
    if dimension and table.shape[1] != dimension:
        raise BadVectors(f"returned vectors of {table.shape[1]} numbers instead of {dimension}")
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    # A NaN or an infinity in a row also shows in its length.
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise BadVectors("returned a vector without a direction")
    unit: Floats = (table / lengths).astype(np.float32)
    return unit


def fit_to_send(text: str, most_bytes: int) -> str:
    """Return a text as an API accepts it: valid UTF-8, not empty, at most `most_bytes` long."""
    whole = text.encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")
    return whole if whole.strip() else "-"  # an empty text would fail the whole batch
