"""Merging a run's change into a file that somebody changed meanwhile: their bytes stand, the run's items are added.

The merge knows what each kind of file is: documents merge by item, logs by what was appended, state by union.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.store.document import Document, block_of, edited
from pipelines.store.layout import LOGS, PARTIAL, STATE, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.store.change_set import Change
    from pipelines.store.document import Block


def merge(path: str, before: bytes | None, after: bytes | None, current: bytes | None) -> bytes | None:
    """Return what a file should hold, given what the run read, what it would write and what is there now.

    A file that the run would delete stays when somebody changed it, a partial log with what was appended after it was
    folded; one that somebody deleted is made again only for items that would otherwise be lost.
    """
    if current in {before, after, None}:
        return after
    if after is None:
        return _rest_of_partial(path, before or b"", current)
    if path.startswith(f"{LOGS}/"):
        return _merge_logs(before or b"", after, current)
    if path.startswith(f"{STATE}/"):
        return b"".join(sorted({*_rows(after), *_rows(current)}))
    if kind_of(path):
        return _merge_documents(path, before or b"", after, current)
    return current


def _rest_of_partial(path: str, before: bytes, current: bytes) -> bytes | None:
    """What was folded must not be folded again; only what came since is left to fold."""
    if not path.startswith(f"{PARTIAL}/") or not current.startswith(before):
        return current
    return current[len(before) :] or None


def _merge_logs(before: bytes, after: bytes, current: bytes) -> bytes:
    """A log that grew keeps its new end; one that was rewritten gets the lines that the run folded into it."""
    if current.startswith(after):
        return current
    if current.startswith(before):
        return after + current[len(before) :]
    known = {*_rows(before), *_rows(current)}
    return current + b"".join(row for row in _rows(after) if row not in known)


def _rows(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _merge_documents(path: str, before: bytes, after: bytes, current: bytes) -> bytes:
    try:
        old, new, now = (Document(path, data.decode()) for data in (before, after, current))
    except UnicodeDecodeError:
        return current
    had = {p.item.id: p.item for p in old.items if p.item.id}
    wanted = {p.item.id: block_of(new, p) for p in new.items if p.item.id}
    there = {p.item.id: p.item for p in now.items if p.item.id}
    add: list[Block] = [block for ident, block in wanted.items() if ident not in had and ident not in there]
    replace = {
        ident: block.item
        for ident, block in wanted.items()
        if ident in had and block.item != had[ident] and there.get(ident) == had[ident]
    }
    remove = [ident for ident, item in had.items() if ident not in wanted and there.get(ident) == item]
    return edited(now, add=add, replace=replace, remove=remove).text.encode()


# ---------------------------------------- moves from document to document
# when somebody changed the item in the one that it was to leave: it stays there.
#
# Each file is merged for itself, and a changed item is not taken out of its file. Were the other half of the move
# still done, the item would stand in two places.


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
