"""Whether the user's models can be reached: a list of models is asked for, which costs nothing and sends nothing."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.models.providers.deadline import within
from pipelines.models.providers.faults import as_failure
from pipelines.provider_settings import PREFIX, command_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.provider_settings import ProviderSettings
    from pipelines.user_settings import UserSettings

SECONDS: Final = 5.0
"""How long each provider has."""


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
    """Return how each of the user's providers answers; the rules, which run here, are left out."""
    return [_probe(name, user, seconds) for name in user.providers if name != "rules"]


def _probe(name: str, user: UserSettings, seconds: float) -> Probe:
    if name.startswith(PREFIX):
        words = command_of(name)
        there = bool(words) and shutil.which(words[0]) is not None
        return Probe("exec", there, "" if there else f"names a program that is not there ({words[0]})", 0.0)
    why, ask = "", _question(name, user, seconds)
    began = time.monotonic()
    try:
        within(seconds, ask)
    except Exception as fault:  # noqa: BLE001  whatever an SDK raises is an answer to the question
        why = as_failure(name, fault).why
    return Probe(name, not why, why, round(time.monotonic() - began, 2))


def _question(name: str, user: UserSettings, seconds: float) -> Callable[[], object]:
    limits = {"anthropic": user.anthropic, "gemini": user.gemini, "openai": user.openai}
    settings = limits[name]
    if settings is None:
        raise LookupError(name)
    asked = {"anthropic": _anthropic, "gemini": _gemini, "openai": _openai}[name]
    return asked(replace(settings, timeout_seconds=seconds))


# A question is made before it is timed: what an SDK takes to be imported is no time in which nobody answered.


def _anthropic(settings: ProviderSettings) -> Callable[[], object]:
    from pipelines.models.providers.anthropic import AnthropicModel  # noqa: PLC0415  only what is used

    client = AnthropicModel(settings).client()
    models = client.models

    def ask() -> None:
        with client:
            models.list(limit=1)

    return ask


def _gemini(settings: ProviderSettings) -> Callable[[], object]:
    from pipelines.models.providers.gemini import GeminiModel  # noqa: PLC0415  as above

    client = GeminiModel(settings).client()
    models = client.models

    def ask() -> None:
        with client:
            models.list(config={"page_size": 1})

    return ask


def _openai(settings: ProviderSettings) -> Callable[[], object]:
    from pipelines.models.providers.openai import OpenAIModel  # noqa: PLC0415  as above

    return OpenAIModel(settings).list_models
