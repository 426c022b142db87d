"""What a person did by hand on another machine and pushed without a night there: understood before it is joined.

The join is what the next run compares with, so what it holds is known from then on. Whoever may push to the remote that
the user's own settings name may write any line of the memory, an owner's too; taking such an edit for less than it is
would protect nobody, and lose what a person wrote to the next cap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.stages.reconcile import reconcile
from pipelines.store.document import Document
from pipelines.store.git_history import baseline_at
from pipelines.store.layout import TOMBSTONES, kind_of
from pipelines.store.state import read_tombstones, render_tombstones

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.store.git import Git


def with_edits_understood(
    git: Git, base: str, there: str, theirs: Mapping[str, bytes], today: str
) -> Mapping[str, bytes]:
    """Return the files of another machine's commit as the next night there would understand people's edits in them.

    Args:
        git: the memory's git.
        base: the commit that both have.
        there: the other machine's.
        theirs: its files.
        today: the memory's day.
    """
    last = git.last_run(since=base, until=there) or base  # what came before the base, a run of ours has understood
    if last == there:
        return theirs
    documents = {path: one for path, data in theirs.items() if kind_of(path) and (one := _document(path, data))}
    unread = frozenset(path for path in theirs if kind_of(path)) - documents.keys()
    found = reconcile(documents, baseline_at(git, last, documents).without(unread), today)
    changed = {path: one.text.encode() for path, one in found.documents.items() if one is not documents.get(path)}
    stones = read_tombstones(theirs.get(TOMBSTONES)) | set(found.retracted)
    rows = {TOMBSTONES: render_tombstones(stones)} if found.retracted else {}
    return {**theirs, **changed, **rows}


def _document(path: str, data: bytes) -> Document | None:
    try:
        return Document(path, data.decode())
    except UnicodeDecodeError:
        return None
