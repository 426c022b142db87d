"""A person's edit of a page, as `curate view` saves it: checked, committed as theirs, and understood."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import LockHeld, UsageFault
from pipelines.night.manual import change_by_hand, direct_change
from pipelines.store.change_set import Change
from pipelines.store.conservation import written_faults
from pipelines.store.document import document_at
from pipelines.store.files import read_bytes
from pipelines.store.git import Author
from pipelines.store.journal import apply_changes
from pipelines.store.snapshot import conflict_in
from pipelines.store.three_way import merge_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.night.manual import OpenMemory


class Saved(NamedTuple):
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


def save_document(opened: OpenMemory, path: str, base: str, text: str) -> Saved:
    """Save a document that a person edited, commit it as theirs, and understand what they changed.

    Nothing is saved if the edit would break what `curate check` checks, or if the file changed meanwhile: then the
    person gets both versions in one text, between marks where both changed the same lines, to decide and save again.

    Args:
        opened: the memory, its settings, and the time of saving.
        path: the document's.
        base: the text that the person saw; line ends do not matter.
        text: their edited text; it gets the file's line ends.

    Raises:
        UsageFault: the document does not exist, or cannot be read.
        CurateError: any error of a manual change; nothing was saved.
    """
    root, settings, when = opened
    with direct_change(opened, "curate edit") as held:
        snapshot = held.snapshot
        if path not in snapshot.documents:
            raise UsageFault(f"{path} is not there any more, or cannot be read.", "To see why, run `curate check`.")
        now = (read_bytes(root, path) or b"").decode()
        current, base, text = (one.replace("\r\n", "\n") for one in (now, base, text))
        if text in (base, current):
            return Saved(f"Nothing was changed in {path}.", (), current, current)
        if current != base:
            joined, _ = merge_texts(
                base,
                text,
                current,
                resolve=lambda clash: ["<<<<<<< your text", *clash.one, "=======", *clash.other, ">>>>>>> on disk"],
            )
            both = "Where both changed the same lines, they stand between marks: keep what is right, delete the marks"
            what = f"{both}, then" if conflict_in(joined) else "It has both changes: review it, then"
            return Saved("", (f"{path} changed meanwhile. {what} save again.",), joined, current)
        if at := conflict_in(text):
            why = f"{path} has marks of a conflict at line {at}. Keep what is right, delete the marks, then save again."
            return Saved("", (why,), text, base)
        written = text.replace("\n", "\r\n") if "\r\n" in now else text
        documents = {**snapshot.documents, path: document_at(path, written, snapshot.documents[path].rows)}
        cap = settings.caps.briefing
        before = {fault.key for fault in written_faults(snapshot, cap)}
        after = written_faults(replace(snapshot, documents=documents), cap)
        if faults := [str(fault) for fault in after if fault.key not in before]:
            return Saved("", faults, text, base)
        author = held.git.identity() or settings.author
        message = f"Edits by hand\n\nSaved with `curate edit`: {path}.\n"
        change = Change(path, now.encode(), written.encode())
        commit = apply_changes(held.git, [change], message, Author(*author, when))
    with contextlib.suppress(LockHeld), change_by_hand(opened, "curate edit"):
        pass  # if another run has the lock by now, it understands the edit, too
    return Saved(f"Saved {path}{f' (commit {commit[:10]})' if commit else ''}.", (), text, text)
