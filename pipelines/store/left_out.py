"""Files of the last commit that are not on the disk, and are not deleted all the same: the commit's version counts.

Git was told to leave them out (a sparse checkout, `git update-index --skip-worktree` or `--assume-unchanged`, a clone
that was never checked out), or so many items would go with them that Review.md asks first. They are not committed as
deleted, they are read from git, and they come back to the disk when something is written to them.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.store.state import read_record

if TYPE_CHECKING:
    from pathlib import Path


FILE: Final = "left-out.json"
MISSING: Final = "missing"
"""The reason of pages that are gone with many items, and the kind of the question in Review.md about them."""
TOLD: Final = "told"
"""The reason of files that git was told to leave out, or to take for unchanged."""


def left_out(root: Path, reason: str = "") -> dict[str, bytes]:
    """Return path → bytes of the last commit's files that were left out when somebody last looked, and still are.

    Args:
        root: the memory.
        reason: only files left out for this one; empty for all.
    """
    rows = [path for path, why in read_record(root, FILE).items() if reason in {"", why}]
    if not (absent := [path for path in rows if not os.path.lexists(root / path)]):
        return {}
    from pipelines.store.git import Git  # noqa: PLC0415  hardly any memory needs it

    with contextlib.suppress(CurateError):
        git = Git(root)
        tree = git.tree(git.head())
        found = {path: git.blob(tree[path][1]) for path in absent if path in tree}
        return {path: data for path, data in found.items() if data is not None}
    return {}
