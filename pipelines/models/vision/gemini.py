"""Gemini as a describer of images."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pipelines.models.describing import Limits
from pipelines.models.prompts import load_prompt
from pipelines.models.providers.gemini import GeminiModel
from pipelines.models.vision.seeing import Seer

if TYPE_CHECKING:
    from pipelines.models.describing import Description, Picture
    from pipelines.models.prompts import Prompt
    from pipelines.models.settings import ProviderSettings

# A whole request may have 20 MB, of which base64 takes a third and the instructions next to nothing.
LIMITS: Final = Limits(frozenset({"image/png", "image/jpeg", "image/webp"}), 14 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class GeminiDescriber:
    """Asks Gemini what an image shows. The SDK is imported by the first call and by nothing before it."""

    settings: ProviderSettings
    prompt: Prompt = field(default_factory=lambda: load_prompt("describe"))

    @property
    def name(self) -> str:
        """Provider, model and prompt version, as a sidecar's `by` records them."""
        return self._seer.name

    @property
    def limits(self) -> Limits:
        """What the provider takes."""
        return LIMITS

    def describe(self, picture: Picture) -> Description:
        """Return what an image shows.

        Raises:
            DescribingFailed: no usable answer came; the sentence says why.
        """
        return self._seer.describe(picture)

    @property
    def _seer(self) -> Seer:
        return Seer(GeminiModel(self.settings), self.prompt)
