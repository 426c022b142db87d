"""Files as bytes: read without following links, written as a whole or not at all.

A write is staged beside the target, flushed, renamed over it, and the folder is flushed: after a crash the file has the
old bytes or the new ones.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from typing import TYPE_CHECKING, BinaryIO, Final

from pipelines.errors import BadFile, NotWritable, reason_of
from pipelines.store.folders import TOP, Below, Folder, holding, refuse_links
from pipelines.store.layout import ASIDE, PRIVATE, SESSIONS
from pipelines.store.user_layout import layout_of, real_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


MAX_BYTES: Final = 64 * 1024 * 1024
"""The limit of a file that is read whole; longer ones, such as transcripts, are read in pieces."""
MOST_FILES: Final = 200_000
"""The limit of files of one kind below a folder: fifty for each day of ten years."""
MOST_SEEN: Final = 2_000_000
"""The limit of all names below a folder that are scanned for them."""
_TOO_MANY_ADVICE = "Move unrelated files out of it."


def too_many(most: int) -> str:
    """Return the predicate of a sentence about a folder with more than `most` files."""
    return f"has more than {most:,} files, which is the limit"


def open_regular(root: Path, path: str) -> BinaryIO | None:
    """Open a regular file of the memory for reading, or return None if it does not exist.

    Raises:
        BadFile: it cannot be opened, is not a regular file, or is behind a symbolic link.
    """
    with Below(root) as below:
        descriptor = below.open(real_path(root, path))
    return None if descriptor is None else os.fdopen(descriptor, "rb")


def read_bytes(root: Path, path: str, most: int = MAX_BYTES, below: Below | None = None) -> bytes | None:
    """Return the bytes of a regular file of the memory, or None if it does not exist.

    Args:
        root: the memory.
        path: the file.
        most: the limit in bytes; a larger file is not read at all.
        below: the memory's open folders, if many files are read.

    Raises:
        BadFile: it cannot be read, is too large, is behind a symbolic link, or is not a regular file.
    """
    path = real_path(root, path)
    with contextlib.nullcontext(below) if below else Below(root) as folders:
        descriptor = folders.open(path)
    if descriptor is None:
        return None
    # By descriptor: a run reads every log, and a file object costs more than reading a small file.
    try:
        size = os.fstat(descriptor).st_size
        if size > most:
            why = f"has {size:,} bytes, and the limit is {most:,}"
            raise BadFile(path, why, "Split it or move it, then run again.")
        pieces = []
        while size > 0 and (piece := os.read(descriptor, size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)
    except OSError as error:
        raise BadFile(path, f"cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


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


def list_files(root: Path, folder: str, suffix: str, links: list[str] | None = None) -> list[str]:
    """Return the regular files below a folder whose names end with `suffix`, sorted; skip hidden files and links.

    Args:
        root: the memory.
        folder: the folder.
        suffix: the end of their names.
        links: receives the symbolic links, in the same order.

    Raises:
        BadFile: the folder or one above it is a symbolic link, or it cannot be listed, or has too many files: a partial
            list would make the others look deleted.
    """
    layout = layout_of(root)
    found: list[str] = []
    linked: list[str] = []
    for path, entry in _entries_below(root, folder):
        if not path.endswith(suffix):
            continue
        if entry.is_file(follow_symlinks=False):
            found.append(path)
            if len(found) > MOST_FILES:
                raise BadFile(layout.start(folder) or root, too_many(MOST_FILES), _TOO_MANY_ADVICE)
        elif links is not None and entry.is_symlink():
            linked.append(path)

    def named(paths: list[str]) -> list[str]:
        return sorted(path for path in filter(None, map(layout.canonical, paths)) if path.startswith(f"{folder}/"))

    if links is not None:
        links += named(linked)
    return named(found)


def _entries_below(root: Path, folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield path and entry of everything below a folder but folders and hidden names."""
    layout = layout_of(root)
    start = layout.start(folder)
    pending, seen = [start], 0
    refuse_links(root, start)
    while pending:
        here = pending.pop()
        try:
            with os.scandir(root / here) as entries:
                for entry in entries:
                    seen += 1
                    if seen > MOST_SEEN:
                        raise BadFile(start or root, too_many(MOST_FILES), _TOO_MANY_ADVICE)
                    if entry.name.startswith("."):
                        continue
                    path = f"{here}/{entry.name}" if here else entry.name
                    if not entry.is_dir(follow_symlinks=False):
                        yield path, entry
                    elif layout.leads(path, folder):
                        pending.append(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise BadFile(here, f"cannot be listed: {error.strerror}") from None


_OWN = frozenset({PRIVATE, SESSIONS})


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


@contextlib.contextmanager
def making(root: Path, path: str) -> Iterator[Folder]:
    """Hold a folder of the memory open, by its path on disk; create missing folders, each flushed into its parent.

    Raises:
        BadFile: a component is a symbolic link; a write through it could leave the memory.
        OSError: the disk refuses.
    """
    here = Folder(os.open(root, TOP), "")
    try:
        for name in path.split("/") if path else ():
            try:
                inner = here.inner(name)
            except FileNotFoundError:
                # Private folders, and a parent created with them, are accessible to the owner only.
                place = f"{here.path}/{name}/".removeprefix("/")
                alone = any(place.startswith(f"{real_path(root, own)}/") for own in _OWN)
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o700 if alone else 0o777, dir_fd=here.descriptor)
                inner = here.inner(name)
                if alone and layout_of(root).in_place:
                    keep_out_of_git(root)
                here.sync()
            os.close(here.descriptor)
            here = inner
        yield here
    finally:
        os.close(here.descriptor)


def keep_out_of_git(root: Path) -> None:
    """Make git ignore the private folders of a memory that was adopted in place, on every machine.

    Elsewhere the memory's .gitignore does that; in place it is the person's file, or missing.
    """
    for own in _OWN:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), holding(root, real_path(root, own)) as folder:
            if folder.lstat(".gitignore") is None:
                with contextlib.suppress(FileExistsError):
                    descriptor = folder.open(".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
                    with os.fdopen(descriptor, "wb") as file:
                        file.write(b"*\n")


def write_synced(folder: Folder, name: str, data: bytes, mode: int = 0o644) -> None:
    """Write a file and flush it, truncating an existing one (for staging only, never for a file that people own)."""
    descriptor = folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def replace_synced(folder: Folder, name: str, data: bytes, mode: int = 0o600) -> None:
    """Replace a file of our own atomically: write it under a unique name, flush it, rename it.

    Raises:
        OSError: the disk refuses; the old file is unchanged.
    """
    aside = f".{name}.{os.getpid()}.{threading.get_ident()}"
    try:
        write_synced(folder, aside, data, mode)
        folder.rename(aside, folder, name)
    finally:
        folder.unlink(aside)


def replace_file(root: Path, path: str, data: bytes) -> None:
    """Write `data` to `path` atomically: staged under `.curate/`, flushed, renamed, the folder flushed.

    Raises:
        BadFile: a folder above is a symbolic link.
        NotWritable: the disk refused; the old file is unchanged.
    """
    real = real_path(root, path)
    with writing(real), _staged(root, real, data) as (stage, aside, folder, name):
        stage.rename(aside, folder, name)


def create_file(root: Path, path: str, data: bytes) -> bool:
    """Write `data` to `path` as `replace_file` does, unless something exists there; return whether it was written.

    Raises:
        BadFile: a folder above is a symbolic link.
        NotWritable: the disk refused; nothing was written.
    """
    real = real_path(root, path)
    with writing(real), _staged(root, real, data) as (stage, aside, folder, name):
        try:
            stage.link(aside, folder, name)  # fails if the name exists, even if it was created just now
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}:
                raise
            if folder.lstat(name) is not None:  # this disk has no hard links
                return False
            stage.rename(aside, folder, name)
    return True


@contextlib.contextmanager
def _staged(root: Path, path: str, data: bytes) -> Iterator[tuple[Folder, str, Folder, str]]:
    """Write `data` to a staging file, to be moved into place inside the block; then flush the target folder.

    Yields the staging folder and name, and the target folder and name.
    """
    above, _, name = path.rpartition("/")
    aside = f"{os.getpid()}-{name}"
    with making(root, ASIDE) as stage, making(root, above) as folder:
        try:
            write_synced(stage, aside, data)
            yield stage, aside, folder, name
        finally:
            stage.unlink(aside)
        folder.sync()
