"""Whole files, of any size and kind, looked through for secrets piece by piece."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.memory.secrets.blocks import LONGEST
from pipelines.memory.secrets.finding import find_secrets
from pipelines.memory.secrets.redacting import Found

if TYPE_CHECKING:
    from typing import BinaryIO

_PIECE: Final = 8 << 20
_OVERLAP: Final = 2 * LONGEST
"""What a piece repeats of the one before: more than the longest secret."""


@dataclass(frozen=True, slots=True)
class Inspected:
    """A file that was looked through.

    Args:
        secrets: what it holds, without tags; each rule and line once.
        hashes: the ids that git would give it as a blob, by SHA-1 and by SHA-256.
    """

    secrets: tuple[Found, ...]
    hashes: frozenset[str]


def inspect(file: BinaryIO) -> Inspected:
    """Return what a file holds that is secret; lines that a person marked with `<!-- allow-secret -->` pass.

    Args:
        file: opened for reading bytes, at its beginning; at most some megabytes of it are held.
    """
    size = os.fstat(file.fileno()).st_size
    digests = [new(b"blob %d\0" % size) for new in (hashlib.sha1, hashlib.sha256)]
    found: dict[Found, None] = {}
    held, line = b"", 1
    while piece := file.read(_PIECE):
        for digest in digests:
            digest.update(piece)
        held += piece
        for span in find_secrets(held):
            found[Found(span.rule, "", line + held.count(b"\n", 0, span.start))] = None
        if len(piece) == _PIECE:
            line += held.count(b"\n", 0, max(0, len(held) - _OVERLAP))
            held = held[-_OVERLAP:]
    return Inspected(tuple(found), frozenset(digest.hexdigest() for digest in digests))
