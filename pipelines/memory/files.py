"""Files as bytes: read without following links, written whole or not at all.

A write is staged beside the target, flushed to the disk, renamed over it, and the folder is flushed: after a crash the
file holds the old bytes or the new ones. `must` here means that data is lost otherwise.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile, NotWritable
from pipelines.memory.layout import PRIVATE, SESSIONS
from pipelines.memory.names import at, names_of, real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from pipelines.memory.names import Names


def open_regular(root: Path, path: str) -> BinaryIO | None:
    """Open a regular file of the memory for reading, or return None where there is none.

    Raises:
        BadFile: the file is there and cannot be opened, or is a link or no regular file.
    """
    descriptor = _descriptor(root, path)
    return None if descriptor is None else os.fdopen(descriptor, "rb")


def _descriptor(root: Path, path: str) -> int | None:
    path = real_path(root, path)
    try:
        descriptor = os.open(f"{root}/{path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EMLINK}:
            raise BadFile(path, "is a symbolic link, which is never followed") from None
        raise BadFile(path, f"cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadFile(path, "is no regular file")
    return descriptor


def read_bytes(root: Path, path: str) -> bytes | None:
    """Return the bytes of a regular file of the memory, or None where there is none.

    Raises:
        BadFile: the file is there and cannot be read, or is a link or no regular file.
    """
    descriptor = _descriptor(root, path)
    if descriptor is None:
        return None
    # Without buffering: a night reads every log, and what buffers a file costs more than reading a small one.
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123  a descriptor, which has no path to open
        try:
            return file.readall()
        except OSError as error:
            raise BadFile(real_path(root, path), f"cannot be read: {error.strerror}") from None


def list_files(root: Path, folder: str, suffix: str) -> list[str]:
    """Return the regular files below a folder whose names end so, sorted; hidden ones and links are passed over."""
    names = names_of(root)
    if names is None:
        return sorted(_walk(root, folder, suffix, lambda _: True))
    return sorted(_named(root, names, folder, suffix))


def _named(root: Path, names: Names, folder: str, suffix: str) -> Iterator[str]:
    """Yield the same of a memory that was adopted in place, by what the program calls them."""
    for real in _walk(root, names.start(folder), suffix, lambda below: names.leads(below, folder)):
        path = names.canonical(real)
        if path is not None and path.startswith(f"{folder}/"):
            yield path


def _walk(root: Path, folder: str, suffix: str, leads: Callable[[str], bool]) -> list[str]:
    found: list[str] = []
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            with os.scandir(root / here) as entries:
                for entry in entries:
                    if entry.name.startswith(".") or entry.is_symlink():
                        continue
                    path = f"{here}/{entry.name}" if here else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        pending += [path] if leads(path) else []
                    elif entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                        found.append(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise BadFile(here, f"cannot be listed: {error.strerror}") from None
    return found


_OWN: Final = frozenset({PRIVATE, SESSIONS})


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn a refusal of the disk inside the block into the error that names the path."""
    try:
        yield
    except OSError as error:
        raise NotWritable(path, (error.strerror or str(error)).lower()) from error


def sync_folder(folder: Path) -> None:
    """Flush a folder, so that the renames in it last."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(root: Path, folder: Path) -> None:
    """Make a folder below `root` and its parents, each flushed into its own parent.

    Raises:
        BadFile: a component is a symbolic link; a write through it could leave the memory.
    """
    missing: list[Path] = []
    while folder != root:
        if folder.is_symlink():
            raise BadFile(folder.relative_to(root), "is a symbolic link, which is never followed")
        if not folder.is_dir():
            missing.append(folder)
        folder = folder.parent
    for folder in reversed(missing):
        # What a person has no need to share is theirs alone, and so is the folder above it while it is made.
        alone = any(at(root, own) in {folder, *folder.parents} for own in _OWN)
        folder.mkdir(mode=0o700 if alone else 0o777, exist_ok=True)
        sync_folder(folder.parent)


def write_synced(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a new file and flush it; an existing one is truncated (for staging, never for a file that people own)."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def replace_file(root: Path, path: str, data: bytes) -> None:
    """Put `data` at `path` whole: staged under `.curate/`, flushed, renamed, the folder flushed.

    Raises:
        NotWritable: the disk refused; the old file stands.
    """
    target = at(root, path)
    with writing(real_path(root, path)), _staged(root, target, data) as temporary:
        temporary.replace(target)


def create_file(root: Path, path: str, data: bytes) -> bool:
    """Put `data` at `path` whole, as `replace_file` does, unless something is there; return whether it was put there.

    Raises:
        BadFile: a folder above is a symbolic link.
        NotWritable: the disk refused; nothing is there.
    """
    target = at(root, path)
    with writing(real_path(root, path)), _staged(root, target, data) as temporary:
        try:
            os.link(temporary, target)  # refuses where something is, even if it came to be this moment
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}:
                raise
            if os.path.lexists(target):  # a disk without hard links
                return False
            temporary.replace(target)
    return True


@contextlib.contextmanager
def _staged(root: Path, target: Path, data: bytes) -> Iterator[Path]:
    """Write `data` beside, to be moved to its target inside the block, and flush the target's folder after it."""
    stage = root / ".curate" / "tmp"
    make_folders(root, stage)
    make_folders(root, target.parent)
    temporary = stage / f"{os.getpid()}-{target.name}"
    try:
        write_synced(temporary, data)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(target.parent)
