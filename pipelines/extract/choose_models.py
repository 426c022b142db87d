"""Choose the models that read the logs, and probe whether they can be reached."""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from pipelines.provider_settings import PREFIX, ProviderSettings, command_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.extract.llm.budget import Budget
    from pipelines.extract.llm.call import Model
    from pipelines.extract.llm.fallback import Chain
    from pipelines.extract.llm.provider import ProviderModel
    from pipelines.user_settings import UserSettings


SECONDS = 5.0
"""The timeout of a probe."""
_MODELS = {
    "anthropic": ("anthropic", "AnthropicModel"),
    "gemini": ("gemini", "GeminiModel"),
    "openai": ("openai", "OpenAIModel"),
    "claude-code": ("logged_in", "ClaudeCodeModel"),
    "codex": ("logged_in", "CodexModel"),
}
"""Provider → its module, which is imported only if the provider is used, and its class."""


def chain_of(
    user: UserSettings, providers: Sequence[str], root: Path | None = None, budget: Budget | None = None
) -> Chain | None:
    """Return some providers as a chain; None if there is no model among them. No SDK is imported here.

    Args:
        user: the user's settings.
        providers: the providers' names, in order.
        root: the memory that keeps the replies, or None to keep none.
        budget: the budget of the night, or None for no limit.
    """
    models: list[Model] = []
    for name in providers:
        if name.startswith(PREFIX):
            from pipelines.extract.llm.program import ProgramModel  # noqa: PLC0415  only if it is used

            models.append(ProgramModel(command_of(name), user.file.exec.timeout_seconds))
        elif name in user.models:
            models.append(model_of(name, user.models[name]))
    if not models:
        return None
    from pipelines.extract.llm.fallback import Chain  # noqa: PLC0415  the rules do not need it

    return Chain(models, root, budget=budget)


def model_of(name: str, settings: ProviderSettings) -> ProviderModel:
    """Return a provider's model."""
    module, kind = _MODELS[name]
    made: ProviderModel = getattr(import_module(f"pipelines.extract.llm.{module}"), kind)(settings)
    return made


def probe(user: UserSettings) -> list[tuple[str, str]]:
    """Return each of the user's providers, verifiers included, and why it cannot be used; empty if it answers.

    It asks for the list of models, which costs nothing and sends nothing. The rules run locally and are left out.
    """
    found = []
    for name in dict.fromkeys((*user.providers, *user.verify)):
        if name.startswith(PREFIX):
            program = next(iter(command_of(name)), "")
            found.append(("exec", "" if shutil.which(program) else f"names a program that was not found ({program})"))
        elif settings := user.models.get(name):
            found.append((name, model_of(name, replace(settings, timeout_seconds=SECONDS)).trouble()))
    return found
