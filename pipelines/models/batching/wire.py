"""How a provider's batches are sent and collected: the one protocol that each provider with batches fills."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from pipelines.errors import ModelFailed
    from pipelines.models.calling import Answer, Call


class Stage(StrEnum):
    """How far a batch is."""

    OPEN = "open"
    ENDED = "ended"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of sending a batch; one of the three is there.

    Args:
        ident: the provider's name for it.
        refused: why it was certainly not taken, so that nothing of it will ever be paid.
        unsure: why nobody can tell whether it was taken.
    """

    ident: str = ""
    refused: ModelFailed | None = None
    unsure: ModelFailed | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a batch came to for one of its calls: an unchecked answer or a failure; `id` is the call's."""

    id: str
    answer: Answer | None = None
    fault: ModelFailed | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """A batch as the provider tells it.

    Args:
        stage: how far it is; `GONE` where the provider does not know it any more.
        results: what it came to, in any order.
        rest: what became of the calls that have no result, or None where each must have one.
    """

    stage: Stage
    results: tuple[Result, ...] = ()
    rest: ModelFailed | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A batch that was looked for: its name, or nothing; `unsure` where one may be it, and that cannot be told yet."""

    ident: str = ""
    unsure: bool = False


class Batcher(Protocol):
    """A language model whose provider takes calls in batches. Each method makes its requests once."""

    @property
    def provider(self) -> str:
        """The provider's name."""

    @property
    def name(self) -> str:
        """Provider and model, as `Model.name` has it."""

    @property
    def source(self) -> str:
        """As `Model.source` has it."""

    @property
    def base_url(self) -> str:
        """The address, without a user's name and password, or empty for the provider's own."""

    @property
    def output_tokens(self) -> int:
        """The most that an answer may hold."""

    @property
    def retries(self) -> int:
        """How often a batch that was refused for a reason that may pass is worth sending again."""

    @property
    def most_calls(self) -> int:
        """The most calls of one batch."""

    @property
    def most_bytes(self) -> int:
        """The most bytes of one batch, as `Call.bytes` counts them."""

    def submit(self, mark: str, calls: Sequence[tuple[str, Call]]) -> Sent:
        """Send calls as a batch.

        Args:
            mark: what the batch can be found by, and what each call's id begins with.
            calls: each with its id.
        """

    def look(self, ident: str) -> Looked:
        """Ask how far a batch is, and for its results where it has ended: all of them, or none.

        Raises:
            ModelFailed: it cannot be told.
        """

    def find(self, mark: str, count: int, known: Container[str]) -> Found:
        """Look for a batch whose sending nobody saw the end of.

        Args:
            mark: its mark.
            count: how many calls it has.
            known: names of batches that are others.

        Raises:
            ModelFailed: it cannot be told.
        """

    def cancel(self, ident: str) -> None:
        """Ask for a batch to be ended; calls that are under way may still be answered, and paid.

        Raises:
            ModelFailed: it cannot be told whether it will be.
        """
