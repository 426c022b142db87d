"""Undo a run, or its change of one item, as one change set and one commit.

`plan_undo` decides and writes nothing; `carry_out_undo` holds the lock and applies the plan. Later changes stay.
Undoing an undo is the same operation, so an undo can be undone like any other run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import BadFile, NotUndoable
from pipelines.night.manual import HeldMemory, ManualChange, direct_change, read_memory, taken_in, understood
from pipelines.review.outcomes import with_questions
from pipelines.store.change_set import Change, ItemChange, item_changes, item_places, items_by_id
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
from pipelines.store.item import STRUCK, Status
from pipelines.store.layout import REVIEW, TOMBSTONES
from pipelines.store.merge_pages import Disputed, merge_pages
from pipelines.store.review_queue import read_queue, without_answered
from pipelines.store.state import Reason, Tombstone, read_tombstones, tombstone
from pipelines.store.template import named_item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.night.manual import OpenMemory
    from pipelines.store.document import Documents


class UndoPlan(NamedTuple):
    """What an undo would do.

    Args:
        run: the run.
        change: what is decided; its summary is what the command prints.
        changes: the changes of files; none if nothing can be undone.
        kept: id → why an item stays as it is, as the end of a sentence that begins with the id.
    """

    run: RunCommit
    change: ManualChange
    changes: Sequence[Change]
    kept: Mapping[str, str]


def plan_undo(held: HeldMemory, run_named: str, item_named: str) -> UndoPlan:
    """Decide everything; write nothing.

    Args:
        held: the memory, with people's edits understood.
        run_named: the start of a run's id or commit; empty for the newest run that changed something and still stands.
        item_named: the start of an item's id, to undo only what the last run did to it.

    Raises:
        UnknownItem: none or more than one matches.
        NotUndoable: there is nothing to undo, or it was undone already.
        BadFile: a page that the run changed cannot be read now.
        BrokenChangeSet: the changes would break a promise.
    """
    git, today, documents, buried, item = held.git, held.today, held.documents, held.stones, ""
    if item_named:  # an existing one, else one that an undo removed
        undone_before = {stone.id for stone in buried if stone.reason is Reason.UNDONE}
        item = named_item(item_named, items_by_id(documents), undone_before)
    run, sides = _run_of_item(git, item, documents) if item else _run(git, run_named)
    for path in held.snapshot.unreadable() & (sides.before.keys() | sides.after.keys()):
        raise BadFile(path, "cannot be read", "Nothing was undone. Mend it first: `curate check` says how.")
    stones = _stones_without(git, run, buried) if run.by_hand and not item else buried
    by_undo = {stone for stone in stones if stone.reason is Reason.UNDONE}
    after, items, kept, disputed = undo(sides, documents, frozenset(one.id for one in stones - by_undo), item)
    present, then = item_places(documents.values()), item_places(after.values())
    removed, restored = sorted(items & present.keys() - then.keys()), sorted(items & then.keys() - present.keys())
    versions = "today's", "the one before the run"
    why = f"was changed since run {run.run}"
    asked = with_questions(after, disputed, why, lambda one, number: versions[one.sides[number]], today)
    change = ManualChange(
        asked,
        "",
        added=restored,
        stones=[*(tombstone(present[one].item, today, Reason.UNDONE) for one in removed), *stones - buried],
        lifted=(buried - stones) | {stone for stone in by_undo if stone.id in restored},
        undoes=f"{run.run} {item}".strip(),
    )
    pruned, changes = held.planned(change)
    final = item_places(pruned.documents.values())
    returned = [one for one in items & final.keys() & present.keys() if final[one].told != present[one].told]
    full = (one for one in pruned.moved if one["id"] in items)
    kept |= {one["id"]: f"is in {one['to']}: {one['from']} has no room for it" for one in full}
    if not (removed or restored or returned or run.by_hand or after != dict(documents)):
        changes = []
    what = f"{item} of run {run.run}" if item else f"Run {run.run}"
    counts = {"removed": len(removed), "brought back": len(restored), "as before": len(returned)}
    told = ", ".join(f"{count} {'item' if count == 1 else 'items'} {done}" for done, count in counts.items() if count)
    summary = f"{what} undone{f': {told}' if told else ''}" if changes or told else f"{what}: nothing could be undone"
    remarks = [f"{ident} {why}" for ident, why in sorted(kept.items())]
    change = change._replace(summary=summary, changed=len(removed) + len(returned), remarks=remarks)
    return UndoPlan(run, change, changes, kept)


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
    return RunSides(*changed_documents(git, run), run.by_hand or bool(run.undoes))


def carry_out_undo(opened: OpenMemory, run: str = "", item: str = "", *, is_dry: bool = False) -> tuple[UndoPlan, str]:
    """Undo a run, or what the last run did to an item, in a commit of its own.

    Args:
        opened: the memory, its settings, and the time the undo acts at.
        run: the start of a run's id or commit; empty for the newest run that changed something and was not undone.
        item: the start of an item's id, to undo only what the last run did to it; else empty.
        is_dry: whether to plan it only.

    Returns:
        The plan, and the commit or an empty string.

    Raises:
        LockHeld: a run is working on the memory.
        CurateError: any error of `plan_undo`.
    """
    root, settings, now = opened
    if is_dry or run:
        git = Git(root)
        git.check()
        if is_dry:
            return plan_undo(understood(read_memory(git, settings, now)), run, item), ""
        _run(git, run)  # before what people edited is committed
    with direct_change(opened, "curate undo") as found:
        held = taken_in(found)
        plan = plan_undo(held, run, item)
        if not plan.changes:
            return plan, ""
        held.write(plan.change, by=BY_HAND if plan.run.by_hand else "")
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
            edits = run.extractor == BY_PEOPLE
            if RunSides(*changed_documents(git, run)).asked() if edits else run.added or run.changed:
                why = "The last run only took in what you edited, or asked about it."  # a person changed it
                more = "Edit it again, answer what waits (`curate review`), or name an earlier run: `curate runs`."
                raise NotUndoable(why, more)
    raise NotUndoable(
        "There is no run to undo: no run that still applies has changed an item.", "`curate runs` lists them."
    )


def _run_of_item(git: Git, item: str, documents: Documents) -> tuple[RunCommit, RunSides]:
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


# ---------------------------------------- what one run did to each item, undone in the memory as it is now


_ENDS = frozenset({Status.DONE, *STRUCK}) - {Status.SUPERSEDED, Status.MERGED}


class RunSides(NamedTuple):
    """The documents that a run changed, by path, before and after it.

    Args:
        before: as they were.
        after: as the run left them.
        whole: whether every difference is the run's doing, as in the commit of a command.
    """

    before: Documents
    after: Documents
    whole: bool = False

    def changes(self) -> list[ItemChange]:
        """Return what the run itself did to items.

        Its commit may also hold what a person wrote meanwhile. That is left out.
        """
        return [one for one in item_changes(self.before, self.after) if self.whole or not _is_persons(one)]

    def asked(self) -> frozenset[str]:
        """Return the ids of the entries of Review.md that the run added."""
        after, before = ({one.id for one in read_queue(side.get(REVIEW))} for side in (self.after, self.before))
        return frozenset(after - before)


def _is_persons(change: ItemChange) -> bool:
    """Whether a person made a change: a run never rewords or strikes, and closes or reopens only on a log line."""
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    old, new = before.item, after.item
    reworded = (old.type, old.text) != (new.type, new.text)
    struck = new.status is Status.RETRACTED and old.status is not Status.RETRACTED
    # A run closes an item on a log line, which becomes evidence, or because a second reader rejected it.
    turned = (new.status in _ENDS and old.active) or (old.status in _ENDS and new.active)
    return reworded or struck or (turned and old.evidence == new.evidence)


def undo(
    sides: RunSides, now: Documents, deleted: frozenset[str], only: str
) -> tuple[Documents, frozenset[str], dict[str, str], list[Disputed]]:
    """Return the memory with a run undone: a merge of what came before it with what came after.

    Args:
        sides: the documents that the run changed.
        now: every document as it is.
        deleted: ids of items that a person deleted; they never come back.
        only: an item's id; undo only what the run did to it, and to others because of it. Empty for all.

    Returns:
        Every document by path; the ids of the items that are as they were before the run, as far as they were not
        changed since; id → why an item stays as it is, as the end of a sentence that begins with the id; and what was
        changed since.
    """
    changes = {one.id: one for one in sides.changes() if one.after or one.id not in deleted}
    if only:  # and what the run linked to it: undoing it restores what it superseded
        linked = {
            i: [only in side.item.linked if side else False for side in (one.before, one.after)]
            for i, one in changes.items()
        }
        changes = {i: one for i, one in changes.items() if i == only or linked[i] == [False, True]}
    base, before, kept = sides.after, sides.before, dict[str, str]()
    homes = {one.before.path for one in changes.values() if one.before} - now.keys() - base.keys()
    theirs = {**base, **{path: one for path, one in before.items() if path in homes}} if only else before
    while True:
        items = changes.keys() - kept.keys()
        there = {ident: one for ident, one in item_places(base.values()).items() if ident not in items}
        there |= {ident: one for ident in items if (one := changes[ident].before)}
        documents, disputed = merge_pages(base, now, theirs, ours_first=True, there=there)
        disputed = [one for one in disputed if not one.item or any(one.item in page.held for page in now.values())]
        stays = kept | {one.item: "was changed since, so it stays" for one in disputed if one.item}
        if not (more := _needed(changes, now, documents, stays)):
            break
        kept |= more
    # The run's questions go that are about nothing any more.
    queue, asked = documents.get(REVIEW), sides.asked()
    if queue and (asked or queue is not now.get(REVIEW)):
        had = {one.id for one in read_queue(now.get(REVIEW)) if one.items}
        bare = (one for one in read_queue(queue) if one.id in asked and not one.items)
        documents[REVIEW] = without_answered(queue, [(one, ()) for one in bare if not only or one.id in had])
    return documents, frozenset(items), stays, disputed


def _needed(
    changes: Mapping[str, ItemChange], now: Documents, after: Documents, kept: Mapping[str, str]
) -> dict[str, str]:
    """Return what else stays, so that no item links to a removed one, or is live beside its successor."""
    present, final = item_places(now.values()), item_places(after.values())
    named = {one: ident for ident, place in final.items() for one in place.item.linked}
    found = {}
    for ident in (changes.keys() & present.keys()) - kept.keys():
        item = present[ident].item
        if ident not in final and ident in named:
            found[ident] = f"stays: {named[ident]} refers to it"
        elif ident in final and (successor := item.superseded_by or item.merged_into) in kept:
            found[ident] = f"stays as it is: {successor}, which replaced it, stays"
    return found
