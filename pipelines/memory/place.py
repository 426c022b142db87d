"""Bringing a file to what a run decided, while people and agents go on writing into it: their bytes stand, always.

What is displaced is looked at twice: at once, because somebody may have saved the file in the moment of the exchange,
and at the end of the run, because somebody may have had it open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.memory.displaced import keep_log, keep_text
from pipelines.memory.files import read_bytes, writing
from pipelines.memory.layout import LOGS
from pipelines.memory.merge import merge
from pipelines.memory.names import real_path
from pipelines.memory.swap import grown_by, mark, swap_back, swap_in, swaps

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.memory.changes import Change
    from pipelines.memory.folders import Folder
    from pipelines.memory.swap import Swap

ATTEMPTS: Final = 20


def put(root: Path, folder: Folder, number: int, change: Change) -> bool:
    """Bring one file to what a change says, merged with what somebody else wrote. Returns whether anything was merged.

    Args:
        root: the memory.
        folder: the journal.
        number: which change of the set it is.
        change: the file as the run read it, and as it should be.

    Raises:
        BadFile: the file changed at every one of twenty attempts, or is no regular file any more.
        NotWritable: the disk refused.
    """
    for _ in range(ATTEMPTS):
        current = read_bytes(root, change.path)
        wanted = merge(change.path, change.before, change.after, current)
        if wanted == current or _swapped(root, folder, number, change.path, (current, wanted)):
            return wanted != change.after
    raise _restless(root, change.path)


def _swapped(root: Path, folder: Folder, number: int, path: str, sides: tuple[bytes | None, bytes | None]) -> bool:
    """Exchange a file; False, and all as before, where it was not what was believed."""
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
        _drop_unless_foreign(root, path, swap, sides[1])
    return False


def _drop_unless_foreign(root: Path, path: str, swap: Swap, ours: bytes | None) -> None:
    """After an exchange was taken back, remove our own bytes; what somebody wrote over them meanwhile is kept."""
    data = swap.held()
    if data is not None and data != ours:
        keep_text(root, path, swap)
    swap.drop()


def settle(root: Path, folder: Folder, changes: Sequence[Change]) -> list[str]:
    """Look a last time at all that was displaced, merge what came late, and let go of the rest.

    Returns the paths in which something had come late. Doing so twice is the same as once.

    Raises:
        BadFile: a file changed at every attempt to bring back what came late.
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
                if found is not None and change.path.startswith(f"{LOGS}/"):
                    keep_log(root, change.path, swap, found)
                swap.drop()
    return late


def _bring_back(root: Path, folder: Folder, swap: Swap, change: Change, found: bytes) -> None:
    """Merge bytes that came into a displaced file after it was displaced into the one that took its place."""
    for _ in range(ATTEMPTS):
        current = read_bytes(root, change.path)
        if current is not None and mark(current) != swap.new and not change.path.startswith(f"{LOGS}/"):
            keep_text(root, change.path, swap)  # two strangers' versions: the named one stands, the other is kept
            return
        wanted = _joined(swap, change, current, found)
        if wanted == current or _swapped(root, folder, swap.number, change.path, (current, wanted)):
            return
    raise _restless(root, change.path)


def _joined(swap: Swap, change: Change, current: bytes | None, found: bytes) -> bytes | None:
    """Return a file with what came late: a log gets its new end, another file is merged as if it had come in time."""
    tail = grown_by(found, swap.old) if change.path.startswith(f"{LOGS}/") else None
    if tail is None:
        return merge(change.path, change.before, change.after, found)
    there = current or b""
    return current if there.endswith(tail) else there + tail


def _restless(root: Path, path: str) -> BadFile:
    why, advice = "changed at every attempt to write it", "Run again when it rests: what was begun ends then."
    return BadFile(real_path(root, path), why, advice)
