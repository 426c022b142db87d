"""The local embedder: onnxruntime embeds documents, numpy embeds a question.

It needs no key, no server and no torch. A question is one short text: loading onnxruntime and its graph for it would
take a tenth of a second, while a forward pass in numpy takes some ten milliseconds, in full precision. Both compute the
same model, up to the graph's rounding (a cosine of 0.98 or more). Documents need onnxruntime: numpy is several times
slower at them.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import EmbeddingFailed
from pipelines.search.embedders.built_graph import TOKENIZER, WEIGHTS, BuiltModel, ModelFolder, read_tensors
from pipelines.search.embedders.embedder import BadVectors, unit_rows
from pipelines.search.embedders.pinned_model import LOCAL, MINILM

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]


PROVIDER: Final = "the local model"
_BATCH: Final = 8  # more rows do not fit the processor's cache, and are slower
_QUIET: Final = 3  # log errors only: onnxruntime warns about the machine
PINNED: Final = f"{LOCAL}{MINILM.name}@"
_BRIEF: Final = 100  # characters: no word, and no text, can exceed the model's limits
_WORD: Final = re.compile(r"[a-z0-9]+|[^a-z0-9 ]")
_ERF: Final = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_ERF_STEP: Final = 0.3275911
"""Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 7.1.26: within 1.5e-7 of the error function."""


class LocalEmbedder:
    """Embeds on this machine. The first call loads the libraries and the model, which are then kept."""

    def __init__(self, model: BuiltModel, threads: int = 0) -> None:
        """Load nothing yet. Zero threads means all processors."""
        self.name, self.dimension = model.name, model.shape.width
        self.model, self.threads = model, threads

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of documents. Each depends on its text alone, not on the others in the batch.

        Raises:
            EmbeddingFailed: the model's files cannot be loaded, or the runtime failed.
        """
        import numpy as np  # noqa: PLC0415  takes 70 ms, which a search without vectors saves

        ids, session = [self._ids(self.model.shape.prompts[0] + text) for text in texts], self._session
        found = np.empty((len(texts), self.dimension), np.float32)
        # Texts of similar length go together: padding costs time.
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
        ids, tensors = self._plain_ids(text) or self._ids(self.model.shape.prompts[1] + text), self._weights
        with _failing("failed in its runtime ({})"):
            vector: NDArray[np.float32] = unit_rows([_encoded(self.model.shape, tensors, ids)], 1, self.dimension)[0]
        return vector

    def _ids(self, text: str) -> list[int]:
        """Return the tokens of a text; if the model cannot read that many, drop the middle.

        The end of an embedded text says where and when it is from. Besides, the beginning and end of a long text
        together tell more than either alone (Sun et al., How to Fine-Tune BERT for Text Classification?, 2019, 5.3.1).
        """
        # A lone surrogate, which a command line can hold, is not valid UTF-8.
        ids: list[int] = self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        limit, end = self.model.shape.limit, self.model.shape.limit // 4
        return ids if len(ids) <= limit else [*ids[: limit - end], *ids[len(ids) - end :]]

    def _plain_ids(self, text: str) -> list[int]:
        """Return the tokens of a short ASCII text for the pinned model, which has BERT's lower-case vocabulary.

        Return an empty list for anything else, which needs the tokenizers library. Loading that takes longer than
        embedding a question.
        """
        if not (self.name.startswith(PINNED) and len(text) < _BRIEF and text.isascii() and text.isprintable()):
            return []
        if "[" in text:  # it may hold a special token, such as [MASK]
            return []
        with _failing(_NOT_LOADED):
            parts = (part for word in _WORD.findall(text.lower()) for part in _parts(word, self._vocabulary))
            return [self._vocabulary[part] for part in ("[CLS]", *parts, "[SEP]")]

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        known: dict[str, int] = json.loads((self.model.shape.path / TOKENIZER).read_bytes())["model"]["vocab"]
        return known

    @cached_property
    def _tokenizer(self) -> Any:  # noqa: ANN401  a type of the library, imported late
        with _failing(_NOT_LOADED):
            from tokenizers import Tokenizer  # noqa: PLC0415  loaded only to embed

            tokenizer = Tokenizer.from_file(str(self.model.shape.path / TOKENIZER))
            # The file of all-MiniLM-L6-v2 pads and truncates to 128 tokens; the model is not meant to run that way.
            tokenizer.no_padding()
            tokenizer.no_truncation()
            return tokenizer

    @cached_property
    def _session(self) -> Any:  # noqa: ANN401  an untyped library
        with _failing(_NOT_LOADED):
            import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415  loaded only to embed

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self.threads
            options.inter_op_num_threads = 1
            options.log_severity_level = _QUIET
            return onnxruntime.InferenceSession(str(self.model.graph), options, providers=["CPUExecutionProvider"])

    @cached_property
    def _weights(self) -> Mapping[str, Numbers]:
        """The model's weights. They fit its shape, since its graph was built from them."""
        with _failing(_NOT_LOADED):
            return read_tensors(self.model.shape.path / WEIGHTS)


def _parts(word: str, known: Container[str]) -> list[str]:
    """Split a word from the left into the longest parts in the vocabulary, or return [UNK], as BERT does."""
    found: list[str] = []
    at = 0
    while at < len(word):
        ends = ((end, f"{'##' * bool(at)}{word[at:end]}") for end in range(len(word), at, -1))
        end, part = next((one for one in ends if one[1] in known), (0, ""))
        if not part:
            return ["[UNK]"]
        found.append(part)
        at = end
    return found


_NOT_LOADED: Final = "cannot be loaded ({}); run `curate models fetch` to repair it"


@contextlib.contextmanager
def _failing(sentence: str) -> Iterator[None]:
    """Turn any failure into one error, after which search falls back to keywords."""
    try:
        yield
    except BadVectors as fault:
        raise EmbeddingFailed(PROVIDER, str(fault)) from None
    except ImportError as fault:
        raise EmbeddingFailed(PROVIDER, f"needs a library that is not installed ({fault.name})") from None
    except Exception as fault:  # noqa: BLE001  the libraries raise types of their own
        raise EmbeddingFailed(PROVIDER, sentence.format(type(fault).__name__)) from None


def _encoded(shape: ModelFolder, tensors: Mapping[str, Numbers], ids: Sequence[int]) -> Numbers:
    """Return the mean of the token vectors of BERT's forward pass: float32 (width,), not yet a unit vector."""
    import numpy as np  # noqa: PLC0415  as above

    split = (len(ids), shape.heads, shape.width // shape.heads)

    def dense(hidden: Numbers, name: str) -> Numbers:
        # Large factor first: with few tokens, the product is a third faster this way round.
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
    """Return x Φ(x), the activation that BERT is trained with."""
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
