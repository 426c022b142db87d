"""Edits by people and agents since the last commit: a run commits them first, under a message of their own."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from io import BytesIO
from itertools import filterfalse
from typing import TYPE_CHECKING

from pipelines.errors import BadFile
from pipelines.store.files import open_regular, read_bytes
from pipelines.store.find_left_out import find_left_out
from pipelines.store.folders import Below, refuse_links
from pipelines.store.git import Author, Entry, Git, blob_hash, blob_id
from pipelines.store.layout import PARTIAL, day_of_log, kind_of
from pipelines.store.secrets.redact import Redactor, is_private, load_redactor
from pipelines.store.secrets.scan import inspect
from pipelines.store.snapshot import CONFLICT, COPIED, FileWarning, conflict_in, documents_on_disk, read_documents
from pipelines.store.stamps import Stamps
from pipelines.store.state import FILE_DIGITS
from pipelines.store.template import tracked_files
from pipelines.store.user_layout import at

if TYPE_CHECKING:
    from pathlib import Path


_LEAST = 4096
_PIECE = 1 << 20
"""The fewest and the most bytes to read at once: a buffer much larger than the file takes time.

Files are read in pieces, because one that is too large to be curated is committed all the same."""
_WHOLE = 64 << 20
"""The longest file that is read as a whole before git is given it: as long as a log can be."""


def uncommitted(root: Path, git: Git, head: str | None) -> list[str]:
    """Return the memory's paths that differ from HEAD (changed, new or deleted, but not left out), sorted.

    Files are compared by the hash that git would give them, without filters and without the index: neither attributes
    nor staged changes affect the answer. A file whose size and times are those at which it had these bytes is not read
    again: no write leaves its change time as it was. Ignored files count only if HEAD has them.
    """
    layout, changed = git.layout, []
    tree = git.tree(head)
    there = dict.fromkeys(tracked_files(root))
    stamps = Stamps(root)
    with Below(root) as below:
        for path in filter(tree.__contains__, there):
            real, blob = layout.real(path), tree[path][1]
            if (status := below.lstat(real)) is None:
                continue
            if (known := stamps.hashes(path, status)) and known[0] == blob:
                continue
            if (found := _hashes_at(below, real, blob)) and found[0] != blob:
                changed.append(path)
            elif found:
                stamps.keep(path, status, *found)
    stamps.write()
    fresh = [path for path in there if path not in tree]
    ignored = git.ignored(fresh) if fresh else set()
    absent = []
    for path in filter(layout.is_tracked, filterfalse(there.__contains__, tree)):
        # A file that git has as a link, or that now is one or is behind one, is not known to be deleted.
        with contextlib.suppress(BadFile):
            refuse_links(root, layout.real(path))
            absent += [path] if tree[path][0] != "120000" else []
    left = find_left_out(root, git, absent, lambda: documents_on_disk(root))
    changed += [path for path in absent if path not in left]
    return sorted([*changed, *(path for path in fresh if path not in ignored)])


def _hashes_at(below: Below, path: str, like: str) -> tuple[str, str] | None:
    """Return git's id of a file, by its path on disk, and its `file_hash`; None if it is deleted or unreadable."""
    descriptor = None
    with contextlib.suppress(BadFile):
        descriptor = below.open(path)
    if descriptor is None:
        return None
    size = os.fstat(descriptor).st_size
    blob, own = blob_hash(size, like), hashlib.sha256()
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        while piece := file.read(min(max(size + 1, _LEAST), _PIECE)):
            blob.update(piece)
            own.update(piece)
    return blob.hexdigest(), own.hexdigest()[:FILE_DIGITS]


Edits = tuple[dict[str, frozenset[str]], tuple[str, ...]]
"""What differs from HEAD: what can be committed, and what stays uncommitted.

The first maps each path to the blob ids that the inspected bytes would have, one for each hash that git may use; none
if the file is gone. The second lists files that contain a secret, and logs that contain something private.
"""


def find_edits(root: Path, git: Git) -> Edits:
    """Return what changed since the last commit, with files that contain secrets apart.

    If one file reveals that a value is secret, inspect all files again.
    """
    redactor = load_redactor(root)
    before = redactor.learned
    found = _look(root, git, redactor)
    return _look(root, git, redactor) if redactor.learned > before else found


def _look(root: Path, git: Git, redactor: Redactor) -> Edits:
    changed: dict[str, frozenset[str]] = {}
    held: list[str] = []
    paths = uncommitted(root, git, git.head())
    waiting = _waiting(root, paths)
    for path in filterfalse(waiting.__contains__, paths):
        if not os.path.lexists(at(root, path)):
            changed[path] = frozenset()
        # A file that git cannot read by its path stays uncommitted.
        elif "\n" in path or not at(root, path).is_file() or not os.access(at(root, path), os.R_OK):
            continue
        elif (file := open_regular(root, path)) is not None:
            with file:
                secrets, hashes = inspect(file, redactor)
            # A run removes private text from a log before committing it.
            is_log = path.startswith(f"{PARTIAL}/") or day_of_log(path)
            if secrets or (is_log and is_private((read_bytes(root, path) or b"").decode(errors="replace"))):
                held.append(path)
            else:
                changed[path] = hashes
    return changed, tuple(held)


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


def commit_edits(root: Path, git: Git, message: str, author: Author, edits: Edits | None = None) -> str | None:
    """Commit people's edits as they are, and return the commit, or None if there are none.

    Leave out files that contain a secret or wait for a decision, and files saved between inspection and commit: the
    next commit takes those.

    Args:
        root: the memory.
        git: its repository.
        message: the commit message.
        author: the author if git has no identity configured.
        edits: the result of `find_edits`, if it is already known.
    """
    changed, _ = edits or find_edits(root, git)
    if not changed:
        return None
    store = git.importing()
    entries: dict[str, Entry | None] = {}
    for path, hashes in changed.items():
        if not hashes:
            entries[path] = None
        elif (file := open_regular(root, path)) is not None:
            with file:
                about = os.fstat(file.fileno())
                # Git keeps what it was given, so it is given nothing that was not inspected.
                whole = file.read(about.st_size) if about.st_size <= _WHOLE else None
                if whole is not None and all(blob_id(whole, one) != one for one in hashes):
                    continue
                blob = store.blob_of(file if whole is None else BytesIO(whole), about.st_size)
            if blob in hashes:
                entries[path] = ("100755" if about.st_mode & stat.S_IXUSR else "100644", blob)
    author = Author(*(git.identity() or (author.name, author.mail)), author.when)
    return git.commit(entries, message, author, store)
