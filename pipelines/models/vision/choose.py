"""Who looks at images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.errors import NoVision
from pipelines.models.describing import Limits
from pipelines.models.vision.seeing import SeeingModel

if TYPE_CHECKING:
    from pipelines.models.describing import Describer
    from pipelines.user_settings import UserSettings

# 5 MB once it is base64, which makes four bytes of three; 8000 pixels a side.
CLAUDE: Final = Limits(
    frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"}), 5 * 1024 * 1024 * 3 // 4, most_pixels=8000
)
# A whole request may have 20 MB, of which base64 takes a third and the instructions next to nothing.
GEMINI: Final = Limits(frozenset({"image/png", "image/jpeg", "image/webp"}), 14 * 1024 * 1024)


def choose_describer(user: UserSettings) -> Describer:
    """Return the first of the user's providers that can see. No SDK is imported here.

    Raises:
        NoVision: none can: no key is set, or the user's `providers` leave those out.
    """
    for provider in user.providers:
        if provider == "anthropic" and user.anthropic:
            from pipelines.models.providers.anthropic import AnthropicModel  # noqa: PLC0415  only what is used

            return SeeingModel(AnthropicModel(user.anthropic), CLAUDE)
        if provider == "gemini" and user.gemini:
            from pipelines.models.providers.gemini import GeminiModel  # noqa: PLC0415  as above

            return SeeingModel(GeminiModel(user.gemini), GEMINI)
    raise NoVision
