"""Replace a file with a run's version while people and agents keep writing to it, without losing their bytes.

The displaced file is checked twice: at once, because somebody may have saved the file during the exchange, and at the
end of the run, because somebody may have had it open. A displaced log is kept for some days under
`.curate/displaced/`: whatever a program that still has it open writes to it is appended to the current log.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from pipelines.errors import BadFile
from pipelines.store.append_log import append_bytes
from pipelines.store.files import making, read_bytes, writing
from pipelines.store.folders import Folder, holding
from pipelines.store.layout import LOGS, PRIVATE
from pipelines.store.lock import log_lock
from pipelines.store.merge import merge
from pipelines.store.rename_exchange import Swap, grown_by, mark, swap_back, swap_in, swaps
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pipelines.store.change_set import Change


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
        if swap.found() is not None:
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
                if found is not None and change.path.startswith(f"{LOGS}/"):
                    keep_log(root, change.path, swap, found)
                folder.unlink(swap.name)
    return late


def _bring_back(root: Path, folder: Folder, swap: Swap, change: Change, found: bytes) -> None:
    """Merge bytes written to a displaced file after the exchange into the file that replaced it.

    A log gets the new bytes appended; any other file is merged as if they had come in time.
    """
    is_log = change.path.startswith(f"{LOGS}/")
    tail = grown_by(found, swap.old) if is_log else None
    for _ in range(ATTEMPTS):
        current = read_bytes(root, change.path)
        if current is not None and mark(current) != swap.new and not is_log:
            keep_text(root, change.path, swap)  # two other versions: keep the current one in place, the other aside
            return
        wanted = current
        if tail is None:
            wanted = merge(change.path, change.before, change.after, found)
        elif not (current or b"").endswith(tail):
            wanted = (current or b"") + tail
        if wanted == current or _try_swap(root, folder, swap.number, change.path, (current, wanted)):
            return
    raise _keeps_changing(root, change.path)


def _keeps_changing(root: Path, path: str) -> BadFile:
    why, advice = "changed at every attempt to write it", "Run again once it stops changing; the run then finishes."
    return BadFile(real_path(root, path), why, advice)


KEPT_SECONDS: Final = 3 * 86400.0
"""Longer than any session keeps its log open; by then the log's day is closed."""

_FOLDER: Final = f"{PRIVATE}/displaced"
_LONGEST: Final = 255
_SIZE_DIGITS: Final = 8
_LOG: Final = re.compile(r"(\d+)\.(\w{16})~(.+)")


def can_be_kept(path: str) -> bool:
    """Whether a displaced file at that path can be kept: its name there encodes the whole path, and has a limit."""
    return len(os.fsencode(_name(path, b""))) + _SIZE_DIGITS - 1 <= _LONGEST


def keep_log(root: Path, path: str, swap: Swap, data: bytes) -> None:
    """Move a displaced log aside for `carry_over`; `data` is the part of it that is already handled."""
    with making(root, _FOLDER) as folder:
        swap.folder.chmod(swap.name, 0o600)
        swap.folder.rename(swap.name, folder, _name(path, data))


def keep_text(root: Path, path: str, swap: Swap) -> None:
    """Keep a displaced version that could not be merged, named by a hash and its path."""
    digest = hashlib.sha256(swap.folder.read(swap.name)).hexdigest()[:16]
    with making(root, _FOLDER) as folder:
        swap.folder.chmod(swap.name, 0o600)
        with contextlib.suppress(FileExistsError):
            swap.folder.link(swap.name, folder, f"{digest}-{quote(path, safe='')}"[:_LONGEST])


def carry_over(root: Path) -> list[str]:
    """Append to each log what was written to the file it replaced, and return the logs that grew."""
    grown = []
    with _logs(root) as logs:
        for folder, name, path, seen, digest in logs:
            data = folder.read(name)
            if len(data) > seen and hashlib.sha256(data[:seen]).hexdigest().startswith(digest):
                with log_lock(root):
                    if not (read_bytes(root, path) or b"").endswith(data[seen:]):  # else a killed process appended it
                        append_bytes(root, path, data[seen:])
                    folder.rename(name, folder, _name(path, data))
                grown.append(path)
            elif (there := folder.lstat(name)) and time.time() - there.st_ctime > KEPT_SECONDS:
                folder.unlink(name)
    return grown


def mask(root: Path, masked: Callable[[str, bytes], bytes]) -> None:
    """Overwrite forgotten or secret text in the displaced logs.

    The files are changed in place, at the same length, so that a program with one open can keep writing. Meanwhile
    each has two names, one for the old content and one for the new: after a kill, one of them is right.

    Args:
        root: the memory.
        masked: a log's path and bytes → its new bytes, of the same length.
    """
    with log_lock(root), _logs(root) as logs:
        for folder, old, path, _, _ in logs:
            data = folder.read(old)
            new = masked(path, data)
            if new != data:
                name = _name(path, new)
                folder.unlink(name)
                folder.link(old, folder, name)
                descriptor = folder.open(old, os.O_RDWR)
                with os.fdopen(descriptor, "r+b") as there:
                    there.write(new)
                    there.flush()
                    os.fsync(descriptor)
                folder.unlink(old)


@contextlib.contextmanager
def _logs(root: Path) -> Iterator[list[tuple[Folder, str, str, int, str]]]:
    """Hold the folder of displaced logs, if it exists, and yield its logs. Creates nothing.

    Each is (the folder, the name in it, the original path, the number of bytes handled, their hash).
    """
    logs = []
    with writing(_FOLDER), contextlib.ExitStack() as held:
        with contextlib.suppress(FileNotFoundError):
            folder = held.enter_context(holding(root, _FOLDER))
            parts = [_LOG.fullmatch(name) for name in folder.names()]
            logs = [(folder, part[0], unquote(part[3]), int(part[1]), part[2]) for part in parts if part]
        yield logs


def _name(path: str, data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()[:16]
    return f"{len(data)}.{digest}~{path.replace('%', '%25').replace('/', '%2F')}"
