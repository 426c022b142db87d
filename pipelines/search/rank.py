"""How the scores of words and of meaning become one order: small functions from numbers to numbers.

Measured on 759 questions about long conversations (evidence inside the first 500, 1000 and 2000 words): words alone
0.80, 0.85, 0.90; half words and half meaning, each divided by its best, 0.82, 0.88, 0.93; reciprocal ranks 0.78, 0.87,
0.92. What has shown no gain there is here to be chosen, and off.

`.curate/usage.db` counts what searches gave back, by which what is used can be found more easily. Nothing else hangs on
it: it is no part of the index, it may be deleted at any time, and whatever is wrong with it, a search goes on as if
nothing had ever been used.
"""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote

from pipelines.search.schema import FAULTS, is_broken, open_private, remove_database, transaction
from pipelines.store.layout import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path


Mode = Literal["hybrid", "keyword", "vector"]
TRUSTS: Final = {"owner": 1.0, "self": 0.5, "external": -0.5, "untrusted": -1.0}
CONFIDENCES: Final = {"high": 1.0, "medium": 0.0, "low": -0.5, "speculative": -1.0}
_DAYS_OF_MONTH: Final = 30.436875

USAGE: Final = f"{PRIVATE}/usage.db"
MOST: Final = 20_000
"""So many units are remembered, some 2 MB; beyond them, those that were used longest ago are forgotten."""

_BUSY_SECONDS: Final = 0.05
_DAY: Final = 86_400
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS uses(
        name TEXT PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL
    ) WITHOUT ROWID
"""
_COUNT: Final = (
    "INSERT INTO uses SELECT value, 1, :now FROM json_each(:names) WHERE true"
    " ON CONFLICT(name) DO UPDATE SET count = count + 1, last = max(last, excluded.last)"
)
_FORGET: Final = (
    "DELETE FROM uses WHERE name IN (SELECT name FROM uses ORDER BY last, name"
    " LIMIT max(0, (SELECT count(*) FROM uses) - ?))"
)
_USED: Final = "SELECT name, count, last FROM uses WHERE name IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Ranking:
    """How hits are ranked.

    Args:
        mode: by words and meaning, or by one of them.
        fusion: `weighted` adds the scores, each divided by its best; `rrf` adds reciprocal ranks.
        vector_weight: the share of meaning in `weighted`, from 0 to 1.
        rrf_k: how gently ranks fall off in `rrf`.
        neighbours: how much a word beside a unit counts against one in it.
        passages: the share of its best passage's score (eight units) that a unit gets by words.
        day_bonus: the share of its file's best score that a hit gets on top.
        diversity: from 0 (off) to 1: how much a hit that repeats a better one loses.
        half_life: days after which what has a date counts half; 0 is off.
        access: how much each doubling of a unit's uses adds; 0 is off.
        priority: how much an item's priority adds (pinned, believed, confirmed lately); 0 is off.
        trust: how much the owner's word adds and an untrusted one loses; 0 is off.
        confidence: how much high confidence adds and speculation loses; 0 is off.
    """

    mode: Mode = "hybrid"
    fusion: Literal["weighted", "rrf"] = "weighted"
    vector_weight: float = 0.5
    rrf_k: int = 60
    neighbours: float = 0.5
    passages: float = 0.5
    day_bonus: float = 0.0
    diversity: float = 0.0
    half_life: float = 0.0
    access: float = 0.0
    priority: float = 0.0
    trust: float = 0.0
    confidence: float = 0.0

    @property
    def adjusts(self) -> bool:
        """Whether a score hangs on more than words and meaning, which is off as long as nothing shows a gain."""
        return bool(self.half_life or self.access or self.priority or self.trust or self.confidence)


def relative(scores: Mapping[int, float]) -> dict[int, float]:
    """Return each score as a share of the best; what scores below nothing gets nothing.

    Nothing is the floor on purpose, not the worst score seen: an answer must not hang on how many candidates were
    looked at.
    """
    best = max(scores.values(), default=0.0)
    return {unit: score / best if score > 0 else 0.0 for unit, score in scores.items()}


def weighted(words: Mapping[int, float], meaning: Mapping[int, float], vector_weight: float) -> dict[int, float]:
    """Return the weighted sum of both, each relative to its best; who has no score in one gets nothing from it."""
    fused = {unit: vector_weight * score for unit, score in relative(meaning).items()}
    for unit, score in relative(words).items():
        fused[unit] = fused.get(unit, 0.0) + (1 - vector_weight) * score
    return fused


def reciprocal_ranks(rankings: Sequence[Mapping[int, float]], k: int) -> dict[int, float]:
    """Return the sum of 1 / (k + rank) over the rankings; equal scores share the better rank."""
    fused: dict[int, float] = {}
    for ranked in rankings:
        rank, before = 0, math.inf
        for place, (unit, score) in enumerate(sorted(ranked.items(), key=lambda one: -one[1]), 1):
            rank, before = (rank if score == before else place), score
            fused[unit] = fused.get(unit, 0.0) + 1 / (k + rank)
    return fused


def days_between(day: str, today: str) -> float:
    """Return how many days lie between two days (`YYYY-MM-DD`); one that no calendar has lies at today."""
    from datetime import date  # noqa: PLC0415  off by default

    try:
        return float((date.fromisoformat(today) - date.fromisoformat(day)).days)
    except ValueError:
        return 0.0


def recency(age_days: float, half_life: float) -> float:
    """Return the factor of what is that old: 1 today (and for what lies ahead), one half after each half-life."""
    return math.pow(0.5, max(0.0, age_days) / half_life)


def use(count: int, idle_days: float, weight: float) -> float:
    """Return the factor of what was used before: it grows with the logarithm of the uses and fades by months.

    What was never used is not punished: its factor is 1.
    """
    return 1 + weight * math.log2(1 + max(0, count)) * math.pow(0.5, max(0.0, idle_days) / _DAYS_OF_MONTH)


def belief(trust: str, confidence: str, ranking: Ranking) -> float:
    """Return the factor of how far the words of a unit can be believed; nothing said is the middle."""
    return (1 + ranking.trust * TRUSTS.get(trust, 0.0)) * (1 + ranking.confidence * CONFIDENCES.get(confidence, 0.0))


def diverse(
    order: Sequence[int],
    scores: Mapping[int, float],
    likeness: Callable[[int, int], float],
    diversity: float,
    count: int,
    above: Sequence[int] = (),
) -> list[int]:
    """Return the first `count` by maximal marginal relevance, then the rest in their order.

    Args:
        order: units, best first.
        scores: their scores.
        likeness: how alike two units are, at most 1.
        diversity: 0 keeps the order; 1 looks at nothing but novelty.
        count: how many places are given out this way.
        above: units that stand before all of these, and can be repeated like any other.
    """
    left, chosen = list(order), list[int]()
    nearest = {unit: max((0.0, *(likeness(unit, one) for one in above))) for unit in left}
    best = max((scores[unit] for unit in left), default=0.0) or 1.0
    while left and len(chosen) < count:
        pick = max(left, key=lambda unit: (1 - diversity) * scores[unit] / best - diversity * nearest[unit])
        left.remove(pick)
        chosen.append(pick)
        for unit in left:
            nearest[unit] = max(nearest[unit], likeness(unit, pick))
    return chosen + left


def record_uses(root: Path, names: Collection[str], now: float | None = None) -> bool:
    """Count one use of each, and return whether that came about; nothing is raised, and nobody is waited for.

    Args:
        root: the memory.
        names: what was given back, by `Hit.known_as`.
        now: the moment, in seconds of the epoch; the clock's without it.
    """
    if not names:
        return False
    path, moment = root / USAGE, int(time.time() if now is None else now)
    try:
        with contextlib.closing(open_private(path, _BUSY_SECONDS)) as connection:
            # Nothing is flushed: a use that a power cut takes is no loss, and a search shall not wait for a disk.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA journal_mode = WAL")
            with transaction(connection):
                connection.execute(_TABLE)
                connection.execute(_COUNT, {"now": moment, "names": json.dumps(sorted(set(names)))})
                connection.execute(_FORGET, (MOST,))
    except FAULTS as error:
        if is_broken(error):  # what was in it is a help and no more: the next search begins anew
            with contextlib.suppress(OSError):
                remove_database(path)
        return False
    except OSError:
        return False
    return True


def uses_of(root: Path, names: Collection[str], now: float | None = None) -> Mapping[str, tuple[int, float]]:
    """Return how often each was used, and how many days ago it last was; what never was is not in it.

    Args:
        root: the memory.
        names: whose uses, by `Hit.known_as`.
        now: the moment, in seconds of the epoch; the clock's without it.
    """
    path, moment = root / USAGE, time.time() if now is None else now
    if not path.is_file() or path.is_symlink():
        return {}
    try:
        found = f"file:{quote(str(path))}?mode=ro"
        with contextlib.closing(sqlite3.connect(found, uri=True, timeout=_BUSY_SECONDS)) as connection:
            rows = connection.execute(_USED, (json.dumps(sorted(set(names))),)).fetchall()
            return {str(name): (int(count), (moment - int(last)) / _DAY) for name, count, last in rows}
    except (sqlite3.Error, OSError, TypeError, ValueError):
        return {}
