"""Save a person's edit of a document: check it, merge concurrent changes, and commit it as theirs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.errors import LockHeld, UsageFault
from pipelines.night.manual import change_by_hand, direct_change
from pipelines.night.reindex import reindex
from pipelines.night.sync_merge import join
from pipelines.store.change_set import Change
from pipelines.store.conservation import written_faults
from pipelines.store.document import Document
from pipelines.store.git import Author
from pipelines.store.journal import apply_changes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of an edit.

    Args:
        said: what was done, a sentence; empty if nothing was saved.
        faults: why nothing was saved, a sentence each.
        text: the text as it is now, with concurrent changes.
        base: the text that `text` is based on.
    """

    said: str
    faults: Sequence[str]
    text: str
    base: str


def save_document(root: Path, settings: Settings, when: datetime, path: str, base: str, text: str) -> Saved:
    """Save a document that a person edited, commit it as theirs, and understand what they changed.

    Nothing is saved if the edit would break what `curate check` checks, or if the file changed meanwhile: then both
    versions are merged, as with two machines, for the person to review and save again.

    Args:
        root: the memory.
        settings: its settings.
        when: the time of saving.
        path: the document's.
        base: the text that the person saw; line ends do not matter.
        text: their edited text; it gets the file's line ends.

    Raises:
        UsageFault: the document does not exist, or cannot be read.
        CurateError: any error of a manual change; nothing was saved.
    """
    with direct_change(root, settings, when, "curate edit") as held:
        shown, snapshot = held.snapshot.shown(path), held.snapshot
        now = snapshot.documents.get(path)
        if now is None:
            raise UsageFault(f"{shown} is not there any more, or cannot be read.", "To see why, run `curate check`.")
        current, base, text = (one.replace("\r\n", "\n") for one in (now.text, base, text))
        if text in (base, current):
            return Saved(f"Nothing was changed in {shown}.", (), current, current)
        if current != base:
            sides = ({path: one.encode()} for one in (base, text, current))
            joined = join(*sides)[1][path].text
            why = f"{shown} changed meanwhile. The text below has both changes: review it, then save again."
            return Saved("", (why,), joined, current)
        written = text.replace("\n", "\r\n") if "\r\n" in now.text else text
        documents = {**snapshot.documents, path: Document(path, written)}
        cap = settings.caps.briefing
        before = {fault.key for fault in written_faults(snapshot, held.git, cap)}
        after = written_faults(replace(snapshot, documents=documents), held.git, cap)
        if faults := [str(fault) for fault in after if fault.key not in before]:
            return Saved("", faults, text, base)
        author = held.git.identity() or settings.author
        message = f"Edits by hand\n\nSaved with `curate edit`: {shown}.\n"
        change = Change(path, now.text.encode(), written.encode())
        commit, _ = apply_changes(root, held.git, [change], message, Author(*author, when))
    with contextlib.suppress(LockHeld), change_by_hand(root, settings, when, "curate edit"):
        reindex(root)  # if another run has the lock by now, it understands the edit, too
    return Saved(f"Saved {shown}{f' (commit {commit[:10]})' if commit else ''}.", (), text, text)
