"""Which transcripts are kept, and how far each was captured: `State/sessions.jsonl`, one line a capture, appended only.

Of several lines for one transcript the one that says most holds, so that two machines' lines can simply stand together.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.memory.append import append_bytes
from pipelines.memory.files import read_bytes
from pipelines.memory.layout import STATE
from pipelines.memory.names import at

if TYPE_CHECKING:
    from pathlib import Path

CAPTURED: Final = f"{STATE}/sessions.jsonl"


@dataclass(frozen=True, slots=True)
class Kept:
    """A transcript that was captured.

    Args:
        file: where it is kept, relative to the memory.
        head: the hash of its first record, by which the same session is known when it has grown.
        lines: how many of its lines were captured.
        digest: the hash of those lines, by which a transcript that was written anew is told from one that has grown.
    """

    file: str
    head: str
    lines: int
    digest: str


def read_kept(root: Path) -> dict[str, Kept]:
    """Return head → transcript. Lines that cannot be read are passed over: what they say can be captured again.

    Raises:
        BadFile: the file is there and cannot be read.
    """
    found: dict[str, Kept] = {}
    for line in (read_bytes(root, CAPTURED) or b"").splitlines():
        try:
            told = json.loads(line)
            one = Kept(str(told["file"]), str(told["head"]), int(told["lines"]), str(told["digest"]))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        known = found.get(one.head)
        if known is None or known.lines <= one.lines:
            found[one.head] = one
    return found


def note_kept(root: Path, kept: Kept) -> None:
    """Note how far a transcript was captured.

    Raises:
        NotWritable: the disk refused.
        BadFile: the file is a symbolic link.
    """
    if at(root, CAPTURED).is_symlink():
        raise BadFile(CAPTURED, "is a symbolic link, which is never followed")
    append_bytes(root, CAPTURED, json.dumps(asdict(kept), ensure_ascii=False).encode() + b"\n")
