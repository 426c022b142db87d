"""Gemini, through the `google-genai` SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.extract.llm.provider import ProviderModel
from pipelines.usage import Usage

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentResponse


class GeminiModel(ProviderModel):
    """Calls Gemini. The SDK is imported by the first call, and does not retry."""

    provider = "gemini"

    def _reply(self, call: Call) -> GenerateContentResponse:
        from google.genai import types  # noqa: PLC0415  takes half a second; only a run with a model needs it

        config = types.GenerateContentConfig(
            system_instruction=call.system,
            max_output_tokens=self.settings.max_tokens,
            response_mime_type="application/json",
            response_json_schema=dict(call.schema),
        )
        # Keep a reference to the client until the answer is there: without one, its connections close.
        with self._client() as client:
            return client.models.generate_content(model=self.settings.model, contents=call.user, config=config)

    def _answer(self, reply: GenerateContentResponse) -> ModelAnswer:
        """Return the text of the first candidate, without its thoughts.

        Raises:
            ModelFailed: it was blocked, cut off, or has no candidate.
        """
        counts, usage = reply.usage_metadata, Usage()
        if counts:
            output = (counts.candidates_token_count or 0) + (counts.thoughts_token_count or 0)
            usage = Usage(counts.prompt_token_count or 0, output, counts.cached_content_token_count or 0)
        if not reply.candidates:
            self.check_whole(reply.prompt_feedback and reply.prompt_feedback.block_reason, usage)
            raise ModelFailed(self.provider, "gave an empty answer", usage=usage)
        candidate = reply.candidates[0]
        self.check_whole(candidate.finish_reason, usage)
        parts = (candidate.content and candidate.content.parts) or []
        return ModelAnswer("".join(part.text for part in parts if part.text and not part.thought), usage)

    def model_list(self) -> object:
        """List the models, at no cost."""
        with self._client() as client:
            return client.models.list(config={"page_size": 1})

    def _client(self) -> Client:
        from google import genai  # noqa: PLC0415  as above
        from google.genai import types  # noqa: PLC0415  as above

        options = types.HttpOptions(
            base_url=self.settings.base_url or None,
            timeout=round(self.settings.timeout_seconds * 1000),  # this SDK counts milliseconds
            client_args={"follow_redirects": False},
        )
        return genai.Client(api_key=self.settings.api_key, enterprise=False, http_options=options)
