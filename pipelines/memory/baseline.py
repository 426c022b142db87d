"""The baseline: the documents as the last run left them, against which people's edits are seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.errors import TooMuchFromGit
from pipelines.memory.documents import Document
from pipelines.memory.git import blob_id
from pipelines.memory.layout import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.memory.git import Git


@dataclass(frozen=True, slots=True)
class Baseline:
    """The documents as a commit has them, against those of now.

    Args:
        changed: path → document as it was, for those that are different now, or gone, and that could be read.
        same: paths of those that are as they were.
    """

    changed: Mapping[str, Document] = field(default_factory=dict)
    same: frozenset[str] = frozenset()

    def without(self, paths: frozenset[str]) -> Baseline:
        """Return it without some documents: those that cannot be read now, of which nobody can say what became."""
        unread = {path for path in (*self.changed, *self.same) if stands_in(path, paths)}
        changed = {path: one for path, one in self.changed.items() if path not in unread}
        return Baseline(changed, self.same - unread)


def stands_in(path: str, paths: frozenset[str]) -> bool:
    """Return whether a document is one of those, or stands behind one that is a link to a folder."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in paths for depth in range(1, len(parts) + 1))


def last_run_baseline(git: Git, documents: Mapping[str, Document]) -> Baseline:
    """Return the documents as the last run left them; before the first run nothing has changed."""
    commit = git.last_run()
    return baseline_at(git, commit, documents) if commit else Baseline()


def baseline_at(git: Git, commit: str, documents: Mapping[str, Document]) -> Baseline:
    """Return the documents as a commit has them."""
    changed, same = {}, set()
    for path, (mode, blob) in git.tree(commit).items():
        if kind_of(path) is None or mode == "120000":
            continue
        now = documents.get(path)
        if now is not None and blob_id(now.text.encode(), blob) == blob:
            same.add(path)
            continue
        try:
            changed[path] = Document(path, (git.show(commit, path) or b"").decode())
        except (UnicodeDecodeError, TooMuchFromGit):  # neither was ever read as a document
            continue
    return Baseline(changed, frozenset(same))
