"""What the providers' models, and their batches, tell of themselves: all of it stands in the user's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from pipelines.models.settings import ProviderSettings


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


Settled = TypeVar("Settled", bound=SettledModel)


@dataclass(frozen=True, slots=True)
class SettledBatches(Generic[Settled]):
    """The batches of such a model; who inherits says how large one may be, and sends and collects them."""

    model: Settled

    @property
    def provider(self) -> str:
        """The provider's name."""
        return self.model.provider

    @property
    def name(self) -> str:
        """Provider and model."""
        return self.model.name

    @property
    def source(self) -> str:
        """The name, and the address where it is not the provider's own."""
        return self.model.source

    @property
    def base_url(self) -> str:
        """The address, without a user's name and password: notes hold it."""
        return self.model.settings.address

    @property
    def output_tokens(self) -> int:
        """The most that an answer may hold."""
        return self.model.output_tokens

    @property
    def retries(self) -> int:
        """How often sending is worth a further try."""
        return self.model.retries

    @property
    def seconds(self) -> float:
        """How long a request may take."""
        return self.model.settings.timeout_seconds
