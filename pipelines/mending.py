"""`curate check --fix`: mend a memory and commit what was mended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.direct import direct_change
from pipelines.errors import BrokenChangeSet
from pipelines.stages.mend import mend as mend_documents
from pipelines.stages.mend import settled
from pipelines.store.change_set import Change, check_documents, document_changes
from pipelines.store.conservation import buried_ids, departed, hidden_ids
from pipelines.store.git_history import last_run_baseline
from pipelines.store.layout import TOMBSTONES
from pipelines.store.state import read_tombstones, render_tombstones

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings


def mend(root: Path, settings: Settings, when: datetime) -> str:
    """Mend what has one right answer, commit it, and return what was done, or an empty string.

    Raises:
        BrokenChangeSet: the mending itself would break a promise.
    """
    with direct_change(root, settings, when, "curate check --fix") as direct:
        snapshot, git, today = direct.snapshot, direct.git, day_of(when, settings)
        mended = mend_documents(
            snapshot.documents,
            last_run_baseline(git, snapshot.documents).without(snapshot.unreadable()),
            lambda documents: departed(replace(snapshot, documents=documents), git),
            buried_ids(snapshot) | hidden_ids(snapshot, git),
            today,
            snapshot.shown,
        )
        after = settled(snapshot, mended, settings)
        stones = mended.reconciled.retracted
        gone = frozenset(stone.id for stone in stones)
        if faults := check_documents(snapshot.documents, after, settings.caps.briefing, gone=gone):
            raise BrokenChangeSet(faults)
        changes = document_changes(snapshot.documents, after)
        if stones:
            before = snapshot.state.get(TOMBSTONES)
            changes.append(Change(TOMBSTONES, before, render_tombstones({*read_tombstones(before), *stones})))
        if not changes:
            return ""
        done = {
            "ids given": len(mended.reconciled.numbered),
            "rewordings noted": len(mended.reconciled.edited),
            "deletions noted": len(stones),
            "links to nowhere taken out": len(mended.unlinked),
            "vanished items put into Review.md": len(mended.asked) + len(mended.reconciled.asked),
        }
        told = ", ".join(f"{count} {what}" for what, count in done.items() if count) or "caps and pointers"
        direct.apply(changes, "Mend what a check found", added=0, changed=sum(done.values()))
    return told
