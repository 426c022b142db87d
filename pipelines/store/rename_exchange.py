"""Putting a file in another one's place so that what stood there is still in our hands, whoever writes meanwhile.

Between the last look at a file and the rename over it somebody may save it. A plain rename would throw their bytes
away; an exchange hands them to us, and we look again. The displaced file is kept until the run is over, because a
program that had it open may still be writing into it.
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
_RENAME_NOREPLACE: Final = 1
_RENAME_EXCHANGE: Final = 2
_CANNOT: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTTY})
_NAME: Final = re.compile(r"(\d+)\.(\w+)\.(\w+)\.swap")


@dataclass(frozen=True, slots=True)
class Swap:
    """One exchange, as the name of its file tells it, so that it is understood after a kill at any moment.

    Args:
        folder: the journal.
        name: its file there, which holds the new bytes before the exchange, and what was displaced after it.
        number: which change of the set.
        new: `mark` of what was to be put in place.
        old: `mark` of what was expected there.
    """

    folder: Folder
    name: str
    number: int
    new: str
    old: str

    def found(self) -> bytes | None:
        """Return what was displaced; None where nothing was, or the exchange never came."""
        try:
            data = self.folder.read(self.name)
        except FileNotFoundError:
            return None
        return None if mark(data) == self.new else data


def mark(data: bytes | None) -> str:
    """Return the length and a short hash, by which the file names of swaps know bytes."""
    return NOTHING if data is None else f"{len(data)}x{hashlib.sha256(data).hexdigest()[:32]}"


def grown_by(data: bytes, old: str) -> bytes | None:
    """Return what was appended to the bytes that `mark` gave `old`, or None where they do not begin so."""
    size = 0 if old == NOTHING else int(old.partition("x")[0])
    return data[size:] if old == NOTHING or mark(data[:size]) == old else None


def swaps(folder: Folder) -> list[Swap]:
    """Return the exchanges of a journal, in order of its changes, after a step that was cut short is settled."""
    names = folder.names()
    for left in (name for name in names if name.endswith(".old")):
        swap = f"{left.removesuffix('.old')}.swap"
        # Both names: the exchange without the kernel's help was cut short before the new file took its place.
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
    """Put new bytes, or nothing, at `path`, and return where that which stood there is.

    Args:
        root: the memory.
        folder: the journal, on the same disk.
        number: which change of the set.
        path: the file.
        sides: what it is believed to hold, and what it should; None for no file.

    Returns:
        The exchange, or None where somebody made or removed the file in this very moment and nothing was done.

    Raises:
        BadFile: a folder above the file is a symbolic link.
        OSError: the disk refuses; the file is as it was.
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
                # The new bytes are beside the journal, whole, before they have the name that says so.
                there = target.lstat(name)
                write_synced(folder, f"{stem}.next", new)
                if there is not None:
                    folder.chmod(f"{stem}.next", there.st_mode & 0o777)
                folder.rename(f"{stem}.next", folder, swap.name)
                folder.sync()
                if old is not None:
                    exchange((folder, swap.name), (target, name))
                elif not _renamed((folder, swap.name), (target, name), _RENAME_NOREPLACE):
                    folder.link(swap.name, target, name)  # never over a file that somebody made meanwhile
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
    """Exchange two files: at once where the kernel can, else by a link that keeps hold of the other one.

    Raises:
        FileNotFoundError: one of them is not there.
    """
    if not _renamed(one, other, _RENAME_EXCHANGE):
        (folder, name), (target, there) = one, other
        aside = f"{name.removesuffix('.swap')}.old"
        target.link(there, folder, aside)
        folder.rename(name, target, there)
        folder.rename(aside, folder, name)


def _renamed(one: tuple[Folder, str], other: tuple[Folder, str], how: int) -> bool:
    """Rename as only the kernel's own call can; False where it, or the file system, has no such call."""
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
