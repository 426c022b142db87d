"""Folders of a memory, held open by descriptor: an operation acts on that very folder, even if its path changes.

If a symbolic link replaced a folder between check and write, the write would leave the memory. An open folder cannot be
replaced: each is opened relative to its parent, and links are refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


LINKED: Final = "is a symbolic link, which is never followed"
TOP: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
"""How the memory itself is opened: its own path may contain links."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Do not block: a pipe in a file's place would otherwise make us wait forever.
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LINK_ERRORS = frozenset({errno.ELOOP, errno.EMLINK})
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


class Folder(NamedTuple):
    """An open folder of a memory. Its methods take names in it, never paths.

    Args:
        descriptor: the open descriptor.
        path: its path when it was opened, relative to the memory, for messages.
    """

    descriptor: int
    path: str

    def inner(self, name: str) -> Folder:
        """Open a subfolder; the caller closes both.

        Raises:
            BadFile: it is a symbolic link.
            OSError: it does not exist, or is not a folder.
        """
        path = self._path_of(name)
        try:
            return Folder(os.open(name, _FOLDER, dir_fd=self.descriptor), path)
        except OSError as error:
            # O_DIRECTORY with O_NOFOLLOW reports a link as "not a directory".
            there = self.lstat(name) if error.errno in {*_LINK_ERRORS, errno.ENOTDIR} else None
            if there and stat.S_ISLNK(there.st_mode):
                raise BadFile(path, LINKED) from None
            raise

    def open(self, name: str, how: int, mode: int = 0o600) -> int:
        """Open a regular file in this folder and return its descriptor.

        Raises:
            BadFile: it is a symbolic link, or not a regular file.
            OSError: the disk refuses.
        """
        try:
            descriptor = os.open(name, how | _FILE, mode, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                raise BadFile(self._path_of(name), LINKED) from None
            raise
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise BadFile(self._path_of(name), "is not a regular file")
        return descriptor

    def read(self, name: str) -> bytes:
        """Return the content of a regular file in this folder.

        Raises:
            FileNotFoundError: there is none.
        """
        with open(self.open(name, os.O_RDONLY), "rb", buffering=0) as file:  # noqa: PTH123  a descriptor
            return file.readall()

    def lstat(self, name: str) -> os.stat_result | None:
        """Return the status of a name without following links, or None if nothing has that name."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _ABSENT:
                raise
            return None

    def _path_of(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name

    def names(self) -> list[str]:
        """Return the names in this folder, sorted."""
        return sorted(os.listdir(self.descriptor))  # noqa: PTH208  a descriptor

    def rename(self, name: str, other: Folder, new: str) -> None:
        """Rename a file, within this folder or into another; replace any file of the new name."""
        os.rename(name, new, src_dir_fd=self.descriptor, dst_dir_fd=other.descriptor)

    def link(self, name: str, other: Folder, new: str) -> None:
        """Give a file a second name. Raises FileExistsError if it is taken."""
        os.link(name, new, src_dir_fd=self.descriptor, dst_dir_fd=other.descriptor, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Remove a name if it exists."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.descriptor)

    def chmod(self, name: str, mode: int) -> None:
        """Set the permissions of a regular file in this folder."""
        with os.fdopen(self.open(name, os.O_RDONLY)) as file:
            os.fchmod(file.fileno(), mode)

    def sync(self) -> None:
        """Flush the folder, so that renames in it are durable."""
        os.fsync(self.descriptor)


@contextlib.contextmanager
def holding(root: Path, path: str) -> Iterator[Folder]:
    """Hold a folder of the memory open, by its path on disk; the memory itself if the path is empty.

    Raises:
        BadFile: a component of the path is a symbolic link.
        OSError: it does not exist, or is not a folder.
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
    """Open folders of a memory, for reading many files: each folder is opened once.

    Args:
        root: the memory.
    """

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root
        self._held: dict[str, Folder] = {}

    def open(self, path: str) -> int | None:
        """Open a regular file for reading, by its path on disk, and return the descriptor; None if it does not exist.

        Raises:
            BadFile: it cannot be opened, is not a regular file, or is behind a symbolic link.
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

    def lstat(self, path: str) -> os.stat_result | None:
        """Return the status of a file by its path on disk, without following links; None if there is none."""
        above, _, name = path.rpartition("/")
        try:
            if above not in self._held:
                self._held[above] = self.enter_context(holding(self._root, above))
            return self._held[above].lstat(name)
        except (BadFile, OSError):
            return None


def refuse_links(root: Path, path: str) -> None:
    """Raise BadFile if a component of a path on disk is a symbolic link. A missing path is fine."""
    folder, _, name = path.rpartition("/")
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), holding(root, folder) as held:
        there = held.lstat(name)
        if there and stat.S_ISLNK(there.st_mode):
            raise BadFile(path, LINKED)
