"""Undo what one run did to each item, in the memory as it is now; later changes stay.

Undoing an undo is the same operation, so an undo can be undone like any other run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.store.change_set import ItemChange, item_changes, item_places
from pipelines.store.item import STRUCK, Status
from pipelines.store.layout import REVIEW
from pipelines.store.merge_pages import Disputed, merge_pages
from pipelines.store.review_queue import read_queue, without_answered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.store.document import Document


_ENDS = frozenset({Status.DONE, *STRUCK}) - {Status.SUPERSEDED, Status.MERGED}


@dataclass(frozen=True, slots=True)
class RunSides:
    """The documents that a run changed, by path, before and after it.

    Args:
        before: as they were.
        after: as the run left them.
        whole: whether every difference is the run's doing, as in the commit of a command.
    """

    before: Mapping[str, Document]
    after: Mapping[str, Document]
    whole: bool = False

    def changes(self) -> list[ItemChange]:
        """Return what the run itself did to items.

        Its commit may also hold what a person wrote meanwhile. That is left out.
        """
        return [one for one in item_changes(self.before, self.after) if self.whole or not _is_persons(one)]

    def asked(self) -> frozenset[str]:
        """Return the ids of the entries of Review.md that the run added."""
        return _entries(self.after) - _entries(self.before)


def _entries(documents: Mapping[str, Document]) -> frozenset[str]:
    return frozenset(one.id for one in read_queue(documents.get(REVIEW)))


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


@dataclass(frozen=True, slots=True)
class Undone:
    """The memory with a run, or its change of one item, undone.

    Args:
        documents: every document by path.
        items: the ids of the items that are as they were before the run, as far as they were not changed since.
        kept: id → why an item stays as it is, as the end of a sentence that begins with the id.
        disputed: what was changed since.
    """

    documents: dict[str, Document]
    items: frozenset[str]
    kept: dict[str, str]
    disputed: list[Disputed]


def undo(
    sides: RunSides,
    now: Mapping[str, Document],
    closed: frozenset[str] = frozenset(),
    deleted: frozenset[str] = frozenset(),
    only: str = "",
) -> Undone:
    """Return the memory with a run undone: a merge of what came before it with what came after.

    Args:
        sides: the documents that the run changed.
        now: every document as it is.
        closed: files that exist but cannot be read; nothing is put into them.
        deleted: ids of items that a person deleted; they never come back.
        only: an item's id; undo only what the run did to it, and to others because of it. Empty for all.
    """
    changes = {one.id: one for one in sides.changes() if not only or _concerns(one, only)}
    changes = {ident: one for ident, one in changes.items() if one.after or ident not in deleted}
    base, before = (
        {path: one for path, one in side.items() if path not in closed} for side in (sides.after, sides.before)
    )
    lost = {ident: one.before.path for ident, one in changes.items() if one.before and one.before.path in closed}
    kept = {ident: f"cannot come back: {path} cannot be read" for ident, path in lost.items()}
    homes = {one.before.path for one in changes.values() if one.before} - now.keys() - base.keys()
    theirs = {**base, **{path: one for path, one in before.items() if path in homes}} if only else before
    while True:
        items = changes.keys() - kept.keys()
        there = item_places(base.values())
        there |= {ident: one for ident in items if (one := changes[ident].before)}
        there = {ident: one for ident, one in there.items() if ident not in items or changes[ident].before}
        documents, disputed = merge_pages(base, now, theirs, ours_first=True, there=there)
        disputed = [one for one in disputed if not one.item or any(one.item in page.held for page in now.values())]
        stays = {one.item: "was changed since, so it stays" for one in disputed if one.item}
        if not (more := _needed(changes, now, documents, kept | stays)):
            return Undone(
                _without_questions(sides, now, documents, whole=not only), frozenset(items), kept | stays, disputed
            )
        kept |= more


def _concerns(change: ItemChange, ident: str) -> bool:
    """Whether a change is of this item, or linked another to it: undoing it restores what it superseded."""
    if change.id == ident:
        return True
    before = change.before.item.linked if change.before else ()
    return change.after is not None and ident in change.after.item.linked and ident not in before


def _needed(
    changes: Mapping[str, ItemChange],
    now: Mapping[str, Document],
    after: Mapping[str, Document],
    kept: Mapping[str, str],
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


def _without_questions(
    sides: RunSides, now: Mapping[str, Document], after: dict[str, Document], *, whole: bool
) -> dict[str, Document]:
    """Return the documents without the questions of the run that are about nothing any more."""
    asked, had = sides.asked(), {one.id for one in read_queue(now.get(REVIEW)) if one.items}
    queue = after.get(REVIEW)
    if queue is None or (queue is now.get(REVIEW) and not asked):
        return after
    left = [(one, ()) for one in read_queue(queue) if one.id in asked and not one.items and (whole or one.id in had)]
    return {**after, REVIEW: without_answered(queue, left)}
