"""Gemini, asked through the `google-genai` SDK, and as an extractor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipelines.errors import ModelFailed
from pipelines.models.failures import reason
from pipelines.models.prompts import load_prompt
from pipelines.models.reading import Answer, Reader

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import Content, GenerateContentConfig, GenerateContentResponse, HttpOptions

    from pipelines.models.extraction import Extraction, ExtractionRequest
    from pipelines.models.prompts import Prompt, Rendered
    from pipelines.models.settings import ProviderSettings

PROVIDER = "gemini"


@dataclass(frozen=True, slots=True)
class GeminiExtractor:
    """Asks Gemini for the items of a day. The SDK is imported by the first call and by nothing before it."""

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
        return ask_gemini(self.settings, prompt.system, prompt.user, schema, "day")


def ask_gemini(
    settings: ProviderSettings, system: str, contents: str | Content, schema: dict[str, Any], what: str
) -> Answer:
    """Return Gemini's answer to one call.

    Args:
        settings: how Gemini is asked.
        system: the instructions.
        contents: what they are about.
        schema: the JSON schema of the answer.
        what: what the contents are, as a failure names them: `day`, `image`.

    Raises:
        ModelFailed: no usable answer came; the sentence says why.
    """
    try:
        # The client is held by a name until the answer is there: its connections close with the last reference.
        with _client(settings) as client:
            response = client.models.generate_content(
                model=settings.model, contents=contents, config=_config(settings, system, schema)
            )
    except Exception as fault:  # noqa: BLE001  whatever an SDK raises, the night must go on without this answer
        # Without the cause: an SDK's exception holds the request, and a traceback would show it.
        raise ModelFailed(PROVIDER, reason(fault)) from None
    return _answer(response, what)


def _client(settings: ProviderSettings) -> Client:
    from google import genai  # noqa: PLC0415  takes half a second; only a run that asks pays for it

    return genai.Client(api_key=settings.api_key, enterprise=False, http_options=_http_options(settings))


def _http_options(settings: ProviderSettings) -> HttpOptions:
    from google.genai import types  # noqa: PLC0415  as above

    # This SDK counts milliseconds, and retries nothing unless it is told to.
    first = settings.retry_seconds
    retries = types.HttpRetryOptions(attempts=settings.max_retries + 1, initial_delay=first, jitter=first)
    return types.HttpOptions(
        base_url=settings.base_url or None,
        timeout=round(settings.timeout_seconds * 1000),
        retry_options=retries,
    )


def _config(settings: ProviderSettings, system: str, schema: dict[str, Any]) -> GenerateContentConfig:
    from google.genai import types  # noqa: PLC0415  as above

    return types.GenerateContentConfig(
        system_instruction=system,
        max_output_tokens=settings.max_tokens,
        response_mime_type="application/json",
        response_json_schema=schema,
    )


def _answer(response: GenerateContentResponse, what: str) -> Answer:
    """Return the text of the first candidate, without its thoughts."""
    if not response.candidates:
        feedback = response.prompt_feedback
        blocked = feedback and feedback.block_reason
        raise ModelFailed(PROVIDER, f"refused to read this {what} ({_word(blocked)})" if blocked else _EMPTY)
    candidate = response.candidates[0]
    finish = _word(candidate.finish_reason)
    if finish == "MAX_TOKENS":
        raise ModelFailed(PROVIDER, "was cut off at its longest answer; raise gemini.max_tokens in the user's settings")
    if finish not in {"STOP", ""}:
        raise ModelFailed(PROVIDER, f"stopped without an answer ({finish})")
    parts = (candidate.content and candidate.content.parts) or []
    usage = response.usage_metadata
    output = ((usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)) if usage else 0
    text = "".join(part.text for part in parts if part.text and not part.thought)
    return Answer(text, (usage.prompt_token_count or 0) if usage else 0, output)


_EMPTY = "gave an empty answer"


def _word(reason_code: object) -> str:
    """Return the name of an enumerated reason; of one that the SDK does not know, at most its first letters."""
    value = str(getattr(reason_code, "value", reason_code or ""))
    return "".join(char for char in value if char.isalnum() or char == "_")[:40]
