"""What people and agents changed since the last commit: it is committed first, apart, under its own message."""

from __future__ import annotations

import contextlib
import os
import stat
from itertools import filterfalse
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.store.files import open_regular, read_bytes
from pipelines.store.folders import Below, refuse_links
from pipelines.store.git import Author, blob_hash
from pipelines.store.layout import PARTIAL, day_of_log
from pipelines.store.secrets.redact import is_private, load_redactor
from pipelines.store.secrets.scan import inspect
from pipelines.store.template import tracked_files
from pipelines.store.user_layout import at

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.store.git import Entry, Git
    from pipelines.store.secrets.redact import Redactor


_LEAST: Final = 4096
_PIECE: Final = 1 << 20
"""So much of a file is read at once, and no less: room for much more than there is takes time.

In pieces, because a file that is too large to be curated is committed still."""


def uncommitted(root: Path, git: Git, head: str | None) -> list[str]:
    """Return the memory's own paths whose bytes differ from HEAD, sorted: changed, new, or gone.

    Files are compared by the hash that git would give them, without filters and without its index, so that neither an
    attribute nor what the person has staged changes the answer. Ignored files count only if HEAD holds them.
    """
    layout, changed = git.layout, []
    tree = {path: entry for path, entry in git.tree(head).items() if layout.is_tracked(path)}
    there = dict.fromkeys(tracked_files(root))
    with Below(root) as below:
        for path in filter(tree.__contains__, there):
            descriptor = None
            with contextlib.suppress(BadFile):
                descriptor = below.open(layout.real(path))
            if descriptor is None:  # it is gone, or cannot be read
                continue
            blob, size = tree[path][1], os.fstat(descriptor).st_size
            found = blob_hash(size, blob)
            with os.fdopen(descriptor, "rb", buffering=0) as file:
                while piece := file.read(min(max(size + 1, _LEAST), _PIECE)):
                    found.update(piece)
            if found.hexdigest() != blob:
                changed.append(path)
    fresh = [path for path in there if path not in tree]
    ignored = git.ignored(fresh) if fresh else set()
    for path in filterfalse(there.__contains__, tree):
        # Where git has a link, or one took the place of a file or of a folder above it, nobody can say that it is gone.
        with contextlib.suppress(BadFile):
            refuse_links(root, layout.real(path))
            changed += [path] if tree[path][0] != "120000" else []
    return sorted([*changed, *(path for path in fresh if path not in ignored)])


Edits = tuple[dict[str, frozenset[str]], tuple[str, ...]]
"""What differs from HEAD: what can be committed as it stands, and what stays uncommitted.

The first gives for each path the hashes that a blob of what was looked at would have, of each kind that git may use;
none where the file is gone. The second are the files that hold a secret, and logs that hold something private.
"""


def find_edits(root: Path, git: Git) -> Edits:
    """Return what people and agents changed since the last commit, what holds a secret apart.

    Where one file tells that a value is secret, those that were looked at before it are looked at again.
    """
    redactor = load_redactor(root)
    before = redactor.learned
    found = _look(root, git, redactor)
    return _look(root, git, redactor) if redactor.learned > before else found


def _look(root: Path, git: Git, redactor: Redactor) -> Edits:
    changed: dict[str, frozenset[str]] = {}
    held: list[str] = []
    for path in uncommitted(root, git, git.head()):
        if not os.path.lexists(at(root, path)):
            changed[path] = frozenset()
        # Git must be able to read the file by its path; one that it cannot read stays uncommitted and as it is.
        elif "\n" in path or not at(root, path).is_file() or not os.access(at(root, path), os.R_OK):
            continue
        elif (file := open_regular(root, path)) is not None:
            with file:
                secrets, hashes = inspect(file, redactor)
            # A run takes what is private out of a log before the log is committed.
            is_log = path.startswith(f"{PARTIAL}/") or day_of_log(path)
            if secrets or (is_log and is_private((read_bytes(root, path) or b"").decode(errors="replace"))):
                held.append(path)
            else:
                changed[path] = hashes
    return changed, tuple(held)


def commit_edits(root: Path, git: Git, message: str, author: Author, edits: Edits | None = None) -> str | None:
    """Commit what people changed, as it stands, and return the commit, or None where nothing was changed.

    A file that holds a secret is not committed; nor is one that somebody saves between the look at it and the commit:
    the next one takes it.

    Args:
        root: the memory.
        git: its repository.
        message: the commit's.
        author: who signs where git knows no name and address of the person's.
        edits: what `find_edits` found, where it was asked before.
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
                blob = store.blob_of(file, about.st_size)
            if blob in hashes:
                entries[path] = ("100755" if about.st_mode & stat.S_IXUSR else "100644", blob)
    author = Author(*(git.identity() or (author.name, author.mail)), author.when)
    return git.commit(entries, message, author, store)
