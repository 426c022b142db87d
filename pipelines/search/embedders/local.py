"""The local embedder: documents through a graph run by onnxruntime, a question through the weights in numpy.

It needs no key, no address and no torch. A question is one brief text. The runtime that embeds documents takes a tenth
of a second to be loaded and to get its graph ready; the weights themselves take none, and some ten milliseconds for a
question, in full precision. Both give the vectors of one model, up to the graph's rounding (a cosine of 0.99 and more).
"""

from __future__ import annotations

import contextlib
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import EmbeddingFailed
from pipelines.search.embedders.built_graph import TOKENIZER, WEIGHTS, read_tensors
from pipelines.search.embedders.embedder import BadVectors, unit_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.embedders.built_graph import BuiltModel, ModelFolder

    Numbers = NDArray[np.float32]


PROVIDER: Final = "the local model"
_BATCH: Final = 8  # more rows leave the processor's cache, and are slower
_QUIET: Final = 3  # onnxruntime's errors, without its warnings about the machine
_ERF: Final = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_ERF_STEP: Final = 0.3275911
"""Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 7.1.26: within 1.5e-7 of the error function."""


class LocalEmbedder:
    """Embeds on this machine. What that takes is loaded by the first call and kept."""

    def __init__(self, model: BuiltModel, threads: int = 0) -> None:
        """Load nothing yet; without a number of threads, documents are embedded on all processors."""
        self.name, self.dimension = model.name, model.shape.width
        self.model, self.threads = model, threads

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts to be found; each depends on its text alone, whatever stands beside it.

        Raises:
            EmbeddingFailed: the model's files cannot be loaded, or the runtime failed.
        """
        import numpy as np  # noqa: PLC0415  70 ms that a search without vectors need not pay

        ids, session = [self._ids(self.model.shape.prompts[0] + text) for text in texts], self._session
        found = np.empty((len(texts), self.dimension), np.float32)
        # Of like length together: what is padded is computed for nothing.
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            table = np.zeros((len(part), len(ids[part[-1]])), np.int64)
            mask = np.zeros(table.shape, np.float32)
            for row, at in enumerate(part):
                table[row, : len(ids[at])], mask[row, : len(ids[at])] = ids[at], 1
            with _failing("failed in its runtime ({})"):
                (answer,) = session.run(None, {"ids": table, "mask": mask})
                found[part] = unit_rows(answer, len(part), self.dimension)
        return found

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question.

        Raises:
            EmbeddingFailed: as above.
        """
        ids, tensors = self._ids(self.model.shape.prompts[1] + text), self._weights
        with _failing("failed in its runtime ({})"):
            vector: NDArray[np.float32] = unit_rows([_encoded(self.model.shape, tensors, ids)], 1, self.dimension)[0]
        return vector

    def _ids(self, text: str) -> list[int]:
        """Return the tokens of a text that the model can read: where there are too many, the middle is left out.

        The end of what is embedded says where and of when it is. And of a long text, beginning and end together tell
        more than either alone (Sun et al., How to Fine-Tune BERT for Text Classification?, 2019, 5.3.1).
        """
        # A lone surrogate, as a command line can hold, is no UTF-8.
        ids: list[int] = self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        limit, end = self.model.shape.limit, self.model.shape.limit // 4
        return ids if len(ids) <= limit else [*ids[: limit - end], *ids[len(ids) - end :]]

    @cached_property
    def _tokenizer(self) -> Any:  # noqa: ANN401  the library's own kind, imported late
        with _failing(_NOT_LOADED):
            from tokenizers import Tokenizer  # noqa: PLC0415  only what embeds pays for it

            tokenizer = Tokenizer.from_file(str(self.model.shape.path / TOKENIZER))
            # The file of all-MiniLM-L6-v2 pads and cuts every text at 128 tokens; neither is how the model is run.
            tokenizer.no_padding()
            tokenizer.no_truncation()
            return tokenizer

    @cached_property
    def _session(self) -> Any:  # noqa: ANN401  an untyped library
        with _failing(_NOT_LOADED):
            import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415  only what embeds pays for it

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self.threads
            options.inter_op_num_threads = 1
            options.log_severity_level = _QUIET
            return onnxruntime.InferenceSession(str(self.model.graph), options, providers=["CPUExecutionProvider"])

    @cached_property
    def _weights(self) -> Mapping[str, Numbers]:
        """The model's weights, which fit its shape: a graph was built from them before."""
        with _failing(_NOT_LOADED):
            return read_tensors(self.model.shape.path / WEIGHTS)


_NOT_LOADED: Final = "cannot be loaded ({}); `curate models fetch` mends it"


@contextlib.contextmanager
def _failing(sentence: str) -> Iterator[None]:
    """Turn whatever goes wrong into one error, after which search goes on by words."""
    try:
        yield
    except BadVectors as fault:
        raise EmbeddingFailed(PROVIDER, str(fault)) from None
    except ImportError as fault:
        raise EmbeddingFailed(PROVIDER, f"needs a library that is not here ({fault.name})") from None
    except Exception as fault:  # noqa: BLE001  the libraries raise kinds of their own
        raise EmbeddingFailed(PROVIDER, sentence.format(type(fault).__name__)) from None


def _encoded(shape: ModelFolder, tensors: Mapping[str, Numbers], ids: Sequence[int]) -> Numbers:
    """Return the mean of the vectors of a text's tokens, float32 (width,), of any length: a BERT's forward pass."""
    import numpy as np  # noqa: PLC0415  as above

    split = (len(ids), shape.heads, shape.width // shape.heads)

    def dense(hidden: Numbers, name: str) -> Numbers:
        # The large factor first: of few tokens, the product takes a third less time this way round.
        product: Numbers = (tensors[name + ".weight"] @ hidden.T).T
        product += tensors[name + ".bias"]
        return product

    def norm(hidden: Numbers, name: str) -> Numbers:
        away = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = np.sqrt((away * away).mean(axis=-1, keepdims=True) + np.float32(shape.epsilon))
        scaled: Numbers = away / spread * tensors[name + ".weight"] + tensors[name + ".bias"]
        return scaled

    def attention(hidden: Numbers, prefix: str) -> Numbers:
        query, key, value = (
            dense(hidden, prefix + part).reshape(split).transpose(1, 0, 2) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(split[2]))
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed: Numbers = (shares @ value).transpose(1, 0, 2).reshape(hidden.shape)
        return mixed

    words, places, kinds = (tensors[f"embeddings.{of}_embeddings.weight"] for of in ("word", "position", "token_type"))
    hidden = norm(words[list(ids)] + places[: len(ids)] + kinds[0], "embeddings.LayerNorm")
    for layer in range(shape.layers):
        at = f"encoder.layer.{layer}."
        attended = dense(attention(hidden, at + "attention.self."), at + "attention.output.dense")
        hidden = norm(attended + hidden, at + "attention.output.LayerNorm")
        inner = _gelu(dense(hidden, at + "intermediate.dense"))
        hidden = norm(dense(inner, at + "output.dense") + hidden, at + "output.LayerNorm")
    mean: Numbers = hidden.mean(axis=0)
    return mean


def _gelu(inner: Numbers) -> Numbers:
    """Return x Φ(x), as BERT is trained with."""
    import numpy as np  # noqa: PLC0415  as above

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
