"""Files as bytes: read without following links, written as a whole or not at all.

A write is staged beside the target, flushed, renamed over it, and the folder is flushed: after a crash the file has the
old bytes or the new ones.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile, NotWritable, reason_of
from pipelines.store.layout import ASIDE, NOTES, PRIVATE, SESSIONS, day_of_log
from pipelines.store.user_layout import inside, layout_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from pathlib import Path


MAX_BYTES: Final = 64 * 1024 * 1024
"""The limit of a file that is read whole; longer ones, such as transcripts, are read in pieces."""
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


def open_own(root: Path, path: str, how: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a regular file of the memory, and return its descriptor.

    Raises:
        BadFile: it is behind a symbolic link, or is not a regular file.
        OSError: it does not exist, or the disk refuses.
    """
    # Do not block: a pipe in a file's place would otherwise make us wait forever.
    descriptor = os.open(inside(root, path), how | os.O_NONBLOCK, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadFile(path, "is not a regular file")
    return descriptor


def open_regular(root: Path, path: str) -> BufferedReader | None:
    """Open a regular file of the memory for reading, or return None if it does not exist.

    Raises:
        BadFile: it cannot be opened, is not a regular file, or is behind a symbolic link.
    """
    try:
        return os.fdopen(open_own(root, path), "rb")
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise BadFile(path, f"cannot be read: {error.strerror}") from None


def read_bytes(root: Path, path: str, most: int = MAX_BYTES) -> bytes | None:
    """Return the bytes of a regular file of the memory, or None if it does not exist.

    Args:
        root: the memory.
        path: the file.
        most: the limit in bytes; a larger file is not read at all.

    Raises:
        BadFile: it cannot be read, is too large, is behind a symbolic link, or is not a regular file.
    """
    if (file := open_regular(root, path)) is None:
        return None
    with file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            why = f"has {size:,} bytes, and the limit is {most:,}"
            raise BadFile(path, why, "Split it or move it, then run again.")
        try:
            return file.read(size)
        except OSError as error:
            raise BadFile(path, f"cannot be read: {error.strerror}") from None


def read_text(path: Path, advice: str = "Name another file.") -> str:
    """Return the text of a person's file anywhere on disk.

    Raises:
        BadFile: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadFile(path, f"cannot be read: {reason_of(error)}", advice) from None
    except UnicodeDecodeError:
        raise BadFile(path, "is not UTF-8", advice) from None


def list_files(
    root: Path, folder: str, suffix: str, links: list[str] | None = None, globs: tuple[str, ...] = ()
) -> list[str]:
    """Return the regular files below a folder whose names end with `suffix`, sorted; skip hidden files and links.

    Args:
        root: the memory.
        folder: the folder.
        suffix: the end of their names.
        links: receives the symbolic links, in the same order.
        globs: of the folder of the notes around the memory, which ones count; without any, none does.

    Raises:
        BadFile: the folder or one above it is a symbolic link, or it cannot be listed: a partial list would make the
            others look deleted.
    """
    layout = layout_of(root) if folder == NOTES else None
    if layout is None:
        inside(root, folder)
    found, linked, pending = list[str](), list[str](), [folder] if layout is None or globs else []
    while pending:
        here = pending.pop()
        try:
            with os.scandir(root / here) as entries:
                for entry in (one for one in entries if not one.name.startswith(".")):
                    path = f"{here}/{entry.name}" if here else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        pending += [path] if layout is None or layout.leads(path, globs) else []
                    elif path.endswith(suffix) and (layout is None or layout.has(path, globs)):
                        where = linked if entry.is_symlink() else found if entry.is_file() else []
                        where.append(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise BadFile(here, f"cannot be listed: {error.strerror}") from None
    if links is not None:
        links += sorted(linked)
    return sorted(found)


def log_notes(root: Path, links: list[str] | None = None) -> list[str]:
    """Return the notes around a memory that are logs."""
    return list(filter(day_of_log, list_files(root, NOTES, ".md", links, layout_of(root).logs)))


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn an OSError inside the block into NotWritable for this path."""
    try:
        yield
    except OSError as error:
        raise NotWritable(path, reason_of(error)) from error


def sync_folder(folder: Path) -> None:
    """Flush a folder, so that renames in it are durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(root: Path, path: str) -> Path:
    """Return a folder of the memory; create missing folders, each flushed into its parent.

    Raises:
        BadFile: a component is a symbolic link; a write through it could leave the memory.
        OSError: the disk refuses.
    """
    folder = inside(root, path)
    if path and not folder.is_dir():
        above = make_folder(root, path.rpartition("/")[0])
        # Private folders, and a parent created with them, are accessible to the owner only.
        folder.mkdir(0o700 if path.partition("/")[0] in {PRIVATE, SESSIONS} else 0o777, exist_ok=True)
        sync_folder(above)
    return folder


def write_synced(file: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file and flush it, truncating an existing one (for staging only, never for a file that people own)."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode), "wb") as staged:
        staged.write(data)
        staged.flush()
        os.fsync(staged.fileno())


def replace_synced(file: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file of our own atomically: write it under a unique name, flush it, rename it.

    Raises:
        OSError: the disk refuses; the old file is unchanged.
    """
    aside = file.with_name(f".{file.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        write_synced(aside, data, mode)
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)


def create_file(root: Path, path: str, data: bytes) -> None:
    """Write a new file atomically, unless something exists there.

    Raises:
        BadFile: a component of the path is a symbolic link.
        NotWritable: the disk refused; nothing was written.
    """
    above, _, name = path.rpartition("/")
    with writing(path):
        create_synced(make_folder(root, ASIDE) / f"{os.getpid()}-{name}", make_folder(root, above) / name, data)


def create_synced(aside: Path, target: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a new file under another name first, give it its own unless something has that, and flush its folder."""
    try:
        write_synced(aside, data, mode)
        put_in_place(aside, target)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(target.parent)


def put_in_place(aside: Path, target: Path) -> bool:
    """Give a staged file its name, unless something has it, even since just now; return whether it was given."""
    try:
        if not is_linked(aside, target):
            if os.path.lexists(target):
                return False
            aside.replace(target)
    except FileExistsError:
        return False
    return True


def is_linked(file: Path, other: Path) -> bool:
    """Give a file a second name, and return whether it has it; some disks have no hard links."""
    try:
        os.link(file, other)
    except OSError as error:
        if error.errno in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}:
            return False
        raise
    return True
