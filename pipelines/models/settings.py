"""What a provider needs to be asked: its model, where it is, its key and its limits."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Final

_USERINFO: Final = re.compile(r"(?<=://)[^/?#\s]*@")

PREFIX: Final = "exec:"
SECONDS: Final = 600.0
"""How long one run of a program may take, unless the user says otherwise."""
DEFAULT_MODELS: Final = {"anthropic": "claude-haiku-5-5", "gemini": "gemini-3.8-flash"}


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """One provider, as the user set it.

    Args:
        model: the model's name, as the provider spells it.
        api_key: the key itself; it is in no `repr` and no message.
        base_url: where the provider's wire is spoken; empty for the provider's own address.
        max_tokens: the most a reply may hold, thinking included.
        timeout_seconds: how long one call may take.
        max_retries: how often a call is made again after a failure that may pass.
        input_tokens: the most log text in one call, at four bytes a token; longer days are cut.
        concurrency: how many calls at the same time.
    """

    model: str
    api_key: str = field(repr=False)
    base_url: str = ""
    max_tokens: int = 8192
    timeout_seconds: float = 120.0
    max_retries: int = 2
    input_tokens: int = 24_000
    concurrency: int = 4

    @property
    def address(self) -> str:
        """The `base_url` as it may be written down: without a user's name and password."""
        return without_userinfo(self.base_url)


def without_userinfo(text: str) -> str:
    """Return a text with the addresses in it as they may be written down: without a user's name and password."""
    return _USERINFO.sub("", text)


def command_of(provider: str) -> list[str]:
    """Return the words of the command in `exec:COMMAND`; none where it is empty or a quote in it is not closed."""
    try:
        return shlex.split(provider.removeprefix(PREFIX))
    except ValueError:
        return []
