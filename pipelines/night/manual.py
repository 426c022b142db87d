"""A manual change: one command, one checked change set, one commit, as safe as a night.

It takes the lock, recovers, commits and understands people's edits, lets the command decide on the documents, applies
caps and quality fields, checks everything, and writes through the journal. The index follows the files, as after a
night: it is derived, so a failure loses nothing and never undoes a change.
"""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.clock import day_of
from pipelines.errors import CurateError
from pipelines.night.caps import Pruned, prune
from pipelines.night.report import Watch
from pipelines.search.embed import embed
from pipelines.store.change_set import Change, check_documents, document_changes
from pipelines.store.edits import baseline_at, commit_edits
from pipelines.store.generated import vetoed_by
from pipelines.store.git import Author, Git, run_id
from pipelines.store.git_history import BY_HAND, BY_PEOPLE
from pipelines.store.journal import apply_changes, recover
from pipelines.store.layout import PROGRESS, REVIEW, TOMBSTONES
from pipelines.store.lock import run_lock
from pipelines.store.review_queue import read_queue
from pipelines.store.secrets.scan import without_secret_files
from pipelines.store.snapshot import Snapshot, read_snapshot
from pipelines.store.state import (
    LogProgress,
    Tombstone,
    read_progress,
    read_tombstones,
    render_progress,
    render_tombstones,
)
from pipelines.store.trees import MISSING, left_out
from pipelines.templating import template

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.night.reconcile import Reconciled
    from pipelines.settings import Settings
    from pipelines.store.document import Documents

    OpenMemory = tuple[Path, Settings, datetime]
    """A memory, its settings, and the moment at which a command acts."""


class HeldMemory(NamedTuple):
    """The memory at the start of a manual change, under the run lock.

    Args:
        git: the memory's git.
        snapshot: the files as they were read.
        settings: the memory's settings.
        when: the time of the change.
        documents: every document by path; for a command and a night, with people's edits understood.
        people: what was understood of people's edits and answers; None if there are none.
    """

    git: Git
    snapshot: Snapshot
    settings: Settings
    when: datetime
    documents: Documents
    people: Reconciled | None = None

    @property
    def stones(self) -> frozenset[Tombstone]:
        """The tombstones, those of people's edits included."""
        buried = read_tombstones(self.snapshot.state.get(TOMBSTONES))
        return buried.union(self.people.stones if self.people else ())

    @property
    def progress(self) -> dict[str, tuple[LogProgress, ...]]:
        """What runs read of each log. What a person took back with git, or lost, was read all the same."""
        last = self.git.last_run()
        return read_progress(self.git.show(last, PROGRESS)) | dict(self.snapshot.progress)

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.when, self.settings)

    def planned(self, deed: ManualChange) -> tuple[Pruned, list[Change]]:
        """Apply the caps to a decision and check it; return what becomes of the documents, and all changes of files.

        Raises:
            BrokenChangeSet: the change would break a promise.
            BadFile: it would change a document with marks of a conflict.
        """
        snapshot, settings = self.snapshot, self.settings
        buried = snapshot.state.get(TOMBSTONES)
        stones = (self.stones - {*deed.lifted}) | {*deed.stones}
        vetoed = vetoed_by(stones, snapshot.documents)
        still = {path: one for path, one in snapshot.documents.items() if one.is_still}
        if still.keys() - deed.documents.keys():
            raise snapshot.refusal(())
        pruned = prune({**deed.documents, **still}, settings, snapshot.unreadable(), vetoed)
        after = pruned.documents
        gone = frozenset(stone.id for stone in deed.stones)
        if faults := check_documents(snapshot.documents, after, settings.caps.briefing, added=deed.added, gone=gone):
            raise snapshot.refusal(faults)
        changes = [*document_changes(snapshot.documents, after, snapshot.state), *deed.further]
        if (rows := render_tombstones(stones)) != (buried or b""):
            changes.append(Change(TOMBSTONES, buried, rows))
        return pruned, changes

    def write(self, deed: ManualChange, by: str = BY_HAND) -> Documents:
        """Apply the caps to a decision, check, write and commit it, and update the index.

        Args:
            deed: what was decided.
            by: the commit's `Extractor`: a command, which an undo takes back whole, or people's edits, which no undo
                takes back. After these, the caller updates the index.

        Returns:
            The documents as written.

        Raises:
            BrokenChangeSet: the change would break a promise; nothing was written.
            BadFile: it would change a document with marks of a conflict; nothing was written.
        """
        pruned, changes = self.planned(deed)
        if changes:
            message = template("commit.txt").render(
                summary=deed.summary,
                lines=deed.remarks,
                run_id=run_id(self.when, f"{self.git.head()} {by}"),
                added=len(deed.added),
                changed=deed.changed,
                extractor=by,
                **({"undoes": deed.undoes} if deed.undoes else {}),
            )
            author = self.git.identity() or self.settings.author
            apply_changes(self.git, changes, message, Author(*author, self.when))
            if by != BY_PEOPLE:
                reindex(self.snapshot.root)
        return pruned.documents


class ManualChange(NamedTuple):
    """What a command decided.

    Args:
        documents: every document as it will be.
        summary: the commit's first line; it holds ids and names of documents, but no words of an item.
        added: ids of new items.
        changed: how many existing items were changed, moved or removed.
        stones: tombstones of items that go for good.
        further: changes of files that are not documents.
        lifted: tombstones that go: their items may come back.
        undoes: the run that it undoes, and the item if only that; else empty.
        remarks: further lines of the commit's message.
    """

    documents: Documents
    summary: str
    added: Sequence[str] = ()
    changed: int = 0
    stones: Sequence[Tombstone] = ()
    further: Sequence[Change] = ()
    lifted: Collection[Tombstone] = ()
    undoes: str = ""
    remarks: Sequence[str] = ()


def read_memory(git: Git, settings: Settings, when: datetime) -> HeldMemory:
    """Return a memory as it is on the disk."""
    snapshot = read_snapshot(git.root)
    return HeldMemory(git, snapshot, settings, when, snapshot.documents)


def understood(held: HeldMemory) -> HeldMemory:
    """Return a memory with people's edits since the last run, and their answers in Review.md, understood.

    Nothing is written. Pages that hold secrets count as unreadable.
    """
    snapshot, git, people = without_secret_files(held.snapshot), held.git, None
    documents = snapshot.documents
    changed, same = baseline_at(git, git.last_run(), documents, snapshot.unreadable())
    if changed or documents.keys() - same or left_out(snapshot.root, MISSING):
        from pipelines.night.reconcile import understand_edits  # noqa: PLC0415  most nights find no edit

        people = understand_edits(git, snapshot, (changed, same), held.today)
        documents = people.documents
    if any(entry.ticked for entry in read_queue(documents.get(REVIEW))):
        from pipelines.night.answers import apply_answers  # noqa: PLC0415  as above
        from pipelines.night.reconcile import Reconciled  # noqa: PLC0415  as above

        people = people or Reconciled(dict(documents), held.today)
        apply_answers(people)
        documents = people.documents
    return held._replace(snapshot=snapshot, documents=documents, people=people)


def taken_in(held: HeldMemory) -> HeldMemory:
    """Return a memory with people's edits and answers understood.

    If that changes more than people wrote, it gets a commit of its own, which no undo takes back.

    Raises:
        BrokenChangeSet: an edit would break a promise; nothing was written.
    """
    held = understood(held)
    people, found, was = held.people, held.snapshot.documents, held.snapshot.state.get(PROGRESS)
    if people and (people.documents != found or people.stones or people.back):
        further = put_back(people.back, people.documents, found)
        if (read := render_progress(held.progress)) != (was or b""):
            further.append(Change(PROGRESS, was, read))
        changed = len([*people.edited, *people.numbered, *people.retracted, *people.restored])
        deed = ManualChange(people.documents, "Edits by hand, understood", (), changed, people.stones, further)
        held.write(deed, by=BY_PEOPLE)
        held = understood(read_memory(held.git, held.settings, held.when))._replace(people=people)
    return held


def put_back(paths: Iterable[str], documents: Documents, before: Documents) -> list[Change]:
    """Return the changes that bring pages back to the disk as they are; one that changes comes back anyway."""
    same = (one for path in paths if (one := documents.get(path)) and one == before.get(path))
    return [Change(one.path, one.text.encode(), one.text.encode()) for one in same]


@contextlib.contextmanager
def direct_change(opened: OpenMemory, holder: str) -> Iterator[HeldMemory]:
    """Lock the memory for a direct change; recover and commit people's edits first.

    Raises:
        LockHeld: another run is working on the memory.
        GitFault: git is in a state that a commit would make worse.
    """
    root, settings, when = opened
    git = Git(root)
    git.check()
    with run_lock(root, holder):
        recover(git)
        author = Author(*settings.author, when)
        commit_edits(git, f"Edits by hand\n\nCommitted as they stood before {holder}.\n", author)
        yield read_memory(git, settings, when)


@contextlib.contextmanager
def change_by_hand(opened: OpenMemory, holder: str) -> Iterator[HeldMemory]:
    """Lock the memory for a command that decides on its documents; understand people's edits and answers first.

    Args:
        opened: the memory, its settings, and the time of the change.
        holder: the command, for others who find the lock held.

    Raises:
        LockHeld: a run is working on the memory.
        BrokenChangeSet: an edit would break a promise; nothing was written.
        BadFile: the command would change a document with marks of a conflict; nothing was written.
    """
    with direct_change(opened, holder) as found:
        held = taken_in(found)
        if held.people:
            reindex(opened[0])
        why = {warned.path: warned.why for warned in held.snapshot.warnings}
        still = {path: replace(one, refuses=why[path]) for path, one in held.documents.items() if one.is_still}
        yield held._replace(documents={**held.documents, **still})


# ---------------------------------------- the index follows


_VERB_SECONDS = 1.0
"""The time for vectors of a command that changes an item: enough for that item's, since new items come first."""
NAMED = 100
"""The most files without text that a report lists, since it is kept for good; `curate status` lists all."""


def reindex(root: Path, watch: Watch | None = None) -> tuple[dict[str, object], tuple[str, ...]]:
    """Bring the index up to date, then make vectors for a time, items and the newest texts first.

    Ctrl-C ends the second part alone, and what it made stays.

    Args:
        root: the memory.
        watch: receives the progress of a night, and has the time for vectors; the rest waits for the next one.

    Returns:
        What was done, and sentences on what failed.
    """
    from pipelines.search.build import update_index  # noqa: PLC0415  takes long to import

    seconds, watch = (watch.patience, watch) if watch else (_VERB_SECONDS, Watch())
    try:
        with watch.stage("reindex"):
            report = update_index(root)
    except (CurateError, sqlite3.Error, OSError) as fault:
        return {}, (f"The index could not be brought up to date: {fault} To rebuild it, run `curate index --full`.",)
    with watch.stage("embed"):
        vectors, notes = embed(root, seconds, watch.advance)
    done = report._replace(skipped=report.skipped[:NAMED]).to_json()
    return done | ({"vectors": vectors} if vectors else {}), notes
