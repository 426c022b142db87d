"""The local embedder: all-MiniLM-L6-v2 as a plain forward pass in numpy. No key, server or framework."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pipelines.errors import EmbeddingFailed
from pipelines.search.embedders.embedder import LOCAL, BadVectors, TwoSided, unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.search.embedders.embedder import Floats


PROVIDER = "the local model"
TOKENIZER, WEIGHTS = "tokenizer.json", "model.safetensors"
WIDTH, HEADS, LAYERS = 384, 12, 6
LIMIT = 256
"""The most tokens read from a text, including the special tokens at its ends."""
_COUNT_BYTES = 8


class LocalEmbedder(TwoSided):
    """Embeds on this machine. The first call loads the libraries and the model, which are then kept.

    Texts are embedded one by one, so that the vector of a text depends on nothing else.
    """

    name, dimension = LOCAL, WIDTH

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Floats:  # noqa: ARG002  a model for both
        try:
            return unit_rows([self._vector(text) for text in texts], len(texts), self.dimension)
        except BadVectors as fault:
            raise EmbeddingFailed(PROVIDER, str(fault)) from None
        except ImportError as fault:
            raise EmbeddingFailed(PROVIDER, f"needs a library that is not installed ({fault.name})") from None
        except Exception as fault:  # noqa: BLE001  whatever a damaged file causes, search falls back to words
            why = f"cannot be loaded ({type(fault).__name__}); run `curate models fetch` to repair it"
            raise EmbeddingFailed(PROVIDER, why) from None

    def _vector(self, text: str) -> Floats:
        """Return the mean of a text's tokens after all layers."""
        ids = self._ids(text)
        words, places, kinds = (
            self._tensors[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
        )
        hidden = self._normal(words[ids] + places[: len(ids)] + kinds[0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        mean: Floats = hidden.mean(axis=0)
        return mean

    def _ids(self, text: str) -> list[int]:
        """Return the tokens of a text; if the model cannot read that many, drop the middle.

        The end of an embedded text says where and when it is from. Besides, the beginning and end of a long text
        together tell more than either alone (Sun et al., How to Fine-Tune BERT for Text Classification?, 2019, 5.3.1).
        """
        # A lone surrogate, which a command line can hold, is not valid UTF-8.
        ids: list[int] = self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        return ids if len(ids) <= LIMIT else [*ids[: LIMIT - LIMIT // 4], *ids[len(ids) - LIMIT // 4 :]]

    @cached_property
    def _tokenizer(self) -> Any:  # noqa: ANN401  a type of the library, imported late
        from tokenizers import Tokenizer  # noqa: PLC0415  loaded only to embed

        tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER))
        # The file pads and truncates to 128 tokens; the model is not meant to run that way.
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _tensors(self) -> dict[str, Floats]:
        """The weights by name, mapped from their file: a table of offsets as JSON, then plain numbers."""
        import numpy as np  # noqa: PLC0415  takes 70 ms, which a search without vectors saves

        raw = np.asarray(np.memmap(self.folder / WEIGHTS, np.uint8, "r"))
        start = _COUNT_BYTES + int.from_bytes(raw[:_COUNT_BYTES].tobytes(), "little")
        found = {}
        for name, entry in json.loads(raw[_COUNT_BYTES:start].tobytes()).items():
            if entry.get("dtype") == "F32":
                begin, end = entry["data_offsets"]
                found[name] = raw[start + begin : start + end].view("<f4").reshape(entry["shape"])
        return found

    def _layer(self, hidden: Floats, prefix: str) -> Floats:
        """Return the tokens after one layer: each takes from the others, then is transformed by itself."""
        import numpy as np  # noqa: PLC0415  as above

        query, key, value = (
            self._dense(hidden, f"{prefix}attention.self.{part}").reshape(len(hidden), HEADS, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / np.float32(np.sqrt(query.shape[2]))
        shares = np.exp(scores - scores.max(axis=2, keepdims=True))
        mixed = (shares / shares.sum(axis=2, keepdims=True) @ value).swapaxes(0, 1).reshape(hidden.shape)
        hidden = self._normal(
            hidden + self._dense(mixed, f"{prefix}attention.output.dense"), f"{prefix}attention.output.LayerNorm"
        )
        inner = self._dense(hidden, f"{prefix}intermediate.dense")
        # GELU by its approximation with tanh: numpy has no error function.
        inner *= 0.5 + 0.5 * np.tanh(np.float32(0.79788456) * inner * (1 + np.float32(0.044715) * inner * inner))
        return self._normal(hidden + self._dense(inner, f"{prefix}output.dense"), f"{prefix}output.LayerNorm")

    def _dense(self, hidden: Floats, name: str) -> Floats:
        return hidden @ self._tensors[f"{name}.weight"].T + self._tensors[f"{name}.bias"]

    def _normal(self, hidden: Floats, name: str) -> Floats:
        centred = hidden - hidden.mean(axis=1, keepdims=True)
        spread = ((centred * centred).mean(axis=1, keepdims=True) + 1e-12) ** 0.5
        normal: Floats = centred / spread * self._tensors[f"{name}.weight"] + self._tensors[f"{name}.bias"]
        return normal
