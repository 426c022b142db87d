"""The local embedder: a graph run by onnxruntime, with no key, no address and no torch."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import EmbeddingFailed
from pipelines.models.embedders.vectors import BadVectors, unit_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.models.embedders.built import BuiltModel

PROVIDER: Final = "the local model"
_BATCH: Final = 8  # more rows leave the processor's cache, and are slower
_QUIET: Final = 3  # onnxruntime's errors, without its warnings about the machine
_BRIEF: Final = 64
"""Tokens up to which a single text is run without a plan for its memory, which takes some MB more."""


@dataclass(slots=True)
class LocalEmbedder:
    """Embeds on this machine. Runtime and model are loaded by the first call and kept.

    For one brief text, as a question is, the model is loaded without a plan of which numbers may share their memory:
    that plan takes two thirds of the loading. The vectors are the same.
    """

    model: BuiltModel
    threads: int = 2
    _tokenizer: Any = field(default=None, init=False, repr=False)
    _sessions: dict[bool, Any] = field(default_factory=dict, init=False, repr=False)

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
        vector: NDArray[np.float32] = self._embed([self.model.prompts[1] + text])[0]
        return vector

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415  70 ms that a search without vectors need not pay

        tokenizer = self._loaded_tokenizer()
        # A lone surrogate, as a command line can hold, is no UTF-8.
        ids = [tokenizer.encode(text.encode("utf-8", "replace").decode()).ids for text in texts]
        session = self._session(planned=len(ids) != 1 or len(ids[0]) > _BRIEF)
        found = np.empty((len(texts), self.dimension), np.float32)
        # Of like length together: what is padded is computed for nothing.
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            found[part] = self._run(session, [ids[at] for at in part])
        return found

    def _run(self, session: Any, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:  # noqa: ANN401  untyped library
        import numpy as np  # noqa: PLC0415  as above

        table = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros(table.shape, np.float32)
        for at, row in enumerate(rows):
            table[at, : len(row)], mask[at, : len(row)] = row, 1
        try:
            (answer,) = session.run(None, {"ids": table, "mask": mask})
            return unit_rows(answer, len(rows), self.dimension)
        except BadVectors as fault:
            raise EmbeddingFailed(PROVIDER, str(fault)) from None
        except Exception as fault:  # noqa: BLE001  the runtime raises kinds of its own; search goes on by words
            raise EmbeddingFailed(PROVIDER, f"failed in its runtime ({type(fault).__name__})") from None

    def _loaded_tokenizer(self) -> Any:  # noqa: ANN401  as above
        if self._tokenizer is None:
            with _loading():
                self._tokenizer = _tokenizer(self.model)
        return self._tokenizer

    def _session(self, *, planned: bool) -> Any:  # noqa: ANN401  as above
        """Return the model ready to run; one whose memory is planned does for all texts."""
        if planned not in self._sessions and True not in self._sessions:
            with _loading():
                self._sessions[planned] = _session(self.model, self.threads, planned=planned)
        return self._sessions.get(True) or self._sessions[planned]


@contextlib.contextmanager
def _loading() -> Iterator[None]:
    try:
        yield
    except ImportError as fault:
        raise EmbeddingFailed(PROVIDER, f"needs a library that is not here ({fault.name})") from None
    except Exception as fault:  # noqa: BLE001  both libraries raise kinds of their own
        why = f"cannot be loaded ({type(fault).__name__}); `curate models fetch` mends it"
        raise EmbeddingFailed(PROVIDER, why) from None


def _tokenizer(model: BuiltModel) -> Any:  # noqa: ANN401  the library's own kind, imported late
    from tokenizers import Tokenizer  # noqa: PLC0415  only what embeds pays for it

    tokenizer = Tokenizer.from_file(str(model.tokenizer))
    # The file of all-MiniLM-L6-v2 pads every text to 128 tokens and cuts it there; neither is how the model is run.
    tokenizer.no_padding()
    tokenizer.enable_truncation(model.limit)
    return tokenizer


def _session(model: BuiltModel, threads: int, *, planned: bool) -> Any:  # noqa: ANN401  an untyped library
    import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415  only what embeds pays for it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _QUIET
    options.enable_mem_reuse = planned
    return onnxruntime.InferenceSession(str(model.graph), options, providers=["CPUExecutionProvider"])
