"""Who reads the logs tonight."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pipelines.models.providers.program import PREFIX, ProgramModel, command_of

if TYPE_CHECKING:
    from pipelines.models.calling import Model
    from pipelines.models.chain import Chain
    from pipelines.models.embedding import Embedder
    from pipelines.models.extraction import Extractor
    from pipelines.models.patience import Patience
    from pipelines.models.replies import Replies
    from pipelines.user_settings import UserSettings


def choose_extractor(user: UserSettings, replies: Replies | None = None, patience: Patience | None = None) -> Extractor:
    """Return who reads: the user's providers as a chain, with the rules behind it where they are named.

    What is named after the rules is never asked: they do not fail. No SDK is imported here.

    Args:
        user: the user's settings.
        replies: where replies are kept, or None to keep none.
        patience: how a model is asked again.
    """
    chain = choose_chain(user, replies, patience)
    if chain is None:
        return _rules()
    from pipelines.models.reading import ModelExtractor  # noqa: PLC0415  reads its prompt

    return ModelExtractor(chain, _rules() if "rules" in user.providers else None)


def choose_chain(user: UserSettings, replies: Replies | None = None, patience: Patience | None = None) -> Chain | None:
    """Return the language models among the user's providers, in order, or None where there is none before the rules."""
    models: list[Model] = []
    for provider in user.providers:
        if provider == "rules":
            break
        if model := _model(provider, user):
            models.append(model)
    if not models:
        return None
    from pipelines.models.chain import Chain  # noqa: PLC0415  the rules need none

    return Chain(models, replies, patience)


def _model(provider: str, user: UserSettings) -> Model | None:
    if provider.startswith(PREFIX):
        return ProgramModel(tuple(command_of(provider)), user.program_seconds, user.program_tokens)
    if provider == "anthropic" and user.anthropic:
        from pipelines.models.providers.anthropic import AnthropicModel  # noqa: PLC0415  only what is used

        return AnthropicModel(user.anthropic)
    if provider == "gemini" and user.gemini:
        from pipelines.models.providers.gemini import GeminiModel  # noqa: PLC0415  as above

        return GeminiModel(user.gemini)
    if provider == "openai" and user.openai:
        from pipelines.models.providers.openai import OpenAIModel  # noqa: PLC0415  as above

        return OpenAIModel(user.openai)
    return None


def _rules() -> Extractor:
    from pipelines.models.rules import RulesExtractor  # noqa: PLC0415  compiles its patterns

    return RulesExtractor(_local)


def _local() -> Embedder | None:
    """Return the model whose vectors the rules' head was trained on, where it is; nothing is sent to anybody."""
    from pipelines.models.embedders.choose import choose_local  # noqa: PLC0415  only a day with something new needs it

    return choose_local(os.environ)
