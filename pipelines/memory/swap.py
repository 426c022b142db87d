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

from pipelines.memory.files import make_folders, read_bytes, sync_folder, write_synced
from pipelines.memory.names import at

if TYPE_CHECKING:
    from pathlib import Path

NOTHING: Final = "none"
_AT_FDCWD: Final = -100
_RENAME_NOREPLACE: Final = 1
_RENAME_EXCHANGE: Final = 2
_CANNOT: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTTY})
_NAME: Final = re.compile(r"(\d+)\.(\w+)\.(\w+)\.swap")


@dataclass(frozen=True, slots=True)
class Swap:
    """One exchange, as the name of its file tells it, so that it is understood after a kill at any moment.

    Args:
        number: which change of the set.
        new: `mark` of what was to be put in place.
        old: `mark` of what was expected there.
        file: holds the new bytes before the exchange, and what stood there after it.
    """

    number: int
    new: str
    old: str
    file: Path

    def found(self) -> bytes | None:
        """Return what was displaced; None where nothing was, or the exchange never came."""
        data = read_bytes(self.file.parent, self.file.name)
        return None if data is None or mark(data) == self.new else data


def mark(data: bytes | None) -> str:
    """Return the length and a short hash, by which the file names of swaps know bytes."""
    return NOTHING if data is None else f"{len(data)}x{hashlib.sha256(data).hexdigest()[:32]}"


def grown_by(data: bytes, old: str) -> bytes | None:
    """Return what was appended to the bytes that `mark` gave `old`, or None where they do not begin so."""
    size = 0 if old == NOTHING else int(old.partition("x")[0])
    return data[size:] if old == NOTHING or mark(data[:size]) == old else None


def swaps(folder: Path) -> list[Swap]:
    """Return the exchanges of a journal, in order of its changes, after a step that was cut short is settled."""
    for left in folder.glob("*.old"):
        swap = left.with_suffix(".swap")
        # Both names: the exchange without the kernel's help was cut short before the new file took its place.
        left.unlink() if swap.exists() else left.rename(swap)
    files = [(file, _NAME.fullmatch(file.name)) for file in folder.glob("*.swap")]
    found = [Swap(int(parts[1]), parts[2], parts[3], file) for file, parts in files if parts]
    return sorted(found, key=lambda swap: (swap.number, swap.file.name))


def swap_in(root: Path, folder: Path, number: int, path: str, sides: tuple[bytes | None, bytes | None]) -> Swap | None:
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
        OSError: the disk refuses; the file is as it was.
    """
    old, new = sides
    target = at(root, path)
    swap = Swap(number, mark(new), mark(old), folder / f"{number}.{mark(new)}.{mark(old)}.swap")
    make_folders(root, target.parent)
    try:
        if new is None:
            target.rename(swap.file)
        else:
            _stage(swap, new, target)
            _place(swap, target)
    except (FileNotFoundError, FileExistsError):
        swap.file.unlink(missing_ok=True)
        return None
    sync_folder(target.parent)
    sync_folder(folder)
    return swap


def swap_back(swap: Swap, target: Path) -> None:
    """Put back what an exchange displaced."""
    if swap.new == NOTHING:
        with contextlib.suppress(FileExistsError):
            os.link(swap.file, target)
            swap.file.unlink()
    else:
        exchange(swap.file, target)
    sync_folder(target.parent)


def _stage(swap: Swap, data: bytes, target: Path) -> None:
    """Write the new bytes beside the journal, whole before they have the name that says so."""
    staged = swap.file.with_suffix(".next")
    write_synced(staged, data)
    if target.exists():
        staged.chmod(target.stat().st_mode & 0o777)
    staged.rename(swap.file)
    sync_folder(swap.file.parent)


def _place(swap: Swap, target: Path) -> None:
    if swap.old != NOTHING:
        exchange(swap.file, target)
    elif not _renamed(swap.file, target, _RENAME_NOREPLACE):
        os.link(swap.file, target)  # never over a file that somebody made meanwhile
        swap.file.unlink()


def exchange(one: Path, other: Path) -> None:
    """Exchange two files: at once where the kernel can, else by a link that keeps hold of the other one.

    Raises:
        FileNotFoundError: one of them is not there.
    """
    if not _renamed(one, other, _RENAME_EXCHANGE):
        aside = one.with_suffix(".old")
        os.link(other, aside, follow_symlinks=False)
        one.rename(other)
        aside.rename(one)


def _renamed(one: Path, other: Path, how: int) -> bool:
    """Rename as only the kernel's own call can; False where it, or the file system, has no such call."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), how) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))
