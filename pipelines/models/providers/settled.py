"""What the providers' models tell of themselves: all of it stands in the user's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pipelines.provider_settings import ProviderSettings


@dataclass(frozen=True, slots=True)
class SettledModel:
    """A model that is asked as the user's settings say; who inherits says of which provider it is, and asks."""

    provider: ClassVar[str]
    settings: ProviderSettings

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self.provider}:{self.settings.model}"

    @property
    def source(self) -> str:
        """The name, and the address where it is not the provider's own."""
        return f"{self.name} {self.settings.address}".strip()

    @property
    def input_tokens(self) -> int:
        """The most log text in one call."""
        return self.settings.input_tokens

    @property
    def output_tokens(self) -> int:
        """The most that an answer may hold."""
        return self.settings.max_tokens

    @property
    def retries(self) -> int:
        """How often a call is worth making again."""
        return self.settings.max_retries
