"""How a model describes an image, whoever it is: the prompt, the question, the checked answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.errors import DescribingFailed, ModelFailed
from pipelines.models.describing import Description

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.models.describing import Picture
    from pipelines.models.prompts import Prompt, Rendered
    from pipelines.models.reading import Answer

    Ask = Callable[[Rendered, Picture, dict[str, Any]], Answer]


@dataclass(frozen=True, slots=True)
class Seer:
    """What turns one provider's call into a describer.

    Args:
        name: the describer's, as a sidecar records it.
        provider: who is named when it fails.
        prompt: the prompt for describing.
        ask: makes the call: a rendered prompt, an image and a JSON schema in, an `Answer` out, or `ModelFailed`.
    """

    name: str
    provider: str
    prompt: Prompt
    ask: Ask

    def describe(self, picture: Picture) -> Description:
        """Return what an image shows.

        Raises:
            DescribingFailed: the call failed or its answer cannot be used.
        """
        from pipelines.models.reply import BadReply  # noqa: PLC0415  brings in pydantic
        from pipelines.models.vision.reply import description_schema, read_description  # noqa: PLC0415  as above

        try:
            answer = self.ask(self.prompt.render({}), picture, description_schema())
            title, description = read_description(answer.text)
        except ModelFailed as fault:
            raise DescribingFailed(fault.provider, fault.why) from None
        except BadReply as fault:
            raise DescribingFailed(self.provider, str(fault)) from None
        return Description(description, title, self.name, answer.input_tokens, answer.output_tokens)
