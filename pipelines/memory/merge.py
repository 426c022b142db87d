"""Merging a run's change into a file that somebody changed meanwhile: their bytes stand, the run's items are added.

The merge knows what each kind of file is: documents merge by item, logs by what was appended, state by union.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.memory.documents import Document, block_of, edited
from pipelines.memory.layout import LOGS, PARTIAL, STATE, kind_of

if TYPE_CHECKING:
    from pipelines.memory.documents import Block


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
