"""Folders of a memory, held open: what is done in one is done in that very folder, whatever becomes of its path.

Between a look at a path and a write to it somebody may put a symbolic link in a folder's place, and the write would
leave the memory. A folder that is held cannot be exchanged: each was opened in the one above it, and none was a link.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


LINKED: Final = "is a symbolic link, which is never followed"
TOP: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
"""How the memory itself is opened: where that stands is a person's to say, links and all."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Nothing is waited for: whoever puts a pipe in a file's place would otherwise keep us there.
_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LINK_ERRORS: Final = frozenset({errno.ELOOP, errno.EMLINK})
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a memory that is held open. Its methods take names in it, never paths.

    Args:
        descriptor: holds it.
        path: what it was called when it was opened, relative to the memory, for sentences.
    """

    descriptor: int
    path: str

    def inner(self, name: str) -> Folder:
        """Hold a folder in it; whoever asks closes both.

        Raises:
            BadFile: it is a symbolic link.
            OSError: it is not there, or is no folder.
        """
        path = f"{self.path}/{name}" if self.path else name
        try:
            return Folder(os.open(name, _FOLDER, dir_fd=self.descriptor), path)
        except OSError as error:
            # To a link O_DIRECTORY with O_NOFOLLOW says that it is no folder.
            there = self.lstat(name) if error.errno in {*_LINK_ERRORS, errno.ENOTDIR} else None
            if there and stat.S_ISLNK(there.st_mode):
                raise BadFile(path, LINKED) from None
            raise

    def open(self, name: str, how: int, mode: int = 0o600) -> int:
        """Open a regular file in it and return the descriptor.

        Raises:
            BadFile: it is a symbolic link, or no regular file.
            OSError: the disk refuses.
        """
        path = f"{self.path}/{name}" if self.path else name
        try:
            descriptor = os.open(name, how | _FILE, mode, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                raise BadFile(path, LINKED) from None
            raise
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise BadFile(path, "is no regular file")
        return descriptor

    def read(self, name: str) -> bytes:
        """Return what a regular file in it holds.

        Raises:
            FileNotFoundError: there is none.
        """
        with open(self.open(name, os.O_RDONLY), "rb", buffering=0) as file:  # noqa: PTH123  a descriptor
            return file.readall()

    def lstat(self, name: str) -> os.stat_result | None:
        """Return what the disk tells of that name itself, or None where nothing has it."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _ABSENT:
                raise
            return None

    def names(self) -> list[str]:
        """Return the names in it, sorted."""
        return sorted(os.listdir(self.descriptor))  # noqa: PTH208  a descriptor

    def rename(self, name: str, other: Folder, new: str) -> None:
        """Give a file another name, there or in another folder; what has that name gives way."""
        os.rename(name, new, src_dir_fd=self.descriptor, dst_dir_fd=other.descriptor)

    def link(self, name: str, other: Folder, new: str) -> None:
        """Give a file a second name, unless something has it: then FileExistsError."""
        os.link(name, new, src_dir_fd=self.descriptor, dst_dir_fd=other.descriptor, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Take a name away, if something has it."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.descriptor)

    def chmod(self, name: str, mode: int) -> None:
        """Set the rights of a regular file in it."""
        with os.fdopen(self.open(name, os.O_RDONLY)) as file:
            os.fchmod(file.fileno(), mode)

    def sync(self) -> None:
        """Flush it, so that the renames in it last."""
        os.fsync(self.descriptor)


@contextlib.contextmanager
def holding(root: Path, path: str) -> Iterator[Folder]:
    """Hold a folder of the memory, by its path on the disk; an empty one for the memory itself.

    Raises:
        BadFile: a component of the path is a symbolic link.
        OSError: it is not there, or is no folder.
    """
    here = Folder(os.open(root, TOP), "")
    try:
        for name in path.split("/") if path else ():
            above, here = here, here.inner(name)
            os.close(above.descriptor)
        yield here
    finally:
        os.close(here.descriptor)


class Below(contextlib.ExitStack):
    """Folders of a memory that stay held while many files are read: opened once each, however many they are.

    Args:
        root: the memory.
    """

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root
        self._held: dict[str, Folder] = {}

    def open(self, path: str) -> int | None:
        """Return a descriptor of a regular file, by its path on the disk, for reading; None where there is none.

        Raises:
            BadFile: it is there and cannot be opened, or is no regular file, or stands behind a symbolic link.
        """
        above, _, name = path.rpartition("/")
        try:
            if above not in self._held:
                self._held[above] = self.enter_context(holding(self._root, above))
            return self._held[above].open(name, os.O_RDONLY)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise BadFile(path, f"cannot be read: {error.strerror}") from None


def refuse_links(root: Path, path: str) -> None:
    """Raise BadFile where a component of a path on the disk is a symbolic link; what is not there is none."""
    folder, _, name = path.rpartition("/")
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), holding(root, folder) as held:
        there = held.lstat(name)
        if there and stat.S_ISLNK(there.st_mode):
            raise BadFile(path, LINKED)
