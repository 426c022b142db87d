"""Direct changes: what a person asks for at once, outside a night, in the same order and with the same care."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.stages.reindex import reindex
from pipelines.store.edits import commit_edits
from pipelines.store.git import Author, Git
from pipelines.store.git_history import BY_HAND, run_id
from pipelines.store.journal import Signature, apply_changes, recover
from pipelines.store.lock import run_lock
from pipelines.store.snapshot import read_snapshot
from pipelines.templating import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.change_set import Change
    from pipelines.store.snapshot import Snapshot


@dataclass(frozen=True)
class DirectChange:
    """The memory as a direct change finds it, under the run lock."""

    git: Git
    snapshot: Snapshot
    settings: Settings
    when: datetime

    def apply(self, changes: Sequence[Change], summary: str, *, added: int, changed: int, by: str = BY_HAND) -> None:
        """Write and commit a change set, and bring the index up to date.

        Args:
            changes: the change set, checked.
            summary: the commit's first line.
            added: items that are new.
            changed: items that stood already and are different now.
            by: who decided, as the commit's `Extractor` says: a verb, and an undo takes it back whole; or people's
                edits, which no undo takes back.

        Raises:
            ChangedUnderRun: a file is no longer what was read; nothing was written.
        """
        message = render(
            "commit.txt",
            summary=summary,
            lines=[],
            run_id=run_id(self.when, self.git.head()),
            added=added,
            changed=changed,
            extractor=by,
        )
        name, mail = self.git.identity() or self.settings.author
        apply_changes(self.snapshot.root, self.git, changes, Signature(message, name, mail, self.when))
        reindex(self.snapshot.root)


@contextlib.contextmanager
def direct_change(root: Path, settings: Settings, when: datetime, holder: str) -> Iterator[DirectChange]:
    """Hold the memory for a direct change: what was left is finished, and people's edits are committed first.

    Raises:
        LockHeld: another run works on the memory.
        GitFault: git is in a state in which a commit would be wrong.
    """
    git = Git(root)
    git.check()
    with run_lock(root, holder):
        recover(root, git)
        author = Author(*(git.identity() or settings.author), when)
        commit_edits(root, git, f"Edits by hand\n\nCommitted as they stood before {holder}.\n", author)
        yield DirectChange(git, read_snapshot(root), settings, when)
