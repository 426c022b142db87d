"""Undo a run, or its change of one item, as one change set and one commit.

`plan_undo` reads and decides but writes nothing; `carry_out_undo` holds the lock, applies the plan and reindexes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, ChangedUnderRun, NotUndoable
from pipelines.night.caps import Pruned, prune
from pipelines.night.disputes import with_questions
from pipelines.night.reconcile import Reconciled, understand_edits
from pipelines.night.reindex import reindex
from pipelines.night.run_history import note_undone
from pipelines.night.secret_lines import without_secret_lines
from pipelines.night.undo_items import RunSides, Undone, undo
from pipelines.store.change_set import Change, check_documents, document_changes, item_places, items_by_id
from pipelines.store.edits import commit_edits
from pipelines.store.generated import vetoed_by
from pipelines.store.git import Author, Git
from pipelines.store.git_history import BY_HAND, RunCommit, changed_documents, named_run, run_commits, run_id, undone_by
from pipelines.store.journal import apply_changes, recover
from pipelines.store.layout import REVIEW, TOMBSTONES
from pipelines.store.lock import run_lock
from pipelines.store.snapshot import Snapshot, read_snapshot
from pipelines.store.state import Reason, Tombstone, read_tombstones, render_tombstones, tombstone
from pipelines.store.template import named_item
from pipelines.templating import render

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.document import Document
    from pipelines.store.item import Item


ATTEMPTS: Final = 3


@dataclass(frozen=True)
class Wish:
    """What to undo.

    Args:
        root: the memory.
        settings: its settings.
        now: the time the undo acts at.
        run: the start of a run's id or commit; empty for the newest run that changed something and was not undone.
        item: the start of an item's id, to undo only what the last run did to it; else empty.
    """

    root: Path
    settings: Settings
    now: datetime
    run: str = ""
    item: str = ""

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.now, self.settings)


@dataclass(frozen=True)
class UndoPlan:
    """What an undo would do.

    Args:
        run: the run.
        item: the item, if only that is undone; else empty.
        changes: the change set.
        removed: the items that the run had added and that are removed.
        restored: the ids of items that the run had removed and that are back.
        returned: the ids of items whose wording, status or place is restored.
        kept: id → why an item stays as it is, as the end of a sentence that begins with the id.
    """

    run: RunCommit
    item: str
    changes: tuple[Change, ...]
    removed: tuple[Item, ...] = ()
    restored: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)

    def summary(self) -> str:
        """Return the undo in one line: the command prints it, and the commit starts with it."""
        counts = {"removed": self.removed, "brought back": self.restored, "as before": self.returned}
        parts = [f"{len(n)} {'item' if len(n) == 1 else 'items'} {what}" for what, n in counts.items() if n]
        what = f"{self.item} of run {self.run.run}" if self.item else f"Run {self.run.run}"
        if parts:
            return f"{what} undone: {', '.join(parts)}"
        return f"{what} undone" if self.changes else f"{what}: nothing could be undone"


def plan_undo(wish: Wish, git: Git) -> UndoPlan:
    """Read the memory and decide everything; write nothing.

    Raises:
        UnknownRun: none or more than one matches.
        UnknownItem: none or more than one matches.
        NotUndoable: there is nothing to undo, or it was undone already.
        BrokenChangeSet: the changes would break a promise.
    """
    snapshot = read_snapshot(wish.root)
    stones = read_tombstones(snapshot.state.get(TOMBSTONES))
    people = understand_edits(git, snapshot, snapshot.documents, wish.today)
    item = ""
    if wish.item:  # an existing one, else one that an undo removed
        undone_before = {stone.id for stone in stones if stone.reason is Reason.UNDONE}
        item = named_item(wish.item, items_by_id(people.documents), undone_before)
    run, sides = _run_of_item(git, item, people.documents) if item else _run(git, wish.run)
    if run.by_hand and not item:
        stones = _stones_without(git, run, stones)
    reasons: dict[str, set[Reason]] = {}
    for stone in (*stones, *people.retracted):
        reasons.setdefault(stone.id, set()).add(stone.reason)
    deleted = frozenset(ident for ident, found in reasons.items() if Reason.UNDONE not in found)  # by a person
    undone = undo(sides, people.documents, snapshot.unreadable(), deleted, item, snapshot.shown)
    vetoed = vetoed_by({*stones, *people.stones}, snapshot.documents)
    pruned = prune(undone.documents, wish.settings, snapshot.unreadable(), snapshot.layout.link, vetoed)
    present, final = item_places(people.documents.values()), item_places(pruned.documents.values())
    removed = tuple(present[ident].item for ident in sorted(undone.items & present.keys() - final.keys()))
    restored = tuple(sorted(undone.items & final.keys() - present.keys()))
    both = sorted(undone.items & final.keys() & present.keys())
    returned = tuple(i for i in both if (final[i].place, final[i].said) != (present[i].place, present[i].said))
    crowded = {
        moved.id: f"is in {snapshot.shown(moved.target)}: {snapshot.shown(moved.source)} has no room for it"
        for moved in pruned.moved
        if moved.id in undone.items
    }
    plan = UndoPlan(run, item, (), removed, restored, returned, {**undone.kept, **crowded})
    is_other = removed or restored or returned or run.by_hand or undone.documents != dict(people.documents)
    return replace(plan, changes=_changes(wish, snapshot, people, plan, undone, pruned, stones)) if is_other else plan


def _stones_without(git: Git, run: RunCommit, stones: frozenset[Tombstone]) -> frozenset[Tombstone]:
    """Return the tombstones without those that a command left, and with those that it took away.

    Raises:
        NotUndoable: it made the memory forget something.
    """
    before = read_tombstones(git.show(run.parent, TOMBSTONES) if run.parent else None)
    after = read_tombstones(git.show(run.commit, TOMBSTONES))
    if any(stone.reason is Reason.FORGOTTEN for stone in after - before):
        why = f"Run {run.run} made the memory forget something, which cannot be undone."
        raise NotUndoable(why, f"Its changes are in git: `git show {run.commit[:10]}`.")
    return (stones - (after - before)) | (before - after)


def _sides(git: Git, run: RunCommit) -> RunSides:
    before, after = changed_documents(git, run)
    return RunSides(before, after, whole=True) if run.by_hand or run.undoes else RunSides.of(before, after)


def carry_out_undo(wish: Wish, git: Git) -> tuple[UndoPlan, str]:
    """Undo what is wished in a commit of its own; return the plan, and the commit or an empty string.

    Raises:
        LockHeld: a run is working on the memory.
        ChangedUnderRun: files kept changing while the undo tried to write; nothing was written.
        CurateError: any error of `plan_undo`.
    """
    git.check()
    with run_lock(wish.root, f"curate undo, since {wish.now.isoformat(timespec='seconds')}"):
        recover(wish.root, git)
        for attempt in range(1, ATTEMPTS + 1):
            editor = Author(*wish.settings.author, wish.now)
            commit_edits(wish.root, git, "Edits by hand\n", editor)
            plan = plan_undo(wish, git)
            if not plan.changes:
                return plan, ""
            try:
                commit, _ = apply_changes(wish.root, git, plan.changes, *_signed(wish, plan, git.head()))
            except ChangedUnderRun:
                if attempt == ATTEMPTS:
                    raise
            else:
                note_undone(wish.root)
                reindex(wish.root)
                return plan, commit or ""
    raise AssertionError  # the loop returns or raises


def _run(git: Git, prefix: str) -> tuple[RunCommit, RunSides]:
    """Return the named run, or the newest one that changed an item or asked about one and was not undone."""
    runs = run_commits(git)
    gone = undone_by(runs)
    if prefix:
        named = named_run(prefix, ((one.run, one.commit) for one in runs))
        run = next(one for one in runs if one.run == named)
        if run.run in gone:
            again = gone[run.run]
            raise NotUndoable(f"Run {run.run} was undone already.", f"`curate undo {again}` brings it back.")
        return run, _sides(git, run)
    for run in runs:
        if not run.undoes and run.run not in gone:
            sides = _sides(git, run)
            if sides.changes() or sides.asked() or (run.by_hand and (sides.before or sides.after)):
                return run, sides
    raise NotUndoable(
        "There is no run to undo: no run that still applies has changed an item.", "`curate runs` lists them."
    )


def _run_of_item(git: Git, item: str, documents: Mapping[str, Document]) -> tuple[RunCommit, RunSides]:
    """Return the last run whose change of the item still applies, and its documents.

    For an item that an undo removed, that is the undo itself, so that the same command brings the item back.
    """
    exists = item in items_by_id(documents)
    runs = run_commits(git, touching=item)
    gone = undone_by(runs)
    taken = {}
    for run in runs:
        if run.item == item and run.run not in taken:
            taken[run.undoes] = run.run
        if exists and (run.undoes or run.run in gone or run.run in taken):
            continue
        sides = _sides(git, run)
        change = next((one for one in sides.changes() if one.id == item), None)
        if change and run.by_hand and REVIEW in {side.path for side in (change.before, change.after) if side}:
            raise NotUndoable(f"{item} was decided on by hand.", f"`curate undo {run.run}` takes the decision back.")
        if change and (exists or change.after is None):
            return run, sides
    raise NotUndoable(
        f"No run that still applies has changed {item}.", "Edit its line by hand; the next run picks it up."
    )


def _changes(  # noqa: PLR0913, PLR0917  the parts of a plan
    wish: Wish,
    snapshot: Snapshot,
    people: Reconciled,
    plan: UndoPlan,
    undone: Undone,
    pruned: Pruned,
    stones: frozenset[Tombstone],
) -> tuple[Change, ...]:
    after, _ = without_secret_lines(pruned.documents, snapshot.documents, wish.root)
    if plan.run.parent:
        why, commits = f"was changed since run {plan.run.run}", [plan.run.parent[:10]]
        after = with_questions(after, undone.disputed, why, commits, wish.today, snapshot.shown)
    gone = {*(item.id for item in plan.removed), *(stone.id for stone in people.retracted)}
    cap = wish.settings.caps.briefing
    if faults := check_documents(snapshot.documents, after, cap, added=plan.restored, gone=gone):
        raise BrokenChangeSet(faults)
    new = {tombstone(item, wish.today, Reason.UNDONE) for item in plan.removed}
    back = {stone for stone in stones if stone.reason is Reason.UNDONE and stone.id in plan.restored}
    rows = render_tombstones((stones | new | set(people.stones)) - back)
    was = snapshot.state.get(TOMBSTONES)
    state = (Change(TOMBSTONES, was, rows),) if rows != (was or b"") else ()
    return (*document_changes(snapshot.documents, after, snapshot.state), *state)


def _signed(wish: Wish, plan: UndoPlan, head: str | None) -> tuple[str, Author]:
    message = render(
        "undo.txt",
        summary=plan.summary(),
        lines=[f"{ident} {why}" for ident, why in sorted(plan.kept.items())],
        run_id=run_id(wish.now, head),
        undoes=f"{plan.run.run} {plan.item}".strip(),
        added=len(plan.restored),
        changed=len(plan.removed) + len(plan.returned),
        extractor=BY_HAND if plan.run.by_hand else "",
    )
    return message, Author(*wish.settings.author, wish.now)
