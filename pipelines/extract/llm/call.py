"""How a language model is asked, whoever it is: a `Call` goes in, an `Answer` or `ModelFailed` comes out.

Everything that stands around a model (patience, a chain, a budget, replies kept) is built on this one protocol.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pipelines.usage import FailureKind, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping


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
class Answer:
    """What a model said to one call, unchecked, and what it cost; `model` is the `name` of who was asked."""

    text: str
    model: str
    usage: Usage = field(default_factory=Usage)


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


# ---------------------------------------- what goes to who describes images and what comes back
# the one interface that every provider that can see fills.


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as it is sent: its bytes, and what they are by their own beginning, as `image/png`."""

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a provider takes.

    Args:
        media_types: the kinds of images.
        most_bytes: the size of the file.
        most_pixels: the longer side, where the provider has such a limit; 0 where it has none.
    """

    media_types: frozenset[str]
    most_bytes: int
    most_pixels: int = 0


@dataclass(frozen=True, slots=True)
class Description:
    """What a model saw.

    Args:
        description: one paragraph, at most `pipelines.extract.llm.images.LONGEST` characters; not empty.
        title: what the image is called; may be empty.
        by: who described it, as the sidecar records it (`anthropic:claude-haiku-5-5@describe/1`).
        input_tokens: what the provider counted.
        output_tokens: likewise.
    """

    description: str
    title: str
    by: str
    input_tokens: int = 0
    output_tokens: int = 0


class Describer(Protocol):
    """Who looks at an image and says what it shows."""

    @property
    def name(self) -> str:
        """Who it is, with its model and the version of its prompt."""

    @property
    def limits(self) -> Limits:
        """What it takes; whoever calls keeps to it."""

    def describe(self, picture: Picture) -> Description:
        """Return what an image shows.

        Raises:
            DescribingFailed: no usable answer came.
        """
