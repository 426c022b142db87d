"""What can be told of a remark without understanding it: its words, its form, and what stands around it.

The head's weights go with these features by name: who changes one trains anew (`make train-head`). None is about a
topic, and none about how one tool writes minutes: what tells is the form of the words, the votes before them, a
proposal that they repeat, and whether the matter ends with them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from pipelines.models.rules import vocabulary
from pipelines.models.rules.marks import overlap, words
from pipelines.models.rules.masking import OWNER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.models.rules.remarks import Remark

_FORMS: Final = (
    ("question", re.compile(r"\?(?:\s|$)")),
    ("address", re.compile(r"https?://")),
    ("only address", re.compile(r"^\S{0,40}:?\s{0,4}\[?https?://\S+$")),
    ("number", re.compile(r"\b\d")),
    ("reference", re.compile(r"#\d")),
    ("first capital", re.compile(r"^[A-Z]")),
    ("ends open", re.compile(r"(?:[:,…-]|\.\.)$")),
    ("ends whole", re.compile(r"[.!]\)?$")),
    ("code", re.compile(r"[`{}<>=]|\w\(\)")),
    ("quotes", re.compile(r"[\"“”]")),
    ("brackets", re.compile(r"\(")),
    ("parts", re.compile(r"[.;]\s")),
    ("we will", re.compile(
        r"\bwe(?:['’]ll| will| shall|['’]re going (?:to|with)| are going (?:to|with))\b", re.IGNORECASE)),
    ("I will", re.compile(r"\bi(?:['’]ll| will| can| shall|['’]m going to| am going to)\b", re.IGNORECASE)),
    ("goes with", re.compile(
        r"\b(?:go(?:ing)? with|went with|in favou?r of|won['’]t fix|for now|as[- ]is|no change|at risk|out of scope|"
        r"from now on|no longer|going forward)\b", re.IGNORECASE)),
)  # fmt: skip
_PROPOSER = re.compile(r"(?<!\W)\W*\([^()\n]{1,60}\)\W*$")
_VOTES: Final = (1, 3, 8, 20)
_PROPOSAL_LIVES: Final = 60  # remarks after which a proposal that nobody took up is forgotten
_SAME: Final = 0.8
_SHORT, _LONG = 4, 30


@dataclass(slots=True)
class Scene:
    """A day's remarks in order, and what the surroundings of each are made of.

    Args:
        remarks: all of them, those that a label took included.
    """

    remarks: Sequence[Remark]
    bags: list[Counter[str]] = field(init=False)
    votes: list[int] = field(init=False)
    speakers: frozenset[str] = field(init=False)
    proposals: list[tuple[int, Counter[str]]] = field(init=False)

    def __post_init__(self) -> None:
        """Look through the day once."""
        self.bags = [Counter(words(remark.text.replace("’", "'"))) for remark in self.remarks]
        self.votes, self.proposals = [0], []
        for at, remark in enumerate(self.remarks):
            self.votes.append(self.votes[-1] + (vocabulary.VOTE.match(remark.text) is not None))
            if found := vocabulary.PROPOSED.match(remark.text):
                self.proposals.append((at, Counter(words(_PROPOSER.sub("", remark.text[found.end() :])))))
        names = frozenset(word for remark in self.remarks for word in words(remark.speaker))
        self.speakers = names - vocabulary.NO_NAMES


def features(scene: Scene, at: int) -> dict[str, float]:
    """Return the features of the remark at a place of the day, by name, always the same names in the same order."""
    return {**_of_words(scene, at), **_of_form(scene, at), **_of_place(scene, at), **_of_votes(scene, at)}


def _of_words(scene: Scene, at: int) -> dict[str, float]:
    bag = scene.bags[at]
    found = {name: float(not bag.keys().isdisjoint(listed)) for name, listed in vocabulary.SAID}
    order = [*bag, "", "", ""]
    found["verb first"] = float(order[0] in vocabulary.VERBS)
    found["done first"] = float(order[0].endswith("ed") and order[0] not in vocabulary.VERBS)
    found["doing first"] = float(order[0].endswith("ing"))
    found["opens"] = float(order[0] in vocabulary.OPENS)
    found["asks first"] = float(order[0] in vocabulary.ASKS)
    found["points first"] = float(order[0] in vocabulary.POINTS)
    to = next((place for place, word in enumerate(order[:5]) if word in {"to", "will", "should", "shall"}), 0)
    found["someone to"] = float(to > 0 and order[to + 1 : to + 2] != [""] and order[to + 1] in vocabulary.VERBS)
    found["speaker to"] = float(order[0] in scene.speakers and to > 0)
    found["speaker does"] = float(order[0] in scene.speakers and to == 0)
    return found


def _of_form(scene: Scene, at: int) -> dict[str, float]:
    text = scene.remarks[at].text
    count = len(text.split())
    owner = OWNER.search(text)
    return {
        **{name: float(pattern.search(text) is not None) for name, pattern in _FORMS},
        "length": math.log(max(1, count)),
        "short": float(count < _SHORT),
        "long": float(count > _LONG),
        "owner behind": float(owner is not None and owner[1][0].isupper()),
        "speaker behind": float(owner is not None and not scene.speakers.isdisjoint(words(owner[1]))),
    }


def _of_place(scene: Scene, at: int) -> dict[str, float]:
    one, all_ = scene.remarks[at], scene.remarks
    above = all_[at - 1] if at else None
    below = all_[at + 1] if at + 1 < len(all_) else None
    near = scene.bags[max(0, at - 3) : at]
    return {
        "alone": float(one.alone),
        "goes on": float(one.goes_on),
        "quoted": float(one.quoted),
        "spoken": float(bool(one.speaker)),
        "begins section": float(above is None or above.entry.headings != one.entry.headings),
        "ends section": float(below is None or below.entry.headings != one.entry.headings),
        "next goes on": float(below is not None and below.goes_on),
        "next topic": float(any(vocabulary.NEXT_TOPIC.match(remark.text) for remark in all_[at + 1 : at + 3])),
        "proposing before": float(any(not bag.keys().isdisjoint(vocabulary.PROPOSING) for bag in near)),
        "asking before": float(any(not bag.keys().isdisjoint(vocabulary.ASKING) for bag in near)),
    }


def _of_votes(scene: Scene, at: int) -> dict[str, float]:
    votes = {near: scene.votes[at] - scene.votes[max(0, at - near)] for near in _VOTES}
    after = scene.votes[min(len(scene.remarks), at + 4)] - scene.votes[at + 1]
    newest_first = takewhile(lambda one: one[0] > at - _PROPOSAL_LIVES, reversed(scene.proposals))
    likes = [overlap(scene.bags[at], bag) for place, bag in newest_first if place < at]
    like = max(likes, default=0.0)
    return {
        **{f"vote in {near}": float(count > 0) for near, count in votes.items()},
        **{f"votes in {near}": float(count > 1) for near, count in votes.items()},
        "votes after": float(after > 0),
        "proposal open": float(bool(likes)),
        "like a proposal": like,
        "is a proposal": float(like >= _SAME),
    }
