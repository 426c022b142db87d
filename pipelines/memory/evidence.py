"""Evidence found again: the lines are a hint, the hash is the truth, so a log that grew or was folded still answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.errors import BadFile
from pipelines.memory.files import read_bytes
from pipelines.memory.items import quote_digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipelines.memory.items import Evidence


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands now: its lines, and its words, or None where it no longer stands in the file."""

    path: str
    start_line: int
    end_line: int
    quote: str | None

    def to_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {"path": self.path, "start_line": self.start_line, "end_line": self.end_line, "quote": self.quote}


class Quotes:
    """Finds the quotes of evidence; each file is read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lines: dict[str, list[str]] = {}

    def found(self, evidence: Evidence) -> Found:
        """Return where the quote stands: at its lines, else at the nearest lines whose text has its hash."""
        lines, height = self._read(evidence.path), evidence.end_line - evidence.start_line + 1
        for start in _outward(evidence.start_line - 1, len(lines) - height + 1):
            text = "\n".join(lines[start : start + height])
            if quote_digest(text)[: len(evidence.digest)] == evidence.digest:
                return Found(evidence.path, start + 1, start + height, text)
        return Found(evidence.path, evidence.start_line, evidence.end_line, None)

    def _read(self, path: str) -> list[str]:
        if path not in self._lines:
            try:
                data = b"" if _leaves(path) else read_bytes(self._root, path) or b""
            except BadFile:
                data = b""
            self._lines[path] = [line.removesuffix("\r") for line in data.decode(errors="replace").split("\n")]
        return self._lines[path]


def _outward(start: int, count: int) -> Iterator[int]:
    """Yield 0 … count - 1, the nearest to `start` first."""
    for distance in range(max(start, count - start) + 1):
        if 0 <= start + distance < count:
            yield start + distance
        if distance and 0 <= start - distance < count:
            yield start - distance


def _leaves(path: str) -> bool:
    """Whether a path, as a comment tells it, would lead out of the memory."""
    return path.startswith(("/", "~")) or ".." in path.split("/") or "\x00" in path
