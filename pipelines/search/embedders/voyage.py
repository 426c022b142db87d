"""Voyage as an embedder, through the `voyageai` SDK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from pipelines.errors import EmbeddingFailed
from pipelines.provider_settings import VOYAGE_MODEL
from pipelines.search.embedders.embedder import BadVectors, batches, fit_to_send, unit_rows
from pipelines.search.embedders.remote import why, with_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from voyageai.client import Client

    from pipelines.provider_settings import EmbedderSettings


PROVIDER: Final = "voyage"
MOST_TEXTS: Final = 1000
QUERY_SECONDS: Final = 10.0  # somebody waits, and search by words is there
_DIMENSION: Final = 1024
_TEXT_BYTES: Final = 120_000
# The most tokens of one call, by the beginnings of model names, the longest first; the last serves the unknown ones.
_MOST_TOKENS: Final = {
    "voyage-3.5-lite": 1_000_000,
    "voyage-4-large": 120_000,
    "voyage-4-lite": 1_000_000,
    "voyage-3.5": 320_000,
    "voyage-4": 320_000,
    "": 120_000,
}
# Four bytes a token hold for English; half the limit leaves room for code, numbers and other scripts.
_BYTES_PER_TOKEN, _SHARE = 4, 0.5


@dataclass(frozen=True, slots=True)
class VoyageEmbedder:
    """Asks Voyage for vectors. The SDK is imported by the first call and by nothing before it."""

    settings: EmbedderSettings

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{PROVIDER}:{self._model}"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has: what Voyage's models give by default, and what is asked for."""
        return _DIMENSION

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts to be found, in as many calls as the model's limits want.

        Raises:
            EmbeddingFailed: a call failed; the sentence says why, and nothing of the others is kept.
        """
        return self._embed(texts, "document", self.settings.timeout_seconds, self.settings.max_retries)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question, in one short attempt.

        Raises:
            EmbeddingFailed: as above.
        """
        vector: NDArray[np.float32] = self._embed([text], "query", QUERY_SECONDS, 0)[0]
        return vector

    @property
    def _model(self) -> str:
        return self.settings.model or VOYAGE_MODEL

    def _embed(
        self, texts: Sequence[str], kind: Literal["document", "query"], seconds: float, retries: int
    ) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415  only what embeds pays for it

        fit = [fit_to_send(text, _TEXT_BYTES) for text in texts]
        parts = [np.empty((0, _DIMENSION), np.float32)]
        try:
            client = self._client(seconds, retries)
            for batch in batches(fit, MOST_TEXTS, most_bytes(self._model)):
                answer = client.embed(batch, model=self._model, input_type=kind, output_dimension=_DIMENSION)
                parts.append(unit_rows(answer.embeddings, len(batch), _DIMENSION))
        except BadVectors as fault:
            raise EmbeddingFailed(PROVIDER, str(fault)) from None
        except Exception as fault:  # noqa: BLE001  whatever an SDK raises, search goes on by words
            # Without the cause: an SDK's exception holds the request, and a traceback would show it.
            raise EmbeddingFailed(PROVIDER, why(fault)) from None
        return np.concatenate(parts)

    def _client(self, seconds: float, retries: int) -> Client:
        from voyageai.client import Client  # noqa: PLC0415  takes half a second; only what embeds pays for it

        base = with_path(self.settings.base_url) if self.settings.base_url else None
        # This SDK counts attempts, the first one included.
        return Client(self.settings.api_key, max_retries=retries + 1, timeout=seconds, base_url=base)


def most_bytes(model: str) -> int:
    """Return how many bytes of text one call of a model may hold, well within its limit of tokens."""
    tokens = next(most for start, most in _MOST_TOKENS.items() if model.startswith(start))
    return int(tokens * _BYTES_PER_TOKEN * _SHARE)
