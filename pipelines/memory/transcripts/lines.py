"""The lines of a transcript, one at a time, none of them longer in memory than it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

LONGEST: Final = 24 * 1024 * 1024
"""A longer line holds an image or a tool's output, and reading it would take more memory than a capture may use."""
_CHUNK: Final = 1024 * 1024


def read_lines(file: BinaryIO, longest: int = LONGEST) -> Iterator[bytes | None]:
    """Yield each line with its end, or None for one that is longer than `longest` bytes.

    A last line without a line end is yielded, too: a session that is being written may end amid a record.
    """
    while line := file.readline(longest + 1):
        if len(line) <= longest or line.endswith(b"\n"):
            yield line
            continue
        while (rest := file.readline(_CHUNK)) and not rest.endswith(b"\n"):
            pass
        yield None
