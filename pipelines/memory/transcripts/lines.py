"""The lines of a transcript, one at a time, none of them longer in memory than it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 24 * 1024 * 1024
"""A longer line holds an image or a tool's output, and reading it would take more memory than a capture may use."""
_CHUNK: Final = 1024 * 1024


class Lines(Protocol):
    """A file, or what reads one in another's place."""

    def readline(self, size: int, /) -> bytes:
        """Return the next line with its end, or as much of it as `size` allows; nothing at the end of the file."""


def read_lines(file: Lines, longest: int = LONGEST) -> Iterator[bytes | None]:
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
