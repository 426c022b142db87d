"""Who reads the logs tonight, and whether those can be reached."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.llm.program import ProgramModel
from pipelines.extract.llm.provider import as_failure, within
from pipelines.provider_settings import LOGINS, PREFIX, command_of

if TYPE_CHECKING:
    from pipelines.extract.extraction import Extractor
    from pipelines.extract.llm.budget import Budget
    from pipelines.extract.llm.call import Model
    from pipelines.extract.llm.fallback import RetryPolicy
    from pipelines.extract.llm.logged_in import LoggedInModel
    from pipelines.extract.llm.provider import ProviderModel
    from pipelines.extract.llm.replies import Replies
    from pipelines.extract.llm.verifier import ModelVerifier
    from pipelines.provider_settings import ProviderSettings
    from pipelines.search.embedders.embedder import Embedder
    from pipelines.user_settings import UserSettings


SECONDS: Final = 5.0
"""How long each provider has to answer a probe."""


def local_embedder() -> Embedder | None:
    """Return the local model, where it is; nothing is sent to anybody."""
    from pipelines.search.embedders.choose_embedder import choose_local  # noqa: PLC0415  only a day with something new needs it

    return choose_local(os.environ)


def choose_extractor(
    user: UserSettings, replies: Replies | None = None, retry: RetryPolicy | None = None, budget: Budget | None = None
) -> Extractor:
    """Return who reads: the user's providers as a chain, with the rules behind it where they are named.

    What is named after the rules is never asked: they do not fail. No SDK is imported here.

    Args:
        user: the user's settings.
        replies: where replies are kept, or None to keep none.
        retry: how a model is asked again.
        budget: what is left of the night, or None for no end.
    """
    from pipelines.extract.rules import RulesExtractor  # noqa: PLC0415  compiles its patterns

    models = _models(user)
    if not models:
        return RulesExtractor()
    from pipelines.extract.llm.budget import BudgetedModel  # noqa: PLC0415  the rules need none
    from pipelines.extract.llm.concurrency import ThrottledModel  # noqa: PLC0415  as above
    from pipelines.extract.llm.fallback import Chain  # noqa: PLC0415  as above
    from pipelines.extract.llm.model_extractor import ModelExtractor  # noqa: PLC0415  reads its prompt
    from pipelines.provider_settings import price_of  # noqa: PLC0415  as above

    def limited(model: Model, most: int) -> Model:
        price = price_of(model.name, user.prices) if budget else None
        return ThrottledModel(BudgetedModel(model, budget, price) if budget else model, most)

    chain = Chain([limited(*one) for one in models], replies, retry)
    last = RulesExtractor() if "rules" in user.providers else None
    return ModelExtractor(chain, last, at_once=max(most for _, most in models), prices=user.prices)


def verifier_of(
    extractor: Extractor,
    user: UserSettings,
    replies: Replies | None = None,
    retry: RetryPolicy | None = None,
    budget: Budget | None = None,
) -> ModelVerifier | None:
    """Return who verifies what an extractor finds: the same models, unless the user names others.

    None where no model reads: the rules keep the words of the log.

    Args:
        extractor: who reads.
        user: the user's settings.
        replies: where replies are kept, or None to keep none.
        retry: how a model is asked again.
        budget: what is left of the night, or None for no end.
    """
    from pipelines.extract.llm.model_extractor import ModelExtractor  # noqa: PLC0415  reads its prompt
    from pipelines.extract.llm.verifier import ModelVerifier  # noqa: PLC0415  as above

    if not isinstance(extractor, ModelExtractor):
        return None
    others = replace(user, providers=user.verify)
    reader = choose_extractor(others, replies, retry, budget) if user.verify else extractor
    if not isinstance(reader, ModelExtractor):
        return None
    return ModelVerifier(reader.chain, prices=user.prices, at_once=reader.at_once)


def _models(user: UserSettings) -> list[tuple[Model, int]]:
    """Return the models that come before the rules, each with how many calls at once it takes."""
    asked = user.providers[: user.providers.index("rules")] if "rules" in user.providers else user.providers
    models: list[tuple[Model, int]] = []
    for name in asked:
        if name.startswith(PREFIX):
            program = ProgramModel(tuple(command_of(name)), user.exec.timeout_seconds, user.exec.input_tokens)
            models.append((program, user.exec.concurrency))
        elif settings := _settings_of(name, user):
            models.append((_provider_model(name, settings), settings.concurrency))
    return models


def _settings_of(name: str, user: UserSettings) -> ProviderSettings | None:
    return {"anthropic": user.anthropic, "gemini": user.gemini, "openai": user.openai, **user.logins}.get(name)


def _provider_model(name: str, settings: ProviderSettings) -> ProviderModel:
    if name == "anthropic":
        from pipelines.extract.llm.anthropic import AnthropicModel  # noqa: PLC0415  only what is used

        return AnthropicModel(settings)
    if name == "gemini":
        from pipelines.extract.llm.gemini import GeminiModel  # noqa: PLC0415  as above

        return GeminiModel(settings)
    if name in LOGINS:
        return logged_in(name, settings)
    from pipelines.extract.llm.openai import OpenAIModel  # noqa: PLC0415  as above

    return OpenAIModel(settings)


def logged_in(name: str, settings: ProviderSettings) -> LoggedInModel:
    """Return the model that runs a program which the user is logged in to."""
    from pipelines.extract.llm.logged_in import ClaudeCodeModel, CodexModel  # noqa: PLC0415  as above

    return (CodexModel if name == "codex" else ClaudeCodeModel)(settings)


@dataclass(frozen=True, slots=True)
class Probe:
    """How one provider answered.

    Args:
        provider: its name.
        reached: whether it did, and took the key.
        why: why not, the end of a sentence that begins with the provider; empty where it did.
        seconds: how long that took.
    """

    provider: str
    reached: bool
    why: str
    seconds: float


def probe(user: UserSettings, seconds: float = SECONDS) -> list[Probe]:
    """Return how each of the user's providers answers, those that verify included; the rules, which run here, are not.

    A list of models is asked for, which costs nothing and sends nothing.
    """
    named = dict.fromkeys((*user.providers, *user.verify))
    return [_probe(name, user, seconds) for name in named if name != "rules"]


def _probe(name: str, user: UserSettings, seconds: float) -> Probe:
    if name.startswith(PREFIX):
        words = command_of(name)
        there = bool(words) and shutil.which(words[0]) is not None
        return Probe("exec", there, "" if there else f"names a program that is not there ({words[0]})", 0.0)
    settings = _settings_of(name, user)
    if settings is None:
        raise LookupError(name)
    if name in LOGINS:
        began, why = time.monotonic(), logged_in(name, settings).trouble()
        return Probe(name, not why, why, round(time.monotonic() - began, 2))
    # Made before it is timed: what an SDK takes to be imported is no time in which nobody answered.
    why, ask = "", _provider_model(name, replace(settings, timeout_seconds=seconds)).model_list()
    began = time.monotonic()
    try:
        within(seconds, ask)
    except Exception as fault:  # noqa: BLE001  whatever an SDK raises is an answer to the question
        why = as_failure(name, fault).why
    return Probe(name, not why, why, round(time.monotonic() - began, 2))
