"""`curate check --fix`: what a careless hand edit broke and has one right answer is put right, in one commit.

Copied lines get ids of their own, links to nowhere go, Review.md asks about items that vanished, and State gets back
what the last commit has; the rest is left to the person.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.night.manual import Deed, direct_change
from pipelines.night.reconcile import CHOICES, understand_edits
from pipelines.store.change_set import Change, items_by_id
from pipelines.store.conservation import buried_ids, committed_stones, departed, hidden_ids
from pipelines.store.document import commented
from pipelines.store.git import Git
from pipelines.store.layout import TOMBSTONES
from pipelines.store.review_queue import waiting, with_entry
from pipelines.store.state import read_tombstones, unreadable_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.document import Document


_WHY: Final = "They stood in their documents once, and nothing says why they left. Until you tick a box they wait here."


def mend(root: Path, settings: Settings, when: datetime) -> str:
    """Mend what has one right answer, commit it, and return what was done, or an empty string.

    Raises:
        BrokenChangeSet: the mending itself would break a promise.
        GitFault: the repository stays so broken that no commit can be made.
    """
    committed = committed_stones(Git(root))  # before the edits by hand are
    with direct_change(root, settings, when, "curate check --fix") as held:
        snapshot, git = held.snapshot, held.git
        people = understand_edits(git, snapshot, snapshot.documents, held.today)
        broken = {path: lines for path, data in snapshot.state.items() if (lines := unreadable_lines(data))}
        lost = committed - read_tombstones(snapshot.state.get(TOMBSTONES))
        gone = {stone.id for stone in (*people.retracted, *lost)}
        left = departed(replace(snapshot, documents=people.documents), git)
        vanished = [(item, path) for item, path, _ in left if item.id not in gone]
        documents = people.documents
        if vanished:
            items = [waiting(item, path) for item, path in vanished]
            title = f"{len(items)} vanished {'item' if len(items) == 1 else 'items'}"
            documents = with_entry(documents, "gone", held.today, title, _WHY, CHOICES, items)
        known = {*items_by_id(documents), *buried_ids(snapshot), *hidden_ids(snapshot, git), *gone}
        documents, unlinked = _unlinked(documents, known)
        done = {
            "ids given": len(people.numbered),
            "rewordings noted": len(people.edited),
            "deletions noted": len(people.retracted),
            "links to nowhere taken out": unlinked,
            "vanished items put into Review.md": len(vanished) + len(people.asked),
            "tombstones put back": len(lost),
            "unreadable lines taken out of State": sum(map(len, broken.values())),
        }
        stones = [*people.stones, *lost]
        if stones:
            broken.pop(TOMBSTONES, None)  # what is written for them leaves such lines out
        further = [Change(path, snapshot.state[path], _without(snapshot.state[path], broken[path])) for path in broken]
        mended = Deed(documents, "Mend what a check found", changed=sum(done.values()), stones=stones, further=further)
        if not held.write(mended)[1]:
            return ""
    return ", ".join(f"{count} {what}" for what, count in done.items() if count) or "caps and pointers"


def _without(data: bytes, lines: Sequence[int]) -> bytes:
    """Return a file without the lines of those numbers, counted from 1."""
    return b"\n".join(line for number, line in enumerate(data.split(b"\n"), 1) if number not in lines)


def _unlinked(documents: dict[str, Document], known: set[str]) -> tuple[dict[str, Document], int]:
    """Return the documents without links to ids that are not known, and how many items had one.

    A link by which the status of an item is told stays.
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
            after[path] = commented(document, new)
            count += len(new)
    return after, count
