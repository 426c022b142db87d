"""The local embedder: a graph run by onnxruntime, with no key, no address and no torch."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import EmbeddingFailed
from pipelines.search.embedders.embedder import BadVectors, unit_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.embedders.built_graph import BuiltModel
    from pipelines.search.embedders.encoder import Encoder


PROVIDER: Final = "the local model"
_BATCH: Final = 8  # more rows leave the processor's cache, and are slower
_QUIET: Final = 3  # onnxruntime's errors, without its warnings about the machine


@dataclass(slots=True)
class LocalEmbedder:
    """Embeds on this machine. What that takes is loaded by the first call and kept.

    Documents are many, and go through the graph; a question is one, and goes through the weights themselves, in full
    precision: their vectors are those of one model, up to the graph's rounding (a cosine of 0.99 and more).
    """

    model: BuiltModel
    threads: int = 2
    _tokenizer: Any = field(default=None, init=False, repr=False)
    _session: Any = field(default=None, init=False, repr=False)
    _encoder: Encoder | None = field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        """The model, its weights where the user named them, and the precision."""
        return self.model.name

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self.model.dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts to be found; each depends on its text alone, whatever stands beside it.

        Raises:
            EmbeddingFailed: the model's files cannot be loaded, or the runtime failed.
        """
        return self._embed([self.model.prompts[0] + text for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question.

        Raises:
            EmbeddingFailed: as above.
        """
        (ids,) = self._ids([self.model.prompts[1] + text])
        encoder = self._loaded_encoder()
        with _running():
            vector: NDArray[np.float32] = unit_rows([encoder.vector(ids)], 1, self.dimension)[0]
        return vector

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415  70 ms that a search without vectors need not pay

        ids, session = self._ids(texts), self._loaded_session()
        found = np.empty((len(texts), self.dimension), np.float32)
        # Of like length together: what is padded is computed for nothing.
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            found[part] = self._run(session, [ids[at] for at in part])
        return found

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        tokenizer = self._loaded_tokenizer()
        # A lone surrogate, as a command line can hold, is no UTF-8.
        return [
            _fitted(tokenizer.encode(text.encode("utf-8", "replace").decode()).ids, self.model.limit) for text in texts
        ]

    def _run(self, session: Any, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:  # noqa: ANN401  untyped library
        import numpy as np  # noqa: PLC0415  as above

        table = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros(table.shape, np.float32)
        for at, row in enumerate(rows):
            table[at, : len(row)], mask[at, : len(row)] = row, 1
        with _running():
            (answer,) = session.run(None, {"ids": table, "mask": mask})
            return unit_rows(answer, len(rows), self.dimension)

    def _loaded_tokenizer(self) -> Any:  # noqa: ANN401  as above
        if self._tokenizer is None:
            with _loading():
                self._tokenizer = _tokenizer(self.model)
        return self._tokenizer

    def _loaded_session(self) -> Any:  # noqa: ANN401  as above
        if self._session is None:
            with _loading():
                self._session = _session(self.model, self.threads)
        return self._session

    def _loaded_encoder(self) -> Encoder:
        if self._encoder is None:
            with _loading():
                from pipelines.search.embedders.encoder import read_encoder  # noqa: PLC0415  brings in numpy

                self._encoder = read_encoder(self.model.folder)
        return self._encoder


@contextlib.contextmanager
def _loading() -> Iterator[None]:
    try:
        yield
    except ImportError as fault:
        raise EmbeddingFailed(PROVIDER, f"needs a library that is not here ({fault.name})") from None
    except Exception as fault:  # noqa: BLE001  both libraries raise kinds of their own
        why = f"cannot be loaded ({type(fault).__name__}); `curate models fetch` mends it"
        raise EmbeddingFailed(PROVIDER, why) from None


@contextlib.contextmanager
def _running() -> Iterator[None]:
    try:
        yield
    except BadVectors as fault:
        raise EmbeddingFailed(PROVIDER, str(fault)) from None
    except Exception as fault:  # noqa: BLE001  the runtime raises kinds of its own; search goes on by words
        raise EmbeddingFailed(PROVIDER, f"failed in its runtime ({type(fault).__name__})") from None


def _tokenizer(model: BuiltModel) -> Any:  # noqa: ANN401  the library's own kind, imported late
    from tokenizers import Tokenizer  # noqa: PLC0415  only what embeds pays for it

    tokenizer = Tokenizer.from_file(str(model.tokenizer))
    # The file of all-MiniLM-L6-v2 pads every text to 128 tokens and cuts it there; neither is how the model is run.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _fitted(ids: list[int], limit: int) -> list[int]:
    """Return the tokens of a text that the model can read: where there are too many, the middle is left out.

    The end of what is embedded says where and of when it is. And of a long text, beginning and end together tell more
    than either alone (Sun et al., How to Fine-Tune BERT for Text Classification?, 2019, 5.3.1).
    """
    end = limit // 4
    return ids if len(ids) <= limit else [*ids[: limit - end], *ids[len(ids) - end :]]


def _session(model: BuiltModel, threads: int) -> Any:  # noqa: ANN401  an untyped library
    import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415  only what embeds pays for it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _QUIET
    return onnxruntime.InferenceSession(str(model.graph), options, providers=["CPUExecutionProvider"])
