r"""Parse a daily log into entries.

An entry is a top-level list item with its continuation (indented, or lazy), a paragraph, or one message of a chat log.
A code fence stays whole within its entry. Headings, `project: NAME` lines, thematic breaks, HTML comments,
`{:.class}` lines and front matter are structure, not entries. A heading that makes a statement (`### Decision: ...`) is
both, and so is one of three words below the day's with nothing below it. Lines end at `\n`, or at `\r` where that is
meant. Each line is scanned a bounded number of times.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.store.markdown import DRAWN, ECHOES, conflicts, fence_ends, fenced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a log: a top-level list item with its continuation, a paragraph, or one line of a chat log.

    Args:
        path: the log, relative to the memory, with `/`.
        start_line: first line, counted from 1.
        end_line: last line, inclusive.
        text: those lines verbatim, joined by newlines, without the last line end.
        headings: the headings above it, outermost first, without their marks.
        project: the name from `[project: NAME]` (for this entry) or `project: NAME` (for its heading's whole section,
            or up to the first heading), or empty.
        tags: its `#tag` words, without the mark.
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
    def head(self) -> str:
        """Its first line."""
        return self.text.partition("\n")[0]

    @property
    def key(self) -> str:
        """The hash by which progress records the entry: sixteen hex digits of SHA-256 over heading path and text."""
        birth = "\x1f".join((*self.headings, self.project, self.text))
        return hashlib.sha256(birth.encode()).hexdigest()[:16]


_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_BULLET = re.compile(r"( {0,3}|\t+)([-*+]|\d{1,9}[.)])([ \t\xa0]{1,4}|$)")
_BLANK = "\ufeff\0"
"""What files that were joined, or a crash, leave at the beginning of a line."""
_LONE_RETURN = re.compile(r"\r(?!\n)(?=[-*+] |#{1,6} )")
_ATTRIBUTES = re.compile(r"\s{0,8}\{:[^{}\n]{0,200}\}\s*$")
_PROJECT = re.compile(
    r" {0,3}(?:[-*+][ \t]{1,4})?(?P<open>[*_]{0,3})project(?P<mid>[*_]{0,3})[ \t]{0,4}:[*_]{0,3}[ \t]{1,8}"
    r"(?P<name>[^\s*_][^\n]{0,79})",
    re.IGNORECASE,
)
_TITLED_PROJECT = re.compile(
    r"[*_]{0,3}project[*_]{0,3}[ \t]{0,4}:[*_]{0,3}[ \t]{0,8}(?P<name>[^\n]{1,80})", re.IGNORECASE
)
INLINE_PROJECT = re.compile(r"\[project:[ \t]{0,8}([^\[\]\n]{1,80})\]", re.IGNORECASE)
_SAYING = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3}){0,3}\.?[ \t]{1,4})?[*_]{0,3}(?:[^\s:]{1,12}[ \t])?"
    r"(?:decisions?|decided|facts?|rules?|to-?do|risks?|resolved|resolution|agreed|action|warning|fixme|lessons?|"
    r"done|dropped|occurred|answered|no longer|correction)"
    r"\b[^:\n]{0,30}?(?::|[ \t][-–—][ \t])"
    r"[*_ \t]{0,8}[^\s*_]",
    re.IGNORECASE,
)
_YAML_LINE = re.compile(r"(?:[\w.-]{1,60}[ \t]{0,4}:(?:\s|$)|\s|#|- )")
_BREAK = re.compile(r"\s*([-*_])(?:[ \t]*\1){2,}\s*")
_QUERY = "#+BEGIN_QUERY"
_PROPERTY = re.compile(r"\s*(?:[-*+] )?(?:query-[a-z-]+|logseq\.[\w.-]+|collapsed|id)::(?:\s.*)?")
# What programs write into a day's note is no entry: OpenClaw's nightly summaries, the answers of queries that Dataview
# Publisher puts below them, what a memory recalled into a turn, and who sent it, as a gateway writes it.
_GENERATED = re.compile(
    r"<!-- (?P<name>openclaw:dreaming:(?:light|rem|deep):)start -->|%% (?P<query>[A-Z_]+: )start\b"
    rf"|(?:\w+: )?<(?P<echo>{ECHOES})>"
)
_ENVELOPE = re.compile(r"(?:\w+: )?[A-Z][^\n()]{0,90} \((?:un)?trusted[^\n()]{0,40}\):\s*(\{.*\})?\s*")
_TAG = re.compile(r"(?<![\w/#&;])(?<!\]\()#([^\W\d_](?:[\w/-]{0,78}\w)?)")
_NO_TAGS = re.compile(r"`[^`\n]*`|[A-Za-z][A-Za-z+.-]{0,15}://\S+")
FORGOTTEN = "[forgotten]"
"""Replaces forgotten words in a log."""


def parse_entries(path: str, day: str, text: str) -> tuple[Entry, ...]:
    """Return the entries of a log, in order and without overlap. Any text is a valid log.

    What stands between the marks of a conflict is no entry until a person has resolved it.

    Args:
        path: the log, relative to the memory, with `/`; copied into the entries.
        day: the day of the log, `YYYY-MM-DD`; copied likewise.
        text: the whole log.
    """
    lines = lines_of(text)
    reader = _Reader(path, day, lines, fence_ends(lines))
    index = 0
    if lines[0].lstrip("\ufeff").rstrip() == "---":  # front matter, if it is closed
        for number, line in enumerate(lines[1:], start=2):
            if line.rstrip() in {"---", "..."}:
                index = number
            if index or (line.strip() and not _YAML_LINE.match(line)):
                break
    marked = dict(conflicts(lines))
    while index < len(lines):
        if index in marked:
            reader.close()
        index = marked[index] + 1 if index in marked else reader.step(index)
    reader.close()
    return tuple(reader.entries)


def drawn(lines: Sequence[str]) -> Iterator[int]:
    """Yield the indexes of the lines of a log that hold a query of Logseq's, with the block's own properties above."""
    until = -1
    for index, line in enumerate(lines):
        if _QUERY in line:
            until = next((at for at in range(index, len(lines)) if "#+END_QUERY" in lines[at]), index)
        if index <= until or DRAWN.match(line) or _PROPERTY.fullmatch(line):
            yield index


def with_newlines(text: str) -> str:
    r"""Return a log with lines that end at `\n` or `\r\n`.

    `\r` alone ends one if it does most of them, or if a list item or a heading follows.
    """
    if text.count("\r") - text.count("\r\n") > text.count("\n"):
        return text.replace("\r\n", "\n").replace("\r", "\n")
    return _LONE_RETURN.sub("\n", text) if "\r" in text else text


def lines_of(text: str) -> list[str]:
    """Return the lines of a log, without their ends."""
    return [line.removesuffix("\r") for line in with_newlines(text).removesuffix("\n").split("\n")]


def last_place(text: str, line: str) -> int:
    """Return the number of the last line of a log that equals `line`, or of its last line if none does."""
    lines = lines_of(text)
    return next((number for number in range(len(lines), 0, -1) if lines[number - 1] == line), len(lines))


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
    indent: int = 0  # the column of its bullet
    chat: bool = False
    gap: bool = False  # whether blank lines came since `last`
    bare: bool = False  # whether the last entry is a heading with nothing below it so far
    ends: dict[str, int] = field(default_factory=dict)  # the end mark of a comment → the next line that has it

    def step(self, index: int) -> int:
        """Read the line at `index` and what belongs with it; return the index of the next line."""
        line = self.lines[index].lstrip(_BLANK)
        if not line.strip():
            self.gap = True
            if self.offset < 0:
                self.close()
            return index + 1
        is_apart = self.start < 0 or not line[:1].isspace()
        if (end := self.fences.get(index)) is not None:
            self._fence(line, index, end)
        elif (end := self._comment_end(line, index)) is not None:
            if self.start >= 0 and not self.gap and line[:1].isspace() and _QUERY not in line:
                self.last = end
            else:
                self.close()
        elif found := _HEADING.match(line):
            self._heading(index, len(found[1]), line[found.end() :].strip())
        elif ":" in line[:40] and (found := _PROJECT.fullmatch(line.rstrip())) and (name := _name_in(found["name"])):
            self.close()
            if self.headings:
                self.headings[-1] = (*self.headings[-1][:2], name)
            else:
                self.project = name
        elif (
            (_BREAK.fullmatch(line) and not (self.offset >= 0 and line[:1].isspace()))
            or _ATTRIBUTES.match(line)
            or DRAWN.match(line)
            or (is_apart and _PROPERTY.fullmatch(line))  # of a block without words
        ):
            self.close()
        else:
            self._text(line, index, index)
        return (index if end is None else end) + 1

    def _heading(self, index: int, level: int, title: str) -> None:
        self.close()
        unmarked = title.rstrip("#")
        title = unmarked.rstrip() if not unmarked or unmarked[-1:].isspace() else title
        if self.bare and self.headings[-1][0] < level:
            self.entries.pop()
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.project = ""  # a project named above all headings ends at the first one
        says = _SAYING.match(title)
        self.bare = not says and level > 1 and title.count(" ") > 1
        if says or self.bare:  # an entry of its own, below the headings before it
            self.start = self.last = index
            self.close()
        named = _TITLED_PROJECT.fullmatch(title)
        self.headings.append((level, title, _name_in(named["name"]) if named else ""))

    def _comment_end(self, line: str, index: int) -> int | None:
        if "trusted" in line and (found := _ENVELOPE.fullmatch(line)):
            return index if found[1] else self.fences.get(index + 1)
        is_query, generated = _QUERY in line, _GENERATED.match(line)
        if not (is_query or generated or line.lstrip().startswith("<!--")):
            return None
        mark = "#+END_QUERY" if is_query else "-->"
        if generated:
            mark = f"%% {generated['query']}end %%" if generated["query"] else f"<!-- {generated['name']}end -->"
            mark = f"</{generated['echo']}>" if generated["echo"] else mark
        if self.ends.get(mark, -1) < index:
            closing = (end for end in range(index, len(self.lines)) if mark in self.lines[end])
            self.ends[mark] = next(closing, len(self.lines))
        end = self.ends[mark]
        if end == len(self.lines):
            return index
        return end if not self.lines[end].rpartition(mark)[2].strip() else None

    def _fence(self, line: str, index: int, end: int) -> None:
        if DRAWN.match(line):
            self.close()
        else:
            self._text(line, index, end)

    def _text(self, line: str, index: int, end: int) -> None:
        message = is_message(line, in_chat=self.chat)
        bullet = None if message else _BULLET.match(line)
        indent = len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))
        if message or self.start < 0:
            begins = True
        elif self.offset >= 0:
            is_beside = indent < min(self.offset, 2) or indent <= self.indent  # a list may be indented as a whole
            begins = is_beside and (bullet is not None or self.gap)
        elif bullet:
            begins = not bullet[2][0].isdecimal() or int(bullet[2][:-1]) == 1
        else:
            begins = bool(CLOCKED.match(line) and CLOCKED.match(self.lines[self.start]))
        if begins:
            self.close()
            if self.bare:
                self.entries.pop()
            self.bare, self.start = False, index
            self.chat = message
            self.offset, self.indent = bullet.end() if bullet else -1, indent
        self.last = end
        self.gap = False

    def close(self) -> None:
        """Close the open entry, if there is one."""
        if self.start < 0:
            return
        text = "\n".join(self.lines[self.start : self.last + 1])
        inline = INLINE_PROJECT.search(text) if "[" in text else None
        titled = next((named for _, _, named in reversed(self.headings) if named), "")
        self.entries.append(
            Entry(
                path=self.path,
                start_line=self.start + 1,
                end_line=self.last + 1,
                text=text,
                headings=tuple(title for _, title, _ in self.headings),
                project=_name_in(inline[1]) if inline else self.project or titled,
                tags=tags_of(text),
                day=self.day,
            )
        )
        self.start = self.offset = -1
        self.gap = False


def _name_in(written: str) -> str:
    """Return a project's name as it was written, without marks; of a path, the last folder's."""
    name = written.strip("*_` \t")
    is_path = name.startswith(("~/", "/", "./", "../")) or name.endswith("/")
    return name.rstrip("/").rpartition("/")[2] if is_path else name


def tags_of(text: str) -> tuple[str, ...]:
    """Return the distinct `#tag` words of a text, in order; code, links and numbers like `#12` do not count."""
    if "#" not in text:
        return ()
    lines = text.split("\n")
    hidden, found = fenced(lines), dict[str, None]()
    for index, line in enumerate(lines):
        if "#" in line and index not in hidden:
            found.update(dict.fromkeys(_TAG.findall(_NO_TAGS.sub(" ", line))))
    return tuple(found)


# As seen in the wild: `[Tue 10:06] <nick> text`, `[10:16am] nick: text`, `16:45:11 <nick> text`,
# `[2024-05-01, 10:15] Name: text`, `10:15 Name: text`, `<nick> text`, `→ nick has joined`. All repeats are bounded, so
# that a line of any length takes constant time.
CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?Z?(?:[ ]?[aApP]\.?[mM]\b\.?)?"
_DATE = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
_NICK = r"<[^<>\n]{1,40}>"
_NAME = r"[^\W\d_][\w.'`|^-]{0,29}(?: [^\W\d_][\w.'-]{0,24}){0,3}:(?=\s)"

_STAMPED = re.compile(
    rf"\[(?:[^\[\]\n]{{0,30}}\d:\d\d[^\[\]\n]{{0,30}})\](?=\s)"
    rf"|\[\](?=\s{{1,8}}<)"
    rf"|(?:{_DATE},?[T ]{{1,2}})?{CLOCK}(?:\s{{1,8}}|[ ]-[ ])(?:{_NICK}|{_NAME}|\*\s|-->|<--|→|←)"
    rf"|\d{{1,2}}:\d{{2}}:\d{{2}}\s"
)
CLOCKED = re.compile(rf"(?=\d)(?:{_DATE},?[T ]{{1,2}})?{CLOCK}[\s,:-]")
"""How a line begins with a time of day: in a journal without list marks, each such line is an entry."""
_UNSTAMPED = re.compile(rf"({_NICK})\s")
_NOTICE = re.compile(r"(?:→|←|⇐|⇒|-->\|?|<--\|?|\|<--|=-=|-!-|\*\*\*)\s")
_HTML = re.compile(
    r"a|abbr|b|blockquote|body|br|center|code|dd|del|details|div|dl|dt|em|font|footer|form|h[1-6]|head|header|hr|html|i|"
    r"iframe|img|input|ins|kbd|li|link|main|mark|meta|nav|ol|p|picture|pre|q|s|samp|script|section|small|source|span|"
    r"strong|style|sub|summary|sup|svg|table|tbody|td|th|thead|title|tr|u|ul|var|video",
    re.IGNORECASE,
)


def is_message(line: str, *, in_chat: bool) -> bool:
    """Return whether `line` is a message, or a notice, of a chat log.

    Args:
        line: one line, without its line end.
        in_chat: whether the previous line was one: arrows and stars alone do not make a chat.
    """
    first = line[:1]
    if first == "[" or first.isdecimal():
        return _STAMPED.match(line) is not None
    if first == "<" and (found := _UNSTAMPED.match(line)):
        tag, word = found[1], found[1][1:-1].strip("/! ").partition(" ")[0]
        return not (tag.startswith(("</", "<!")) or "=" in tag or "://" in tag or not word or _HTML.fullmatch(word))
    return in_chat and _NOTICE.match(line) is not None
