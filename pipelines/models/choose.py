"""Who reads the logs tonight."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.models.extraction import Extractor
    from pipelines.user_settings import UserSettings


def choose_extractor(user: UserSettings) -> Extractor:
    """Return the first of the user's providers that can be used; the rules, which need no key, where none can.

    No SDK is imported here: an extractor brings in its own when it is first asked.
    """
    for provider in user.providers:
        if extractor := _extractor(provider, user):
            return extractor
    return _rules()


def _extractor(provider: str, user: UserSettings) -> Extractor | None:
    if provider == "anthropic" and user.anthropic:
        from pipelines.models.anthropic import AnthropicExtractor  # noqa: PLC0415  reads its prompt

        return AnthropicExtractor(user.anthropic)
    if provider == "gemini" and user.gemini:
        from pipelines.models.gemini import GeminiExtractor  # noqa: PLC0415  as above

        return GeminiExtractor(user.gemini)
    return _rules() if provider == "rules" else None


def _rules() -> Extractor:
    from pipelines.models.rules import RulesExtractor  # noqa: PLC0415  compiles its patterns

    return RulesExtractor()
