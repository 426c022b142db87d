"""Files as bytes: read without following links, written whole or not at all.

A write is staged beside the target, flushed to the disk, renamed over it, and the folder is flushed: after a crash the
file holds the old bytes or the new ones. `must` here means that data is lost otherwise.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile, NotWritable
from pipelines.store.folders import TOP, Below, Folder, holding, refuse_links
from pipelines.store.layout import ASIDE, PRIVATE, SESSIONS
from pipelines.store.user_layout import layout_of, real_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO


MAX_BYTES: Final = 64 * 1024 * 1024
"""No file of a memory that is read whole is larger; what is longer by nature, as a transcript, is read in pieces."""
MOST_FILES: Final = 200_000
"""How many files of one kind may stand below a folder of the memory: fifty for each day of ten years."""
MOST_SEEN: Final = 2_000_000
"""How many names below a folder are looked at for them: of other files, and of folders."""
_PIECE: Final = 4096
"""So much is read at once at least, however little a file held when it was asked for its size."""


def too_many(most: int) -> str:
    """Return what is wrong with a folder that holds more than so many files, as the end of a sentence about it."""
    return f"holds more than the {most:,} files that are looked at"


def open_regular(root: Path, path: str) -> BinaryIO | None:
    """Open a regular file of the memory for reading, or return None where there is none.

    Raises:
        BadFile: the file is there and cannot be opened, or is no regular file, or stands behind a symbolic link.
    """
    with Below(root) as below:
        descriptor = below.open(real_path(root, path))
    return None if descriptor is None else os.fdopen(descriptor, "rb")


def read_bytes(root: Path, path: str, most: int = MAX_BYTES, below: Below | None = None) -> bytes | None:
    """Return the bytes of a regular file of the memory, or None where there is none.

    Args:
        root: the memory.
        path: the file.
        most: how many bytes it may have: what is larger is not even begun.
        below: the memory's folders that are held, where many files are read.

    Raises:
        BadFile: the file is there and cannot be read, is too large, stands behind a link, or is no regular file.
    """
    path = real_path(root, path)
    with contextlib.nullcontext(below) if below else Below(root) as folders:
        descriptor = folders.open(path)
    if descriptor is None:
        return None
    # By the descriptor: a night reads every log, and a file object costs more than reading a small one.
    try:
        size = os.fstat(descriptor).st_size
        if size > most:
            why = f"has {size:,} bytes, more than the {most:,} that are read"
            raise BadFile(path, why, "Split it or move it, then run again.")
        room = max(size + 1, _PIECE)
        return b"".join(iter(lambda: os.read(descriptor, room), b""))
    except OSError as error:
        raise BadFile(path, f"cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def read_text(path: Path, advice: str = "Name another file.") -> str:
    """Return the text of a file of a person's, wherever it is.

    Raises:
        BadFile: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadFile(path, f"cannot be read: {(error.strerror or str(error)).lower()}", advice) from None
    except UnicodeDecodeError:
        raise BadFile(path, "is not UTF-8", advice) from None


def list_files(root: Path, folder: str, suffix: str, *, links: bool = False) -> list[str]:
    """Return the regular files below a folder whose names end so, sorted; hidden ones and links are passed over.

    Args:
        root: the memory.
        folder: the folder.
        suffix: the end of their names.
        links: whether the symbolic links are meant in place of the files, to say that they are not followed.

    Raises:
        BadFile: the folder itself, or one above it, is a symbolic link, or it cannot be listed, or holds too many: of a
            part of them nobody could say which of the others are gone.
    """
    layout = layout_of(root)
    start = layout.start(folder)
    found: list[str] = []
    pending, seen = [start], 0
    refuse_links(root, start)
    while pending:
        here = pending.pop()
        try:
            with os.scandir(root / here) as entries:
                for entry in entries:
                    seen += 1
                    if len(found) > MOST_FILES or seen > MOST_SEEN:
                        raise BadFile(start or root, too_many(MOST_FILES), "Move what is no memory out of it.")
                    if entry.name.startswith("."):
                        continue
                    path = f"{here}/{entry.name}" if here else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        pending += [path] if layout.leads(path, folder) else []
                    elif not entry.name.endswith(suffix):
                        continue
                    elif entry.is_symlink() if links else entry.is_file(follow_symlinks=False):
                        found.append(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise BadFile(here, f"cannot be listed: {error.strerror}") from None
    named = filter(None, map(layout.canonical, found))
    return sorted(path for path in named if path.startswith(f"{folder}/"))


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


@contextlib.contextmanager
def making(root: Path, path: str) -> Iterator[Folder]:
    """Hold a folder of the memory, by its path on the disk; it and those above are made, each flushed into its parent.

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
                # What a person has no need to share is theirs alone, and so is the folder above it while it is made.
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
    """Let git pass over what is private in a memory that was adopted in place, on every machine that has it.

    Elsewhere the memory's .gitignore says so; in place that is a person's file, or there is none.
    """
    for own in _OWN:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), holding(root, real_path(root, own)) as folder:
            if folder.lstat(".gitignore") is None:
                with contextlib.suppress(FileExistsError):
                    descriptor = folder.open(".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
                    with os.fdopen(descriptor, "wb") as file:
                        file.write(b"*\n")


def write_synced(folder: Folder, name: str, data: bytes, mode: int = 0o644) -> None:
    """Write a new file and flush it; an existing one is truncated (for staging, never for a file that people own)."""
    descriptor = folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def replace_synced(folder: Folder, name: str, data: bytes, mode: int = 0o600) -> None:
    """Put a file of our own in its place whole: written under a name of this process, flushed, renamed.

    Raises:
        OSError: the disk refuses; the old file stands.
    """
    aside = f".{name}.{os.getpid()}.{threading.get_ident()}"
    try:
        write_synced(folder, aside, data, mode)
        folder.rename(aside, folder, name)
    finally:
        folder.unlink(aside)


def replace_file(root: Path, path: str, data: bytes) -> None:
    """Put `data` at `path` whole: staged under `.curate/`, flushed, renamed, the folder flushed.

    Raises:
        BadFile: a folder above is a symbolic link.
        NotWritable: the disk refused; the old file stands.
    """
    real = real_path(root, path)
    with writing(real), _staged(root, real, data) as (stage, aside, folder, name):
        stage.rename(aside, folder, name)


def create_file(root: Path, path: str, data: bytes) -> bool:
    """Put `data` at `path` whole, as `replace_file` does, unless something is there; return whether it was put there.

    Raises:
        BadFile: a folder above is a symbolic link.
        NotWritable: the disk refused; nothing is there.
    """
    real = real_path(root, path)
    with writing(real), _staged(root, real, data) as (stage, aside, folder, name):
        try:
            stage.link(aside, folder, name)  # refuses where something is, even if it came to be this moment
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}:
                raise
            if folder.lstat(name) is not None:  # a disk without hard links
                return False
            stage.rename(aside, folder, name)
    return True


@contextlib.contextmanager
def _staged(root: Path, path: str, data: bytes) -> Iterator[tuple[Folder, str, Folder, str]]:
    """Write `data` aside, to be moved to its place inside the block, and flush the folder of that after it.

    Gives the folder and the name where it is, and those where it is to be.
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
