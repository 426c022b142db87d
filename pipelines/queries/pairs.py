"""The deterministic review scored on pairs of sentences whose relation is known.

A line of the file is `{"old": "...", "new": "...", "type": "Fact", "label": "supersede"}`; `type` is optional,
and `why` says how the two differ. A hash of each pair decides whether it is held back; rules are tuned only on the
others.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile, BadGold
from pipelines.review.compare import conflict
from pipelines.store.files import read_text
from pipelines.store.item import ItemType
from pipelines.store.wording import words_key

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


GUARDED: Final = frozenset({"number", "date", "time", "version", "name", "owner", "place", "negation"})
"""What two sentences may differ in that are never to be merged, as `why` calls it."""
_PARTS: Final = 3
_SHAPE: Final = '{"old": "...", "new": "...", "label": "supersede"}'


class Relation(StrEnum):
    """The relation of a newer sentence to an older one; without a model the review never finds `supersede`."""

    DUPLICATE = "duplicate"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    DISTINCT = "distinct"


def _judge(pair: Pair) -> Relation:
    if words_key(pair.new) == words_key(pair.old):
        return Relation.DUPLICATE
    clash = pair.type is not ItemType.TODO and conflict(pair.new, pair.old)
    return Relation.CONTRADICT if clash else Relation.DISTINCT


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences, the older first, and their relation."""

    old: str
    new: str
    label: Relation
    type: ItemType | None = None
    why: str = ""

    @property
    def held_back(self) -> bool:
        """Whether it belongs to the third on which rules are not tuned."""
        return hashlib.sha256(f"{self.old}\x1f{self.new}".encode()).digest()[0] % _PARTS == 0


@dataclass(slots=True)
class PairScore:
    """The results on some pairs.

    Args:
        counts: (label, verdict) → pairs.
        wrong: the pairs that were judged wrongly, each with the verdict.
    """

    counts: Counter[tuple[Relation, Relation]] = field(default_factory=Counter)
    wrong: list[tuple[Pair, Relation]] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return self.counts.total()

    @property
    def merged(self) -> int:
        """How many were wrongly taken for repeats."""
        return sum(verdict is Relation.DUPLICATE for _, verdict in self.wrong)

    @property
    def merged_guarded(self) -> int:
        """How many of those differ in a number, a date, a name or a negation."""
        return sum(verdict is Relation.DUPLICATE and pair.why in GUARDED for pair, verdict in self.wrong)

    def of(self, relation: Relation) -> tuple[float, float, float]:
        """Return precision, recall and F1 of one verdict; 0 if nothing is right."""
        right = self.counts[relation, relation]
        judged = sum(count for (_, verdict), count in self.counts.items() if verdict is relation)
        asked = sum(count for (label, _), count in self.counts.items() if label is relation)
        return right / judged if judged else 0.0, right / asked if asked else 0.0, 2 * right / ((judged + asked) or 1)

    @property
    def macro_f1(self) -> float:
        """The mean F1 over the labels of the pairs."""
        there = [one for one in Relation if any(label is one for label, _ in self.counts)]
        return sum(self.of(one)[2] for one in there) / len(there) if there else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        shares = {str(one): self.of(one) for one in Relation}
        return {
            "pairs": self.pairs,
            "macro_f1": round(self.macro_f1, 4),
            "merged_wrongly": self.merged,
            "merged_wrongly_guarded": self.merged_guarded,
            "verdicts": {
                name: {"precision": round(p, 4), "recall": round(r, 4), "f1": round(f, 4)}
                for name, (p, r, f) in shares.items()
            },
            "confusion": {f"{label}>{verdict}": count for (label, verdict), count in sorted(self.counts.items())},
        }


def score_pairs(pairs: Iterable[Pair]) -> PairScore:
    """Judge every pair and count the verdicts."""
    score = PairScore()
    for pair in pairs:
        verdict = _judge(pair)
        score.counts[pair.label, verdict] += 1
        if verdict is not pair.label:
            score.wrong.append((pair, verdict))
    return score


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file.

    Raises:
        BadFile: the file cannot be read, or has no pairs.
        BadGold: the file has faults; the sentence names all of them, with their lines.
    """
    pairs, faults = [], []
    for number, line in enumerate(read_text(path, "Name a file of pairs.").splitlines(), 1):
        if not line.strip():
            continue
        try:
            pairs.append(_pair(line))
        except ValueError as fault:
            faults.append(f"line {number}: {fault}")
    if faults:
        raise BadGold(path, faults)
    if not pairs:
        raise BadFile(path, "holds no pair", f"Write one a line: {_SHAPE}.")
    return pairs


def _pair(line: str) -> Pair:
    """Return the pair of a line.

    Raises:
        ValueError: the line has a fault, which the message names.
    """
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError(f"it is no JSON; write {_SHAPE}") from None
    if not isinstance(raw, dict) or not all(isinstance(raw.get(key), str) and raw[key] for key in ("old", "new")):
        raise ValueError(f"it lacks its two sentences; write {_SHAPE}")
    if raw.get("label") not in frozenset(Relation):
        raise ValueError(f"label should be one of {', '.join(Relation)}")
    if raw.get("type") not in {None, *ItemType}:
        raise ValueError(f"type should be one of {', '.join(ItemType)}")
    kind = ItemType(raw["type"]) if raw.get("type") else None
    return Pair(raw["old"], raw["new"], Relation(raw["label"]), kind, str(raw.get("why", "")))
