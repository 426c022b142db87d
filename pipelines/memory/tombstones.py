"""What must not come back: items that a person deleted, undid or had forgotten, remembered by hash alone.

`State/tombstones.jsonl` holds one line an item, sorted, so that two machines' files join line by line. A text is not in
it: what was deleted for a reason is not kept in another place.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pipelines.memory.wording import folded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipelines.memory.items import Item, ItemType


class Reason(StrEnum):
    """Why an item must not come back."""

    DELETED = "deleted"
    UNDONE = "undone"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True, order=True)
class Tombstone:
    """One item that is gone for good.

    Args:
        hash: `wording_hash` of its type and text.
        id: its id, by which conservation accounts for it.
        day: the memory's day on which it went.
        reason: why.
    """

    hash: str
    id: str
    day: str
    reason: Reason


def wording_hash(kind: ItemType, text: str) -> str:
    """Return the hash by which an item's wording is known: texts that differ in case and punctuation alone share it."""
    return hashlib.sha256(f"{kind}\x1f{folded(text)}".encode()).hexdigest()[:16]


def tombstone(item: Item, day: str, reason: Reason) -> Tombstone:
    """Return the tombstone of an item."""
    return Tombstone(wording_hash(item.type, item.text), item.id, day, reason)


def read_tombstones(data: bytes | None) -> frozenset[Tombstone]:
    """Return the tombstones of a file; lines that cannot be read are passed over."""
    found = set()
    for line in (data or b"").decode(errors="replace").splitlines():
        try:
            raw = json.loads(line)
            found.add(Tombstone(str(raw["hash"]), str(raw["id"]), str(raw["day"]), Reason(raw["reason"])))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return frozenset(found)


def render_tombstones(stones: Iterable[Tombstone]) -> bytes:
    """Return the bytes of `State/tombstones.jsonl`; the inverse of `read_tombstones`."""
    rows = (
        json.dumps({"hash": stone.hash, "id": stone.id, "day": stone.day, "reason": stone.reason})
        for stone in sorted(set(stones))
    )
    return "".join(f"{row}\n" for row in rows).encode()
