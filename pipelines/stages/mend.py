"""Mend: what a careless hand edit broke and has one right answer is put right; the rest is left to the person."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.stages.reconcile import CHOICES, reconcile
from pipelines.stages.tidying import tidied
from pipelines.store.document import Document, commented
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import waiting, with_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.settings import Settings
    from pipelines.stages.reconcile import Reconciled
    from pipelines.store.conservation import Departed
    from pipelines.store.git_history import Baseline
    from pipelines.store.item import Item
    from pipelines.store.snapshot import Snapshot


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


def mend(
    documents: Mapping[str, Document],
    baseline: Baseline,
    vanished: Callable[[Mapping[str, Document]], Sequence[Departed]],
    buried: frozenset[str],
    today: str,
    shown: Callable[[str], str] = str,
) -> Mended:
    """Give copied lines ids of their own, take out links to nowhere, and ask about items that vanished.

    Args:
        documents: every document as it is.
        baseline: the documents as the last run left them, for people's edits since.
        vanished: documents → the items that are accounted for by nothing in them.
        buried: ids that have a tombstone, or stand where nothing can be read now; a link to one stays.
        today: the memory's day.
        shown: what people call the file at a path.
    """
    reconciled = reconcile(documents, baseline, today, shown)
    after = dict(reconciled.documents)
    gone = {stone.id for stone in reconciled.retracted}
    lost = [one for one in vanished(after) if one.item.id not in gone]
    if lost:
        items = [waiting(one.item, one.path) for one in lost]
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
    return Mended(after, reconciled, tuple(unlinked), tuple(one.item.id for one in lost))


def _linked_to(item: Item, known: set[str]) -> Item:
    """Return the item without links to ids that are not known; a link by which its status is told stays."""
    links = tuple((kind, kept) for kind, ids in item.links if (kept := tuple(i for i in ids if i in known)))
    return replace(item, links=links)


def settled(snapshot: Snapshot, mended: Mended, settings: Settings) -> dict[str, Document]:
    """Return the mended documents under their caps, with their quality fields."""
    return dict(tidied(mended.documents, snapshot, settings, snapshot.unreadable()).documents)
