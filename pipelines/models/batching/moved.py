"""A reply about entries as they stood when they were asked about, told of them as they stand now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.memory.entries import Entry
    from pipelines.models.batching.notes import Ask


def moved(text: str, ask: Ask, entries: Sequence[Entry]) -> str:
    """Return a reply with the lines at which its entries stand now; an item about one that is gone is left out.

    A log is appended to, and a partial log folded into it may move what stood in it before. An entry whose words were
    changed is another one, and is asked about anew.

    Args:
        text: the reply; `read_items` has accepted it.
        ask: what was asked for.
        entries: those of its entries that are there, as they stand now.
    """
    now = {entry.key: entry.start_line for entry in entries}
    if all(now.get(key) == first for key, first, _ in ask.entries):
        return text
    from pipelines.models.reply import read_items  # noqa: PLC0415  brings in pydantic

    return json.dumps({"items": [one for item in read_items(text) for one in _told(item, ask, now)]})


def _told(item: object, ask: Ask, now: Mapping[str, int]) -> list[object]:
    """Return an item with its lines now, as it is where it names no entry's lines, or nothing."""
    if not isinstance(item, dict):
        return [item]
    first, last = item.get("start_line"), item.get("end_line")
    if not isinstance(first, int) or not isinstance(last, int):
        return [item]
    for key, start, end in ask.entries:
        if start <= first <= last <= end:
            shift = now.get(key, 0) - start
            return [{**item, "start_line": first + shift, "end_line": last + shift}] if key in now else []
    return [item]
