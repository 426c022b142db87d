"""The batches whose answers are to come, as `curate status` tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.models.batching.notes import Notes, State

if TYPE_CHECKING:
    from pathlib import Path


def open_batches(root: Path) -> list[dict[str, object]]:
    """Return the open batches of a memory, the oldest first."""
    return [
        {
            "id": note.id,
            "state": str(note.state),
            "model": note.name,
            "sent": note.at,
            "calls": len(note.asks),
            "days": list(note.days),
        }
        for note in Notes(root).all()
        if note.state is not State.ENDED
    ]


def batch_lines(batches: object) -> list[str]:
    """Return a line for each of them, as a person reads it."""
    return [_line(one) for one in batches if isinstance(one, dict)] if isinstance(batches, list) else []


def _line(one: dict[str, object]) -> str:
    days = one["days"] if isinstance(one["days"], list) else []
    span = " to ".join(dict.fromkeys(map(str, (*days[:1], *days[-1:]))))
    calls = "1 call" if one["calls"] == 1 else f"{one['calls']} calls"
    late = "; given up, so its days are read without it" if one["state"] == State.LATE else ""
    return f"{calls} about {span} at {one['model']}, sent {one['sent']}{late}"
