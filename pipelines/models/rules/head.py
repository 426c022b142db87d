"""The head: what carries no label and no cue phrase, told by the meaning of its words and by what stands around it.

A cheap look at every remark of the day (its features alone) picks the few that are worth a vector; those are embedded,
and a sum of features and vector gives the chance that a remark is a decision, a rule, a todo or a risk.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.memory.items import Confidence, ItemType
from pipelines.models.rules.features import Scene, features
from pipelines.models.rules.judging import is_chatter
from pipelines.models.rules.masking import masked
from pipelines.models.rules.noise import is_procedural, is_void

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.models.embedding import Embedder
    from pipelines.models.rules.remarks import Remark
    from pipelines.models.rules.weights import Weights

EMBEDDED_SPOKEN, EMBEDDED_OWN = 24, 48
"""Remarks of a day that are embedded, of talk and of the log's own voice: what bounds the time of a night."""

LEAST, LEAST_OWN, MEDIUM, STRICT = 0.5, 0.65, 0.75, 0.9
"""The chance from which a remark is kept, that a journal asks for, from which confidence is medium, and that a day with
labels asks for. A journal asks for more because items are rarer in life than in what was learned from."""

_GATE: Final = 3.5
"""How far under the odds that are asked for the cheap look may stay, for the vector to make up."""
_FEWEST_WORDS, _MOST_WORDS = 2, 90
_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class Told:
    """What the head says of a remark: its place in the day, the most likely type, and the chance of it."""

    at: int
    type: ItemType
    chance: float

    @property
    def confidence(self) -> Confidence:
        """Medium or low, never high: only what a log says outright is."""
        return Confidence.MEDIUM if self.chance >= MEDIUM else Confidence.LOW


def tell(remarks: Sequence[Remark], weights: Weights, embedder: Embedder, least: float = LEAST) -> list[Told]:
    """Return what the head says of the remarks of a day, in order, those under `least` left out.

    The chances are rounded, so that the last bits of a float, in which two machines may differ, decide nothing.

    Args:
        remarks: all of the day, in order; those that a label took are context only.
        weights: what was trained, for vectors of this embedder.
        embedder: gives the vectors; asked once, for `EMBEDDED_SPOKEN + EMBEDDED_OWN` texts at most, or not at all.
        least: the chance that is asked for. A journal asks for `LEAST_OWN`, and rules and risks in talk for `MEDIUM`:
            there people think aloud.

    Raises:
        ModelFailed: the embedder gave no usable vectors.
    """
    scene = Scene(remarks)
    picked = worth_a_vector(scene, weights, least)
    if not picked:
        return []
    import numpy as np  # noqa: PLC0415  70 ms that a night without such remarks need not pay

    vectors = np.asarray(embedder.embed_documents([shown(scene, at) for at in picked]), np.float64)
    told = []
    for (at, found), vector in zip(picked.items(), vectors, strict=True):
        ways = weights.of(spoken=remarks[at].spoken)
        odds = [(way.form.at(found) + float(vector @ np.asarray(way.meaning)), way.type) for way in ways]
        best, kind = max(odds, key=lambda one: round(one[0], _DIGITS))
        told.append(Told(at, kind, chance_of(best)))
    return [one for one in told if _is_enough(one, remarks[one.at], least)]


def _is_enough(told: Told, remark: Remark, least: float) -> bool:
    loose = remark.spoken and told.type in {ItemType.RULE, ItemType.RISK}
    wanted = MEDIUM if loose else LEAST if remark.spoken else LEAST_OWN
    return told.chance >= max(least, wanted) and not is_void(told.type, remark.text)


def worth_a_vector(scene: Scene, weights: Weights, least: float = LEAST) -> dict[int, dict[str, float]]:
    """Return the remarks that may be something, by their place, with their features; so many at most."""
    looked: list[tuple[float, int, dict[str, float]]] = []
    wanted = math.log(least / (1 - least)) - _GATE
    for at in weighed(scene):
        found = features(scene, at)
        odds = max(way.gate.at(found) for way in weights.of(spoken=scene.remarks[at].spoken))
        if odds > wanted:
            looked.append((-round(odds, _DIGITS), at, found))
    looked.sort(key=lambda one: one[:2])
    spoken = [one for one in looked if scene.remarks[one[1]].spoken][:EMBEDDED_SPOKEN]
    own = [one for one in looked if not scene.remarks[one[1]].spoken][:EMBEDDED_OWN]
    return {at: found for _, at, found in sorted([*spoken, *own], key=lambda one: one[1])}


def weighed(scene: Scene) -> Iterator[int]:
    """Yield the places of the remarks that are weighed at all: neither taken nor mere form, of sensible length."""
    for at, remark in enumerate(scene.remarks):
        refused = remark.taken or _LABEL.search(remark.text) is not None
        if refused or is_chatter(remark.text) or is_procedural(remark.text) or _is_addressed(scene, at):
            continue
        if _FEWEST_WORDS <= len(remark.text.split()) <= _MOST_WORDS:
            yield at


_LABEL: Final = re.compile(r"\b(?:decision|resolution|resolved|fact|rule|to-?do|action|risk)s?\W{0,3}:", re.IGNORECASE)
"""Where a label was not read as one, it was quoted, proposed or taken back."""


def _is_addressed(scene: Scene, at: int) -> bool:
    """Whether a line of talk begins with a name of which nothing is asked: `anna, good point`, `anna waves`."""
    if not scene.remarks[at].spoken or next(iter(scene.bags[at]), "") not in scene.speakers:
        return False
    return next((word for word in scene.bags[at] if word not in scene.speakers), "") not in _ASKED


_ASKED: Final = frozenset("to will shall should must and or please can could".split())


def shown(scene: Scene, at: int) -> str:
    """Return a remark as the embedder is shown it."""
    return masked(scene.remarks[at].text, scene.speakers)


def chance_of(odds: float) -> float:
    """Return the chance that log odds stand for, rounded."""
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))), _DIGITS)
