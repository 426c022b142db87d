r"""The part of Markdown that a document's structure needs: lines, front matter, headings, fences and comments.

Lines are split on `\n` alone and keep their ends, so that joining them restores the same bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# A fence may follow a quote mark or a list mark. More than ten marks count as ten, which bounds the work.
_FENCE = re.compile(r"[ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,8})?(?P<mark>`{3,10}|~{3,10})(?P<info>.*)", re.DOTALL)
_FENCES_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")


_NO_TARGET = str.maketrans({sign: f"%{ord(sign):X}" for sign in " %()<>"})


def link_target(path: str) -> str:
    """Return a path as the target of a link: a bare one may hold no blank and no bracket."""
    return path.translate(_NO_TARGET)


def fence_ends(lines: Sequence[str]) -> dict[int, int]:
    """Return the fences of a log: index of the opening line → index of the last line, both part of the fence.

    A fence that is never closed, or is followed by another opening with a language first, must not swallow the rest of
    the day: it ends before the next blank line or heading. Takes linear time.
    """
    ends = dict[int, int]()
    if not any("```" in line or "~~~" in line for line in lines):
        return ends
    hopeless = dict[tuple[str, int], int]()
    index = 0
    while index < len(lines):
        if mark := _opening(lines[index]):
            end = _closing(lines, index, mark, hopeless)
            if end is None:
                after = range(index + 1, len(lines))
                stops = (at for at in after if not lines[at].strip() or _FENCES_HEADING.match(lines[at]))
                end = next(stops, len(lines)) - 1
            ends[index] = index = end
        index += 1
    return ends


def _opening(line: str) -> str | None:
    if "```" not in line[:60] and "~~~" not in line[:60]:
        return None
    found = _FENCE.match(line)
    if not found or (found["mark"][0] == "`" and "`" in found["info"].lstrip("`")):
        return None
    return found["mark"]


def _closing(lines: Sequence[str], start: int, mark: str, hopeless: dict[tuple[str, int], int]) -> int | None:
    """Return the line that closes a fence, or None; `hopeless` caches up to which line no such mark is closed."""
    known = hopeless.get((mark[0], len(mark)), -1)
    for index in range(start + 1, len(lines)):
        if index <= known:
            return None
        line = lines[index].lstrip("> \t")
        if not line.startswith(mark):
            continue
        if not line.strip(mark[0] + " \t"):
            return index
        if _opening(line) == mark:
            hopeless[mark[0], len(mark)] = index
            return None
    hopeless[mark[0], len(mark)] = len(lines)
    return None


def fenced(lines: Sequence[str]) -> frozenset[int]:
    """Return the indexes of all lines in fences, including their marks."""
    return frozenset(index for start, end in fence_ends(lines).items() for index in range(start, end + 1))


DRAWN = re.compile(
    r"\A\s*(?:(?:`{3,}|~{3,})[ \t]*(?:dataview(?:js)?|tasks|query|base|button)"
    r"|(?:[-*+][ \t]+)?\{\{query\b[^{}]*\}\})\s*$"
)
"""A line that begins what Obsidian and Logseq draw as the answer of a query: its code is nobody's words."""


ECHOES = "relevant-memories|hindsight_memories|supermemory-context"
"""The tags between which plug-ins put what their memory recalls into a person's turn: nobody's new word."""


BULLETED = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
"""The start of a list item."""
_CODE_INDENT = 4


def indented_code(lines: Sequence[str]) -> frozenset[int]:
    """Return the indexes of the lines of a list item or paragraph that Markdown shows as code: indented after a gap."""
    found, offset, after_gap = set[int](), 0, False
    for index, line in enumerate(lines):
        bare, bullet = line.expandtabs(_CODE_INDENT), BULLETED.match(line)
        if not bare.strip():
            after_gap = True
        elif bullet:
            offset, after_gap = len(bullet[0].expandtabs(_CODE_INDENT)), False
        elif len(bare) - len(bare.lstrip()) >= offset + _CODE_INDENT and (after_gap or index - 1 in found):
            found.add(index)
        else:
            after_gap = False
    return frozenset(found)


_CONFLICT = re.compile(r"[<>]{7}(?: .*)?|={7}")


def conflicts(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first and last line of each stretch that git marked as a conflict, marks included.

    Only all marks in their order count: `=======` alone underlines a heading. Marks within a code fence are an example.
    """
    bare = [line.rstrip("\r\n") for line in lines]
    marks = [at for at, line in enumerate(bare) if line[:1] in _SIDES and _CONFLICT.fullmatch(line)]
    examples = fenced(bare) if marks else ()
    found, first, is_parted = list[tuple[int, int]](), -1, False
    for at in (at for at in marks if at not in examples):
        if bare[at] == "=======":
            is_parted = first >= 0
        elif bare[at][0] == "<":
            first = at if first < 0 else first
        elif is_parted:
            found.append((first, at))
            first, is_parted = -1, False
    return found


_SIDES = frozenset("<=>")
_COMMENT = re.compile("<!--|-->")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?\n?\Z", re.DOTALL)
_OPENING = re.compile(r"\n[^\S\n]*<!--")
KEY_LINE = re.compile(r"\A([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*?))?[ \t]*\r?\n?\Z", re.DOTALL)
"""The key and value of a front matter line."""


def split_lines(text: str) -> list[str]:
    """Return the lines of `text` with their ends; `"".join` restores `text`."""
    return _LINES.findall(text)


def line_end(lines: Sequence[str]) -> str:
    """Return the line end of a document: that of its first line."""
    return "\r\n" if lines and lines[0].endswith("\r\n") else "\n"


class Heading(NamedTuple):
    """A heading: its line (from 0), level and text."""

    line: int
    level: int
    title: str


class FrontMatter(NamedTuple):
    """The block between `---` lines at the top: its number of lines including the marks, its keys, and its faults.

    A key below another one has both names: `author.name`.
    """

    lines: int
    values: tuple[tuple[str, str], ...]
    faults: tuple[str, ...] = ()

    def get(self, key: str) -> str:
        """Return the value of `key`, without quotes, or an empty string."""
        return dict(self.values).get(key, "")


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Return the front matter; a block that is never closed is a fault and does not count.

    A second block right below belongs to it: programs put theirs above a person's.
    """
    first = _block(lines)
    start = next((n for n in range(first.lines, len(lines)) if lines[n].strip()), 0) if first.lines else 0
    more = _block(lines[start:] if start else ())
    if more.values and not more.faults:
        return FrontMatter(start + more.lines, (*first.values, *more.values), first.faults)
    return first


def _block(lines: Sequence[str]) -> FrontMatter:
    """Return the block between `---` at the beginning of some lines."""
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return FrontMatter(0, ())
    end = next((n for n in range(1, len(lines)) if lines[n].rstrip() in {"---", "..."}), None)
    if end is None:
        return FrontMatter(0, (), ("line 1: the front matter is opened by --- and never closed",))
    values, faults, above = list[tuple[str, str]](), list[str](), list[tuple[int, str]]()
    for number, line in enumerate(lines[1:end], 2):
        bare = line.lstrip(" ")
        if found := KEY_LINE.match(bare):
            depth, value = len(line) - len(bare), (found[2] or "").strip("\"'")
            above = [one for one in above if one[0] < depth]
            if depth and not above:  # a line of a longer text
                continue
            name = ".".join([*(key for _, key in above), found[1]])
            values.append((name, value))
            above += [] if value else [(depth, found[1])]
        elif line.strip() and not line.startswith((" ", "\t", "-", "#")):
            faults.append(f"line {number}: the front matter has a line that is not `key: value`")
    return FrontMatter(end + 1, tuple(values), tuple(faults))


def body_lines(lines: Sequence[str], start: int) -> list[tuple[int, str]]:
    """Return number (from 0) and text of each line outside code fences, comment blocks and conflicts.

    An unclosed fence ends before the next blank line or heading, and an unclosed comment hides nothing: one forgotten
    mark must not make a document's items vanish.
    """
    text = "".join(["\n", *lines])
    if "\n<<<<<<<" in text and (marked := conflicts(lines)):
        lines = list(lines)
        for first, last in marked:
            lines[first : last + 1] = [""] * (last + 1 - first)
        left = {number for first, last in marked for number in range(first, last + 1)}
        return [(number, line) for number, line in body_lines(lines, start) if number not in left]
    if not ("```" in text or "~~~" in text or _OPENING.search(text)):  # fast path for nearly all documents
        return list(enumerate(lines[start:], start))
    hidden = fenced([line.rstrip("\r\n") for line in lines])
    comment, found = False, []
    for number in range(start, len(lines)):
        line = lines[number]
        if comment:
            comment = "-->" not in line
        elif number in hidden:
            continue
        else:
            if line.lstrip().startswith("<!--") and "-->" not in line:
                marks = (mark[0] for at in range(number + 1, len(lines)) if (mark := _COMMENT.search(lines[at])))
                comment = next(marks, "") == "-->"  # if the next mark opens another one, this one never closed
            if not comment:
                found.append((number, line))
    return found


def headings_among(body: Iterable[tuple[int, str]]) -> list[Heading]:
    """Return the ATX headings among body lines, as `body_lines` yields them."""
    marks = [(at, mark) for at, line in body if line.startswith(("#", " ")) and (mark := _HEADING.match(line))]
    return [Heading(at, len(mark[1]), (mark[2] or "").strip()) for at, mark in marks]


def without_spans(text: str, begin: str, end: str, within: str | None = None) -> str:
    """Return a text without the spans from each `begin` to the next `end`, both included.

    A regular expression would search for the end from every beginning, in quadratic time if there is none.

    Args:
        text: the text.
        begin: the mark that opens a span.
        end: the mark that closes it; unclosed spans stay.
        within: the text to search for marks, as long as `text` (for example its lower case); by default `text` itself.
    """
    seen, parts, at = text if within is None else within, [], 0
    while (first := seen.find(begin, at)) >= 0 and (last := seen.find(end, first + len(begin))) >= 0:
        parts.append(text[at:first])
        at = last + len(end)
    return "".join([*parts, text[at:]])
