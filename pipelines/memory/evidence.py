"""Evidence found again: the lines are a hint, the hash is the truth, so a log that grew or was folded still answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.errors import BadFile
from pipelines.memory.files import read_bytes
from pipelines.memory.items import quote_digest
from pipelines.memory.names import real_path
from pipelines.memory.pointers import pointer_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pipelines.memory.items import Evidence


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands now: its lines, and its words, or None where it no longer stands in the file.

    `record` is the transcript's record that the log tells of, as (path, line), or None where it tells of none.
    """

    path: str
    start_line: int
    end_line: int
    quote: str | None
    record: tuple[str, int] | None = None

    def to_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        told = {"path": self.path, "start_line": self.start_line, "end_line": self.end_line, "quote": self.quote}
        return told | ({"record": {"path": self.record[0], "line": self.record[1]}} if self.record else {})


class Quotes:
    """Finds the quotes of evidence; each file is read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lines: dict[str, list[str]] = {}

    def found(self, evidence: Evidence) -> Found:
        """Return where the quote stands: at its lines, else at the nearest lines whose text has its hash."""
        lines, height = self._read(evidence.path), evidence.end_line - evidence.start_line + 1
        shown = real_path(self._root, evidence.path)
        for start in _outward(evidence.start_line - 1, len(lines) - height + 1):
            text = "\n".join(lines[start : start + height])
            if quote_digest(text)[: len(evidence.digest)] == evidence.digest:
                return Found(shown, start + 1, start + height, text, self._record(record_behind(lines, start)))
        return Found(shown, evidence.start_line, evidence.end_line, None)

    def _record(self, told: tuple[str, int] | None) -> tuple[str, int] | None:
        return (real_path(self._root, told[0]), told[1]) if told else None

    def _read(self, path: str) -> list[str]:
        if path not in self._lines:
            try:
                data = b"" if _leaves(path) else read_bytes(self._root, path) or b""
            except BadFile:
                data = b""
            self._lines[path] = [line.removesuffix("\r") for line in data.decode(errors="replace").split("\n")]
        return self._lines[path]


def record_behind(lines: Sequence[str], at: int) -> tuple[str, int] | None:
    """Return the transcript's record, as (path, line), that the entry of a log tells of, or None.

    Args:
        lines: the log's lines.
        at: a line of the entry, from 0; the pointer stands on the entry's first.
    """
    while at > 0 and lines[at][:1] in {" ", "\t"}:
        at -= 1
    return pointer_in(lines[at]) if at < len(lines) else None


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
