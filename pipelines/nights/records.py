"""Small records that other parts leave in the derived folder, as far as they can be read."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from pipelines.memory.layout import PRIVATE
from pipelines.nights.moments import moment_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

NIGHTS = 30
"""How many days back `curate status` sums up what was spent."""


def read_record(root: Path, name: str) -> dict[str, object]:
    """Return a record of the derived folder; an empty one where there is none that can be read."""
    try:
        found = json.loads((root / PRIVATE / name).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def push_state(root: Path) -> dict[str, object] | None:
    """Return how the last push went, or None where nothing is pushed.

    `remote`, `state`, `at` and `reason` are of that push; `nights` is how many in a row did not reach the remote, and
    `pushed` when one last did.
    """
    found = read_record(root, "push.json")
    keys = ("remote", "state", "at", "reason", "nights", "pushed")
    return {key: found.get(key) for key in keys} if isinstance(found.get("state"), str) else None


def not_reached(told: Mapping[str, object]) -> str:
    """Return the sentence that says for how many nights a remote was not reached; empty for one, or none."""
    nights = told.get("nights")
    if not isinstance(nights, int) or nights <= 1:
        return ""
    last = f"the last push was {told['pushed']}" if told.get("pushed") else "nothing was pushed yet"
    return f" That is so for {nights} nights; {last}."


def spent(reports: Iterable[Mapping[str, object]], now: datetime) -> dict[str, object]:
    """Return what the runs of the last 30 days cost: `usd` (null where no price is known), `tokens` and `runs`."""
    usd: list[float] = []
    tokens = runs = 0
    for report in reports:
        when, model = moment_of(report), report.get("model")
        if not when or not timedelta() <= now - when <= timedelta(days=NIGHTS) or not isinstance(model, dict):
            continue
        runs += 1
        tokens += sum(value for key in ("input_tokens", "output_tokens") if isinstance(value := model.get(key), int))
        usd += [float(value)] if isinstance(value := model.get("usd"), int | float) else []
    return {"runs": runs, "tokens": tokens, "usd": round(sum(usd), 6) if usd or not runs else None}
