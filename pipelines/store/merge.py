"""Merge a run's change into a file that changed meanwhile: keep the other edits, and add the run's items.

Each kind of file has its own merge: documents by item, logs by appended text, state by union. Files are merged one by
one, so a move of an item that somebody changed meanwhile is cancelled: it would leave the item in two places.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.store.document import Document, block_of, edited
from pipelines.store.layout import LOGS, PARTIAL, STATE, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.store.change_set import Change
    from pipelines.store.item import Item


def merge(path: str, before: bytes | None, after: bytes | None, current: bytes | None) -> bytes | None:
    """Return the merged content of a file from what the run read, what it would write, and the current content.

    A file that the run would delete stays if somebody changed it; of a partial log, only what was appended after it was
    folded stays. A file that somebody deleted is written again only for items that would otherwise be lost.
    """
    if current in {before, after, None}:
        return after
    before = before or b""
    if after is None:
        # Do not fold the same text twice: keep only what was appended since.
        grown = path.startswith(f"{PARTIAL}/") and current.startswith(before)
        return current[len(before) :] or None if grown else current
    if path.startswith(f"{LOGS}/"):
        return _merge_logs(before, after, current)
    if path.startswith(f"{STATE}/"):
        return b"".join(sorted({*_rows(after), *_rows(current)}))
    return _merge_documents(path, before, after, current) if kind_of(path) else current


def _merge_logs(before: bytes, after: bytes, current: bytes) -> bytes:
    """Keep the new end of a log that grew; append the run's folded lines to one that was rewritten."""
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
    had, there = _items(old), _items(now)
    wanted = {p.item.id: block_of(new, p) for p in new.items if p.item.id}
    replacing = {
        ident: block.item
        for ident, block in wanted.items()
        if ident in had and block.item != had[ident] and there.get(ident) == had[ident]
    }
    return edited(
        now,
        add=[block for ident, block in wanted.items() if ident not in had and ident not in there],
        replace=replacing,
        remove=[ident for ident, item in had.items() if ident not in wanted and there.get(ident) == item],
    ).text.encode()


def _items(document: Document) -> dict[str, Item]:
    return {placed.item.id: placed.item for placed in document.items if placed.item.id}


def without_void_moves(changes: Sequence[Change], currents: Sequence[bytes | None]) -> list[Change]:
    """Return a change set without the moves of items that somebody changed, or moved, meanwhile.

    Args:
        changes: the change set.
        currents: the current content of each of its files.
    """
    void: set[str] = set()
    for change, current in zip(changes, currents, strict=True):
        if current not in {change.before, change.after}:
            was, will, now = (_items(_document(change.path, one)) for one in (change.before, change.after, current))
            void |= {ident for ident in was.keys() - will.keys() if ident in now and now[ident] != was[ident]}
    if void:
        void &= {ident for change in changes for ident in _moves(change)[1]}
    if not void:
        return list(changes)
    return [_undone(change, void, current) for change, current in zip(changes, currents, strict=True)]


def _moves(change: Change) -> tuple[set[str], set[str]]:
    """Return the items that leave a file, and those that arrive in it."""
    old, new = (_items(_document(change.path, side)).keys() for side in (change.before, change.after))
    return old - new, new - old


def _undone(change: Change, void: set[str], current: bytes | None) -> Change:
    """Return the change without moving these items; a move that already happened is reversed."""
    stay, arrive = (void & idents for idents in _moves(change))
    if not (stay or arrive):
        return change
    old, new = (_document(change.path, side) for side in (change.before, change.after))
    blocks = [block_of(old, one) for one in sorted(old.items, key=lambda one: one.item.id) if one.item.id in stay]
    after = edited(new, add=blocks, remove=arrive).text.encode()
    return replace(change, before=current if current == change.after else change.before, after=after)


def _document(path: str, data: bytes | None) -> Document:
    return Document(path, (data or b"").decode(errors="replace") if kind_of(path) else "")
