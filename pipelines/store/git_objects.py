"""Commits as git stores them: read from their bytes, and stored with their blobs by one `git fast-import`.

GitPython has both kinds of reading, but starts its `cat-file` with the caller's whole environment, and its own writer
knows no SHA-256 and flushes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import GitFault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO

    from pipelines.store.git_process import Dialogue


_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as its object tells it; `seconds` since 1970 is when it was committed."""

    id: str
    tree: str
    parents: tuple[str, ...]
    seconds: int
    message: str


_REF: Final = b"refs/memcurate/import"


@dataclass(frozen=True)
class Import:
    """Blobs and a commit on their way into a repository, all in one pack that git flushes.

    No branch is moved: whoever stores a commit flushes the folder of packs first.

    Args:
        git: a `git fast-import`.
    """

    git: Dialogue

    def blob_of(self, file: BinaryIO, size: int) -> str:
        """Store a file of that many bytes, and return the blob's id; of one that grew shorter, the id is another."""
        self.git.tell(b"blob\nmark :1\ndata %d\n" % size)
        while size:
            piece = file.read(min(size, _PIECE)) or bytes(min(size, _PIECE))
            self.git.tell(piece)
            size -= len(piece)
        return self._marked(b"\n")

    def commit(
        self, parents: Sequence[str], changes: Mapping[bytes, tuple[str, str] | None], message: str, signed: bytes
    ) -> str:
        """Store the commit that changes files of the first parent, and return its id.

        Args:
            parents: ids of commits; none for the first commit.
            changes: path in the repository → (mode, blob id), or None for a file that goes.
            message: the whole message.
            signed: who signs, and when, as an object of git has it.

        Raises:
            GitFault: git refused.
        """
        said = message.encode()
        links = zip((b"from", *[b"merge"] * len(parents)), parents, strict=False)
        rows = [b"%s %s\n" % (how, parent.encode()) for how, parent in links]
        for path, entry in changes.items():
            quoted = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
            about = f"M {entry[0]} {entry[1]}" if entry else "D"
            rows.append(b'%s "%s"\n' % (about.encode(), quoted))
        head = b"commit %s\nmark :1\nauthor %s\ncommitter %s\ndata %d\n" % (_REF, signed, signed, len(said))
        made = self._marked(head, said, b"\n", *rows, b"\n")
        # A branch that was begun anew and holds nothing is not written: the commit is stored, and no branch names it.
        self.git.tell(b"reset %s\n\n" % _REF)
        self.end()
        return made

    def end(self) -> None:
        """Let git write what was stored."""
        self.git.tell(b"done\n")
        self.git.end()

    def _marked(self, *pieces: bytes) -> str:
        self.git.tell(*pieces, b"get-mark :1\n")
        ident = self.git.line().decode()
        if not re.fullmatch(r"[0-9a-f]{40,64}", ident):
            raise GitFault(f"git fast-import answers `{ident[:60]}`, which is no id.")
        return ident
