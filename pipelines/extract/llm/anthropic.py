"""Claude, and whatever else speaks the Anthropic wire at an address of the user's, through the `anthropic` SDK."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Answer
from pipelines.extract.llm.provider import SettledModel, as_failure, within
from pipelines.usage import FailureKind, Usage

if TYPE_CHECKING:
    from anthropic import Anthropic

    from pipelines.extract.llm.call import Call


PROVIDER: Final = "anthropic"


@dataclass(frozen=True, slots=True)
class AnthropicModel(SettledModel):
    """Asks Claude. The SDK is imported by the first call and by nothing before it."""

    provider: ClassVar[str] = PROVIDER

    def ask(self, call: Call) -> Answer:
        """Make the call, once: the SDK would obey a Retry-After of any length.

        Raises:
            ModelFailed: no usable answer came.
        """
        try:
            message = within(self.settings.timeout_seconds, lambda: self._create(call))
        except Exception as fault:  # noqa: BLE001  whatever an SDK raises, the night must go on without this answer
            raise as_failure(PROVIDER, fault, call.subject) from None
        return _answer(message, self.name, call.subject)

    def _create(self, call: Call) -> object:
        """Make the call.

        `create`, not `parse`: `parse` throws a paid message away, with its usage and stop reason, when its JSON is cut
        off or breaks a constraint.
        """
        with self.client() as client:
            return client.messages.create(**self._params(call))

    def _params(self, call: Call) -> dict[str, Any]:
        """Return the request as the SDK takes it. The stable part is marked for the cache."""
        from anthropic import transform_schema  # noqa: PLC0415  takes a second; only a run that asks pays for it

        return {
            "model": self.settings.model,
            "max_tokens": call.max_output_tokens or self.settings.max_tokens,
            "system": [{"type": "text", "text": call.system, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": _content(call)}],
            "output_config": {"format": {"type": "json_schema", "schema": transform_schema(dict(call.schema))}},
        }

    def client(self) -> Anthropic:
        """Return a client of the SDK, to be closed by who asked for it."""
        import anthropic  # noqa: PLC0415  as above

        return anthropic.Anthropic(
            api_key=self.settings.api_key,
            base_url=self.settings.base_url or None,
            timeout=self.settings.timeout_seconds,
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
        )


def _content(call: Call) -> str | list[dict[str, Any]]:
    if call.image is None:
        return call.user
    data = base64.b64encode(call.image.data).decode()
    source = {"type": "base64", "media_type": call.image.media_type, "data": data}
    return [{"type": "image", "source": source}, {"type": "text", "text": call.user}]


def _answer(message: object, name: str, subject: str) -> Answer:
    """Return the text blocks of a message; the SDK does not check messages, so nothing of it is taken for granted.

    Raises:
        ModelFailed: it is a refusal, was cut off, or is no message.
    """
    usage = _usage(getattr(message, "usage", None))
    stop, content = getattr(message, "stop_reason", None), getattr(message, "content", None)
    if stopped := _STOPS.get(str(stop)):
        raise ModelFailed(PROVIDER, stopped[1].format(subject), stopped[0], usage=usage)
    if not isinstance(content, list):
        why = "answered with something that is not its wire format"
        raise ModelFailed(PROVIDER, why, FailureKind.GARBLED, usage=usage)
    texts = [block.text for block in content if getattr(block, "type", "") == "text" and isinstance(block.text, str)]
    return Answer("".join(texts), name, usage)


_STOPS: Final = {
    "max_tokens": (
        FailureKind.TRUNCATED,
        "was cut off at its longest answer; raise anthropic.max_tokens in the user's settings",
    ),
    "model_context_window_exceeded": (FailureKind.TOO_LONG, "found the {} too long for its context"),
    "refusal": (FailureKind.REFUSED, "refused to read this {}"),
}


def _usage(usage: object) -> Usage:
    written, cached = _count(usage, "cache_creation_input_tokens"), _count(usage, "cache_read_input_tokens")
    plain = _count(usage, "input_tokens")  # the wire counts the cached ones apart
    return Usage(plain + written + cached, _count(usage, "output_tokens"), cached, written)


def _count(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and value > 0 else 0
