"""Who reads the logs tonight."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pipelines.models.providers.program import ProgramModel
from pipelines.provider_settings import PREFIX, command_of

if TYPE_CHECKING:
    from pipelines.models.budget import Budget
    from pipelines.models.calling import Model
    from pipelines.models.chain import Chain
    from pipelines.models.extraction import Extractor
    from pipelines.models.patience import Patience
    from pipelines.models.replies import Replies
    from pipelines.search.embedders.embedder import Embedder
    from pipelines.user_settings import UserSettings


def local_embedder() -> Embedder | None:
    """Return the local model, where it is; nothing is sent to anybody."""
    from pipelines.search.embedders.choose_embedder import choose_local  # noqa: PLC0415  only a day with something new needs it

    return choose_local(os.environ)


def choose_extractor(
    user: UserSettings,
    replies: Replies | None = None,
    patience: Patience | None = None,
    budget: Budget | None = None,
) -> Extractor:
    """Return who reads: the user's providers as a chain, with the rules behind it where they are named.

    What is named after the rules is never asked: they do not fail. No SDK is imported here.

    Args:
        user: the user's settings.
        replies: where replies are kept, or None to keep none.
        patience: how a model is asked again.
        budget: what is left of the night, or None for no end.
    """
    chain = choose_chain(user, replies, patience, budget)
    if chain is None:
        return _rules()
    from pipelines.models.reading import ModelExtractor  # noqa: PLC0415  reads its prompt

    last = _rules() if "rules" in user.providers else None
    return ModelExtractor(chain, last, at_once=calls_at_once(user), prices=user.prices)


def asks_models(user: UserSettings) -> bool:
    """Whether a language model is asked, before the rules are."""
    return bool(_models(user))


def calls_at_once(user: UserSettings) -> int:
    """Return how many calls any of the providers takes at the same time; 1 where none is asked."""
    return max((most for _, most in _models(user)), default=1)


def choose_chain(
    user: UserSettings,
    replies: Replies | None = None,
    patience: Patience | None = None,
    budget: Budget | None = None,
) -> Chain | None:
    """Return the language models among the user's providers, in order, or None where there is none before the rules."""
    models = _models(user)
    if not models:
        return None
    from pipelines.models.chain import Chain  # noqa: PLC0415  the rules need none
    from pipelines.models.slots import Slots  # noqa: PLC0415  as above

    asked = [Slots(_capped(model, user, budget), most) for model, most in models]
    return Chain(asked, replies, patience)


def _capped(model: Model, user: UserSettings, budget: Budget | None) -> Model:
    if budget is None:
        return model
    from pipelines.models.capped import Capped  # noqa: PLC0415  few users set caps
    from pipelines.provider_settings import price_of  # noqa: PLC0415  as above

    return Capped(model, budget, price_of(model.name, user.prices))


def _models(user: UserSettings) -> list[tuple[Model, int]]:
    """Return the models that come before the rules, each with how many calls at once it takes."""
    asked = user.providers[: user.providers.index("rules")] if "rules" in user.providers else user.providers
    limits = {"anthropic": user.anthropic, "gemini": user.gemini, "openai": user.openai}
    models = []
    for provider in asked:
        if model := _model(provider, user):
            limit = limits.get(provider)
            models.append((model, limit.concurrency if limit else user.program_concurrency))
    return models


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

    return RulesExtractor()
