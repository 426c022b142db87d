"""The write-ahead journal: a change set is applied as a whole, or the next start completes it.

    stage every new file and flush it  →  write the manifest (from here on the run *must* complete)
    →  replace file by file  →  commit  →  drop the manifest, then the staged files

A complete manifest is rolled forward; staged files without one are dropped.

People and agents keep writing meanwhile, and lose no bytes. Before a file is replaced, it gets a second name in the
journal. Under that name it is looked at twice: at once, because somebody may just have saved it, and at the end of the
run, because somebody may have had it open. Then it is deleted: a log is replaced to take private text and secrets out
of it, so no copy of the old one stays.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import BadFile, BrokenChangeSet, HoldsSecret
from pipelines.store.change_set import Change
from pipelines.store.files import (
    is_linked,
    make_folder,
    put_in_place,
    read_bytes,
    replace_synced,
    sync_folder,
    write_synced,
    writing,
)
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
ATTEMPTS: Final = 20
_OLD = ".old"


class _Journal(NamedTuple):
    """The content of a manifest: the change set, its commit's message and author, and the HEAD it is based on.

    `onto` is an existing commit that the branch moves to instead of a new one; empty for none.
    """

    changes: tuple[Change, ...]
    message: str
    author: Author
    head: str | None
    onto: str


def apply_changes(git: Git, changes: Sequence[Change], message: str, author: Author, onto: str = "") -> str | None:
    """Write a change set through the journal, commit it, or move the branch to the commit `onto`, and return that.

    What a killed run began must have been completed by `recover`.

    Raises:
        HoldsSecret: a change contains a secret; nothing was written.
        BrokenChangeSet: a change is one of a person's note; nothing was written.
        NotWritable: the disk refused; nothing was written, or the next start completes the changes.
        GitFault: git refused the commit; the files are written, and the next start commits them.
    """
    faults, redactor = [], load_redactor(git.root)
    for change in changes:
        if spans := redactor.find(data := change.after or b""):
            line = data.count(b"\n", 0, spans[0].start) + 1
            faults.append(f"{change.path}: {spans[0].rule} (line {line})")
    if faults:  # whoever asks for it: a commit can never be unpublished
        raise HoldsSecret(faults)
    if theirs := [change.path for change in changes if is_note(change.path)]:
        raise BrokenChangeSet([f"{path} is a person's note, which is never written" for path in theirs])
    journal = _Journal(tuple(changes), message, author, git.head(), onto)
    private, folder = private_folder(git.root), inside(git.root, _FOLDER)
    manifest = {
        "message": message,
        "author": author[:2],
        "when": author.when.isoformat(),
        "head": journal.head,
        "onto": onto,
        "changes": [{"path": c.path, "before": _sha(c.before), "after": _sha(c.after)} for c in changes],
    }
    with writing(_FOLDER):
        folder.mkdir(0o700)
        for number, change in enumerate(changes):  # the new side to apply, and the old one to merge against
            for side, content in (("before", change.before), ("after", change.after)):
                if content is not None:
                    write_synced(folder / f"{number}.{side}", content, 0o600)
        sync_folder(folder)
        sync_folder(private)
        replace_synced(folder / _MANIFEST, json.dumps(manifest).encode())
        sync_folder(folder)
    return _complete(git, journal)


def recover(git: Git) -> None:
    """Clean up after a killed process: complete a run with a manifest, or drop what was only staged.

    Also removes git's stale locks and updates the person's index.
    """
    git.settle()
    folder = inside(git.root, _FOLDER)
    if folder.is_dir():
        if (journal := _read_manifest(folder)) is not None:
            _complete(git, journal)
        else:
            _drop(git.root)


def is_unfinished(root: Path) -> bool:
    """Whether a run left something for the next start to complete or drop."""
    return (root / _FOLDER).is_dir()


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


def _complete(git: Git, journal: _Journal) -> str | None:
    """Replace the remaining files, commit, and drop the journal. Idempotent.

    Only the run's changes are committed, not later edits. A branch moves to a prepared commit only if nobody committed
    meanwhile; otherwise the join is left to a later run.
    """
    root = git.root
    folder = inside(root, _FOLDER)
    with log_lock(root):
        changes = merge_changes(journal.changes, [read_bytes(root, change.path) for change in journal.changes])
        settle(root, folder, changes)
        for number, change in enumerate(changes):
            put(root, folder, number, change)
    head = git.head()
    if journal.onto:
        if head == journal.head:
            git.advance(journal.onto, head, f"join: {journal.message.partition(chr(10))[0]}")
        commit = git.head()
    else:
        tree = git.tree(head)
        # What HEAD has otherwise than the run read it is left out: committing it would revert somebody's commit.
        entries = {
            change.path: (tree.get(change.path, ("100644", ""))[0], change.after) if change.after is not None else None
            for change in journal.changes
            if head == journal.head
            or change.path not in tree
            or (change.before is not None and blob_id(change.before) == tree[change.path][1])
        }
        commit = git.commit(entries, journal.message, journal.author)
    with log_lock(root):
        settle(root, folder, changes)
    _drop(root)
    return commit


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


def _sha(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def merge_changes(changes: Sequence[Change], currents: Sequence[bytes | None]) -> list[Change]:
    """Return a run's changes of files as they are by now, with what others wrote to them meanwhile.

    A file that is not there is written again: git may have left it out.

    Args:
        changes: the changes, of files as the run read them.
        currents: the current content of each file.
    """
    if all(current in {one.before, one.after} for one, current in zip(changes, currents, strict=True)):
        return list(changes)
    from pipelines.store.merge import merge_trees  # noqa: PLC0415  few files change while a run writes them

    trees = [
        [one.before for one in changes],
        [one.before if current is None else current for one, current in zip(changes, currents, strict=True)],
        [one.after for one in changes],
    ]
    base, ours, theirs = (
        {one.path: data for one, data in zip(changes, tree, strict=True) if data is not None} for tree in trees
    )
    files, pages, _ = merge_trees(base, ours, theirs, ours_first=True, ledger={})
    files |= {path: page.text.encode() for path, page in pages.items()}
    return [Change(one.path, current, files.get(one.path)) for one, current in zip(changes, currents, strict=True)]


def put(root: Path, folder: Path, number: int, change: Change, late: bytes | None = None) -> None:
    """Bring one file to its state in a change, merged with other people's edits.

    Args:
        root: the memory.
        folder: the journal.
        number: the position of the change in its set.
        change: the file as the run read it, and as it should be.
        late: what the replaced file holds, if somebody wrote to it since; it is merged as if that had come in time.

    Raises:
        BadFile: the file changed at each of twenty attempts, or is no longer a regular file.
        NotWritable: the disk refused.
    """
    for _ in range(ATTEMPTS):
        current = read_bytes(root, change.path)
        after, theirs = (change.after, current) if late is None else (current, late)
        wanted = merge_changes([Change(change.path, change.before, after)], [theirs])[0].after
        if wanted == current or _is_replaced(root, folder, number, Change(change.path, current, wanted)):
            return
    why, advice = "changed at every attempt to write it", "Run again once it stops changing; the run then finishes."
    raise BadFile(change.path, why, advice)


def _is_replaced(root: Path, folder: Path, number: int, change: Change) -> bool:
    """Replace, create or delete a file. Return False, with everything as it was, if it is not as expected."""
    path, old, new = change
    above, _, name = path.rpartition("/")
    with writing(path):
        target, staged = make_folder(root, above) / name, folder / f"{number}.next"
        kept = folder / f"{number}.{_sha(old)}{_OLD}"
        try:
            if new is not None:
                write_synced(staged, new)
            if old is not None:
                mode = target.stat().st_mode & 0o777
                if new is not None:
                    staged.chmod(mode)
                kept.unlink(missing_ok=True)
                is_kept = is_linked(target, kept)
                if read_bytes(root, path) != old or (is_kept and not kept.samefile(target)):
                    kept.unlink(missing_ok=True)
                    return False
                if new is None:
                    target.unlink()
                else:
                    staged.replace(target)
            elif not put_in_place(staged, target):
                return False
        except FileNotFoundError:
            return False
        finally:
            staged.unlink(missing_ok=True)
        sync_folder(target.parent)
        sync_folder(folder)
    return True


def settle(root: Path, folder: Path, changes: Sequence[Change]) -> None:
    """Look at all replaced files a last time, merge what was written to them since, and delete them. Idempotent.

    Raises:
        BadFile: a file changed at every attempt to merge a late change.
        NotWritable: the disk refused.
    """
    with writing(folder):
        while kept := sorted(folder.glob(f"*{_OLD}")):
            for one in kept:
                number, mark, _ = one.name.split(".")
                change, found = changes[int(number)], one.read_bytes()
                target = root / change.path
                is_current = target.exists() and one.samefile(target)  # killed before it was replaced
                if _sha(found) != mark and not is_current:
                    put(root, folder, int(number), change, found)
                one.unlink()
