"""The forward pass of a BERT encoder over one text, in numpy, straight from the file of the weights.

A question is one brief text. The runtime that embeds documents takes a tenth of a second to be loaded and to get its
graph ready; this takes none, and some ten milliseconds for a question, with the weights as the model was trained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from pipelines.search.embedders.model_folder import WEIGHTS, read_folder, read_tensors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pipelines.search.embedders.model_folder import ModelFolder

    Numbers = NDArray[np.float32]


_ERF: Final = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_ERF_STEP: Final = 0.3275911
"""Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 7.1.26: within 1.5e-7 of the error function."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """A model whose weights are read from its file as they are needed.

    Args:
        shape: what the folder says of it.
        tensors: its weights by name.
    """

    shape: ModelFolder
    tensors: Mapping[str, Numbers]

    def vector(self, ids: Sequence[int]) -> Numbers:
        """Return the mean of the tokens' vectors, float32 (width,), of any length.

        Args:
            ids: the token ids of a text, its two marks included.
        """
        hidden = self._embeddings(ids)
        for layer in range(self.shape.layers):
            hidden = self._layer(f"encoder.layer.{layer}.", hidden)
        mean: Numbers = hidden.mean(axis=0)
        return mean

    def _embeddings(self, ids: Sequence[int]) -> Numbers:
        words, places, kinds = (
            self.tensors[f"embeddings.{of}_embeddings.weight"] for of in ("word", "position", "token_type")
        )
        return self._norm(words[list(ids)] + places[: len(ids)] + kinds[0], "embeddings.LayerNorm")

    def _layer(self, prefix: str, hidden: Numbers) -> Numbers:
        attended = self._dense(self._attention(prefix + "attention.self.", hidden), prefix + "attention.output.dense")
        hidden = self._norm(attended + hidden, prefix + "attention.output.LayerNorm")
        inner = _gelu(self._dense(hidden, prefix + "intermediate.dense"))
        return self._norm(self._dense(inner, prefix + "output.dense") + hidden, prefix + "output.LayerNorm")

    def _attention(self, prefix: str, hidden: Numbers) -> Numbers:
        split = (len(hidden), self.shape.heads, self.shape.width // self.shape.heads)
        query, key, value = (
            self._dense(hidden, prefix + part).reshape(split).transpose(1, 0, 2) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(split[2]))
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed: Numbers = (shares @ value).transpose(1, 0, 2).reshape(hidden.shape)
        return mixed

    def _dense(self, hidden: Numbers, name: str) -> Numbers:
        # The large factor first: of few tokens, the product takes a third less time this way round.
        product: Numbers = (self.tensors[name + ".weight"] @ hidden.T).T
        product += self.tensors[name + ".bias"]
        return product

    def _norm(self, hidden: Numbers, name: str) -> Numbers:
        away = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = np.sqrt((away * away).mean(axis=-1, keepdims=True) + np.float32(self.shape.epsilon))
        scaled: Numbers = away / spread * self.tensors[name + ".weight"] + self.tensors[name + ".bias"]
        return scaled


def _gelu(inner: Numbers) -> Numbers:
    """Return x Φ(x), as BERT is trained with."""
    size = np.abs(inner) * np.float32(math.sqrt(0.5))
    step = np.float32(_ERF_STEP) * size
    step += 1
    np.reciprocal(step, out=step)
    series = np.full_like(step, _ERF[0])
    for factor in _ERF[1:]:
        series *= step
        series += np.float32(factor)
    series *= step
    np.multiply(size, -size, out=size)
    series *= np.exp(size, out=size)
    # erf(|x|) is 1 - series, and Φ(x) is half of 1 + erf: of 2 - series where x is positive, else of series.
    shares = np.where(inner > 0, 2 - series, series)
    shares *= inner
    shares *= np.float32(0.5)
    return shares


def read_encoder(folder: Path) -> Encoder:
    """Return the model of a folder that a graph was built from before, so that its weights are known to fit its shape.

    Raises:
        UnusableModel: a file is missing or damaged.
    """
    return Encoder(read_folder(folder), read_tensors(folder / WEIGHTS))
