"""A document that a person edits: checked before it is saved, joined with what came meanwhile, committed as theirs."""

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
    """What became of an edit.

    Args:
        said: what was done, a sentence; empty where nothing was saved.
        faults: why nothing was saved, sentences.
        text: the text as it now is, with what came meanwhile.
        base: the text that `text` is an edit of.
    """

    said: str
    faults: Sequence[str]
    text: str
    base: str


def save_document(root: Path, settings: Settings, when: datetime, path: str, base: str, text: str) -> Saved:
    """Save a document that a person edited, commit it as theirs, and understand what they changed.

    Nothing is saved where the edit would break what `curate check` looks for, or where the file changed meanwhile:
    then the two are joined, as those of two machines are, for the person to look at and save again.

    Args:
        root: the memory.
        settings: its settings.
        when: the moment of saving.
        path: the document's.
        base: its text as the person was shown it; line ends do not matter.
        text: the text that they made of it; its lines end as the file's do.

    Raises:
        UsageFault: there is no such document, or it cannot be read.
        CurateError: what a verb by hand raises; nothing was saved.
    """
    with direct_change(root, settings, when, "curate edit") as held:
        shown, snapshot = held.snapshot.shown(path), held.snapshot
        now = snapshot.documents.get(path)
        if now is None:
            raise UsageFault(f"{shown} is not there any more, or cannot be read.", "`curate check` says why.")
        current, base, text = (one.replace("\r\n", "\n") for one in (now.text, base, text))
        if text in (base, current):
            return Saved(f"Nothing was changed in {shown}.", (), current, current)
        if current != base:
            sides = ({path: one.encode()} for one in (base, text, current))
            joined = join(*sides).documents[path].text
            why = f"{shown} changed meanwhile. What came is in the text below; look at it, then save again."
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
        reindex(root)  # whoever holds the lock by now understands the edit, too
    return Saved(f"Saved {shown}{f' (commit {commit[:10]})' if commit else ''}.", (), text, text)
