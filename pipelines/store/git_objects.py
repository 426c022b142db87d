"""Git commits: parsed from their objects, and stored with their blobs by one `git fast-import`.

GitPython can read both ways, but starts `cat-file` with the caller's whole environment; its own writer supports no
SHA-256 and flushes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from pipelines.errors import GitFault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.store.git_process import Dialogue


_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Commit:
    """A parsed commit; `seconds` is the committer's time since 1970."""

    id: str
    tree: str
    parents: tuple[str, ...]
    seconds: int
    message: str


_REF = b"refs/memcurate/import"


@dataclass(frozen=True)
class Import:
    """Blobs and a commit being imported into a repository, as one pack that git flushes.

    No branch moves: the caller flushes the pack folder first.

    Args:
        git: a `git fast-import`.
    """

    git: Dialogue

    def blob_of(self, file: BinaryIO, size: int) -> str:
        """Store a file of `size` bytes and return the blob's id; a file that has shrunk is padded to a different id."""
        self.git.tell(b"blob\nmark :1\ndata %d\n" % size)
        while size:
            piece = file.read(min(size, _PIECE)) or bytes(min(size, _PIECE))
            self.git.tell(piece)
            size -= len(piece)
        return self._marked(b"\n")

    def commit(
        self, parents: Sequence[str], changes: Mapping[bytes, tuple[str, str] | None], message: str, signed: bytes
    ) -> str:
        """Store a commit that changes files of the first parent, and return its id.

        Args:
            parents: commit ids; none for the first commit.
            changes: path in the repository → (mode, blob id), or None to delete the file.
            message: the whole message.
            signed: author and time, in git's object format.

        Raises:
            GitFault: git refused.
        """
        body = message.encode()
        links = zip((b"from", *[b"merge"] * len(parents)), parents, strict=False)
        rows = [b"%s %s\n" % (how, parent.encode()) for how, parent in links]
        for path, entry in changes.items():
            quoted = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
            about = f"M {entry[0]} {entry[1]}" if entry else "D"
            rows.append(b'%s "%s"\n' % (about.encode(), quoted))
        head = b"commit %s\nmark :1\nauthor %s\ncommitter %s\ndata %d\n" % (_REF, signed, signed, len(body))
        made = self._marked(head, body, b"\n", *rows, b"\n")
        # Git does not write a branch that is reset to nothing: the commit is stored, and no branch names it.
        self.git.tell(b"reset %s\n\n" % _REF)
        self.end()
        return made

    def end(self) -> None:
        """Finish the import: let git write everything."""
        self.git.tell(b"done\n")
        self.git.end()

    def _marked(self, *pieces: bytes) -> str:
        self.git.tell(*pieces, b"get-mark :1\n")
        ident = self.git.line().decode()
        if not re.fullmatch(r"[0-9a-f]{40,64}", ident):
            raise GitFault(f"git fast-import answered `{ident[:60]}`, which is not an object id.")
        return ident
