"""Who looks at images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.errors import NoVision

if TYPE_CHECKING:
    from pipelines.models.describing import Describer
    from pipelines.user_settings import UserSettings


def choose_describer(user: UserSettings) -> Describer:
    """Return the first of the user's providers that can see. No SDK is imported here.

    Raises:
        NoVision: none can: no key is set, or the user's `providers` leave those out.
    """
    for provider in user.providers:
        if provider == "anthropic" and user.anthropic:
            from pipelines.models.vision.anthropic import AnthropicDescriber  # noqa: PLC0415  reads its prompt

            return AnthropicDescriber(user.anthropic)
        if provider == "gemini" and user.gemini:
            from pipelines.models.vision.gemini import GeminiDescriber  # noqa: PLC0415  as above

            return GeminiDescriber(user.gemini)
    raise NoVision
