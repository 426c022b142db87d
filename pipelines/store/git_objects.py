"""Git commits: parsed from their objects, and written for `git fast-import`.

GitPython fails at a commit whose encoding Python does not know, and its own writer flushes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


Entry = tuple[str, bytes | str]
"""A file of a commit: its mode, and its bytes or the id of a stored blob."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A parsed commit; `seconds` is the committer's time since 1970."""

    id: str
    tree: str
    parents: tuple[str, ...]
    seconds: int
    message: str


_REF = b"refs/memcurate/import"


def import_stream(
    parents: Sequence[str], changes: Mapping[bytes, Entry | None], message: str, signed: bytes
) -> Iterator[bytes]:
    """Yield the input of a `git fast-import` that stores a commit and prints its id.

    No branch moves: git does not write one that is reset to nothing.

    Args:
        parents: commit ids; none for the first commit.
        changes: path in the repository → its entry, or None to delete the file of the first parent.
        message: the whole message.
        signed: author and time, in git's object format.
    """
    body = message.encode()
    yield b"commit %s\nmark :1\nauthor %s\ncommitter %s\ndata %d\n%s\n" % (_REF, signed, signed, len(body), body)
    for how, parent in zip((b"from", *[b"merge"] * len(parents)), parents, strict=False):
        yield b"%s %s\n" % (how, parent.encode())
    for path, entry in changes.items():
        quoted = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        if entry is None:
            yield b'D "%s"\n' % quoted
        elif isinstance(entry[1], str):
            yield b'M %s %s "%s"\n' % (entry[0].encode(), entry[1].encode(), quoted)
        else:
            yield b'M %s inline "%s"\ndata %d\n' % (entry[0].encode(), quoted, len(entry[1]))
            yield entry[1]
            yield b"\n"
    yield b"\nget-mark :1\nreset %s\n\ndone\n" % _REF
