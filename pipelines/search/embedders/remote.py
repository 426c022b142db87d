"""Remote embedders: any server with an OpenAI-compatible `POST /v1/embeddings`, and Voyage, which has a few more keys.

Those are Ollama, llama.cpp, vLLM, OpenAI and others. The protocol is one request and one answer, so the standard
library is enough. Redirects are refused, because a target that the settings do not name would get the text and the key.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipelines.errors import EmbeddingFailed
from pipelines.provider_settings import VOYAGE_MODEL, EmbedderSettings
from pipelines.search.embedders.embedder import BadVectors, TwoSided, fit_to_send, unit_rows
from pipelines.usage import failure_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from http.client import HTTPMessage

    import numpy as np
    from numpy.typing import NDArray


SECONDS = 60.0
QUERY_SECONDS = 10.0  # a person is waiting, and keyword search is available
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# The document and query prefixes that models were trained with, by a part of their names.
_PROMPTS = {
    "nomic-embed-text": ("search_document: ", "search_query: "),
    "mxbai-embed": ("", "Represent this sentence for searching relevant passages: "),
    "snowflake-arctic-embed": ("", "Represent this sentence for searching relevant passages: "),
}


class OpenAIEmbedder(TwoSided):
    """Asks an OpenAI-compatible server for vectors. The first answer sets the dimension of all later ones."""

    provider, address, text_bytes = "openai", "", 16_000
    _dimension = 0

    def __init__(self, settings: EmbedderSettings) -> None:
        self.model = settings.model or VOYAGE_MODEL
        self.name = f"{self.provider}:{self.model}"
        self.settings = settings
        self._prompts = next((pair for part, pair in _PROMPTS.items() if part in self.model), ("", ""))

    @property
    def dimension(self) -> int:
        """The length of a vector. If nothing was embedded yet, embed one word to find out.

        Raises:
            EmbeddingFailed: the server gave no usable answer.
        """
        if not self._dimension:
            self.embed_query("dimension")
        return self._dimension

    def _more(self, *, is_query: bool) -> dict[str, object]:  # noqa: ARG002  for Voyage
        """Return what a request holds beside the model and the texts."""
        return {"encoding_format": "float"}

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:
        fit = [fit_to_send(self._prompts[is_query] + text, self.text_bytes) for text in texts]
        body = {"model": self.model, "input": fit, **self._more(is_query=is_query)}
        try:
            found = unit_rows(self._ask(body, QUERY_SECONDS if is_query else SECONDS), len(fit), self._dimension)
        except BadVectors as fault:
            raise EmbeddingFailed(self.name, str(fault)) from None
        except Exception as fault:  # noqa: BLE001  after any failure, search falls back to keywords
            if isinstance(fault, urllib.error.HTTPError):
                fault.close()
            # No cause: an exception may hold the request, which a traceback would show.
            raise EmbeddingFailed(self.name, failure_of(fault)[1]) from None
        self._dimension = found.shape[1]
        return found

    def _ask(self, body: Mapping[str, object], seconds: float) -> list[Any]:
        url = with_path(self.settings.base_url or self.address) + "/embeddings"
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "memcurate"}
        if self.settings.api_key:
            headers["Authorization"] = f"Bearer {self.settings.api_key}"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310  http and https alone
        with open_url(request, seconds) as answer:
            # It numbers the vectors, and may shuffle them.
            rows = {row["index"]: row["embedding"] for row in json.load(answer)["data"]}
        return [rows[at] for at in sorted(rows)]


class VoyageEmbedder(OpenAIEmbedder):
    """Asks Voyage, which tells documents from questions."""

    provider, address, text_bytes = "voyage", "https://api.voyageai.com/v1", 120_000
    _dimension = 1024

    def _more(self, *, is_query: bool) -> dict[str, object]:
        kind = "query" if is_query else "document"
        return {"input_type": kind, "output_dimension": self._dimension, "truncation": True}


def with_path(base_url: str) -> str:
    """Return an address without a trailing slash. If it names only a host, add the usual path, /v1."""
    address = base_url.rstrip("/")
    return address if "/" in address.partition("://")[2] else f"{address}/v1"


def open_url(request: urllib.request.Request, seconds: float) -> Any:  # noqa: ANN401  an HTTPResponse, as urllib has it
    """Return the answer to a request. The caller must close it.

    A redirect is an error with its status: its target, which nobody named, would receive everything sent, including
    keys. A proxy from the environment is bypassed for servers on this machine, which it could not reach.

    Args:
        request: to an `http` or `https` address.
        seconds: how long each step may take.

    Raises:
        urllib.error.HTTPError: the answer has an error status. The caller must close it, too.
        OSError: there is no answer.
        http.client.HTTPException: the answer is not valid HTTP.
    """
    handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
    if urlsplit(request.full_url).hostname in _LOOPBACK:
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers).open(request, timeout=seconds)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,  # noqa: ARG002
        fp: IO[bytes],  # noqa: ARG002
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: HTTPMessage,  # noqa: ARG002
        newurl: str,  # noqa: ARG002
    ) -> None:
        return None  # so that the redirect becomes an HTTPError with its status
