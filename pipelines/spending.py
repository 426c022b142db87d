"""What calls of models came to: tokens, money, failures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.failure_kinds import FailureKind


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one or more calls.

    Args:
        input_tokens: all that was sent, the next two included.
        output_tokens: all that was received, thinking included.
        cached_tokens: the part of the input that came out of the provider's cache.
        written_tokens: the part of the input that was written into it.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Return the tokens of both."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.written_tokens + other.written_tokens,
        )


@dataclass(frozen=True, slots=True)
class Spent:
    """What one model was used for.

    Args:
        model: who.
        calls: how many calls were made over the network.
        usage: their tokens.
        usd: what they cost, or None where the price is not known.
    """

    model: str
    calls: int = 0
    usage: Usage = Usage()
    usd: float | None = None

    def __add__(self, other: Spent) -> Spent:
        """Return both together; they are of the same model."""
        usd = None if self.usd is None and other.usd is None else (self.usd or 0.0) + (other.usd or 0.0)
        return Spent(self.model, self.calls + other.calls, self.usage + other.usage, usd)


def total(*parts: tuple[Spent, ...]) -> tuple[Spent, ...]:
    """Return what was spent on each model, in order of their names."""
    found: dict[str, Spent] = {}
    for one in (one for part in parts for one in part):
        found[one.model] = found[one.model] + one if one.model in found else one
    return tuple(found[model] for model in sorted(found))


@dataclass(slots=True)
class Tally:
    """What the calls for one piece of work came to, whether the work succeeded or not.

    Args:
        spent: what each call cost that was made, the failed ones included.
        failures: (provider, kind) → how often.
        replies: the keys of the replies that were used, in order, kept ones and new ones.
        cost: what a call of a model costs in USD, by its usage, or None where the price is not known.
    """

    spent: list[Spent] = field(default_factory=list)
    failures: Counter[tuple[str, FailureKind]] = field(default_factory=Counter)
    replies: list[str] = field(default_factory=list)
    cost: Callable[[str, Usage], float | None] = lambda _, __: None

    def paid(self, model: str, usage: Usage | None) -> None:
        """Count one call that was made."""
        used = usage or Usage()
        self.spent.append(Spent(model, 1, used, self.cost(model, used)))

    def failed(self, provider: str, kind: FailureKind) -> None:
        """Count one failure."""
        self.failures[provider, kind] += 1

    def add(self, other: Tally) -> None:
        """Count what another one counted."""
        self.spent += other.spent
        self.failures += other.failures
        self.replies += other.replies
