"""Remote embedders: Voyage through its SDK, and any server with an OpenAI-compatible `POST /v1/embeddings`.

Those are Ollama, llama.cpp, vLLM, OpenAI and others. The protocol is one request and one answer, so the standard
library is enough. Redirects are refused, because a target that the settings do not name would get the text and the key.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipelines.errors import EmbeddingFailed
from pipelines.provider_settings import VOYAGE_MODEL, EmbedderSettings
from pipelines.search.embedders.embedder import BadVectors, TwoSided, fit_to_send, unit_rows
from pipelines.usage import failure_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.search.embedders.embedder import Floats


QUERY_SECONDS = 10.0  # a person is waiting, and keyword search is available
_TEXT_BYTES = 16_000
_LOOPBACK = frozenset("localhost 127.0.0.1 ::1".split())
_VOYAGE_DIMENSION = 1024
_VOYAGE_TEXT_BYTES = 120_000
# The document and query prefixes that models were trained with, by a part of their names.
_PROMPTS = {
    "nomic-embed-text": ("search_document: ", "search_query: "),
    "mxbai-embed": ("", "Represent this sentence for searching relevant passages: "),
    "snowflake-arctic-embed": ("", "Represent this sentence for searching relevant passages: "),
}


class OpenAIEmbedder(TwoSided):
    """Asks an OpenAI-compatible server for vectors. The first answer sets the dimension of all later ones."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self.name = f"openai:{settings.model}"
        self.settings, self._dimension = settings, 0
        self._prompts = next((pair for part, pair in _PROMPTS.items() if part in settings.model), ("", ""))

    @property
    def dimension(self) -> int:
        """The length of a vector. If nothing was embedded yet, embed one word to find out.

        Raises:
            EmbeddingFailed: the server gave no usable answer.
        """
        if not self._dimension:
            self.embed_query("dimension")
        return self._dimension

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Floats:
        fit = [fit_to_send(self._prompts[is_query] + text, _TEXT_BYTES) for text in texts]
        seconds = QUERY_SECONDS if is_query else self.settings.timeout_seconds
        found = _embedded(self.name, lambda: self._ask(fit, seconds), len(fit), self._dimension)
        self._dimension = found.shape[1]
        return found

    def _ask(self, texts: list[str], seconds: float) -> list[Any]:
        body = json.dumps({"model": self.settings.model, "input": texts, "encoding_format": "float"}).encode()
        request = request_to(with_path(self.settings.base_url) + "/embeddings", self.settings.api_key, body)
        try:
            with open_url(request, seconds) as answer:
                rows = {row["index"]: row["embedding"] for row in json.load(answer)["data"]}
                return [rows[at] for at in sorted(rows)]  # the answer numbers its vectors and may shuffle them
        except urllib.error.HTTPError as refusal:
            refusal.close()
            if refusal.code < HTTPStatus.BAD_REQUEST:
                raise BadVectors("sent a redirect; set embedder.base_url to the address it leads to") from None
            raise


class VoyageEmbedder(TwoSided):
    """Asks Voyage for vectors. The first call imports the SDK."""

    dimension = _VOYAGE_DIMENSION

    def __init__(self, settings: EmbedderSettings) -> None:
        self.settings, self._model = settings, settings.model or VOYAGE_MODEL
        self.name = f"voyage:{self._model}"

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Floats:
        def ask() -> object:
            from voyageai.client import Client  # noqa: PLC0415  takes half a second; loaded only to embed

            given = self.settings
            base = with_path(given.base_url) if given.base_url else None
            # This SDK counts attempts, including the first; a question has one.
            seconds, attempts = (QUERY_SECONDS, 1) if is_query else (given.timeout_seconds, given.max_retries + 1)
            client = Client(given.api_key, max_retries=attempts, timeout=seconds, base_url=base)
            kind = "query" if is_query else "document"
            return client.embed(fit, self._model, kind, output_dimension=_VOYAGE_DIMENSION).embeddings

        fit = [fit_to_send(text, _VOYAGE_TEXT_BYTES) for text in texts]
        return _embedded("voyage", ask, len(fit), _VOYAGE_DIMENSION)


def _embedded(name: str, ask: Callable[[], object], count: int, dimension: int) -> Floats:
    """Return an answer's vectors. A dimension of zero means that the answer sets it.

    Raises:
        EmbeddingFailed: the call failed; the message says why.
    """
    try:
        return unit_rows(ask(), count, dimension)
    except BadVectors as fault:
        raise EmbeddingFailed(name, str(fault)) from None
    except Exception as fault:  # noqa: BLE001  after any failure, search falls back to keywords
        # No cause: an SDK's exception holds the request, which a traceback would show.
        raise EmbeddingFailed(name, failure_of(fault)[1]) from None


def with_path(base_url: str) -> str:
    """Return an address without a trailing slash. If it names only a host, add the usual path, /v1."""
    address = base_url.rstrip("/")
    return address if "/" in address.partition("://")[2] else f"{address}/v1"


def request_to(url: str, api_key: str, body: bytes | None) -> urllib.request.Request:
    """Return a request of JSON for JSON, with a key unless it is empty; the settings allow http and https alone."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "memcurate"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    return urllib.request.Request(url, body, headers)  # noqa: S310  see above


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
    def redirect_request(self, *_: object, **__: object) -> None:
        return None  # so that the redirect becomes an HTTPError with its status
