"""Merging a run's change into a file that somebody changed meanwhile: their bytes stand, the run's items are added.

The merge knows what each kind of file is: documents merge by item, logs by what was appended, state by union.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.memory.documents import Document, block_of, edited
from pipelines.memory.layout import LOGS, STATE, kind_of

if TYPE_CHECKING:
    from pipelines.memory.documents import Block


def merge(path: str, before: bytes | None, after: bytes | None, current: bytes | None) -> bytes | None:
    """Return what a file should hold, given what the run read, what it would write and what is there now.

    A file that the run would delete stays when somebody changed it; one that somebody deleted is made again only for
    items that would otherwise be lost.
    """
    if current in (before, after):
        return after
    if after is None or current is None:
        return current if after is None else after
    if path.startswith(f"{LOGS}/") and before is not None and current.startswith(before):
        return after + current[len(before) :]
    if path.startswith(f"{STATE}/"):
        return b"".join(sorted({*_rows(after), *_rows(current)}))
    if kind_of(path):
        return _merge_documents(path, before or b"", after, current)
    return current


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
