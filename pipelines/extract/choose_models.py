"""Choose the models that read the logs, and probe whether they can be reached."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.provider_settings import LOGINS, PREFIX, ProviderSettings, command_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.extract.extraction import Extractor
    from pipelines.extract.llm.budget import Budget
    from pipelines.extract.llm.call import Model
    from pipelines.extract.llm.fallback import Chain
    from pipelines.extract.llm.logged_in import LoggedInModel
    from pipelines.extract.llm.provider import ProviderModel
    from pipelines.extract.llm.replies import Replies
    from pipelines.user_settings import UserSettings


SECONDS: Final = 5.0
"""The timeout of a probe."""
_IMPORT_SECONDS = 15.0


def choose_extractor(
    user: UserSettings,
    replies: Replies | None = None,
    pause: Callable[[float], None] | None = None,
    budget: Budget | None = None,
) -> Extractor:
    """Return the extractor: the user's providers as a chain, or the rules. The arguments are those of `chain_of`."""
    from pipelines.extract.rules import RulesExtractor  # noqa: PLC0415  compiles its patterns

    if chain := chain_of(user, user.providers, replies, pause, budget):
        from pipelines.extract.llm.model_extractor import ModelExtractor  # noqa: PLC0415  reads its prompt

        return ModelExtractor(chain)
    return RulesExtractor()


def chain_of(
    user: UserSettings,
    providers: Sequence[str],
    replies: Replies | None = None,
    pause: Callable[[float], None] | None = None,
    budget: Budget | None = None,
) -> Chain | None:
    """Return some providers as a chain; None if there is no model among them. No SDK is imported here.

    Args:
        user: the user's settings.
        providers: the providers' names, in order.
        replies: the store of kept replies, or None to keep none.
        pause: pauses before a retry; by default, within the budget.
        budget: the budget of the night, or None for no limit.
    """
    models = _models(user, providers)
    if not models:
        return None
    from pipelines.extract.llm.budget import BudgetedModel  # noqa: PLC0415  the rules do not need it
    from pipelines.extract.llm.fallback import Chain  # noqa: PLC0415  as above
    from pipelines.provider_settings import price_of  # noqa: PLC0415  as above

    if budget:
        pause = pause or budget.pause
        models = [BudgetedModel(one, budget, price_of(one.name, user.prices)) for one in models]
    return Chain(models, replies, pause, user.prices)


def _models(user: UserSettings, providers: Sequence[str]) -> list[Model]:
    models: list[Model] = []
    for name in providers:
        if name.startswith(PREFIX):
            from pipelines.extract.llm.program import ProgramModel  # noqa: PLC0415  only if it is used

            models.append(ProgramModel(tuple(command_of(name)), user.exec.timeout_seconds, user.exec.input_tokens))
        elif settings := _settings_of(name, user):
            models.append(_provider_model(name, settings))
    return models


def _settings_of(name: str, user: UserSettings) -> ProviderSettings | None:
    return {"anthropic": user.anthropic, "gemini": user.gemini, "openai": user.openai, **user.logins}.get(name)


def _provider_model(name: str, settings: ProviderSettings) -> ProviderModel:
    if name == "anthropic":
        from pipelines.extract.llm.anthropic import AnthropicModel  # noqa: PLC0415  only if it is used

        return AnthropicModel(settings)
    if name == "gemini":
        from pipelines.extract.llm.gemini import GeminiModel  # noqa: PLC0415  as above

        return GeminiModel(settings)
    if name in LOGINS:
        return logged_in(name, settings)
    from pipelines.extract.llm.openai import OpenAIModel  # noqa: PLC0415  as above

    return OpenAIModel(settings)


def logged_in(name: str, settings: ProviderSettings) -> LoggedInModel:
    """Return the model that runs a program the user is logged in to."""
    from pipelines.extract.llm.logged_in import ClaudeCodeModel, CodexModel  # noqa: PLC0415  as above

    return (CodexModel if name == "codex" else ClaudeCodeModel)(settings)


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of probing one provider.

    Args:
        provider: its name.
        reached: whether it answered and accepted the key.
        why: why not, as the end of a sentence that begins with the provider; empty if it did.
        seconds: how long that took.
    """

    provider: str
    reached: bool
    why: str
    seconds: float


def probe(user: UserSettings, seconds: float = SECONDS) -> list[Probe]:
    """Probe each of the user's providers, verifiers included; the rules run locally and are left out.

    It asks for the list of models, which costs nothing and sends nothing.
    """
    named = dict.fromkeys((*user.providers, *user.verify))
    return [_probe(name, user, seconds) for name in named if name != "rules"]


def _probe(name: str, user: UserSettings, seconds: float) -> Probe:
    if name.startswith(PREFIX):
        words = command_of(name)
        there = bool(words) and shutil.which(words[0]) is not None
        return Probe("exec", there, "" if there else f"names a program that was not found ({words[0]})", 0.0)
    settings = _settings_of(name, user)
    if settings is None:
        raise LookupError(name)
    if name in LOGINS:
        began, why = time.monotonic(), logged_in(name, settings).trouble()
        return Probe(name, not why, why, round(time.monotonic() - began, 2))
    from pipelines.extract.llm.provider import as_failure, with_deadline  # noqa: PLC0415  the rules need neither

    why, began = "", time.monotonic()
    try:
        with_deadline(
            seconds + _IMPORT_SECONDS, _provider_model(name, replace(settings, timeout_seconds=seconds)).model_list
        )
    except Exception as fault:  # noqa: BLE001  any error of an SDK is a result
        why = as_failure(name, fault).why
    return Probe(name, not why, why, round(time.monotonic() - began, 2))
