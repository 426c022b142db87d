"""Any address that speaks `POST /v1/chat/completions`: Ollama, llama.cpp, vLLM, gateways, OpenAI and others.

The exchange is one request and one answer, so the standard library suffices. Redirects are refused: the settings did
not name their target, which would get the log and the key.
"""

from __future__ import annotations

import json
import urllib.error
from functools import partial
from typing import TYPE_CHECKING, Any

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.extract.llm.provider import ProviderModel, as_count, as_failure, with_deadline
from pipelines.search.embedders.remote import open_url, request_to, with_path
from pipelines.usage import GARBLED, FailureKind, Usage, status_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.provider_settings import ProviderSettings


ADDRESS = "https://api.openai.com/v1"
_ERROR_BYTES = 20_000
# How to request the schema, best first. If a server refuses one with status 400 or 422, the next is tried.
_FORMATS = ("json_schema", "json_object", "")
_OWN_INPUT_TOKENS = 11_000
"""The most log text for a server of one's own: with instructions and answer, it fits a context of 16,384 tokens."""
_REFUSALS = frozenset({400, 422})


class ErrorStatus(Exception):
    """An answer with an error status, with what distinguishes the kinds of failure."""

    def __init__(self, status: int, headers: Mapping[str, str], body: str) -> None:
        super().__init__(status)
        self.status_code, self.headers, self.body = status, headers, body


class OpenAIModel(ProviderModel):
    """Calls an OpenAI-compatible address. The first call finds out which schema format it accepts."""

    provider = "openai"

    def __init__(self, settings: ProviderSettings) -> None:
        super().__init__(settings)
        self._formats: tuple[str, ...] = _FORMATS
        self.input_tokens = _OWN_INPUT_TOKENS if settings.base_url else self.input_tokens

    def ask(self, call: Call) -> ModelAnswer:
        """Make the call, again for each JSON format that the server refuses.

        Raises:
            ModelFailed: no usable answer came.
        """
        for at, form in enumerate(formats := self._formats):
            try:
                body = json.dumps(self._body(call, form)).encode()
                reply = with_deadline(self.settings.timeout_seconds, partial(self._send, "/chat/completions", body))
            except Exception as fault:  # noqa: BLE001  whatever goes wrong, the night goes on
                failure = as_failure(self.provider, fault)
                if failure.kind is FailureKind.BAD_REQUEST and form and status_of(fault) in _REFUSALS:
                    continue
                raise failure from None
            self._formats = formats[at:]
            return self._answer(reply)
        raise AssertionError  # the last format returns or raises

    def model_list(self) -> object:
        """List the models: it shows, at no cost, whether the server accepts the key."""
        return self._send("/models", None)

    def _send(self, path: str, body: bytes | None) -> Any:  # noqa: ANN401  JSON, checked by the caller
        url = (with_path(self.settings.base_url) if self.settings.base_url else ADDRESS) + path
        try:
            with open_url(request_to(url, self.settings.api_key, body), self.settings.timeout_seconds) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                words = refusal.read(_ERROR_BYTES).decode(errors="replace")
                headers = {key.lower(): value for key, value in refusal.headers.items()}
                raise ErrorStatus(refusal.code, headers, words) from None

    def _body(self, call: Call, form: str) -> dict[str, Any]:
        schema, system = call.schema, call.system
        if form != "json_schema":
            system += f"\nAnswer with one JSON object of this schema and nothing else:\n{json.dumps(schema)}\n"
        body: dict[str, Any] = {
            "model": self.settings.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": call.user}],
            # OpenAI's own models need the second name, most other servers the first.
            "max_tokens" if self.settings.base_url else "max_completion_tokens": self.settings.max_tokens,
        }
        if form:
            body["response_format"] = {"type": form}
        if form == "json_schema":
            body["response_format"]["json_schema"] = {"name": "reply", "strict": True, "schema": schema}
        return body

    def _answer(self, reply: Any) -> ModelAnswer:  # noqa: ANN401  JSON from somebody's server
        usage = reply.get("usage") if isinstance(reply, dict) else None
        counts = usage if isinstance(usage, dict) else {}
        details = counts.get("prompt_tokens_details")
        cached = as_count(details.get("cached_tokens")) if isinstance(details, dict) else 0
        usage = Usage(as_count(counts.get("prompt_tokens")), as_count(counts.get("completion_tokens")), cached)
        try:
            choice = reply["choices"][0]
            message, finish = choice["message"], choice.get("finish_reason")
            content, refusal = message.get("content"), message.get("refusal")
        except (LookupError, TypeError, AttributeError):
            raise ModelFailed(self.provider, GARBLED, usage=usage) from None
        self.check_whole("refusal" if refusal else finish, usage)
        return ModelAnswer(content if isinstance(content, str) else "", usage)
