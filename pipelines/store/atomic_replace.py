"""Replace a file with a run's version while people and agents keep writing to it, without losing their bytes.

The displaced file is checked twice: at once, because somebody may have saved the file during the exchange, and at the
end of the run, because somebody may have had it open. Then it is deleted: a log is replaced to take private text and
secrets out of it, so no copy of the old one stays.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from pipelines.errors import BadFile
from pipelines.store.append_log import append_bytes
from pipelines.store.files import making, read_bytes, writing
from pipelines.store.layout import LOGS, PRIVATE
from pipelines.store.merge import merge
from pipelines.store.rename_exchange import Swap, grown_by, mark, swap_back, swap_in, swaps
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.store.change_set import Change
    from pipelines.store.folders import Folder


ATTEMPTS: Final = 20


def put(root: Path, folder: Folder, number: int, change: Change) -> bool:
    """Bring one file to its state in a change, merged with other people's edits. Return whether anything was merged.

    Args:
        root: the memory.
        folder: the journal.
        number: the position of the change in its set.
        change: the file as the run read it, and as it should be.

    Raises:
        BadFile: the file changed at each of twenty attempts, or is no longer a regular file.
        NotWritable: the disk refused.
    """
    for _ in range(ATTEMPTS):
        current = read_bytes(root, change.path)
        wanted = merge(change.path, change.before, change.after, current)
        if wanted == current or _try_swap(root, folder, number, change.path, (current, wanted)):
            return wanted != change.after
    raise _keeps_changing(root, change.path)


def _try_swap(root: Path, folder: Folder, number: int, path: str, sides: tuple[bytes | None, bytes | None]) -> bool:
    """Exchange a file. Return False, with everything as before, if its content was not the expected one."""
    with writing(real_path(root, path)):
        swap = swap_in(root, folder, number, path, sides)
        if swap is None:
            return False
        try:
            found = swap.found()
        except BadFile as fault:
            swap_back(root, swap, path)
            raise BadFile(real_path(root, path), fault.why) from None
        if found == sides[0]:
            return True
        swap_back(root, swap, path)
        # Drop our own bytes now; keep what somebody wrote over them meanwhile.
        if (over := swap.found()) is not None and _is_log(path):
            _append_late(root, path, over, grown_by(over, swap.new), sides[1])
        elif over is not None:
            keep_text(root, path, swap)
        folder.unlink(swap.name)
    return False


def settle(root: Path, folder: Folder, changes: Sequence[Change]) -> list[str]:
    """Check all displaced files a last time, merge late changes, and drop the rest.

    Return the paths that had late changes. Idempotent.

    Raises:
        BadFile: a file changed at every attempt to merge a late change.
        NotWritable: the disk refused.
    """
    late = []
    with writing(folder.path):
        while pending := swaps(folder):
            for swap in pending:
                change = changes[swap.number]
                found = swap.found()
                if found is not None and mark(found) != swap.old:
                    late.append(change.path)
                    _bring_back(root, folder, swap, change, found)
                folder.unlink(swap.name)
    return late


def _bring_back(root: Path, folder: Folder, swap: Swap, change: Change, found: bytes) -> None:
    """Merge bytes written to a displaced file after the exchange into the file that replaced it.

    A log gets the new lines appended; any other file is merged as if they had come in time.
    """
    if _is_log(change.path):
        _append_late(root, change.path, found, grown_by(found, swap.old), change.before)
        return
    for _ in range(ATTEMPTS):
        current = read_bytes(root, change.path)
        if current is not None and mark(current) != swap.new:
            keep_text(root, change.path, swap)  # two other versions: keep the current one in place, the other aside
            return
        wanted = merge(change.path, change.before, change.after, found)
        if wanted == current or _try_swap(root, folder, swap.number, change.path, (current, wanted)):
            return
    raise _keeps_changing(root, change.path)


def _is_log(path: str) -> bool:
    return path.startswith(f"{LOGS}/")


def _append_late(root: Path, path: str, found: bytes, tail: bytes | None, known: bytes | None) -> None:
    """Append to a log what somebody wrote to another version of it; twice is the same as once.

    Args:
        root: the memory.
        path: the log.
        found: the other version.
        tail: what was appended to it, or None if it was rewritten; then its lines that are new are appended.
        known: the other version before somebody wrote to it.
    """
    current = read_bytes(root, path) or b""
    if tail is None:
        there = {*(known or b"").splitlines(), *current.splitlines()}
        tail = b"".join(line for line in found.splitlines(keepends=True) if line.rstrip(b"\r\n") not in there)
    if tail and not current.endswith(tail):
        append_bytes(root, path, tail)


def _keeps_changing(root: Path, path: str) -> BadFile:
    why, advice = "changed at every attempt to write it", "Run again once it stops changing; the run then finishes."
    return BadFile(real_path(root, path), why, advice)


_FOLDER = f"{PRIVATE}/displaced"
_LONGEST = 255


def keep_text(root: Path, path: str, swap: Swap) -> None:
    """Keep a displaced version of a document that could not be merged, named by a hash and its path."""
    digest = hashlib.sha256(swap.folder.read(swap.name)).hexdigest()[:16]
    with making(root, _FOLDER) as folder:
        swap.folder.chmod(swap.name, 0o600)
        with contextlib.suppress(FileExistsError):
            swap.folder.link(swap.name, folder, f"{digest}-{quote(path, safe='')}"[:_LONGEST])
