"""What a person does by hand: one verb, one checked change set, one commit, in the same order and care as a night.

The lock is held, what was left is finished, people's edits are committed and understood, the verb decides on the
documents as they then are, caps and quality follow, all is checked, and the journal writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.direct import direct_change
from pipelines.errors import BrokenChangeSet
from pipelines.stages.reconcile import reconcile
from pipelines.stages.tidying import tidied
from pipelines.store.change_set import Change, check_documents, document_changes
from pipelines.store.git_history import BY_HAND, last_run_baseline
from pipelines.store.layout import TOMBSTONES
from pipelines.store.secrets.scan import without_held
from pipelines.store.snapshot import read_snapshot
from pipelines.store.state import read_tombstones, render_tombstones
from pipelines.store.user_layout import told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.direct import DirectChange
    from pipelines.settings import Settings
    from pipelines.store.document import Document
    from pipelines.store.git import Git
    from pipelines.store.snapshot import Snapshot
    from pipelines.store.state import Tombstone


@dataclass(frozen=True)
class Held:
    """The memory as a verb finds it, under the run lock.

    Args:
        documents: every document by path, people's edits understood.
        snapshot: the files as they were read.
        git: the memory's git.
        today: the memory's day.
        settings: the memory's settings.
    """

    documents: Mapping[str, Document]
    snapshot: Snapshot
    git: Git
    today: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class Deed:
    """What a verb decided.

    Args:
        documents: every document as it shall be.
        summary: the commit's first line; it holds ids and names of documents, and no words of an item.
        added: ids of items that are new.
        changed: how many items that stood already are different now, elsewhere or gone.
        stones: tombstones of what goes for good.
        further: changes of files that are no documents.
        notes: sentences for the person.
        absent: ids that may be named though they stand nowhere.
    """

    documents: Mapping[str, Document]
    summary: str
    added: Sequence[str] = ()
    changed: int = 0
    stones: Sequence[Tombstone] = ()
    further: Sequence[Change] = ()
    notes: Sequence[str] = field(default=())
    absent: Sequence[str] = ()


def by_hand(
    root: Path, settings: Settings, when: datetime, holder: str, decide: Callable[[Held], Deed | None]
) -> Deed | None:
    """Do one thing by hand and commit it; where the verb decides on nothing, nothing is written.

    Args:
        root: the memory.
        settings: its settings.
        when: the moment at which it is done.
        holder: the verb, for whoever finds the lock held.
        decide: the verb itself, from the memory as it is to what it shall be.

    Returns:
        What was done, the documents as they were written; None where there was nothing to do.

    Raises:
        LockHeld: a run works on the memory.
        BrokenChangeSet: the verb would break a promise; nothing was written.
        ChangedUnderRun: a file is no longer what was read; nothing was written.
        CurateError: what `decide` raises.
    """
    with direct_change(root, settings, when, holder) as found:
        direct, documents = _understood(found)
        snapshot = without_held(direct.snapshot)
        deed = decide(Held(documents, snapshot, direct.git, day_of(when, settings), settings))
        if deed is None:
            return None
        written = _write(direct, snapshot, deed)
    return replace(deed, documents=written)


def _understood(direct: DirectChange) -> tuple[DirectChange, Mapping[str, Document]]:
    """Return the memory once what people edited since the last run is understood, and committed where it says more.

    It has a commit of its own, so that an undo of the verb leaves it alone.
    """
    snapshot, today = without_held(direct.snapshot), day_of(direct.when, direct.settings)
    baseline = last_run_baseline(direct.git, snapshot.documents).without(snapshot.unreadable())
    people = reconcile(snapshot.documents, baseline, today, snapshot.shown)
    edits = len(people.edited) + len(people.numbered) + len(people.retracted) + len(people.asked)
    if not edits:
        return direct, people.documents
    after = Deed(people.documents, "Edits by hand, understood", changed=edits, stones=people.retracted)
    _write(direct, snapshot, after, by="people")
    return _understood(replace(direct, snapshot=read_snapshot(snapshot.root)))


def _write(direct: DirectChange, snapshot: Snapshot, deed: Deed, by: str = BY_HAND) -> Mapping[str, Document]:
    after = tidied(deed.documents, snapshot, direct.settings, snapshot.unreadable()).documents
    gone = frozenset({*(stone.id for stone in deed.stones), *deed.absent})
    cap = direct.settings.caps.briefing
    if faults := check_documents(snapshot.documents, after, cap, added=deed.added, gone=gone):
        raise BrokenChangeSet(faults)
    changes = [*document_changes(snapshot.documents, after), *deed.further]
    if deed.stones:
        before = snapshot.state.get(TOMBSTONES)
        changes.append(Change(TOMBSTONES, before, render_tombstones({*read_tombstones(before), *deed.stones})))
    if changes:
        direct.apply(changes, told(snapshot.root, deed.summary), added=len(deed.added), changed=deed.changed, by=by)
    return after
