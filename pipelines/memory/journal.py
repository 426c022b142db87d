"""The write-ahead journal: a change set is applied whole, or the next start finishes it.

    stage every new file and flush it  →  write the manifest (from here on the run *must* complete)
    →  replace file by file  →  commit  →  drop the manifest, then the staged files

A manifest that is whole is rolled forward; staged files without one are dropped. A file that somebody changed meanwhile
is merged (`pipelines.memory.merge`), never overwritten.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pipelines.errors import ChangedUnderRun
from pipelines.memory.changes import Change
from pipelines.memory.files import make_folders, read_bytes, sync_folder, write_synced, writing
from pipelines.memory.git import Author, blob_id
from pipelines.memory.layout import PRIVATE
from pipelines.memory.lock import log_lock, private_folder
from pipelines.memory.merge import merge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.memory.git import Git

_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Signature:
    """How a commit is signed: its message, its author, and when."""

    message: str
    name: str
    mail: str
    when: datetime

    def author(self) -> Author:
        """Return the author for git."""
        return Author(self.name, self.mail, self.when)


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a change set: the commit, and the files in which somebody's edit was merged."""

    commit: str | None
    merged: tuple[str, ...]


def apply_changes(root: Path, git: Git, changes: Sequence[Change], signature: Signature) -> Applied:
    """Write a change set through the journal, and commit it.

    Raises:
        ChangedUnderRun: a file is no longer what the run read; nothing was written.
        NotWritable: the disk refused; nothing was written, or the next start completes what was begun.
        GitFault: git refused the commit; the files are written, and the next start commits them.
    """
    _stage(root, changes)
    moved = [change.path for change in changes if read_bytes(root, change.path) != change.before]
    if moved:
        _drop(root)
        raise ChangedUnderRun(moved)
    _write_manifest(root, changes, signature)
    return _complete(root, git, changes, signature)


def recover(root: Path, git: Git) -> Applied | None:
    """Finish what a killed run had begun, or drop what it had only staged. Returns None where nothing was left."""
    folder = root / PRIVATE / "pending"
    if not folder.is_dir():
        return None
    loaded = _read_manifest(root)
    if loaded is None:
        _drop(root)
        return None
    changes, signature = loaded
    return _complete(root, git, changes, signature)


def _stage(root: Path, changes: Sequence[Change]) -> None:
    """Write both sides of each change under `.curate/pending/`: the new one to apply, the old one to merge against."""
    _drop(root)
    folder = private_folder(root) / "pending"
    with writing(folder):
        folder.mkdir(mode=0o700)
        for number, change in enumerate(changes):
            for side, data in (("before", change.before), ("after", change.after)):
                if data is not None:
                    write_synced(folder / f"{number}.{side}", data, 0o600)
        sync_folder(folder)
        sync_folder(folder.parent)


def _write_manifest(root: Path, changes: Sequence[Change], signature: Signature) -> None:
    folder = root / PRIVATE / "pending"
    rows = [{"path": c.path, "before": _sha(c.before), "after": _sha(c.after)} for c in changes]
    body = {
        "message": signature.message,
        "author": [signature.name, signature.mail],
        "when": signature.when.isoformat(),
        "changes": rows,
    }
    text = json.dumps(body, ensure_ascii=False)
    sealed = json.dumps({"sha256": hashlib.sha256(text.encode()).hexdigest(), "body": text})
    with writing(folder):
        write_synced(folder / "manifest.new", sealed.encode(), 0o600)
        (folder / "manifest.new").rename(folder / _MANIFEST)
        sync_folder(folder)


def _read_manifest(root: Path) -> tuple[list[Change], Signature] | None:
    """Return the change set of a whole manifest, or None where it, or a staged file, is torn."""
    folder = root / PRIVATE / "pending"
    try:
        sealed = json.loads((folder / _MANIFEST).read_bytes())
        if hashlib.sha256(sealed["body"].encode()).hexdigest() != sealed["sha256"]:
            return None
        body = json.loads(sealed["body"])
        changes = []
        for number, row in enumerate(body["changes"]):
            sides = [(folder / f"{number}.{side}").read_bytes() if row[side] else None for side in ("before", "after")]
            if [_sha(side) for side in sides] != [row["before"], row["after"]]:
                return None
            changes.append(Change(row["path"], *sides))
        signature = Signature(body["message"], *_pair(body["author"]), datetime.fromisoformat(body["when"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return changes, signature


def _pair(values: list[str]) -> tuple[str, str]:
    name, mail = values
    return name, mail


def _complete(root: Path, git: Git, changes: Sequence[Change], signature: Signature) -> Applied:
    """Replace what is not yet replaced, commit, and drop the journal. Doing so twice is the same as once."""
    merged = []
    folder = root / PRIVATE / "pending"
    blobs = _store_blobs(git, folder, changes)
    with log_lock(root):
        for change in changes:
            current = read_bytes(root, change.path)
            wanted = merge(change.path, change.before, change.after, current)
            if wanted != change.after:
                merged.append(change.path)
            if wanted != current:
                _put(root, change.path, wanted)
    head = git.tree(git.head())
    commit = git.commit(
        {c.path: _entry(c, blob, head) for c, blob in zip(changes, blobs, strict=True) if _at_base(c, head)},
        signature.message,
        signature.author(),
    )
    _drop(root)
    return Applied(commit, tuple(merged))


def _store_blobs(git: Git, folder: Path, changes: Sequence[Change]) -> list[str | None]:
    """Store the staged files as blobs, so that the commit holds what the run decided and no later edit."""
    present = [n for n, change in enumerate(changes) if change.after is not None]
    stored = dict(zip(present, git.write_blobs([folder / f"{n}.after" for n in present]), strict=True))
    return [stored.get(number) for number in range(len(changes))]


def _entry(change: Change, blob: str | None, head: dict[str, tuple[str, str]]) -> tuple[str, str] | None:
    if blob is None:
        return None
    return (head[change.path][0] if change.path in head else "100644", blob)


def _at_base(change: Change, head: dict[str, tuple[str, str]]) -> bool:
    """Whether HEAD holds what the run started from: what a person has committed since is not taken back."""
    entry = head.get(change.path)
    if entry is None or change.before is None:
        return entry is None
    return blob_id(change.before, entry[1]) == entry[1]


def _put(root: Path, path: str, data: bytes | None) -> None:
    target = root / path
    with writing(path):
        if data is None:
            target.unlink(missing_ok=True)
            sync_folder(target.parent)
            return
        make_folders(root, target.parent)
        temporary = root / PRIVATE / "pending" / "next"
        write_synced(temporary, data)
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.rename(target)
        sync_folder(target.parent)


def _drop(root: Path) -> None:
    """Remove the journal: the manifest first, so that a kill in the middle leaves nothing that looks whole."""
    folder = root / PRIVATE / "pending"
    if not folder.is_dir():
        return
    with writing(folder):
        (folder / _MANIFEST).unlink(missing_ok=True)
        sync_folder(folder)
        for file in sorted(folder.iterdir()):
            file.unlink()
        folder.rmdir()
        sync_folder(folder.parent)


def _sha(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
