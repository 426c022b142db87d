"""What people and agents changed since the last commit: it is committed first, apart, under its own message."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from pipelines.errors import BadFile
from pipelines.memory.files import list_files, read_bytes
from pipelines.memory.git import blob_id
from pipelines.memory.layout import TRACKED

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.memory.git import Author, Git


def uncommitted(root: Path, git: Git, head: str | None) -> list[str]:
    """Return the memory's own paths whose bytes differ from HEAD, sorted: changed, new, or gone.

    Files are compared by the hash that git would give them, without filters and without its index, so that neither an
    attribute nor what the person has staged changes the answer. Ignored files count only if HEAD holds them.
    """
    tree = {path: entry for path, entry in git.tree(head).items() if _is_own(path)}
    there = _own_files(root)
    changed = [path for path in there if path in tree and _differs(root, path, tree[path][1])]
    fresh = [path for path in there if path not in tree]
    ignored = git.ignored(fresh)
    gone = [path for path in tree if path not in there and tree[path][0] != "120000" and not (root / path).is_symlink()]
    return sorted([*changed, *gone, *(path for path in fresh if path not in ignored)])


def commit_edits(root: Path, git: Git, message: str, author: Author) -> str | None:
    """Commit what people changed, as it stands, and return the commit, or None where nothing was changed."""
    paths = uncommitted(root, git, git.head())
    present = [path for path in paths if _readable(root, path)]
    paths = [path for path in paths if path in present or not os.path.lexists(root / path)]
    blobs = git.write_blobs([root / path for path in present])
    entries: dict[str, tuple[str, str] | None] = dict.fromkeys(paths)
    for path, blob in zip(present, blobs, strict=True):
        executable = (root / path).stat().st_mode & stat.S_IXUSR
        entries[path] = ("100755" if executable else "100644", blob)
    return git.commit(entries, message, author) if entries else None


def _readable(root: Path, path: str) -> bool:
    """Whether git can be handed the file by its path; one that cannot be read stays uncommitted and as it is."""
    return "\n" not in path and (root / path).is_file() and os.access(root / path, os.R_OK)


def _is_own(path: str) -> bool:
    return path.partition("/")[0] in TRACKED


def _own_files(root: Path) -> list[str]:
    found = []
    for name in TRACKED:
        place = root / name
        if place.is_symlink():
            continue
        found += [name] if place.is_file() else list_files(root, name, "")
    return found


def _differs(root: Path, path: str, blob: str) -> bool:
    try:
        data = read_bytes(root, path)
    except BadFile:
        return False
    return data is not None and blob_id(data, blob) != blob
