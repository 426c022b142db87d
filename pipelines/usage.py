"""What model calls used and cost, and how they failed."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Usage:
    """The tokens of one or more calls.

    Args:
        input_tokens: all tokens sent, including the next two.
        output_tokens: all tokens received, including thinking.
        cached_tokens: the part of the input read from the provider's cache.
        written_tokens: the part of the input written to that cache.
        usd: the cost reported by the provider, or 0 if it reports none.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Return the sum of both."""
        return Usage(*map(add, astuple(self), astuple(other)))

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input_tokens + self.output_tokens


_MILLION = 1_000_000


class Price(NamedTuple):
    """What a model costs, in USD per million tokens.

    Args:
        model: a pattern for model names (`anthropic:claude-haiku-5-5*`).
        input: tokens sent.
        output: tokens received, thinking included.
        cached: tokens read from the provider's cache; by default the price of input.
        written: tokens written to the cache; by default the price of input.
    """

    model: str
    input: float
    output: float
    cached: float | None = None
    written: float | None = None

    def cost(self, usage: Usage) -> float:
        """Return the cost of a call with this usage, in USD; a cost reported by the provider overrides the table."""
        if usage.usd:
            return usage.usd
        plain = max(0, usage.input_tokens - usage.cached_tokens - usage.written_tokens)
        sent = plain * self.input
        sent += usage.cached_tokens * (self.input if self.cached is None else self.cached)
        sent += usage.written_tokens * (self.input if self.written is None else self.written)
        return (sent + usage.output_tokens * self.output) / _MILLION


@cache
def price_of(model: str) -> Price | None:
    """Return the price of a model by its name (`anthropic:claude-haiku-5-5`), or None if unknown."""
    fitting = [price for price in price_table() if fnmatchcase(model, price.model)]
    return max(fitting, key=lambda price: len(price.model), default=None)


@cache
def price_table() -> tuple[Price, ...]:
    """Return the prices in the package's `prices.toml`."""
    data: dict[str, list[dict[str, Any]]] = tomllib.loads(Path(__file__).with_name("prices.toml").read_text("utf-8"))
    return tuple(Price(**row) for row in data["price"])


def usd_of(model: str, usage: Usage) -> float | None:
    """Return what a call of a model cost, in USD, or None if the price is unknown."""
    price = price_of(model)
    return price.cost(usage) if price else usage.usd or None


class Spent(NamedTuple):
    """What one call of a model used.

    Args:
        model: the model.
        usage: the tokens.
        usd: the cost, or None if the price is unknown.
    """

    model: str
    usage: Usage
    usd: float | None


@dataclass
class Tally:
    """What the calls for one piece of work used, whether it succeeded or not.

    Args:
        spent: what each network call made or program run cost, including failed ones.
        failures: (provider, kind) → count.
    """

    spent: list[Spent] = field(default_factory=list)
    failures: Counter[tuple[str, FailureKind]] = field(default_factory=Counter)

    @property
    def usd(self) -> float | None:
        """The total cost in USD of the calls with a known price; None if something was spent and no price is known."""
        known = [one.usd for one in self.spent if one.usd is not None]
        return round(sum(known), 6) if known or not self.spent else None

    @property
    def failing(self) -> dict[str, FailureKind]:
        """Each provider that was asked and never gave a usable answer, with one way in which it failed."""
        calls, found = Counter(one.model.partition(":")[0] for one in self.spent), dict[str, FailureKind]()
        for (provider, kind), count in sorted(self.failures.items()):
            if kind not in {FailureKind.NOT_ASKED, FailureKind.OVER_BUDGET}:
                calls[provider] -= count
                found.setdefault(provider, kind)
        return {provider: kind for provider, kind in found.items() if calls[provider] <= 0}

    def paid(self, model: str, usage: Usage | None) -> None:
        """Count one call that was made."""
        used = usage or Usage()
        self.spent.append(Spent(model, used, usd_of(model, used)))

    def failed(self, provider: str, kind: FailureKind) -> None:
        """Count one failure."""
        self.failures[provider, kind] += 1

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.spent += other.spent
        self.failures += other.failures


class FailureKind(StrEnum):
    """How a model call failed. Reports count failures by provider and kind."""

    DOWN = "down"
    TIMED_OUT = "timed-out"
    RATE_LIMITED = "rate-limited"
    UNAUTHORISED = "unauthorised"
    BAD_REQUEST = "bad-request"
    UNUSABLE = "unusable"
    NOT_ASKED = "not-asked"
    OVER_BUDGET = "over-budget"

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed a moment later."""
        return self in {self.DOWN, self.TIMED_OUT, self.RATE_LIMITED}

    @property
    def concerns_provider(self) -> bool:
        """Whether other days would fail in the same way. With the remaining kinds, the cause may be the day itself."""
        return self in {self.UNAUTHORISED, self.OVER_BUDGET, self.DOWN, self.RATE_LIMITED, self.NOT_ASKED}


GARBLED = "answered with something that is not its wire format"
BAD_KEY = "refused the key; check that it is correct and still valid"
_LATE = FailureKind.TIMED_OUT, "gave no answer in time"
_REFUSED = FailureKind.BAD_REQUEST, "rejected the request as invalid"
_DOWN = FailureKind.DOWN, "had an internal error"
_BY_STATUS = {
    401: (FailureKind.UNAUTHORISED, BAD_KEY),
    402: (FailureKind.UNAUTHORISED, "requires payment"),
    403: (FailureKind.UNAUTHORISED, "does not allow this key to use the model"),
    404: (FailureKind.UNAUTHORISED, "does not know the model, or the address is wrong"),
    408: _LATE,
    413: (FailureKind.UNUSABLE, "rejected the request as too long"),
    429: (FailureKind.RATE_LIMITED, "is over its rate limit or quota"),
    504: _LATE,
}
_STATUS = ("status_code", "code", "http_status")
_LOST = "could not be reached, or the connection broke"
# An SDK wraps what the transport raised, and these names are common to the SDKs and their HTTP libraries. A connection
# that broke after the request was sent may have been paid for.
_BY_NAME = {
    "APITimeoutError TimeoutException TimeoutError Timeout": _LATE,
    "RemoteProtocolError ReadError IncompleteRead ConnectionResetError BrokenPipeError": (FailureKind.TIMED_OUT, _LOST),
    "APIConnectionError TransportError ConnectionError OSError HTTPException": (FailureKind.DOWN, _LOST),
}
_REDIRECTS_BEGIN, _ERRORS_BEGIN, _OWN_FAULTS_BEGIN = 300, 400, 500


def status_of(fault: BaseException) -> int | None:
    """Return the HTTP status of an SDK's exception, or None."""
    found = (getattr(fault, name, None) for name in _STATUS)
    return next((one for one in found if isinstance(one, int) and one >= _REDIRECTS_BEGIN), None)


def failure_of(fault: BaseException) -> tuple[FailureKind, str]:
    """Return the kind of a failure, and the predicate of a sentence on it, from the type of an SDK's exception alone.

    The exception's own message is never used: it may quote the request, a key, an address or the log.
    """
    if status := status_of(fault):
        if status < _ERRORS_BEGIN:
            kind, why = FailureKind.BAD_REQUEST, "sent a redirect, which is not followed; set base_url to its target"
        else:
            kind, why = _BY_STATUS.get(status, _DOWN if status >= _OWN_FAULTS_BEGIN else _REFUSED)
        return kind, f"{why} (status {status})"
    behind = fault.__cause__ or getattr(fault, "reason", None)  # urllib wraps the actual exception
    names = {kind.__name__ for one in (fault, behind) for kind in type(one).__mro__}
    known = next((said for listed, said in _BY_NAME.items() if not names.isdisjoint(listed.split())), None)
    return known or (FailureKind.UNUSABLE, f"{GARBLED} ({type(fault).__name__})")


def spent(models: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """Return what runs cost, by their reports on models: `usd` (null if no price is known), `tokens` and `runs`."""
    usd = list[float]()
    tokens = runs = 0
    for model in models:
        runs += 1
        tokens += sum(value for key in ("input_tokens", "output_tokens") if isinstance(value := model.get(key), int))
        usd += [float(value)] if isinstance(value := model.get("usd"), int | float) else []
    return {"runs": runs, "tokens": tokens, "usd": round(sum(usd), 6) if usd or not runs else None}
