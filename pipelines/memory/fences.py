"""Where the code fences of a log are: what they hold is kept whole and is never structure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# A fence may stand behind a quote mark or a list mark; runs longer than ten marks count as ten, which bounds the work.
_FENCE = re.compile(r"[ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,8})?(?P<mark>`{3,10}|~{3,10})(?P<info>.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")


def fence_ends(lines: Sequence[str]) -> dict[int, int]:
    """Return the fences of a log: index of the opening line to index of the last line, both within the fence.

    A fence that is never closed, or that meets another opening with a language before its own end, must not swallow
    the rest of the day: it ends before the next blank line or heading. The work is linear in the lines.
    """
    ends: dict[int, int] = {}
    if not any("```" in line or "~~~" in line for line in lines):
        return ends
    hopeless: dict[tuple[str, int], int] = {}
    index = 0
    while index < len(lines):
        found = _opening(lines[index])
        if found is None:
            index += 1
            continue
        end = _closing(lines, index, found, hopeless)
        ends[index] = end
        index = end + 1
    return ends


def _opening(line: str) -> str | None:
    if "```" not in line[:60] and "~~~" not in line[:60]:
        return None
    found = _FENCE.match(line)
    if not found or (found["mark"][0] == "`" and "`" in found["info"].lstrip("`")):
        return None
    return found["mark"]


def _closing(lines: Sequence[str], start: int, mark: str, hopeless: dict[tuple[str, int], int]) -> int:
    for index in range(start + 1, len(lines)):
        if index <= hopeless.get((mark[0], len(mark)), -1):
            return _unclosed(lines, start)
        line = lines[index].lstrip("> \t")
        if not line.startswith(mark):
            continue
        if not line.strip(mark[0] + " \t"):
            return index
        if _opening(line) == mark:
            hopeless[mark[0], len(mark)] = index
            return _unclosed(lines, start)
    hopeless[mark[0], len(mark)] = len(lines)
    return _unclosed(lines, start)


def _unclosed(lines: Sequence[str], start: int) -> int:
    for index in range(start + 1, len(lines)):
        if not lines[index].strip() or _HEADING.match(lines[index]):
            return index - 1
    return len(lines) - 1


def fenced(lines: Sequence[str]) -> frozenset[int]:
    """Return the indexes of all lines that belong to a fence, its marks included."""
    return frozenset(index for start, end in fence_ends(lines).items() for index in range(start, end + 1))
