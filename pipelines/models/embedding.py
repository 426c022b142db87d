"""What turns text into vectors: the one interface that every embedder fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

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
