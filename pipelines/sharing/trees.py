"""The files of a commit, as far as they may be brought into a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.errors import GitFault
from pipelines.store.layout import SETTINGS
from pipelines.store.template import is_tracked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.store.git import Git

    Tree = Mapping[str, tuple[str, str]]

_BY_HAND: Final = "Merge it by hand."
_FILES: Final = frozenset({"100644", "100755"})
MOST_BYTES: Final = 1024 * 1024 * 1024
"""What the files that are joined may come to, those of both machines and of what both had before."""


def check_theirs(git: Git, before: Tree, theirs: Tree) -> None:
    """Make sure that what another machine changed may be written here.

    Raises:
        GitFault: it is no memory, or it changes what is none of the memory's own files.
    """
    if SETTINGS not in theirs:
        raise GitFault("The remote holds no memory: it has no curate.toml.")
    for path in sorted({*before, *theirs}):
        if before.get(path) == theirs.get(path):
            continue
        if not is_tracked(git.root, path) or _is_odd(path):
            raise GitFault(f"The remote changes {path}, which is none of the memory's own files.", _BY_HAND)
        if path in theirs and theirs[path][0] not in _FILES:
            raise GitFault(f"The remote makes {path} a link.", _BY_HAND)


def _is_odd(path: str) -> bool:
    first, *rest = path.split("/")
    return any(part.casefold() in {"", ".", "..", ".git", ".curate"} or "\x00" in part for part in (first, *rest))


def contents(git: Git, trees: Sequence[Tree]) -> list[dict[str, bytes]]:
    """Return path → bytes of each tree; what is the same in several is read once, links are left out.

    Raises:
        GitFault: they are more than can be held.
    """
    known: dict[str, bytes] = {}
    left = MOST_BYTES

    def read(blob: str) -> bytes:
        nonlocal left
        if blob not in known:
            known[blob] = git.run("cat-file", "blob", blob)
            left -= len(known[blob])
        if left < 0:
            raise GitFault(f"What is to be joined is more than the {MOST_BYTES:,} bytes that are read.", _BY_HAND)
        return known[blob]

    return [
        {path: read(blob) for path, (mode, blob) in tree.items() if mode in _FILES and is_tracked(git.root, path)}
        for tree in trees
    ]
