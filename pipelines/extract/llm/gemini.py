"""Gemini, through the `google-genai` SDK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Answer
from pipelines.extract.llm.provider import SettledModel, as_failure, within
from pipelines.usage import FailureKind, Usage

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import (
        Content,
        GenerateContentConfig,
        GenerateContentResponse,
        GenerateContentResponseUsageMetadata,
        HttpOptions,
    )

    from pipelines.extract.llm.call import Call


PROVIDER: Final = "gemini"


@dataclass(frozen=True, slots=True)
class GeminiModel(SettledModel):
    """Asks Gemini. The SDK is imported by the first call and by nothing before it."""

    provider: ClassVar[str] = PROVIDER

    def ask(self, call: Call) -> Answer:
        """Make the call, once: the SDK retries nothing unless it is told to.

        Raises:
            ModelFailed: no usable answer came.
        """
        try:
            response = within(self.settings.timeout_seconds, lambda: self._generate(call))
        except Exception as fault:  # noqa: BLE001  whatever an SDK raises, the night must go on without this answer
            raise as_failure(PROVIDER, fault, call.subject) from None
        return _answer(response, self.name, call.subject)

    def _generate(self, call: Call) -> GenerateContentResponse:
        # The client is held by a name until the answer is there: its connections close with the last reference.
        with self.client() as client:
            return client.models.generate_content(
                model=self.settings.model, contents=_contents(call), config=self._config(call)
            )

    def client(self) -> Client:
        """Return a client of the SDK, to be held by a name and closed by who asked for it."""
        from google import genai  # noqa: PLC0415  takes half a second; only a run that asks pays for it

        return genai.Client(api_key=self.settings.api_key, enterprise=False, http_options=self._http_options())

    def _http_options(self) -> HttpOptions:
        from google.genai import types  # noqa: PLC0415  as above

        return types.HttpOptions(
            base_url=self.settings.base_url or None,
            timeout=round(self.settings.timeout_seconds * 1000),  # this SDK counts milliseconds
            client_args={"follow_redirects": False},
        )

    def _config(self, call: Call) -> GenerateContentConfig:
        """Return all of the request but its contents, as the SDK takes it."""
        from google.genai import types  # noqa: PLC0415  as above

        return types.GenerateContentConfig(
            system_instruction=call.system,
            max_output_tokens=call.max_output_tokens or self.settings.max_tokens,
            response_mime_type="application/json",
            response_json_schema=dict(call.schema),
        )


def _contents(call: Call) -> str | Content:
    """Return what a request is about, as the SDK takes it."""
    if call.image is None:
        return call.user
    from google.genai import types  # noqa: PLC0415  as above

    image = types.Part.from_bytes(data=call.image.data, mime_type=call.image.media_type)
    return types.Content(role="user", parts=[image, types.Part(text=call.user)])


def _answer(response: GenerateContentResponse, name: str, subject: str) -> Answer:
    """Return the text of the first candidate, without its thoughts.

    Raises:
        ModelFailed: it was blocked, cut off, or holds no candidate.
    """
    usage = _usage(response.usage_metadata)
    if not response.candidates:
        feedback = response.prompt_feedback
        blocked = feedback and feedback.block_reason
        if blocked:
            why = f"does not let this {subject} be read ({_word(blocked)})"
            raise ModelFailed(PROVIDER, why, FailureKind.BLOCKED, usage=usage)
        raise ModelFailed(PROVIDER, "gave an empty answer", FailureKind.EMPTY, usage=usage)
    candidate = response.candidates[0]
    finish = _word(candidate.finish_reason)
    if finish not in {"STOP", ""}:
        raise _stopped(finish, usage)
    parts = (candidate.content and candidate.content.parts) or []
    return Answer("".join(part.text for part in parts if part.text and not part.thought), name, usage)


_BLOCKS: Final = frozenset(
    "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY MODEL_ARMOR IMAGE_PROHIBITED_CONTENT".split()
)


def _stopped(finish: str, usage: Usage) -> ModelFailed:
    if finish == "MAX_TOKENS":
        why = "was cut off at its longest answer; raise gemini.max_tokens in the user's settings"
        return ModelFailed(PROVIDER, why, FailureKind.TRUNCATED, usage=usage)
    kind = FailureKind.BLOCKED if finish in _BLOCKS else FailureKind.FAILED
    return ModelFailed(PROVIDER, f"stopped without an answer ({finish})", kind, usage=usage)


def _usage(usage: GenerateContentResponseUsageMetadata | None) -> Usage:
    if usage is None:
        return Usage()
    output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return Usage(usage.prompt_token_count or 0, output, usage.cached_content_token_count or 0)


def _word(reason_code: object) -> str:
    """Return the name of an enumerated reason; of one that the SDK does not know, at most its first letters."""
    value = str(getattr(reason_code, "value", reason_code or ""))
    return "".join(char for char in value if char.isalnum() or char == "_")[:40]
