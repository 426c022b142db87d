"""Pointers: where the record of a log's line stands in a transcript, in a comment at the line's end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pipelines.memory.items import Trust

_POINTER: Final = re.compile(
    r"<!-- (Sessions/[^<>\s]+\.jsonl)#L(\d{1,9})~([0-9a-f]{8})(?: (owner|self|external)~([0-9a-f]{16}|-))? -->"
)


@dataclass(frozen=True, slots=True)
class Voice:
    """What a pointer tells of its record.

    Args:
        file: the transcript, relative to the memory.
        line: the record's line, from 1.
        trust: whose words they are, as the line says; `self` where it does not say.
        seal: by which it is known that capture said so; empty where it has none.
    """

    file: str
    line: int
    trust: Trust
    seal: str


def render_pointer(file: str, line: int, mark: str, trust: Trust = Trust.SELF, seal: str = "") -> str:
    """Return a pointer.

    Args:
        file: the transcript, relative to the memory.
        line: the record's line, from 1.
        mark: eight hex digits, a hash of moment, role and words.
        trust: whose words the record holds.
        seal: what proves it to the night; without one it is said all the same, for it may lower trust.
    """
    told = f" {trust}~{seal or '-'}" if seal or trust is not Trust.SELF else ""
    return f"<!-- {file}#L{line}~{mark}{told} -->"


def pointer_in(line: str) -> tuple[str, int] | None:
    """Return the transcript and the record (from 1) that a log's line points at, or None."""
    found = _POINTER.search(line)
    return (found[1], int(found[2])) if found else None


def voice_in(line: str) -> Voice | None:
    """Return what the pointer of a log's line tells of its record, or None where it has none.

    Of several pointers the last one counts: capture puts its own at the line's end, and breaks what looks like one in
    the words of a turn.
    """
    found = None
    for found in _POINTER.finditer(line):  # noqa: B007  the last one is wanted
        pass
    if found is None:
        return None
    seal = found[5] if found[5] and found[5] != "-" else ""
    return Voice(found[1], int(found[2]), Trust(found[4]) if found[4] else Trust.SELF, seal)


def captured_in(log: str, file: str) -> tuple[int, frozenset[str]]:
    """Return the last record of a transcript that a log has, and the marks of all turns in it, whoever's they are."""
    last, marks = 0, set[str]()
    for path, line, mark, *_ in _POINTER.findall(log):
        marks.add(mark)
        last = max(last, int(line)) if path == file else last
    return last, frozenset(marks)


def without_pointer(line: str) -> str:
    """Return a log's line as people read it, without the pointer at its end."""
    return _POINTER.sub("", line).rstrip() if "<!-- Sessions/" in line else line
