"""Claude as a describer of images."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from pipelines.models.anthropic import PROVIDER, ask_claude
from pipelines.models.describing import Limits
from pipelines.models.prompts import load_prompt
from pipelines.models.vision.seeing import Seer

if TYPE_CHECKING:
    from anthropic.types import ContentBlockParam

    from pipelines.models.describing import Description, Picture
    from pipelines.models.prompts import Prompt, Rendered
    from pipelines.models.reading import Answer
    from pipelines.models.settings import ProviderSettings

# 5 MB once it is base64, which makes four bytes of three; 8000 pixels a side.
LIMITS: Final = Limits(
    frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"}), 5 * 1024 * 1024 * 3 // 4, most_pixels=8000
)


@dataclass(frozen=True, slots=True)
class AnthropicDescriber:
    """Asks Claude what an image shows. The SDK is imported by the first call and by nothing before it."""

    settings: ProviderSettings
    prompt: Prompt = field(default_factory=lambda: load_prompt("describe"))

    @property
    def name(self) -> str:
        """Provider, model and prompt version, as a sidecar's `by` records them."""
        return f"{PROVIDER}:{self.settings.model}@{self.prompt.tag}"

    @property
    def limits(self) -> Limits:
        """What the provider takes."""
        return LIMITS

    def describe(self, picture: Picture) -> Description:
        """Return what an image shows.

        Raises:
            DescribingFailed: no usable answer came; the sentence says why.
        """
        return Seer(self.name, PROVIDER, self.prompt, self._ask).describe(picture)

    def _ask(self, prompt: Rendered, picture: Picture, schema: dict[str, Any]) -> Answer:
        encoded = base64.b64encode(picture.data).decode()
        source = {"type": "base64", "media_type": picture.media_type, "data": encoded}
        content = [{"type": "image", "source": source}, {"type": "text", "text": prompt.user}]
        return ask_claude(self.settings, prompt.system, cast("list[ContentBlockParam]", content), schema, "image")
