"""The weights of the head: a small file beside this module, made by `make train-head` and read by numpy-free code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.memory.items import ItemType

if TYPE_CHECKING:
    from collections.abc import Mapping

EMBEDDER: Final = "local:all-MiniLM-L6-v2@int8"
"""The model whose vectors the shipped weights go with, precision included: other vectors mean nothing to them."""

FILE: Final = Path(__file__).with_name("head.json")


@dataclass(frozen=True, slots=True)
class Line:
    """A sum of features: `bias + Σ weight × feature`."""

    bias: float
    weights: Mapping[str, float]

    def at(self, features: Mapping[str, float]) -> float:
        """Return the sum for the features of one remark."""
        return self.bias + sum(weight * features[name] for name, weight in self.weights.items())


@dataclass(frozen=True, slots=True)
class TypeWeights:
    """How one type is told.

    Args:
        type: which one.
        gate: the cheap look, before anything is embedded: log odds by the features alone.
        form: the features' part of the log odds.
        meaning: the vector's part, one weight a dimension.
    """

    type: ItemType
    gate: Line
    form: Line
    meaning: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """All of them.

    Args:
        embedder: the model whose vectors they go with.
        own: for sentences of a journal.
        spoken: for what is said in a meeting or a chat.
    """

    embedder: str
    own: tuple[TypeWeights, ...]
    spoken: tuple[TypeWeights, ...]

    def of(self, *, spoken: bool) -> tuple[TypeWeights, ...]:
        """Return those for one of the two voices."""
        return self.spoken if spoken else self.own


@cache
def shipped_weights() -> Weights:
    """Return the weights that come with the package."""
    return read_weights(FILE.read_text("utf-8"))


def read_weights(text: str) -> Weights:
    """Return the weights of a file's text."""
    told: dict[str, Any] = json.loads(text)
    return Weights(told["embedder"], _voice(told, "own"), _voice(told, "spoken"))


def _voice(told: Mapping[str, Any], name: str) -> tuple[TypeWeights, ...]:
    return tuple(
        TypeWeights(ItemType(kind), _line(one["gate"]), _line(one["form"]), tuple(one["meaning"]))
        for kind, one in told[name].items()
    )


def _line(told: Mapping[str, Any]) -> Line:
    return Line(told["bias"], told["weights"])
