"""Pointers: where the record of a log's line stands in a transcript, in a comment at the line's end."""

from __future__ import annotations

import re
from typing import Final

_POINTER: Final = re.compile(r"<!-- (Sessions/[^<>\s]+\.jsonl)#L(\d{1,9})~([0-9a-f]{8}) -->")


def render_pointer(file: str, line: int, mark: str) -> str:
    """Return a pointer.

    Args:
        file: the transcript, relative to the memory.
        line: the record's line, from 1.
        mark: eight hex digits, a hash of moment, role and words.
    """
    return f"<!-- {file}#L{line}~{mark} -->"


def pointer_in(line: str) -> tuple[str, int] | None:
    """Return the transcript and the record (from 1) that a log's line points at, or None."""
    found = _POINTER.search(line)
    return (found[1], int(found[2])) if found else None


def captured_in(log: str, file: str) -> tuple[int, frozenset[str]]:
    """Return the last record of a transcript that a log has, and the marks of all turns in it, whoever's they are."""
    last, marks = 0, set[str]()
    for path, line, mark in _POINTER.findall(log):
        marks.add(mark)
        last = max(last, int(line)) if path == file else last
    return last, frozenset(marks)


def without_pointer(line: str) -> str:
    """Return a log's line as people read it, without the pointer at its end."""
    return _POINTER.sub("", line).rstrip() if "<!-- Sessions/" in line else line
