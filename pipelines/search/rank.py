"""How the scores of words and of meaning become one order: small functions from numbers to numbers.

Measured on 759 questions about long conversations (evidence inside the first 500, 1000 and 2000 words): words alone
0.80, 0.85, 0.90; half words and half meaning, each divided by its best, 0.82, 0.88, 0.93. Reciprocal ranks, decay by
age, a bonus for the day and diversity gained nothing there. What those questions cannot judge, uses and priority, is
here to be chosen, and off.

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
    from collections.abc import Collection, Mapping
    from pathlib import Path


Mode = Literal["hybrid", "keyword", "vector"]
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
        vector_weight: the share of meaning, from 0 to 1.
        neighbours: how much a word beside a unit counts against one in it.
        passages: the share of its best passage's score (eight units) that a unit gets by words.
        access: how much each doubling of a unit's uses adds; 0 is off.
        priority: how much an item's priority adds (pinned, believed, confirmed lately); 0 is off.
    """

    mode: Mode = "hybrid"
    vector_weight: float = 0.5
    neighbours: float = 0.5
    passages: float = 0.5
    access: float = 0.0
    priority: float = 0.0


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


def use(count: int, idle_days: float, weight: float) -> float:
    """Return the factor of what was used before: it grows with the logarithm of the uses and fades by months.

    What was never used is not punished: its factor is 1.
    """
    return 1 + weight * math.log2(1 + max(0, count)) * math.pow(0.5, max(0.0, idle_days) / _DAYS_OF_MONTH)


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
