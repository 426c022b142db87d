"""Bringing a file to what a run decided, while people and agents go on writing into it: their bytes stand, always.

What is displaced is looked at twice: at once, because somebody may have saved the file in the moment of the exchange,
and at the end of the run, because somebody may have had it open. A displaced log is kept for some days after that,
under `.curate/displaced/`: what a program that kept it open still writes into it is appended to the log in its place.
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
from pipelines.store.folders import holding
from pipelines.store.layout import LOGS, PRIVATE
from pipelines.store.lock import log_lock
from pipelines.store.merge import merge
from pipelines.store.rename_exchange import grown_by, mark, swap_back, swap_in, swaps
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pipelines.store.change_set import Change
    from pipelines.store.folders import Folder
    from pipelines.store.rename_exchange import Swap


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
        # Our own bytes go now; what somebody wrote over them meanwhile is kept.
        if swap.found() is not None:
            keep_text(root, path, swap)
        folder.unlink(swap.name)
    return False


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
                folder.unlink(swap.name)
    return late


def _bring_back(root: Path, folder: Folder, swap: Swap, change: Change, found: bytes) -> None:
    """Merge bytes that came into a displaced file after it was displaced into the one that took its place.

    A log gets its new end; another file is merged as if the bytes had come in time.
    """
    is_log = change.path.startswith(f"{LOGS}/")
    tail = grown_by(found, swap.old) if is_log else None
    for _ in range(ATTEMPTS):
        current = read_bytes(root, change.path)
        if current is not None and mark(current) != swap.new and not is_log:
            keep_text(root, change.path, swap)  # two strangers' versions: the named one stands, the other is kept
            return
        wanted = current
        if tail is None:
            wanted = merge(change.path, change.before, change.after, found)
        elif not (current or b"").endswith(tail):
            wanted = (current or b"") + tail
        if wanted == current or _swapped(root, folder, swap.number, change.path, (current, wanted)):
            return
    raise _restless(root, change.path)


def _restless(root: Path, path: str) -> BadFile:
    why, advice = "changed at every attempt to write it", "Run again when it rests: what was begun ends then."
    return BadFile(real_path(root, path), why, advice)


KEPT_SECONDS: Final = 3 * 86400.0
"""Longer than a session that keeps its log open; a log's day is closed by then."""

_FOLDER: Final = f"{PRIVATE}/displaced"
_LONGEST: Final = 255
_SIZE_DIGITS: Final = 8
_LOG: Final = re.compile(r"(\d+)\.(\w{16})~(.+)")


def can_be_kept(path: str) -> bool:
    """Whether the file at that path can be kept: its name there tells the whole path, and a disk has a bound."""
    return len(os.fsencode(_name(path, b""))) + _SIZE_DIGITS - 1 <= _LONGEST


def keep_log(root: Path, path: str, swap: Swap, data: bytes) -> None:
    """Keep a displaced log, the very file, for `carry_over` to look at; `data` is what of it has been seen to."""
    with making(root, _FOLDER) as folder:
        swap.folder.chmod(swap.name, 0o600)
        swap.folder.rename(swap.name, folder, _name(path, data))


def keep_text(root: Path, path: str, swap: Swap) -> None:
    """Keep a text of somebody's for which there was no place, under its file's name and a hash."""
    digest = hashlib.sha256(swap.folder.read(swap.name)).hexdigest()[:16]
    with making(root, _FOLDER) as folder:
        swap.folder.chmod(swap.name, 0o600)
        with contextlib.suppress(FileExistsError):
            swap.folder.link(swap.name, folder, f"{digest}-{quote(path, safe='')}"[:_LONGEST])


def carry_over(root: Path) -> list[str]:
    """Append to each log what came into the file that it replaced, and return the logs that grew."""
    grown = []
    with _logs(root) as logs:
        for folder, name, path, seen, digest in logs:
            data = folder.read(name)
            if len(data) > seen and hashlib.sha256(data[:seen]).hexdigest().startswith(digest):
                with log_lock(root):
                    if not (read_bytes(root, path) or b"").endswith(data[seen:]):  # else a killed start had appended it
                        append_bytes(root, path, data[seen:])
                    folder.rename(name, folder, _name(path, data))
                grown.append(path)
            elif (there := folder.lstat(name)) and time.time() - there.st_ctime > KEPT_SECONDS:
                folder.unlink(name)
    return grown


def mask(root: Path, masked: Callable[[str, bytes], bytes]) -> None:
    """Make what must not be read any more unreadable in the logs that runs displaced.

    It is done in the very files, at the same length, so that a program that writes into one goes on doing so. Each has
    two names meanwhile, one for what it held and one for what it will hold: whenever this is killed, one is right.

    Args:
        root: the memory.
        masked: a log's path and bytes → the bytes that it shall have, as many.
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
    """Hold the folder, if there is one, and give the logs in it. To look makes nothing.

    Each is the folder, its name there, whose place it had, how much of it was seen to, and the hash of that.
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
