r"""The little of Markdown that a document's structure needs: lines, front matter, headings, fences and comments.

Lines are split on `\n` alone and keep their ends, so that joining them gives the same bytes again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?\n?\Z", re.DOTALL)
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_KEY: Final = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*?))?[ \t]*\r?\n?\Z", re.DOTALL)


def split_lines(text: str) -> list[str]:
    """Return the lines of `text` with their ends; `"".join` gives `text` again."""
    return _LINES.findall(text)


def line_end(lines: Sequence[str]) -> str:
    """Return the line end that a document uses: that of its first line."""
    return "\r\n" if lines and lines[0].endswith("\r\n") else "\n"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its line (from 0), its level and its words."""

    line: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The block between `---` lines at the top: how many lines it takes with its marks, its keys, and its faults."""

    lines: int
    values: tuple[tuple[str, str], ...]
    faults: tuple[str, ...] = ()

    def get(self, key: str) -> str:
        """Return the value of `key`, without quotes, or an empty string."""
        return dict(self.values).get(key, "")


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Return the front matter; a block that is never closed counts as none, and is named as a fault."""
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return FrontMatter(0, ())
    end = next((n for n in range(1, len(lines)) if lines[n].rstrip() in {"---", "..."}), None)
    if end is None:
        return FrontMatter(0, (), ("line 1: the front matter is opened by --- and never closed",))
    values, faults = [], []
    for number, line in enumerate(lines[1:end], 2):
        if found := _KEY.match(line):
            values.append((found[1], (found[2] or "").strip("\"'")))
        elif line.strip() and not line.startswith((" ", "\t", "-", "#")):
            faults.append(f"line {number}: the front matter holds a line that is no `key: value`")
    return FrontMatter(end + 1, tuple(values), tuple(faults))


def set_front_matter(lines: Sequence[str], values: dict[str, str]) -> list[str]:
    """Return `lines` with these keys of an existing front matter set; other lines of it stay as they are."""
    front = read_front_matter(lines)
    if not front.lines or front.faults:
        return list(lines)
    left, out, end = dict(values), list(lines[:1]), line_end(lines)
    for line in lines[1 : front.lines - 1]:
        found = _KEY.match(line)
        if found and found[1] in left:
            value = left.pop(found[1])
            out.append(line if (found[2] or "").strip("\"'") == value else f"{found[1]}: {value}{end}")
        else:
            out.append(line)
    out += [f"{key}: {value}{end}" for key, value in left.items()]
    return [*out, *lines[front.lines - 1 :]]


def body_lines(lines: Sequence[str], start: int) -> Iterator[tuple[int, str]]:
    """Yield number (from 0) and text of each line that is neither in a code fence nor inside a comment block.

    A comment that opens a line and does not close on it hides the lines up to its end. A fence that is never closed
    ends with the document, as Markdown has it.
    """
    fence, comment = "", False
    for number in range(start, len(lines)):
        line = lines[number]
        if fence:
            if (mark := _FENCE.match(line)) and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif comment:
            comment = "-->" not in line
        elif mark := _FENCE.match(line):
            fence = mark[1]
        elif line.lstrip().startswith("<!--") and "-->" not in line:
            comment = True
        else:
            yield number, line


def read_headings(lines: Sequence[str], start: int) -> list[Heading]:
    """Return the ATX headings outside code fences and comment blocks, from line `start` (counted from 0) on."""
    found = []
    for number, line in body_lines(lines, start):
        if line.lstrip(" ").startswith("#") and (mark := _HEADING.match(line)):
            found.append(Heading(number, len(mark[1]), (mark[2] or "").strip()))
    return found
