"""Find the files of `store/left_out.py`: ask git what it was told, and count the items that would go with a page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pipelines.store.item import Status
from pipelines.store.layout import REVIEW, kind_of
from pipelines.store.left_out import FILE, MISSING, TOLD
from pipelines.store.review_queue import read_queue
from pipelines.store.state import read_record, write_record
from pipelines.store.trees import committed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from pipelines.store.document import Document
    from pipelines.store.git import Git
    from pipelines.store.review_queue import QueueEntry


_MANY_GONE = 5
"""If more items than this are gone at once, it looks like a bad checkout."""
_SMALL = 4
"""A document with fewer items than this may lose half of them without a question."""


def find_left_out(
    root: Path, git: Git, absent: Collection[str], documents: Callable[[], Mapping[str, Document]]
) -> dict[str, str]:
    """Return those of the last commit's files that are left out, and why; also keep them for `left_out`.

    Args:
        root: the memory.
        git: its repository.
        absent: the last commit's files that are not on the disk.
        documents: returns the documents on the disk.
    """
    found, tree = dict[str, str](), git.tree(git.head())
    if absent:
        found = dict.fromkeys(_told(git).intersection(absent), TOLD)
        gone = [path for path in absent if path not in found and kind_of(path)]
        found |= dict.fromkeys(_to_ask_about(git, tree, gone, documents), MISSING) if gone else {}
    if found != read_record(root, FILE):
        write_record(root, FILE, found)
    return found


def _told(git: Git) -> set[str]:
    """Return what git was told to leave out, or to take for unchanged; everything, if nothing was ever checked out."""
    if not (git.repository.git_dir / "index").exists():
        return {*git.tree(git.head())}
    rows = os.fsdecode(git.run("ls-files", "-v", "-z")).split("\0")
    return {row[2:] for row in rows if row[:1] == "S" or row[:1].islower()}


def _to_ask_about(
    git: Git, tree: Mapping[str, tuple[str, str]], gone: Iterable[str], documents: Callable[[], Mapping[str, Document]]
) -> list[str]:
    """Return the pages that are gone with so many items that it looks like a bad checkout."""
    pages = [committed(git, git.head(), path) for path in gone]
    here = documents()
    known = {ident for one in here.values() for ident in one.held}
    waits = {ident for page in pages for ident, (_, item) in page.held.items() if item.status is Status.WAITING}
    lost = {page.path: page.held.keys() - known - waits for page in pages}
    asked = lost_too_many(lost, {page.path: page for page in pages})
    # Taking a question out of Review.md is an answer, too: no more is asked.
    before = committed(git, git.head() if REVIEW in here else None, REVIEW)
    settled = asked_pages_in(read_queue(before), tree) - asked_pages_in(read_queue(here.get(REVIEW)), tree)
    return [path for path in asked if path not in settled]


def lost_too_many(lost: Mapping[str, Collection[str]], before: Mapping[str, Document]) -> list[str]:
    """Return the pages to ask about: all that lost items, if these are many; else those that lost half of theirs.

    Args:
        lost: path → the ids that are gone.
        before: the pages as they were.
    """
    if sum(map(len, lost.values())) > _MANY_GONE:
        return [path for path, items in lost.items() if items]
    return [path for path, items in lost.items() if len(items) * 2 >= len(before[path].held) >= _SMALL]


def asked_pages_in(queue: Iterable[QueueEntry], paths: Iterable[str]) -> frozenset[str]:
    """Return those of the paths that questions in Review.md name as gone."""
    titles = [entry.title for entry in queue if entry.kind == MISSING]
    named = (max((path for path in paths if path in title), key=len, default="") for title in titles)
    return frozenset(filter(None, named))
