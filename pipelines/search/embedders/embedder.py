"""What turns text into vectors: the one interface that every embedder fills, and what all of them do.

Texts are made fit to send, answers checked, lengths made one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors, so that a dot product is a cosine."""

    @property
    def name(self) -> str:
        """Which model it is, as the index records it (`local:all-MiniLM-L6-v2`): vectors of two are never mixed."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts to be found, in order: shape (n, dimension), float32, length one each.

        Raises:
            ModelFailed: no usable answer came for this batch.
        """

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question: shape (dimension,), float32, length one.

        Raises:
            ModelFailed: no usable answer came.
        """


class BadVectors(ValueError):
    """Raised when an answer holds no usable vectors; the words are a sentence without its subject."""


def unit_rows(rows: object, count: int, dimension: int = 0) -> NDArray[np.float32]:
    """Return an answer's vectors as float32 (count, dimension), each of length one.

    Args:
        rows: the vectors as they came.
        count: how many texts were sent.
        dimension: how many numbers a vector has, or zero where that is not known yet.

    Raises:
        BadVectors: count or dimension differ, or a vector has no direction.
    """
    import numpy as np  # noqa: PLC0415  70 ms that a search without vectors need not pay

    try:
        table = np.asarray(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise BadVectors("answered with something that is no table of numbers") from None
    if count == 0 and table.size == 0:
        return np.empty((0, dimension), np.float32)
    if table.ndim != 2 or table.shape[1] == 0:  # noqa: PLR2004  rows and columns
        raise BadVectors("answered with something that is no table of numbers")
    if len(table) != count:
        raise BadVectors(f"gave {len(table)} vectors for {count} texts")
    if dimension and table.shape[1] != dimension:
        raise BadVectors(f"gave vectors of {table.shape[1]} numbers, where {dimension} were expected")
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    # A NaN or an infinity in a row makes its length one, too.
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise BadVectors("gave a vector that has no direction")
    unit: NDArray[np.float32] = (table / lengths).astype(np.float32)
    return unit


def fit_to_send(text: str, most_bytes: int) -> str:
    """Return a text that an address accepts: valid UTF-8, not empty, and no longer than `most_bytes` of it."""
    whole = text.encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")
    return whole if whole.strip() else "-"  # an empty text is refused, and with it the whole batch


def batches(texts: Sequence[str], most: int, most_bytes: int) -> Iterator[list[str]]:
    """Yield the texts in order, in batches within a count and a size in bytes; a text over the size goes alone."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == most or size + length > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch
