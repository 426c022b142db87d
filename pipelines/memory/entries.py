"""The log entry: what the extractors read, and the unit in which progress is counted."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a log: a top-level list item with its continuation, a paragraph, or one line of a chat log.

    Args:
        path: the log, relative to the memory, with `/`.
        start_line: first line, counted from 1.
        end_line: last line, inclusive.
        text: those lines verbatim, joined by newlines, without the last line end.
        headings: the headings above it, outermost first, without their marks.
        project: what `project: NAME` (governing to the next heading) or `[project: NAME]` (this entry) says, or empty.
        tags: the `#tag` words in it, without the mark.
        day: the day of its log, `YYYY-MM-DD`.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    headings: tuple[str, ...] = ()
    project: str = ""
    tags: tuple[str, ...] = ()
    day: str = ""

    @property
    def key(self) -> str:
        """The hash by which progress remembers the entry: sixteen hex digits of SHA-256 over heading path and text."""
        birth = "\x1f".join((*self.headings, self.project, self.text))
        return hashlib.sha256(birth.encode()).hexdigest()[:16]
