"""`curate check --fix`: mend a memory and commit what was mended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet
from pipelines.night.briefing import tidied
from pipelines.night.manual import direct_change
from pipelines.night.reconcile import CHOICES, reconcile
from pipelines.store.change_set import Change, check_documents, document_changes
from pipelines.store.conservation import buried_ids, departed, hidden_ids
from pipelines.store.document import Document, commented
from pipelines.store.git_history import last_run_baseline
from pipelines.store.layout import REVIEW, TOMBSTONES
from pipelines.store.review_queue import waiting, with_entry
from pipelines.store.state import read_tombstones, render_tombstones

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.night.reconcile import Reconciled
    from pipelines.settings import Settings
    from pipelines.store.git_history import Baseline
    from pipelines.store.item import Item
    from pipelines.store.snapshot import Snapshot


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


# ---------------------------------------- mend
# Mend: what a careless hand edit broke and has one right answer is put right; the rest is left to the person.


@dataclass(frozen=True, slots=True)
class Mended:
    """The documents after mending.

    Args:
        documents: every document by path.
        reconciled: what people's edits came to.
        unlinked: ids whose links to nowhere were taken out.
        asked: ids of vanished items about which Review.md asks now.
    """

    documents: Mapping[str, Document]
    reconciled: Reconciled
    unlinked: tuple[str, ...]
    asked: tuple[str, ...]


def mend_documents(
    documents: Mapping[str, Document],
    baseline: Baseline,
    vanished: Callable[[Mapping[str, Document]], Sequence[tuple[Item, str, str]]],
    buried: frozenset[str],
    today: str,
    shown: Callable[[str], str] = str,
) -> Mended:
    """Give copied lines ids of their own, take out links to nowhere, and ask about items that vanished.

    Args:
        documents: every document as it is.
        baseline: the documents as the last run left them, for people's edits since.
        vanished: documents → the items that are accounted for by nothing in them, as `departed` gives them.
        buried: ids that have a tombstone, or stand where nothing can be read now; a link to one stays.
        today: the memory's day.
        shown: what people call the file at a path.
    """
    reconciled = reconcile(documents, baseline, today, shown)
    after = dict(reconciled.documents)
    gone = {stone.id for stone in reconciled.retracted}
    lost = [(item, path) for item, path, _ in vanished(after) if item.id not in gone]
    if lost:
        items = [waiting(item, path) for item, path in lost]
        why = "They stood in their documents once, and nothing says why they left. Until you tick a box they wait here."
        title = f"{len(items)} vanished {'item' if len(items) == 1 else 'items'}"
        after[REVIEW] = with_entry(
            after.get(REVIEW) or Document(REVIEW, "# Review\n"), "gone", today, title, why, CHOICES, items
        )
    known = {p.item.id for document in after.values() for p in document.items} | buried | gone
    unlinked: list[str] = []
    for path, document in sorted(after.items()):
        new = {p.line: fixed for p in document.items if (fixed := _linked_to(p.item, known)) != p.item}
        unlinked += [item.id for item in new.values()]
        if new:
            after[path] = commented(document, new)
    return Mended(after, reconciled, tuple(unlinked), tuple(item.id for item, _ in lost))


def _linked_to(item: Item, known: set[str]) -> Item:
    """Return the item without links to ids that are not known; a link by which its status is told stays."""
    links = tuple((kind, kept) for kind, ids in item.links if (kept := tuple(i for i in ids if i in known)))
    return replace(item, links=links)


def settled(snapshot: Snapshot, mended: Mended, settings: Settings) -> dict[str, Document]:
    """Return the mended documents under their caps, with their quality fields."""
    return dict(tidied(mended.documents, snapshot, settings, snapshot.unreadable()).documents)
