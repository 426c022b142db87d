"""What model calls used: tokens, money, failures."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from operator import add
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Spent:
    """What one model used.

    Args:
        model: the model.
        calls: the number of calls over the network.
        usage: their tokens.
        usd: their cost, or None if the price is unknown.
    """

    model: str
    calls: int = 0
    usage: Usage = Usage()
    usd: float | None = None

    def __add__(self, other: Spent) -> Spent:
        """Return the sum of both; they must be of the same model."""
        usd = None if self.usd is None and other.usd is None else (self.usd or 0.0) + (other.usd or 0.0)
        return Spent(self.model, self.calls + other.calls, self.usage + other.usage, usd)


@dataclass(slots=True)
class Tally:
    """What the calls for one piece of work used, whether it succeeded or not.

    Args:
        spent: what each call cost, including failed ones.
        failures: (provider, kind) → count.
        cost: (model, usage) → the price in USD, or None if it is unknown.
    """

    spent: list[Spent] = field(default_factory=list)
    failures: Counter[tuple[str, FailureKind]] = field(default_factory=Counter)
    cost: Callable[[str, Usage], float | None] = lambda _, __: None

    @property
    def by_model(self) -> tuple[Spent, ...]:
        """What was spent on each model, ordered by name."""
        found: dict[str, Spent] = {}
        for one in self.spent:
            found[one.model] = found[one.model] + one if one.model in found else one
        return tuple(found[model] for model in sorted(found))

    @property
    def calls(self) -> int:
        """The number of network calls made or programs run."""
        return sum(one.calls for one in self.spent)

    @property
    def usage(self) -> Usage:
        """The tokens of all calls."""
        return sum((one.usage for one in self.spent), Usage())

    @property
    def usd(self) -> float | None:
        """The total cost in USD of the calls with a known price; None if something was spent and no price is known."""
        known = [one.usd for one in self.spent if one.usd is not None]
        return round(sum(known), 6) if known or not self.spent else None

    @property
    def failing(self) -> dict[str, FailureKind]:
        """Each provider that was asked and never gave a usable answer, with one way in which it failed."""
        calls, found = Counter[str](), dict[str, FailureKind]()
        for one in self.spent:
            calls[one.model.partition(":")[0]] += one.calls
        for (provider, kind), count in sorted(self.failures.items()):
            if kind not in {FailureKind.NOT_ASKED, FailureKind.OVER_BUDGET}:
                calls[provider] -= count
                found.setdefault(provider, kind)
        return {provider: kind for provider, kind in found.items() if calls[provider] <= 0}

    def paid(self, model: str, usage: Usage | None) -> None:
        """Count one call that was made."""
        used = usage or Usage()
        self.spent.append(Spent(model, 1, used, self.cost(model, used)))

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
    def is_final(self) -> bool:
        """Whether no other call to this provider can succeed in this run."""
        return self in {self.UNAUTHORISED, self.OVER_BUDGET}

    @property
    def concerns_provider(self) -> bool:
        """Whether other days would fail in the same way. With the remaining kinds, the cause may be the day itself."""
        return self.is_final or self in {self.DOWN, self.RATE_LIMITED, self.NOT_ASKED}


_BY_STATUS = {
    400: "rejected the request as invalid",
    401: "refused the key; check that it is correct and still valid",
    402: "requires payment",
    403: "does not allow this key to use the model",
    404: "does not know the model, or the address is wrong",
    408: "gave no answer in time",
    413: "rejected the request as too long",
    422: "rejected the request as invalid",
    429: "is over its rate limit or quota",
    503: "is temporarily unavailable",
    504: "gave no answer in time",
    529: "is overloaded",
}
_STATUS = ("status_code", "code", "http_status")
_TIMEOUTS = frozenset({"APITimeoutError", "TimeoutException", "TimeoutError", "Timeout"})
_TRANSPORT = frozenset({"APIConnectionError", "TransportError", "ConnectionError", "OSError", "HTTPException"})
_GARBLED = frozenset({"APIResponseValidationError", "UnknownApiResponseError"})
_UNPACKING = (AttributeError, LookupError, TypeError, ValueError)


def reason(fault: BaseException) -> str:
    """Return the predicate of a sentence that says what went wrong, derived only from the type of an SDK's exception.

    The exception's own message is never used: it may quote the request, a key, an address or the log. Exceptions are
    recognised by class name, because two SDKs over two HTTP libraries raise them.
    """
    cause = getattr(fault, "reason", None)  # urllib wraps the actual exception
    fault = cause if isinstance(cause, BaseException) else fault
    status = next((found for name in _STATUS if (found := getattr(fault, name, None))), None)
    if isinstance(status, int) and status >= 400:  # noqa: PLR2004  where HTTP's error statuses begin
        wrong_key = "API_KEY_INVALID" in str(getattr(fault, "details", ""))  # Gemini's status for that is 400
        otherwise = "had an internal error" if status >= 500 else "rejected the request"  # noqa: PLR2004  as above
        return f"{_BY_STATUS.get(401 if wrong_key else status, otherwise)} (status {status})"
    kinds = {kind.__name__ for kind in type(fault).__mro__}
    if kinds & _TIMEOUTS:
        return "gave no answer in time"
    if kinds & _TRANSPORT:
        return "could not be reached, or the connection broke"
    # Some SDKs unpack an answer without checking it.
    if isinstance(status, int) or isinstance(fault, _UNPACKING) or kinds & _GARBLED:
        return "answered with something that is not its wire format"
    return f"failed with an unknown error ({type(fault).__name__})"


def spent(models: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """Return what runs cost, by their reports on models: `usd` (null if no price is known), `tokens` and `runs`."""
    usd: list[float] = []
    tokens = runs = 0
    for model in models:
        runs += 1
        tokens += sum(value for key in ("input_tokens", "output_tokens") if isinstance(value := model.get(key), int))
        usd += [float(value)] if isinstance(value := model.get("usd"), int | float) else []
    return {"runs": runs, "tokens": tokens, "usd": round(sum(usd), 6) if usd or not runs else None}
