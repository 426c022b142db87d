"""Text on its way into the logs of several days, kept out of memory where there is much of it."""

from __future__ import annotations

import contextlib
import tempfile
from typing import IO, TYPE_CHECKING, Final, Self

from pipelines.memory.append import append_to_log
from pipelines.memory.lock import private_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_IN_MEMORY: Final = 1 << 20
_CHUNK: Final = 4 << 20


class Spool:
    """Collects lines by day, then appends each day's to its log.

    Args:
        root: the memory, on whose disk what is too much for memory waits.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, IO[bytes]] = {}
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Begin with nothing."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of everything."""
        self._open.close()

    def add(self, day: str, text: str) -> None:
        """Put whole lines behind those of a day."""
        if day not in self._files:
            folder = private_folder(self._root)
            spooled = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(folder))  # noqa: SIM115  the stack closes it
            self._files[day] = self._open.enter_context(spooled)
        self._files[day].write(text.encode(errors="replace"))

    def append(self, head: Callable[[str], str]) -> tuple[str, ...]:
        """Append each day's lines to its log, and return the days.

        Args:
            head: what a log says already → what stands above the lines.

        Raises:
            NotWritable: the disk refused.
        """
        for day, file in sorted(self._files.items()):
            file.seek(0)
            while lines := file.readlines(_CHUNK):
                text = b"".join(lines).decode()
                append_to_log(self._root, day, lambda log, text=text: f"{head(log)}{text}")  # type: ignore[misc]
        return tuple(sorted(self._files))
