"""Keeping a transcript: a copy under Sessions, written while it is read, so that it is gone through once."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.memory.files import making, writing
from pipelines.memory.folders import LINKED, holding
from pipelines.memory.layout import ASIDE, SESSIONS
from pipelines.memory.names import real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pipelines.memory.folders import Folder

_HEAD: Final = 1 << 16
_FLUSHED: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Copy:
    """Where the copy of a transcript is while it is written."""

    folder: Folder
    name: str


class Recorder:
    """Reads a transcript line by line and writes what it read, cleaned, to a copy.

    A line that the session's program is still writing is left for the next time. One that is too long to be held is
    replaced by a record that says so, so that the lines keep their numbers.

    Args:
        source: the transcript.
        copy: what is written.
        clean: takes out of a line what must not be kept.
        known: how many lines were captured before.
        lines: how many whole lines were read.
        known_digest: the hash of the first `known` lines as the source has them; empty where it has fewer.
    """

    def __init__(self, source: IO[bytes], copy: IO[bytes], clean: Callable[[bytes], bytes], known: int) -> None:
        self._source, self._copy, self._clean = source, copy, clean
        self._hash = hashlib.sha256()
        self.known, self.known_digest = known, ""
        self.lines = 0
        self._end = b""

    @property
    def digest(self) -> str:
        """The hash of the lines that were read."""
        return self._hash.hexdigest()[:16]

    def readline(self, size: int, /) -> bytes:
        """Return the next whole line, cleaned; of one that is too long its beginning, and then its end alone."""
        if self._end:
            end, self._end = self._end, b""
            return end
        line = self._source.readline(size)
        if not line.endswith(b"\n"):
            return self._long(line) if len(line) == size else b""
        self._count(line)
        line = self._clean(line)
        self._copy.write(line)
        return line

    def flush(self) -> int:
        """Write what is buffered, and return how many bytes the copy has."""
        self._copy.flush()
        return self._copy.tell()

    def _count(self, line: bytes) -> None:
        self._hash.update(line)
        self.lines += 1
        if self.lines == self.known:
            self.known_digest = self.digest

    def _long(self, line: bytes) -> bytes:
        length = len(line)
        while (rest := self._source.readline(_FLUSHED)) and not rest.endswith(b"\n"):
            length += len(rest)
        if not rest:
            return b""
        self._copy.write(b'{"type":"left-out","bytes":%d}\n' % (length + len(rest)))
        self._count(line)
        self._end = b"\n"
        return line


def head_of(source: IO[bytes]) -> str:
    """Return the hash of a transcript's first line, or an empty string while it has no whole one."""
    line = source.readline(_HEAD)
    source.seek(0)
    return hashlib.sha256(line).hexdigest()[:16] if line.endswith(b"\n") or len(line) == _HEAD else ""


@contextlib.contextmanager
def recording(
    root: Path, source: IO[bytes], clean: Callable[[bytes], bytes], known: int
) -> Iterator[tuple[Recorder, Copy]]:
    """Give a recorder, and the copy that it writes; the copy goes at the end unless `keep` took it.

    Raises:
        BadFile: a component of the path is a symbolic link.
        NotWritable: the disk refused.
    """
    name = f"session-{os.getpid()}"
    with writing(f"{ASIDE}/{name}"), making(root, ASIDE) as folder:
        folder.unlink(name)
        descriptor = folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with open(descriptor, "wb", buffering=_FLUSHED) as copy:  # noqa: PTH123  a descriptor
                yield Recorder(source, copy, clean, known), Copy(folder, name)
        finally:
            folder.unlink(name)


def keep(root: Path, copy: Copy, file: str) -> None:
    """Put a finished copy at its place under Sessions, whole, readable by its owner only.

    Raises:
        NotWritable: the disk refused.
        BadFile: a component of the path is a symbolic link.
    """
    above, _, name = real_path(root, file).rpartition("/")
    with writing(file), making(root, above) as target:
        if (there := target.lstat(name)) and stat.S_ISLNK(there.st_mode):
            raise BadFile(file, LINKED)
        _close(root, above)
        descriptor = copy.folder.open(copy.name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        copy.folder.rename(copy.name, target, name)
        target.sync()


def _close(root: Path, folder: str) -> None:
    """Let nobody else read Sessions, and the folders in it down to this one."""
    sessions = real_path(root, SESSIONS)
    while f"{folder}/".startswith(f"{sessions}/"):
        with holding(root, folder) as held:
            os.fchmod(held.descriptor, 0o700)
        folder = folder.rpartition("/")[0]
