"""Replace a file atomically while keeping the displaced one, whoever writes to it meanwhile.

Somebody may save a file between the last check and the rename over it. A plain rename would lose their bytes; an
exchange hands them to us, to be checked again. The displaced file is kept until the run is over, because a program that
has it open may still write to it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.store.files import making, write_synced
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.store.folders import Folder


NOTHING: Final = "none"
_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTTY})
_NAME = re.compile(r"(\d+)\.(\w+)\.(\w+)\.swap")


@dataclass(frozen=True, slots=True)
class Swap:
    """One exchange, fully described by the name of its file, so that it can be resolved after a kill at any moment.

    Args:
        folder: the journal.
        name: its file there: the new bytes before the exchange, the displaced ones after it.
        number: the position of the change in its set.
        new: `mark` of the new bytes.
        old: `mark` of the expected old bytes.
    """

    folder: Folder
    name: str
    number: int
    new: str
    old: str

    def found(self) -> bytes | None:
        """Return the displaced bytes; None if there were none, or the exchange has not happened."""
        try:
            data = self.folder.read(self.name)
        except FileNotFoundError:
            return None
        return None if mark(data) == self.new else data


def mark(data: bytes | None) -> str:
    """Return length and short hash, which identify bytes in the file names of swaps."""
    return NOTHING if data is None else f"{len(data)}x{hashlib.sha256(data).hexdigest()[:32]}"


def grown_by(data: bytes, old: str) -> bytes | None:
    """Return what was appended to the bytes with the mark `old`, or None if `data` does not start with them."""
    size = 0 if old == NOTHING else int(old.partition("x")[0])
    return data[size:] if old == NOTHING or mark(data[:size]) == old else None


def swaps(folder: Folder) -> list[Swap]:
    """Resolve an interrupted step, and return the exchanges of a journal, in the order of its changes."""
    names = folder.names()
    for left in (name for name in names if name.endswith(".old")):
        swap = f"{left.removesuffix('.old')}.swap"
        # If both names exist, an exchange without kernel support stopped before the new file was in place.
        if swap in names:
            folder.unlink(left)
        else:
            folder.rename(left, folder, swap)
    parts = [_NAME.fullmatch(name) for name in folder.names()]
    found = [Swap(folder, part[0], int(part[1]), part[2], part[3]) for part in parts if part]
    return sorted(found, key=lambda swap: (swap.number, swap.name))


def swap_in(
    root: Path, folder: Folder, number: int, path: str, sides: tuple[bytes | None, bytes | None]
) -> Swap | None:
    """Put new bytes, or nothing, at `path`, keeping the displaced file.

    Args:
        root: the memory.
        folder: the journal, on the same disk.
        number: the position of the change in its set.
        path: the file.
        sides: its expected and its new content; None for no file.

    Returns:
        The exchange, or None if somebody created or removed the file just then and nothing was done.

    Raises:
        BadFile: a folder above the file is a symbolic link.
        OSError: the disk refuses; the file is unchanged.
    """
    old, new = sides
    above, _, name = real_path(root, path).rpartition("/")
    stem = f"{number}.{mark(new)}.{mark(old)}"
    swap = Swap(folder, f"{stem}.swap", number, mark(new), mark(old))
    with making(root, above) as target:
        try:
            if new is None:
                target.rename(name, folder, swap.name)
            else:
                # Write the new bytes completely before giving the file its final name in the journal.
                there = target.lstat(name)
                write_synced(folder, f"{stem}.next", new)
                if there is not None:
                    folder.chmod(f"{stem}.next", there.st_mode & 0o777)
                folder.rename(f"{stem}.next", folder, swap.name)
                folder.sync()
                if old is not None:
                    exchange((folder, swap.name), (target, name))
                elif not _renamed((folder, swap.name), (target, name), _RENAME_NOREPLACE):
                    folder.link(swap.name, target, name)  # never over a file created meanwhile
                    folder.unlink(swap.name)
        except (FileNotFoundError, FileExistsError):
            folder.unlink(swap.name)
            return None
        target.sync()
    folder.sync()
    return swap


def swap_back(root: Path, swap: Swap, path: str) -> None:
    """Put back what an exchange displaced."""
    above, _, name = real_path(root, path).rpartition("/")
    with making(root, above) as target:
        if swap.new == NOTHING:
            with contextlib.suppress(FileExistsError):
                swap.folder.link(swap.name, target, name)
                swap.folder.unlink(swap.name)
        else:
            exchange((swap.folder, swap.name), (target, name))
        target.sync()


def exchange(one: tuple[Folder, str], other: tuple[Folder, str]) -> None:
    """Exchange two files: atomically if the kernel can, else with a hard link that keeps the displaced one.

    Raises:
        FileNotFoundError: one of them does not exist.
    """
    if not _renamed(one, other, _RENAME_EXCHANGE):
        (folder, name), (target, there) = one, other
        aside = f"{name.removesuffix('.swap')}.old"
        target.link(there, folder, aside)
        folder.rename(name, target, there)
        folder.rename(aside, folder, name)


def _renamed(one: tuple[Folder, str], other: tuple[Folder, str], how: int) -> bool:
    """Call renameat2; False if the kernel or the file system does not support it."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    (folder, name), (target, there) = one, other
    if call(folder.descriptor, os.fsencode(name), target.descriptor, os.fsencode(there), how) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), there)
