"""The write-ahead journal: a change set is applied as a whole, or the next start completes it.

    stage every new file and flush it  →  write the manifest (from here on the run *must* complete)
    →  replace file by file  →  commit  →  drop the manifest, then the staged files

A complete manifest is rolled forward; staged files without one are dropped. A file that changed meanwhile is merged
(`pipelines.store.atomic_replace`), never overwritten.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pipelines.errors import BadFile, BrokenChangeSet, HoldsSecret
from pipelines.store.atomic_replace import merge_changes, put, settle
from pipelines.store.change_set import Change
from pipelines.store.files import read_bytes, sync_folder, write_synced, writing
from pipelines.store.git import Author, Git, blob_id
from pipelines.store.layout import PRIVATE, is_note
from pipelines.store.lock import log_lock, private_folder
from pipelines.store.secrets.redact import load_redactor
from pipelines.store.user_layout import inside

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


_FOLDER = f"{PRIVATE}/pending"
_MANIFEST = "manifest.json"


Applied = tuple[str | None, tuple[str, ...]]
"""The commit of a change set, and the files in which other edits were merged."""


@dataclass(frozen=True, slots=True)
class _Journal:
    """The content of a manifest: the change set, its commit's message and author, and the HEAD it is based on.

    `onto` is an existing commit that the branch moves to instead of a new one; empty for none.
    """

    changes: tuple[Change, ...]
    message: str
    author: Author
    head: str | None
    onto: str = ""


def apply_changes(
    root: Path, git: Git, changes: Sequence[Change], message: str, author: Author, onto: str = ""
) -> Applied:
    """Write a change set through the journal, and commit it, or move the branch to the commit `onto`.

    Raises:
        HoldsSecret: a change contains a secret; nothing was written.
        NotWritable: the disk refused; nothing was written, or the next start completes the changes.
        GitFault: git refused the commit; the files are written, and the next start commits them.
    """
    _finish(root, git)
    _refuse(root, changes)
    journal = _Journal(tuple(changes), message, author, git.head(), onto)
    _stage(root, changes)
    _write_manifest(root, journal)
    return _complete(root, git, journal, inside(root, _FOLDER))


def _refuse(root: Path, changes: Sequence[Change]) -> None:
    """Refuse changes with a secret, and changes of a person's notes, whoever asks for them.

    A commit can never be unpublished.
    """
    faults, redactor = [], load_redactor(root)
    for change in changes:
        data = change.after or b""
        if spans := redactor.find(data):
            line = data.count(b"\n", 0, spans[0].start) + 1
            faults.append(f"{change.path}: {spans[0].rule} (line {line})")
    if faults:
        raise HoldsSecret(faults)
    if theirs := [change.path for change in changes if is_note(change.path)]:
        raise BrokenChangeSet([f"{path} is a person's note, which is never written" for path in theirs])


def recover(root: Path, git: Git) -> Applied | None:
    """Clean up after a killed process: complete a run with a manifest, or drop what was only staged.

    Also removes git's stale locks and updates the person's index. Returns the result of the completed run, or None if
    there was none.
    """
    git.settle()
    return _finish(root, git)


def is_unfinished(root: Path) -> bool:
    """Whether a run left something for the next start to complete or drop."""
    return (root / _FOLDER).is_dir()


def _finish(root: Path, git: Git) -> Applied | None:
    folder = inside(root, _FOLDER)
    if not folder.is_dir():
        return None
    if (journal := _read_manifest(folder)) is not None:
        return _complete(root, git, journal, folder)
    _drop(root)
    return None


def _stage(root: Path, changes: Sequence[Change]) -> None:
    """Write both sides of each change to `.curate/pending/`: the new one to apply, the old one to merge against."""
    private, folder = private_folder(root), inside(root, _FOLDER)
    with writing(_FOLDER):
        folder.mkdir(0o700)
        for number, change in enumerate(changes):
            for side, data in (("before", change.before), ("after", change.after)):
                if data is not None:
                    write_synced(folder / f"{number}.{side}", data, 0o600)
        sync_folder(folder)
        sync_folder(private)


def _write_manifest(root: Path, journal: _Journal) -> None:
    manifest = {
        "message": journal.message,
        "author": journal.author[:2],
        "when": journal.author.when.isoformat(),
        "head": journal.head,
        "onto": journal.onto,
        "changes": [{"path": c.path, "before": _sha(c.before), "after": _sha(c.after)} for c in journal.changes],
    }
    folder = inside(root, _FOLDER)
    with writing(_FOLDER):
        write_synced(folder / "manifest.new", json.dumps(manifest).encode(), 0o600)
        (folder / "manifest.new").replace(folder / _MANIFEST)
        sync_folder(folder)


def _read_manifest(folder: Path) -> _Journal | None:
    """Return the content of a manifest, or None if it, or a staged file, is incomplete.

    Raises:
        BadFile: the disk cannot read it. It may be complete, so it stays.
    """
    try:
        body, changes = json.loads((folder / _MANIFEST).read_bytes()), []
        for number, row in enumerate(body["changes"]):
            sides = [(folder / f"{number}.{one}").read_bytes() if row[one] else None for one in ("before", "after")]
            if [_sha(side) for side in sides] != [row["before"], row["after"]]:
                return None
            changes.append(Change(row["path"], *sides))
        name, mail = body["author"]
        author = Author(name, mail, datetime.fromisoformat(body["when"]))
        return _Journal(tuple(changes), body["message"], author, body["head"], body["onto"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    except OSError as fault:
        raise BadFile(_FOLDER, f"cannot be read: {(fault.strerror or str(fault)).lower()}") from fault


def _complete(root: Path, git: Git, journal: _Journal, folder: Path) -> Applied:
    """Replace the remaining files, commit, and drop the journal. Idempotent.

    Only the run's changes are committed, not later edits. A branch moves to a prepared commit only if nobody committed
    meanwhile; otherwise the join is left to a later run.
    """
    with log_lock(root):
        changes = merge_changes(journal.changes, [read_bytes(root, change.path) for change in journal.changes])
        merged = [new.path for new, change in zip(changes, journal.changes, strict=True) if new.after != change.after]
        merged += settle(root, folder, changes)
        merged += [change.path for number, change in enumerate(changes) if put(root, folder, number, change)]
    head = git.head()
    if journal.onto:
        if head == journal.head:
            git.advance(journal.onto, head, f"join: {journal.message.partition(chr(10))[0]}")
        commit = git.head()
    else:
        tree = git.tree(head)
        entries = {
            change.path: (tree.get(change.path, ("100644", ""))[0], change.after) if change.after is not None else None
            for change in journal.changes
            if head == journal.head or _at_base(change, tree)
        }
        commit = git.commit(entries, journal.message, journal.author)
    with log_lock(root):
        merged += settle(root, folder, changes)
    _drop(root)
    return commit, tuple(dict.fromkeys(merged))


def _at_base(change: Change, head: dict[str, tuple[str, str]]) -> bool:
    """Whether HEAD has the file as the run read it, so that committing reverts nobody's commit."""
    entry = head.get(change.path)
    if entry is None or change.before is None:
        return entry is None
    return blob_id(change.before) == entry[1]


def _drop(root: Path) -> None:
    """Remove the journal: the manifest first, so that a kill in between leaves nothing that looks complete."""
    folder = inside(root, _FOLDER)
    with writing(_FOLDER):
        (folder / _MANIFEST).unlink(missing_ok=True)
        sync_folder(folder)
        for left in folder.iterdir():
            left.unlink()
        folder.rmdir()
        sync_folder(folder.parent)


def _sha(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
