"""Replace a file with a run's version while people and agents keep writing to it, without losing their bytes.

Before a file is replaced, it gets a second name in the journal. Under that name it is looked at twice: at once, because
somebody may just have saved it, and at the end of the run, because somebody may have had it open. Then it is deleted: a
log is replaced to take private text and secrets out of it, so no copy of the old one stays.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.store.change_set import Change
from pipelines.store.files import is_linked, make_folder, put_in_place, read_bytes, sync_folder, write_synced, writing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


ATTEMPTS: Final = 20
_OLD = ".old"


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
    merged = merge_trees(base, ours, theirs, ours_first=True, ledger={}).contents()
    return [Change(one.path, current, merged.get(one.path)) for one, current in zip(changes, currents, strict=True)]


def merge(path: str, before: bytes | None, after: bytes | None, current: bytes | None) -> bytes | None:
    """Return the content of one file from what a run read, what it would write, and the current content."""
    return merge_changes([Change(path, before, after)], [current])[0].after


def put(root: Path, folder: Path, number: int, change: Change, late: bytes | None = None) -> bool:
    """Bring one file to its state in a change, merged with other people's edits. Return whether anything was merged.

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
        wanted = merge(change.path, change.before, after, theirs)
        if wanted == current or _is_replaced(root, folder, number, change.path, (current, wanted)):
            return wanted != change.after
    why, advice = "changed at every attempt to write it", "Run again once it stops changing; the run then finishes."
    raise BadFile(change.path, why, advice)


def _is_replaced(root: Path, folder: Path, number: int, path: str, sides: tuple[bytes | None, bytes | None]) -> bool:
    """Replace, create or delete a file. Return False, with everything as it was, if it is not as expected."""
    old, new = sides
    above, _, name = path.rpartition("/")
    with writing(path):
        target, staged = make_folder(root, above) / name, folder / f"{number}.next"
        kept = folder / f"{number}.{_mark(old or b'')}{_OLD}"
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


def settle(root: Path, folder: Path, changes: Sequence[Change]) -> list[str]:
    """Look at all replaced files a last time, merge what was written to them since, and delete them. Idempotent.

    Return the paths of the files that somebody had written to.

    Raises:
        BadFile: a file changed at every attempt to merge a late change.
        NotWritable: the disk refused.
    """
    late = []
    with writing(folder):
        while kept := sorted(folder.glob(f"*{_OLD}")):
            for one in kept:
                number, mark, _ = one.name.split(".")
                change, found = changes[int(number)], one.read_bytes()
                target = root / change.path
                is_current = target.exists() and one.samefile(target)  # killed before it was replaced
                if _mark(found) != mark and not is_current:
                    late.append(change.path)
                    put(root, folder, int(number), change, found)
                one.unlink()
    return late


def _mark(data: bytes) -> str:
    """Return a hash that identifies bytes in a file's name."""
    return hashlib.sha256(data).hexdigest()[:32]
