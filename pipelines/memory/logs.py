r"""A daily log's text, read into entries.

An entry is a top-level list item with its continuation (indented, or lazy), a paragraph, or one message of a chat log.
Code fences stay whole within their entry. Structure is no entry: headings, `project: NAME` lines, thematic breaks, HTML
comments, `{:.class}` lines and front matter. One heading is both: `### Decision: ...` says something, so its line is an
entry, too. Lines end at `\n` only; every line is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pipelines.memory.chatlines import is_message, starts_with_clock
from pipelines.memory.entries import Entry
from pipelines.memory.fences import fence_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_BULLET = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])([ \t]{1,4}|$)")
_ATTRIBUTES = re.compile(r"\s{0,8}\{:[^{}\n]{0,200}\}\s*$")
_PROJECT = re.compile(
    r" {0,3}(?:[-*+][ \t]{1,4})?(?P<open>[*_]{0,3})project(?P<mid>[*_]{0,3})[ \t]{0,4}:[*_]{0,3}[ \t]{1,8}"
    r"(?P<name>[^\s*_][^\n]{0,79})",
    re.IGNORECASE,
)
_TITLED_PROJECT = re.compile(
    r"[*_]{0,3}project[*_]{0,3}[ \t]{0,4}:[*_]{0,3}[ \t]{0,8}(?P<name>[^\n]{1,80})", re.IGNORECASE
)
_INLINE_PROJECT = re.compile(r"\[project:[ \t]{0,8}([^\[\]\n]{1,80})\]", re.IGNORECASE)
_SAYING = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3}){0,3}\.?[ \t]{1,4})?[*_]{0,3}(?:decisions?|decided|facts?|rules?|to-?do|risks?|resolved|"
    r"resolution|agreed|action|warning|fixme)\b[^:\n]{0,30}?(?::|[ \t][-–—][ \t])[*_ \t]{0,8}[^\s*_]",
    re.IGNORECASE,
)
_YAML_LINE = re.compile(r"(?:[\w.-]{1,60}[ \t]{0,4}:(?:\s|$)|\s|#|- )")
_TAG = re.compile(r"(?<![\w/#&;])(?<!\]\()#([^\W\d_](?:[\w/-]{0,78}\w)?)")
_NO_TAGS = re.compile(r"`[^`\n]*`|[A-Za-z][A-Za-z+.-]{0,15}://\S+")


def parse_entries(path: str, day: str, text: str) -> tuple[Entry, ...]:
    """Return the entries of a log, in order and without overlap. Any text is a log; nothing is raised.

    Args:
        path: the log, relative to the memory, with `/`; it is copied into the entries.
        day: the day of the log, `YYYY-MM-DD`; likewise.
        text: the whole log.
    """
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    reader = _Reader(path, day, lines, fence_ends(lines))
    index = _front_matter(lines)
    while index < len(lines):
        index = reader.step(index)
    reader.close()
    return tuple(reader.entries)


@dataclass(slots=True)
class _Reader:
    path: str
    day: str
    lines: Sequence[str]
    fences: dict[int, int]
    entries: list[Entry] = field(default_factory=list)
    headings: list[tuple[int, str, str]] = field(default_factory=list)
    project: str = ""
    start: int = -1  # the first line of the open entry, or -1
    last: int = -1
    offset: int = -1  # where the content of the open list item begins, or -1
    chat: bool = False
    gap: bool = False  # whether blank lines came since `last`
    comment_end: int = -1  # the first line at or after the last comment's opening that closes a comment

    def step(self, index: int) -> int:
        """Read the line at `index` and what must stay together with it; return the index of the next one."""
        line = self.lines[index].lstrip("\ufeff") if index == 0 else self.lines[index]
        if not line.strip():
            self.gap = True
            if self.offset < 0:
                self.close()
            return index + 1
        if (end := self.fences.get(index)) is not None:
            self._text(line, index, end)
        elif (end := self._comment_end(line, index)) is not None:
            self._comment(line, end)
        elif not self._structure(line, index):
            self._text(line, index, index)
            end = index
        return index + 1 if end is None else end + 1

    def _structure(self, line: str, index: int) -> bool:
        if found := _HEADING.match(line):
            self._heading(index, len(found[1]), line[found.end() :])
            return True
        if name := _project_line(line):
            self.close()
            self.project = name
            return True
        if is_break(line) or _ATTRIBUTES.match(line):
            self.close()
            return True
        return False

    def _heading(self, index: int, level: int, rest: str) -> None:
        self.close()
        title = _title(rest)
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.project = ""
        if _SAYING.match(title):
            self._emit(index, index)
        named = _TITLED_PROJECT.fullmatch(title)
        self.headings.append((level, title, named["name"].strip("*_ \t") if named else ""))

    def _comment_end(self, line: str, index: int) -> int | None:
        if not line.lstrip().startswith("<!--"):
            return None
        if self.comment_end < index:
            closing = (end for end in range(index, len(self.lines)) if "-->" in self.lines[end])
            self.comment_end = next(closing, len(self.lines))
        if self.comment_end == len(self.lines):
            return index
        return self.comment_end if not self.lines[self.comment_end].rpartition("-->")[2].strip() else None

    def _comment(self, line: str, end: int) -> None:
        if self.start >= 0 and not self.gap and line[:1].isspace():
            self.last = end
        else:
            self.close()

    def _text(self, line: str, index: int, end: int) -> None:
        message = is_message(line, in_chat=self.chat)
        bullet = None if message else _BULLET.match(line)
        if message or self._begins(line, bullet):
            self.close()
            self.start = index
            self.chat = message
            self.offset = bullet.end() if bullet else -1
        self.last = end
        self.gap = False

    def _begins(self, line: str, bullet: re.Match[str] | None) -> bool:
        if self.start < 0:
            return True
        if self.offset >= 0:
            nested = _indent(line) >= min(self.offset, 2)
            return bool(bullet and not nested) or (self.gap and not nested)
        if bullet:
            return not bullet[2][0].isdecimal() or int(bullet[2][:-1]) == 1
        return starts_with_clock(line) and starts_with_clock(self.lines[self.start])

    def close(self) -> None:
        """End the open entry, if there is one."""
        if self.start >= 0:
            self._emit(self.start, self.last)
            self.start = self.offset = -1
            self.gap = False

    def _emit(self, start: int, end: int) -> None:
        text = "\n".join(self.lines[start : end + 1])
        inline = _INLINE_PROJECT.search(text) if "[" in text else None
        titled = next((named for _, _, named in reversed(self.headings) if named), "")
        self.entries.append(
            Entry(
                path=self.path,
                start_line=start + 1,
                end_line=end + 1,
                text=text,
                headings=tuple(title for _, title, _ in self.headings),
                project=inline[1].strip() if inline else self.project or titled,
                tags=tags_of(text),
                day=self.day,
            )
        )


def _front_matter(lines: Sequence[str]) -> int:
    """Return the index of the first line after the front matter; 0 where there is none."""
    if lines[0].lstrip("\ufeff").rstrip() != "---":
        return 0
    for index, line in enumerate(lines[1:], start=1):
        if line.rstrip() in {"---", "..."}:
            return index + 1
        if line.strip() and not _YAML_LINE.match(line):
            return 0
    return 0


def _project_line(line: str) -> str:
    if ":" not in line[:40] or not (found := _PROJECT.fullmatch(line.rstrip())):
        return ""
    return found["name"].strip("*_ \t")


def _title(rest: str) -> str:
    title = rest.strip()
    unmarked = title.rstrip("#")
    return unmarked.rstrip() if not unmarked or unmarked[-1:].isspace() else title


def is_break(line: str) -> bool:
    """Return whether the line is a thematic break: three or more of one of `-`, `*`, `_`, and nothing else."""
    marks = line[:1000].strip()
    if marks[:1] not in {"-", "*", "_"} or line[1000:].strip(marks[0] + " \t"):
        return False
    return not marks.strip(marks[0] + " \t") and marks.count(marks[0]) >= _BREAK_MARKS


_BREAK_MARKS: Final = 3


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))


def tags_of(text: str) -> tuple[str, ...]:
    """Return the `#tag` words of a text, each once, in order; none from code, links or numbers like `#12`."""
    if "#" not in text:
        return ()
    lines = text.split("\n")
    code = fence_ends(lines) if "```" in text or "~~~" in text else {}
    hidden = {index for start, end in code.items() for index in range(start, end + 1)}
    found: dict[str, None] = {}
    for index, line in enumerate(lines):
        if "#" in line and index not in hidden:
            found.update(dict.fromkeys(_TAG.findall(_NO_TAGS.sub(" ", line))))
    return tuple(found)
