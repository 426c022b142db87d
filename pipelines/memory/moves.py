"""Moves from document to document, when somebody changed the item in the one that it was to leave: it stays there.

Each file is merged for itself, and a changed item is not taken out of its file. Were the other half of the move still
done, the item would stand in two places.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.memory.documents import Document, block_of, edited
from pipelines.memory.layout import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.memory.changes import Change
    from pipelines.memory.documents import Block


def without_void_moves(changes: Sequence[Change], currents: Sequence[bytes | None]) -> list[Change]:
    """Return a change set without the moves of items that somebody changed, or moved, meanwhile.

    Args:
        changes: the change set.
        currents: what each of its files holds now.
    """
    void: set[str] = set()
    for change, current in zip(changes, currents, strict=True):
        if current not in {change.before, change.after}:
            void |= {ident for ident in _leaving(change) if _is_changed(change, ident, current)}
    void &= {ident for change in changes for ident in _arriving(change)} if void else set()
    return [_undone(change, void, current) for change, current in zip(changes, currents, strict=True)]


def _undone(change: Change, void: set[str], current: bytes | None) -> Change:
    """Return a change that leaves these items where they were; one that is done already is led back."""
    stay, arrive = (void & _leaving(change), void & _arriving(change)) if void else (set(), set())
    if not (stay or arrive):
        return change
    there = _document(change.path, change.after)
    blocks: list[Block] = [_block(change, ident) for ident in sorted(stay)]
    after = edited(there, add=blocks, remove=sorted(arrive)).text.encode()
    return replace(change, before=current if current == change.after else change.before, after=after)


def _block(change: Change, ident: str) -> Block:
    document = _document(change.path, change.before)
    return next(block_of(document, placed) for placed in document.items if placed.item.id == ident)


def _leaving(change: Change) -> set[str]:
    return _ids(change.path, change.before) - _ids(change.path, change.after)


def _arriving(change: Change) -> set[str]:
    return _ids(change.path, change.after) - _ids(change.path, change.before)


def _is_changed(change: Change, ident: str, current: bytes | None) -> bool:
    was, now = (
        {placed.item.id: placed.item for placed in _document(change.path, data).items}
        for data in (change.before, current)
    )
    return ident in now and now[ident] != was[ident]


def _ids(path: str, data: bytes | None) -> set[str]:
    return {placed.item.id for placed in _document(path, data).items if placed.item.id}


def _document(path: str, data: bytes | None) -> Document:
    text = (data or b"").decode(errors="replace") if kind_of(path) else ""
    return Document(path, text)
