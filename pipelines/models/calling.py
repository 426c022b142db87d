"""How a language model is asked, whoever it is: a `Call` goes in, an `Answer` or `ModelFailed` comes out.

Everything that stands around a model (patience, a chain, a budget, replies kept) is built on this one protocol.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pipelines.errors import FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.errors import ModelFailed
    from pipelines.models.describing import Picture


Place = tuple[str, int]
"""A day, and which piece of it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a language model.

    Args:
        task: what it is for: `extract`, `review`, `describe`.
        prompt_id: the prompt that was rendered.
        prompt_version: its version.
        system: the part that is the same every night, and may be cached by the provider.
        user: the part that holds the day.
        schema: the JSON schema of the reply.
        max_output_tokens: the most that the reply may hold, thinking included; 0 for what the user's settings say.
        image: what is to be looked at, or None.
        place: which part of the run's work it belongs to; calls are made in this order, or judged as if they were.
    """

    task: str
    prompt_id: str
    prompt_version: int
    system: str
    user: str
    schema: Mapping[str, Any]
    max_output_tokens: int = 0
    image: Picture | None = None
    place: Place = ("", 0)

    @property
    def digest(self) -> str:
        """The hash of what is asked: of the words, the schema and the image, whoever is asked."""
        asked = json.dumps([self.system, self.user, self.schema], sort_keys=True).encode()
        return hashlib.sha256(asked + (self.image.data if self.image else b"")).hexdigest()

    @property
    def bytes(self) -> int:
        """How many bytes of text and schema are sent; an image is not counted."""
        return len(f"{self.system}{self.user}{json.dumps(self.schema)}".encode(errors="replace"))

    @property
    def subject(self) -> str:
        """What it is about, as a failure names it."""
        return "image" if self.image else "review" if self.task == "review" else "day"


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
class Answer:
    """What a model said to one call, unchecked, and what it cost; `model` is the `name` of who was asked."""

    text: str
    model: str
    usage: Usage = Usage()


class Model(Protocol):
    """A language model that can be asked, by several threads at once."""

    @property
    def name(self) -> str:
        """Provider and model, as an item's `by` and the reports record them (`anthropic:claude-haiku-5-5`)."""

    @property
    def source(self) -> str:
        """The name and all else that decides who answers, such as an address; kept replies are told apart by it."""

    @property
    def input_tokens(self) -> int:
        """The most log text that one call should hold, at four bytes a token."""

    @property
    def output_tokens(self) -> int:
        """The most that an answer may hold, thinking included, where the call does not say."""

    @property
    def retries(self) -> int:
        """How often a call is worth making again after a failure that may pass."""

    def ask(self, call: Call) -> Answer:
        """Make the call, once.

        Raises:
            ModelFailed: no usable answer came; its kind says how, its usage what that cost.
        """


class BadReply(ValueError):
    """Raised by what reads a reply that cannot be used as a whole; its text ends a sentence that names the provider."""

    def __init__(self, why: str, kind: FailureKind = FailureKind.OUTSIDE_SCHEMA) -> None:
        super().__init__(why)
        self.kind = kind


def provider_of(model: str) -> str:
    """Return the provider in a model's name."""
    return model.partition(":")[0]


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

    def failed(self, fault: ModelFailed) -> None:
        """Count one failure."""
        self.failures[fault.provider, fault.kind] += 1

    def add(self, other: Tally) -> None:
        """Count what another one counted."""
        self.spent += other.spent
        self.failures += other.failures
        self.replies += other.replies
