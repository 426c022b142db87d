"""The local embedder: the tokenizers library splits texts, and onnxruntime runs the model. No key, server or torch."""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pipelines.errors import EmbeddingFailed
from pipelines.search.embedders.built_graph import TOKENIZER, BuiltModel
from pipelines.search.embedders.embedder import BadVectors, TwoSided, unit_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray


PROVIDER = "the local model"
_QUIET = 3  # log errors only: onnxruntime warns about the machine


class LocalEmbedder(TwoSided):
    """Embeds on this machine. The first call loads the libraries and the model, which are then kept."""

    def __init__(self, model: BuiltModel) -> None:
        """Load nothing yet."""
        self.name, self.dimension, self.model = model.name, model.shape.width, model

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415  takes 70 ms, which a search without vectors saves

        session, found = self._session, np.empty((len(texts), self.dimension), np.float32)
        # One by one: batches are no faster on a processor.
        for at, text in enumerate(texts):
            ids = np.array([self._ids(self.model.shape.prompts[is_query] + text)], np.int64)
            with _failing("failed in its runtime ({})"):
                found[at] = unit_rows(session.run(None, {"ids": ids})[0], 1, self.dimension)
        return found

    def _ids(self, text: str) -> list[int]:
        """Return the tokens of a text; if the model cannot read that many, drop the middle.

        The end of an embedded text says where and when it is from. Besides, the beginning and end of a long text
        together tell more than either alone (Sun et al., How to Fine-Tune BERT for Text Classification?, 2019, 5.3.1).
        """
        # A lone surrogate, which a command line can hold, is not valid UTF-8.
        ids: list[int] = self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        limit, end = self.model.shape.limit, self.model.shape.limit // 4
        return ids if len(ids) <= limit else [*ids[: limit - end], *ids[len(ids) - end :]]

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
            options.inter_op_num_threads = 1
            options.log_severity_level = _QUIET
            # The graph is built as it is to run, and rewriting it takes longer than a question. Threads that spin while
            # they wait take twice the processor's time.
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            try:
                return onnxruntime.InferenceSession(str(self.model.graph), options, providers=["CPUExecutionProvider"])
            except Exception:
                self.model.graph.unlink(missing_ok=True)  # whatever is wrong with it, the next start builds it anew
                raise


_NOT_LOADED = "cannot be loaded ({}); run `curate models fetch` to repair it"


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
