"""`curate check --fix`: repair what a careless edit broke, where there is one right answer, in one commit.

Lines with the id of another item get their own, as before any command. Dead links are removed, Review.md asks about
vanished items, and State files get their committed lines back. The rest is left to the person.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.night.manual import ManualChange, change_by_hand
from pipelines.night.reconcile import CHOICES
from pipelines.store.change_set import Change, items_by_id
from pipelines.store.conservation import buried_ids, committed_stones, hidden_ids, lost_items
from pipelines.store.document import Document, with_marks
from pipelines.store.git import Git
from pipelines.store.layout import TOMBSTONES
from pipelines.store.review_queue import waiting, with_entry
from pipelines.store.state import read_tombstones, unreadable_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings


_WHY = "They left their documents for no recorded reason. They wait here until you tick a box."


def mend(root: Path, settings: Settings, when: datetime) -> str:
    """Repair what has one right answer, commit it, and return what was done, or an empty string.

    Raises:
        BrokenChangeSet: the repair itself would break a promise.
        GitFault: the repository is too broken for a commit.
    """
    committed = committed_stones(Git(root))  # before people's edits are committed
    with change_by_hand(root, settings, when, "curate check --fix") as held:
        snapshot, git, documents = held.snapshot, held.git, dict(held.documents)
        broken = {path: lines for path, data in snapshot.state.items() if (lines := unreadable_lines(data))}
        lost = committed - read_tombstones(snapshot.state.get(TOMBSTONES))
        gone = {stone.id for stone in lost}
        vanished = [(item, path) for item, path, _ in lost_items(snapshot, git) if item.id not in gone]
        if vanished:
            items = [waiting(item, path) for item, path in vanished]
            title = f"{len(items)} vanished {'item' if len(items) == 1 else 'items'}"
            documents = with_entry(documents, "gone", held.today, title, _WHY, CHOICES, items)
        known = {*items_by_id(documents), *buried_ids(snapshot), *hidden_ids(snapshot, git), *gone}
        documents, unlinked = _unlinked(documents, known)
        done = {
            "dead link{s} removed": unlinked,
            "vanished item{s} listed in Review.md": len(vanished),
            "tombstone{s} restored": len(lost),
            "unreadable line{s} removed from State": sum(map(len, broken.values())),
        }
        if lost:
            broken.pop(TOMBSTONES, None)  # rewriting the file drops such lines
        further = [Change(path, snapshot.state[path], _without(snapshot.state[path], broken[path])) for path in broken]
        mended = ManualChange(
            documents, "Mend what a check found", changed=sum(done.values()), stones=[*lost], further=further
        )
        if not held.write(mended)[1]:
            return ""
    parts = (f"{count} {what.format(s='s' * (count > 1))}" for what, count in done.items() if count)
    return ", ".join(parts) or "caps and pointers"


def _without(data: bytes, lines: Sequence[int]) -> bytes:
    """Return a file without some lines, numbered from 1."""
    return b"\n".join(line for number, line in enumerate(data.split(b"\n"), 1) if number not in lines)


def _unlinked(documents: dict[str, Document], known: set[str]) -> tuple[dict[str, Document], int]:
    """Return the documents without links to unknown ids, and how many items had one.

    Links that define an item's status stay.
    """
    after, count = dict(documents), 0
    for path, document in documents.items():
        new = {}
        for placed in document.items:
            pairs = ((kind, tuple(one for one in ids if one in known)) for kind, ids in placed.item.links)
            item = replace(placed.item, links=tuple((kind, ids) for kind, ids in pairs if ids))
            if item != placed.item:
                new[placed.line] = item
        if new:
            after[path] = with_marks(document, new)
            count += len(new)
    return after, count
