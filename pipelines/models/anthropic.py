"""Claude, asked through the `anthropic` SDK, and as an extractor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipelines.errors import ModelFailed
from pipelines.models.failures import reason
from pipelines.models.prompts import load_prompt
from pipelines.models.reading import Answer, Reader

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import ContentBlockParam

    from pipelines.models.extraction import Extraction, ExtractionRequest
    from pipelines.models.prompts import Prompt, Rendered
    from pipelines.models.settings import ProviderSettings

PROVIDER = "anthropic"


@dataclass(frozen=True, slots=True)
class AnthropicExtractor:
    """Asks Claude for the items of a day. The SDK is imported by the first call and by nothing before it."""

    settings: ProviderSettings
    prompt: Prompt = field(default_factory=lambda: load_prompt("extract"))

    @property
    def name(self) -> str:
        """Provider, model and prompt version, as an item's `by` records them."""
        return f"{PROVIDER}:{self.settings.model}@{self.prompt.tag}"

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the candidates of one day.

        Raises:
            ModelFailed: no usable answer came; the sentence says why.
        """
        reader = Reader(self.name, PROVIDER, self.prompt, self.settings.input_tokens, self._ask)
        return reader.read(request)

    def _ask(self, prompt: Rendered, schema: dict[str, Any]) -> Answer:
        return ask_claude(self.settings, prompt.system, prompt.user, schema, "day")


def ask_claude(
    settings: ProviderSettings, system: str, content: str | list[ContentBlockParam], schema: dict[str, Any], what: str
) -> Answer:
    """Return Claude's answer to one call.

    Args:
        settings: how Claude is asked.
        system: the instructions.
        content: what they are about.
        schema: the JSON schema of the answer.
        what: what the content is, as a failure names it: `day`, `image`.

    Raises:
        ModelFailed: no usable answer came; the sentence says why.
    """
    try:
        with _client(settings) as client:
            message = _create(client, settings, system, content, schema)
    except Exception as fault:  # noqa: BLE001  whatever an SDK raises, the night must go on without this answer
        # Without the cause: an SDK's exception holds the request, and a traceback would show it.
        raise ModelFailed(PROVIDER, reason(fault)) from None
    return _answer(message, what)


def _client(settings: ProviderSettings) -> Anthropic:
    import anthropic  # noqa: PLC0415  takes a second; only a run that asks pays for it

    return anthropic.Anthropic(
        api_key=settings.api_key,
        base_url=settings.base_url or None,
        timeout=settings.timeout_seconds,
        max_retries=settings.max_retries,
    )


def _create(
    client: Anthropic,
    settings: ProviderSettings,
    system: str,
    content: str | list[ContentBlockParam],
    schema: dict[str, Any],
) -> object:
    """Make the call.

    `create`, not `parse`: `parse` throws a paid message away, with its usage and stop reason, when its JSON is cut
    off or breaks a constraint.
    """
    from anthropic import transform_schema  # noqa: PLC0415  as above

    return client.messages.create(
        model=settings.model,
        max_tokens=settings.max_tokens,
        system=[{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
        messages=[{"role": "user", "content": content}],
        output_config={"format": {"type": "json_schema", "schema": transform_schema(schema)}},
    )


def _answer(message: object, what: str) -> Answer:
    """Return the text blocks of a message; the SDK does not check messages, so nothing of it is taken for granted."""
    stop, content = getattr(message, "stop_reason", None), getattr(message, "content", None)
    if why := _STOPS.get(str(stop)):
        raise ModelFailed(PROVIDER, why.format(what=what))
    if not isinstance(content, list):
        raise ModelFailed(PROVIDER, "answered with something that is not its wire format")
    texts = [block.text for block in content if getattr(block, "type", "") == "text" and isinstance(block.text, str)]
    usage = getattr(message, "usage", None)
    cached = _count(usage, "cache_creation_input_tokens") + _count(usage, "cache_read_input_tokens")
    return Answer("".join(texts), _count(usage, "input_tokens") + cached, _count(usage, "output_tokens"))


_STOPS = {
    "max_tokens": "was cut off at its longest answer; raise anthropic.max_tokens in the user's settings",
    "model_context_window_exceeded": "found the {what} too long for its context",
    "refusal": "refused to read this {what}",
}


def _count(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and value > 0 else 0
