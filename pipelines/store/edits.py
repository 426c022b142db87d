"""Edits by people and agents since the last commit: a run commits them first, under a message of their own."""

from __future__ import annotations

import contextlib
import os
import stat
from io import BytesIO
from itertools import filterfalse
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import BadFile
from pipelines.store.files import open_regular, read_bytes
from pipelines.store.find_left_out import find_left_out
from pipelines.store.git import Author, Git, blob_id
from pipelines.store.layout import PARTIAL, day_of_log, is_tracked, kind_of
from pipelines.store.secrets.redact import Redactor, is_private, load_redactor
from pipelines.store.secrets.scan import held_because, secrets_in
from pipelines.store.snapshot import CONFLICT, COPIED, FileWarning, conflict_in, documents_on_disk, read_documents
from pipelines.store.template import tracked_files
from pipelines.store.user_layout import inside

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.store.git import Entry


def uncommitted(root: Path, git: Git, head: str | None) -> list[str]:
    """Return the memory's paths that differ from HEAD (changed, new or deleted, but not left out), sorted.

    Files are compared by the hash that git would give them, without filters and without the index: neither attributes
    nor staged changes affect the answer. Ignored files count only if HEAD has them.
    """
    changed = list[str]()
    tree = git.tree(head)
    there = dict.fromkeys(tracked_files(root))
    for path in filter(tree.__contains__, there):
        found = _blob_at(root, path)
        changed += [path] if found not in {None, tree[path][1]} else []
    fresh = [path for path in there if path not in tree]
    ignored = git.ignored(fresh) if fresh else set()
    absent = []
    for path in filter(is_tracked, filterfalse(there.__contains__, tree)):
        # A file that git has as a link, or that now is one or is behind one, is not known to be deleted.
        with contextlib.suppress(BadFile):
            inside(root, path)
            absent += [path] if tree[path][0] != "120000" else []
    left = find_left_out(root, git, absent, lambda: documents_on_disk(root))
    changed += [path for path in absent if path not in left]
    return sorted([*changed, *(path for path in fresh if path not in ignored)])


def _blob_at(root: Path, path: str) -> str | None:
    """Return git's id of a file; None if it is deleted or unreadable."""
    with contextlib.suppress(BadFile):
        if (file := open_regular(root, path)) is not None:
            with file:
                return blob_id(file.read())
    return None


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
        held = (FileWarning(path, why, pending=True) for path, why in self.held.items() if why)
        return tuple(map(str, held))


def find_edits(root: Path, git: Git) -> Edits:
    """Return what changed since the last commit, with files that contain secrets apart.

    If one file reveals that a value is secret, inspect all files again.
    """
    redactor = load_redactor(root)
    before = redactor.learned
    found = _look(root, git, redactor)
    return _look(root, git, redactor) if redactor.learned > before else found


def _look(root: Path, git: Git, redactor: Redactor) -> Edits:
    changed: dict[str, Entry | None] = {}
    held: dict[str, str] = {}
    paths = uncommitted(root, git, git.head())
    waiting = _waiting(root, paths)
    for path in filterfalse(waiting.__contains__, paths):
        if not os.path.lexists(root / path):
            changed[path] = None
        # A file that git cannot read by its path stays uncommitted.
        elif "\n" in path or not (root / path).is_file() or not os.access(root / path, os.R_OK):
            continue
        elif (file := open_regular(root, path)) is not None:
            with file:
                mode, data = os.fstat(file.fileno()).st_mode, file.read()
            # A run removes private text from a log before committing it.
            is_log = path.startswith(f"{PARTIAL}/") or day_of_log(path)
            if secrets := list(secrets_in(path, BytesIO(data), redactor)):
                held[path] = held_because(secrets)
            elif is_log and is_private(data.decode(errors="replace")):
                held[path] = ""
            else:
                changed[path] = ("100755" if mode & stat.S_IXUSR else "100644", data)
    return Edits(changed, held)


def _waiting(root: Path, paths: list[str]) -> frozenset[str]:
    """Return those of some files on which a person has to decide first: with marks of a conflict, or copies of pages.

    The last commit stays what is believed of them meanwhile.
    """
    warnings: list[FileWarning] = []
    if any(map(kind_of, paths)):
        read_documents(root, warnings)
    for path in filter(day_of_log, paths):
        with contextlib.suppress(BadFile):
            if conflict_in((read_bytes(root, path) or b"").decode(errors="replace")):
                warnings.append(FileWarning(path, "", pending=True, kind=CONFLICT))
    return frozenset(one.path for one in warnings if one.kind in {CONFLICT, COPIED})


def commit_edits(
    root: Path, git: Git, message: str, author: Author, edits: Edits | None = None, *, follow: bool = True
) -> str | None:
    """Commit people's edits as they are, and return the commit, or None if there are none.

    Leave out files that contain a secret or wait for a decision. Of a file that was saved since it was looked through,
    the next commit has the new version.

    Args:
        root: the memory.
        git: its repository.
        message: the commit message.
        author: the author if git has no identity configured.
        edits: the result of `find_edits`, if it is already known.
        follow: as for `Git.commit`.
    """
    changed = (edits or find_edits(root, git)).changed
    if not changed:
        return None
    author = Author(*(git.identity() or (author.name, author.mail)), author.when)
    return git.commit(changed, message, author, follow=follow)
