"""Undo a run, or its change of one item, as one change set and one commit.

`plan_undo` decides and writes nothing; `carry_out_undo` holds the lock and applies the plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.errors import NotUndoable
from pipelines.night.manual import HeldMemory, ManualChange, direct_change, read_memory, taken_in, understood
from pipelines.night.run_history import note_undone
from pipelines.night.undo_items import RunSides, undo
from pipelines.review.questions import with_questions
from pipelines.store.change_set import Change, item_places, items_by_id
from pipelines.store.git import Git
from pipelines.store.git_history import (
    BY_HAND,
    BY_PEOPLE,
    RunCommit,
    changed_documents,
    named_run,
    run_commits,
    undone_by,
)
from pipelines.store.layout import REVIEW, TOMBSTONES
from pipelines.store.state import Reason, Tombstone, read_tombstones, tombstone
from pipelines.store.template import named_item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.document import Document


@dataclass(frozen=True)
class UndoPlan:
    """What an undo would do.

    Args:
        run: the run.
        item: the item, if only that is undone; else empty.
        change: what is decided; its summary is what the command prints.
        changes: the changes of files; none if nothing can be undone.
        kept: id → why an item stays as it is, as the end of a sentence that begins with the id.
    """

    run: RunCommit
    item: str
    change: ManualChange
    changes: Sequence[Change]
    kept: Mapping[str, str]


def plan_undo(held: HeldMemory, named: tuple[RunCommit, RunSides] | None, item_named: str = "") -> UndoPlan:
    """Decide everything; write nothing.

    Args:
        held: the memory, with people's edits understood.
        named: the run to undo, and its documents; None if an item is named.
        item_named: the start of an item's id, to undo only what the last run did to it.

    Raises:
        UnknownItem: none or more than one matches.
        NotUndoable: there is nothing to undo, or it was undone already.
        BrokenChangeSet: the changes would break a promise.
    """
    git, today, documents, buried, item = held.git, held.today, held.documents, held.stones, ""
    if item_named:  # an existing one, else one that an undo removed
        undone_before = {stone.id for stone in buried if stone.reason is Reason.UNDONE}
        item = named_item(item_named, items_by_id(documents), undone_before)
    run, sides = named or _run_of_item(git, item, documents)
    stones = _stones_without(git, run, buried) if run.by_hand and not item else buried
    by_undo = [stone for stone in stones if stone.reason is Reason.UNDONE]
    deleted = frozenset(stone.id for stone in stones) - {stone.id for stone in by_undo}  # by a person
    undone = undo(sides, documents, held.snapshot.unreadable(), deleted, item)
    present, then = item_places(documents.values()), item_places(undone.documents.values())
    removed = [present[ident].item for ident in sorted(undone.items & present.keys() - then.keys())]
    restored = sorted(undone.items & then.keys() - present.keys())
    asked = with_questions(
        undone.documents,
        undone.disputed,
        f"was changed since run {run.run}",
        [(run.parent or run.commit)[:10]],
        today,
    )
    back = {stone for stone in by_undo if stone.id in restored}
    change = ManualChange(
        asked,
        "",
        added=restored,
        stones=[*(tombstone(one, today, Reason.UNDONE) for one in removed), *stones - buried],
        lifted=(buried - stones) | back,
        undoes=f"{run.run} {item}".strip(),
    )
    pruned, changes = held.planned(change)
    final = item_places(pruned.documents.values())
    both = sorted(undone.items & final.keys() & present.keys())
    returned = [i for i in both if final[i].told != present[i].told]
    kept = undone.kept | {
        moved.id: f"is in {moved.target}: {moved.source} has no room for it"
        for moved in pruned.moved
        if moved.id in undone.items
    }
    if not (removed or restored or returned or run.by_hand or undone.documents != dict(documents)):
        changes = []
    counts = {"removed": len(removed), "brought back": len(restored), "as before": len(returned)}
    summary = _summary(run, item, counts, is_done=bool(changes))
    remarks = [f"{ident} {why}" for ident, why in sorted(kept.items())]
    change = replace(change, summary=summary, changed=len(removed) + len(returned), remarks=remarks)
    return UndoPlan(run, item, change, changes, kept)


def _summary(run: RunCommit, item: str, counts: Mapping[str, int], *, is_done: bool) -> str:
    """Return the undo in one line: the command prints it, and the commit starts with it."""
    what = f"{item} of run {run.run}" if item else f"Run {run.run}"
    told = ", ".join(f"{count} {'item' if count == 1 else 'items'} {done}" for done, count in counts.items() if count)
    return f"{what} undone{f': {told}' if told else ''}" if is_done or told else f"{what}: nothing could be undone"


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
    if run.extractor == BY_PEOPLE:  # which no undo takes back
        return RunSides({}, {})
    before, after = changed_documents(git, run)
    is_whole = run.by_hand or bool(run.undoes)
    return RunSides(before, after, is_whole)


def carry_out_undo(
    root: Path, settings: Settings, now: datetime, run: str = "", item: str = "", *, is_dry: bool = False
) -> tuple[UndoPlan, str]:
    """Undo a run, or what the last run did to an item, in a commit of its own.

    Args:
        root: the memory.
        settings: its settings.
        now: the time the undo acts at.
        run: the start of a run's id or commit; empty for the newest run that changed something and was not undone.
        item: the start of an item's id, to undo only what the last run did to it; else empty.
        is_dry: whether to plan it only.

    Returns:
        The plan, and the commit or an empty string.

    Raises:
        LockHeld: a run is working on the memory.
        CurateError: any error of `plan_undo`.
    """
    if is_dry:
        git = Git(root)
        git.check()
        named = None if item else _run(git, run)
        return plan_undo(understood(read_memory(git, settings, now)), named, item), ""
    with direct_change(root, settings, now, "curate undo") as found:
        named = None if item else _run(found.git, run)  # before people's edits have a commit of their own
        held = taken_in(found)
        plan = plan_undo(held, named, item)
        if not plan.changes:
            return plan, ""
        held.write(plan.change, by=BY_HAND if plan.run.by_hand else "")
        note_undone(root)
        return plan, held.git.head() or ""


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
            if (run.added or run.changed) and run.extractor != BY_PEOPLE:  # by its own words: a person changed it
                why = "The last run only took in what you edited."
                raise NotUndoable(why, "Edit it again, or name an earlier run: `curate runs` lists them.")
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
