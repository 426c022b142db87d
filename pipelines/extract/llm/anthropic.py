"""Claude, or any address that speaks the Anthropic API, through the `anthropic` SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.extract.llm.provider import ProviderModel, as_count
from pipelines.usage import GARBLED, Usage

if TYPE_CHECKING:
    from anthropic import Anthropic


class AnthropicModel(ProviderModel):
    """Calls Claude. The SDK is imported by the first call, and does not retry: it would obey any Retry-After."""

    provider = "anthropic"

    def _reply(self, call: Call) -> object:
        """Make the call, with the stable part marked for the cache.

        This uses `create`, since `parse` discards a paid message, with its usage and stop reason, if its JSON is cut
        off or breaks a constraint.
        """
        from anthropic import transform_schema  # noqa: PLC0415  takes a second; only a run with a model needs it

        with self._client() as client:
            return client.messages.create(
                model=self.settings.model,
                max_tokens=self.settings.max_tokens,
                system=[{"type": "text", "text": call.system, "cache_control": {"type": "ephemeral"}}],
                messages=[{"role": "user", "content": call.user}],
                output_config={"format": {"type": "json_schema", "schema": transform_schema(dict(call.schema))}},
            )

    def _answer(self, reply: object) -> ModelAnswer:
        """Return the text blocks of a message, which the SDK does not validate.

        Raises:
            ModelFailed: it is a refusal, was cut off, or is not a message.
        """
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        counts, content = getattr(reply, "usage", None), getattr(reply, "content", None)
        plain, output, cached, written = (as_count(getattr(counts, name, None)) for name in names)
        usage = Usage(plain + written + cached, output, cached, written)  # the API counts cached tokens separately
        self.check_whole(getattr(reply, "stop_reason", None), usage)
        if not isinstance(content, list):
            raise ModelFailed(self.provider, GARBLED, usage=usage)
        texts = [one.text for one in content if getattr(one, "type", "") == "text" and isinstance(one.text, str)]
        return ModelAnswer("".join(texts), usage)

    def model_list(self) -> object:
        """List the models, at no cost."""
        with self._client() as client:
            return client.models.list(limit=1)

    def _client(self) -> Anthropic:
        import anthropic  # noqa: PLC0415  as above

        return anthropic.Anthropic(
            api_key=self.settings.api_key,
            base_url=self.settings.base_url or None,
            timeout=self.settings.timeout_seconds,
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
        )
