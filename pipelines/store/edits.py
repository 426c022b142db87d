"""Edits by people and agents since the last commit: a run commits them first, under a message of their own.

Files that are gone are edits, too, but for those of `store/trees.py`: they are found here.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from io import BytesIO
from itertools import filterfalse
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import BadFile
from pipelines.store.document import Document, Documents
from pipelines.store.files import open_regular
from pipelines.store.git import Author, Entry, Git, blob_id
from pipelines.store.item import Status
from pipelines.store.layout import PARTIAL, REVIEW, TRACKED, day_of_log, is_tracked, kind_of
from pipelines.store.review_queue import QueueEntry, read_queue
from pipelines.store.secrets.redact import is_private, load_redactor
from pipelines.store.secrets.scan import held_because, secrets_in
from pipelines.store.snapshot import CONFLICT, COPIED, FileWarning, conflict_in, read_documents
from pipelines.store.state import read_record, write_record
from pipelines.store.template import own_files
from pipelines.store.trees import LEFT_OUT, MISSING, TOLD, committed, ledger_at, read_documents_in
from pipelines.store.user_layout import inside

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


def uncommitted(git: Git) -> list[str]:
    """Return the memory's paths that differ from HEAD (changed, new or deleted, but not left out), sorted.

    Files are compared by the hash that git would give them, without filters and without the index: neither attributes
    nor staged changes affect the answer. Ignored files count only if HEAD has them.
    """
    root, tree, changed = git.root, git.tree(git.head()), list[str]()
    there = dict.fromkeys(own_files(root, TRACKED))
    for path in filter(tree.__contains__, there):
        with suppress(BadFile):  # of what cannot be read it is not known whether it changed
            if (file := open_regular(root, path)) is not None:
                with file:
                    changed += [path] if blob_id(file.read()) != tree[path][1] else []
    fresh = [path for path in there if path not in tree]
    ignored = git.ignored(fresh) if fresh else set()
    absent = []
    for path in filter(is_tracked, filterfalse(there.__contains__, tree)):
        # A file that git has as a link, or that now is one or is behind one, is not known to be deleted.
        with suppress(BadFile):
            inside(root, path)
            absent += [path] if tree[path][0] != "120000" else []
    left = dict[str, str]()  # and why; `left_out` knows them from now on
    if absent:
        left = dict.fromkeys(_told(git).intersection(absent), TOLD)
        gone = [path for path in absent if path not in left and kind_of(path)]
        left |= dict.fromkeys(_to_ask_about(git, gone), MISSING) if gone else {}
    if left != read_record(root, LEFT_OUT):
        write_record(root, LEFT_OUT, left)
    changed += [path for path in absent if path not in left]
    return sorted([*changed, *(path for path in fresh if path not in ignored)])


class Edits(NamedTuple):
    """What differs from HEAD.

    Args:
        changed: path → what can be committed: its mode and the bytes that were looked through; None if it is gone.
        held: path → why it stays uncommitted: it contains a secret; empty for a log that contains something private.
    """

    changed: dict[str, Entry | None]
    held: dict[str, str]

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each file with a secret."""
        held = (FileWarning(path, why) for path, why in self.held.items() if why)
        return tuple(map(str, held))


def find_edits(git: Git) -> Edits:
    """Return what changed since the last commit, with files that contain secrets apart.

    If one file reveals that a value is secret, inspect all files again.
    """
    redactor = load_redactor(git.root)
    before = redactor.learned
    changed = dict[str, Entry | None]()
    held = dict[str, str]()
    root, paths, warnings = git.root, uncommitted(git), list[FileWarning]()
    if any(map(kind_of, paths)):
        read_documents(root, warnings)
    # On files with marks of a conflict, and copies of pages, a person decides first; the last commit counts meanwhile.
    waiting = {one.path for one in warnings if one.kind in {CONFLICT, COPIED}}
    for path in filterfalse(waiting.__contains__, paths):
        if not os.path.lexists(root / path):
            changed[path] = None
        # A file that git cannot read by its path stays uncommitted.
        elif "\n" in path or not (root / path).is_file() or not os.access(root / path, os.R_OK):
            continue
        elif (file := open_regular(root, path)) is not None:
            with file:
                mode, data = os.fstat(file.fileno()).st_mode, file.read()
            text, day = data.decode(errors="replace"), day_of_log(path)
            if day and conflict_in(text):
                continue
            if secrets := list(secrets_in(path, BytesIO(data), redactor)):
                held[path] = held_because(secrets)
            # A run removes private text from a log before committing it.
            elif (day or path.startswith(f"{PARTIAL}/")) and is_private(text):
                held[path] = ""
            else:
                changed[path] = ("100755" if mode & stat.S_IXUSR else "100644", data)
    return find_edits(git) if redactor.learned > before else Edits(changed, held)


def commit_edits(
    git: Git, message: str, author: Author, edits: Edits | None = None, *, follow: bool = True
) -> str | None:
    """Commit people's edits as they are, and return the commit, or None if there are none.

    Leave out files that contain a secret or wait for a decision. Of a file that was saved since it was looked through,
    the next commit has the new version.

    Args:
        git: the memory's git.
        message: the commit message.
        author: the author if git has no identity configured.
        edits: the result of `find_edits`, if it is already known.
        follow: as for `Git.commit`.
    """
    changed = (edits or find_edits(git)).changed
    if not changed:
        return None
    author = Author(*(git.identity() or (author.name, author.mail)), author.when)
    return git.commit(changed, message, author, follow=follow)


# ---------------------------------------- the baseline
# The documents as the last run left them; people's edits are the difference to it.


Baseline = tuple[dict[str, Document], frozenset[str]]
"""The readable documents of a commit that changed or were deleted since, and the paths of the unchanged ones."""


def is_at_or_below(path: str, paths: frozenset[str]) -> bool:
    """Whether a document is one of `paths`, or is below one of them that is a link to a folder."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in paths for depth in range(1, len(parts) + 1))


def baseline_at(git: Git, commit: str | None, documents: Documents, unread: frozenset[str]) -> Baseline:
    """Return the documents of a commit.

    Args:
        git: the memory's git.
        commit: the commit; None before the first run, when nothing counts as changed.
        documents: the current documents.
        unread: documents that cannot be read now, so that their changes are unknown.
    """
    changed, same, ledger = dict[str, Document](), set[str](), ledger_at(git, commit)
    for path, (mode, blob) in git.tree(commit).items():
        if kind_of(path) is None or mode == "120000" or (unread and is_at_or_below(path, unread)):
            continue
        now = documents.get(path)
        if now is not None and blob_id(now.text.encode()) == blob:
            same.add(path)
            continue
        changed |= read_documents_in({path: git.blob(blob) or b""}, ledger)
    return changed, frozenset(same)


# ---------------------------------------- what is gone, but not deleted


_MANY_GONE = 5
"""If more items than this are gone at once, it looks like a bad checkout."""
_SMALL = 4
"""A document with fewer items than this may lose half of them without a question."""


def _told(git: Git) -> set[str]:
    """Return what git was told to leave out, or to take for unchanged; everything, if nothing was ever checked out."""
    if not (git.repository.git_dir / "index").exists():
        return {*git.tree(git.head())}
    rows = os.fsdecode(git.run("ls-files", "-v", "-z")).split("\0")
    return {row[2:] for row in rows if row[:1] == "S" or row[:1].islower()}


def _to_ask_about(git: Git, gone: Iterable[str]) -> list[str]:
    """Return the pages that are gone with so many items that it looks like a bad checkout."""
    pages, tree = [committed(git, git.head(), path) for path in gone], git.tree(git.head())
    here = {path: page for path, page in read_documents(git.root).items() if (git.root / path).exists()}
    known = {ident for one in here.values() for ident in one.held}
    waits = {ident for page in pages for ident, (_, item) in page.held.items() if item.status is Status.WAITING}
    lost = {page.path: page.held.keys() - known - waits for page in pages}
    asked = lost_too_many(lost, {page.path: page for page in pages})
    # Taking a question out of Review.md is an answer, too: no more is asked.
    before = committed(git, git.head() if REVIEW in here else None, REVIEW)
    settled = asked_pages_in(read_queue(before), tree) - asked_pages_in(read_queue(here.get(REVIEW)), tree)
    return [path for path in asked if path not in settled]


def lost_too_many(lost: Mapping[str, Collection[str]], before: Documents) -> list[str]:
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
