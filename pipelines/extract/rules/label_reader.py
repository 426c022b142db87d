"""What a log says outright: labelled lines, tick boxes, and the items of a section or list that a label opens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pipelines.extract.rules.labels import is_near_miss, read_label, section_type, shows_examples
from pipelines.extract.rules.lines import LONGEST_TEXT, clean, read_lines
from pipelines.extract.rules.noise import (
    introduces_example,
    is_bot,
    is_contents,
    is_hedged,
    is_mended,
    is_procedural,
    is_void,
)
from pipelines.store.item import ItemType, fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.rules.labels import Label
    from pipelines.extract.rules.lines import Line
    from pipelines.store.log import Entry


@dataclass(frozen=True, slots=True)
class Found:
    """One thing found in an entry, before it is a candidate.

    Args:
        type: what it is.
        text: the words to keep.
        entry: where it stands.
        start_line: its first line in the log.
        end_line: its last line, inclusive.
        quote: verbatim words of those lines.
        sure: whether the label can mean nothing else.
        reason: why, in a few words.
        closed: whether it is said to be done.
        repeats: whether it stands in a summary, which repeats what was said elsewhere.
    """

    type: ItemType
    text: str
    entry: Entry
    start_line: int
    end_line: int
    quote: str
    sure: bool
    reason: str
    closed: bool = False
    repeats: bool = False


@dataclass(slots=True)
class Opened:
    """A label that stood alone, and now takes the list, or the one paragraph, that follows."""

    type: ItemType
    sure: bool
    end_line: int
    headings: tuple[str, ...]
    taken: int = 0


@dataclass(slots=True)
class LabelReader:
    """Reads a day's entries in order; `taken` holds the lines that were understood, or refused, by their number."""

    found: list[Found] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    opened: Opened | None = None
    headings: tuple[str, ...] | None = None
    before: str = ""

    def read(self, entry: Entry) -> list[Line]:
        """Find what the entry says outright; return its lines."""
        lines = read_lines(entry)
        first_of_section = entry.headings != self.headings
        self.headings = entry.headings
        if first_of_section or (self.opened and entry.start_line - self.opened.end_line > _FAR):
            self.opened = None
        if shows_examples(entry.headings) or introduces_example(self.before):
            self.taken.update(line.number for line in lines)
        elif not self._by_label(entry, lines):
            self._by_section(entry, lines, first_of_section=first_of_section)
        self.before = lines[-1].raw[-200:]
        return lines

    def _by_label(self, entry: Entry, lines: Sequence[Line]) -> bool:
        """Read the labelled lines of an entry; return whether it had any, so that no section takes it as a whole."""
        index, any_label = 0, False
        while index < len(lines):
            end = self._line(entry, lines, index)
            any_label |= end is not None
            index = index + 1 if end is None else end + 1
        return any_label

    def _line(self, entry: Entry, lines: Sequence[Line], index: int) -> int | None:
        spoken = lines[index].spoken
        if spoken is None:
            return None
        if is_bot(spoken.speaker) or is_near_miss(spoken) or (index and introduces_example(lines[index - 1].raw)):
            self.taken.add(lines[index].number)
            return index
        label = read_label(spoken)
        if label is None:
            return self._box(entry, lines, index) if spoken.box else None
        if not spoken.line[label.text_at :].strip(" *_"):
            return self._alone(entry, lines, index, label)
        end = index if label.marks and spoken.line.rstrip().endswith(label.marks) else end_of(lines, index)
        text = " ".join([spoken.line[label.text_at :], *_rest(lines, index, end)])
        text = clean(text, label.marks) + (f" ({fold(label.owner)})" if label.owner else "")
        self._keep(entry, lines[index : end + 1], label, text)
        return end

    def _keep(self, entry: Entry, lines: Sequence[Line], label: Label, text: str) -> None:
        first = lines[0].spoken
        closed = label.closed or (first is not None and first.box in {"x", "X"})
        mended = label.mending and is_mended(text, " ".join([*entry.headings, entry.text[:LONGEST_TEXT]]))
        if first is not None and not is_contents(text) and not mended:
            self._add(entry, lines, label.type, text, sure=label.sure, reason="label", closed=closed)
        else:
            self.taken.update(line.number for line in lines)

    def _box(self, entry: Entry, lines: Sequence[Line], index: int) -> int:
        spoken = lines[index].spoken
        assert spoken is not None  # noqa: S101  the caller looked
        end = end_of(lines, index)
        text = clean(" ".join([spoken.marked, *_rest(lines, index, end)]))
        closed = spoken.box in {"x", "X"}
        kept = lines[index : end + 1]
        self._add(entry, kept, ItemType.TODO, text, sure=True, reason="tick box", closed=closed)
        return end

    def _alone(self, entry: Entry, lines: Sequence[Line], index: int, label: Label) -> int:
        """Give the lines below a label that stands alone to it: list items, or else the rest of the paragraph."""
        self.taken.add(lines[index].number)
        below, end = index + 1, index
        while below < len(lines) and (spoken := lines[below].spoken) is not None:
            if not spoken.bullet and end > index and not _is_bullet(lines[index + 1]):
                break
            stop = end_of(lines, below)
            if read_label(spoken) or spoken.box:
                break
            text = clean(" ".join([spoken.marked, *_rest(lines, below, stop)]))
            self._add(
                entry, lines[below : stop + 1], label.type, text, sure=label.sure, reason="label", closed=label.closed
            )
            end, below = stop, stop + 1
        if end == index and index == len(lines) - 1:
            self.opened = Opened(label.type, label.sure, entry.end_line, entry.headings)
        return end

    def _by_section(self, entry: Entry, lines: Sequence[Line], *, first_of_section: bool) -> None:
        spoken = lines[0].spoken
        if spoken is None or is_contents(spoken.marked.lstrip("*_ ")):
            self.taken.update(line.number for line in lines)
            return
        opened = self.opened
        if opened:
            section: tuple[ItemType, bool] | None = opened.type, opened.sure
        else:
            section = section_type(entry.headings[-1]) if entry.headings else None
        if section is None or spoken.chat or lines[0].number in self.taken:
            return
        if not spoken.bullet and (spoken.speaker or not (first_of_section or (opened and not opened.taken))):
            self.opened = None
            return
        if not spoken.bullet and lines[-1].raw.rstrip(" *_").endswith(":"):
            return
        end = end_of(lines, 0)
        text = clean(" ".join([spoken.marked, *_rest(lines, 0, end)]))
        summary = not opened and "summary" in entry.headings[-1].lower()
        kind, sure = section
        self._add(entry, lines[: end + 1], kind, text, sure=sure, reason="section", repeats=summary)
        if opened:
            self.opened = (
                Opened(kind, sure, entry.end_line, entry.headings, opened.taken + 1) if spoken.bullet else None
            )

    def _add(  # noqa: PLR0913  these are the parts of what was found
        self,
        entry: Entry,
        lines: Sequence[Line],
        kind: ItemType,
        text: str,
        *,
        sure: bool,
        reason: str,
        closed: bool = False,
        repeats: bool = False,
    ) -> None:
        self.taken.update(line.number for line in lines)
        done = text.startswith(_DONE_MARKS)
        text = text.lstrip("".join(_DONE_MARKS) + " ")
        if is_void(kind, text) or is_procedural(text) or (not sure and is_hedged(text)):
            return
        quote = "\n".join(line.raw for line in lines).strip()[:_LONGEST_QUOTE].rstrip()
        start, end = lines[0].number, lines[-1].number
        end = min(end, start + quote.count("\n"))
        self.found.append(Found(kind, text, entry, start, end, quote, sure, reason, closed or done, repeats))


_FIELD = re.compile(
    r"[*_]{0,3}(?=[A-Z])[^\W\d_][\w /-]{0,30}[*_]{0,3}:(?:[\s*_]|$)"
)  # `Reason: ...` is the next matter
_FAR: Final = 2  # lines between a label that stands alone and what it takes: one blank line at most
_MOST_LINES: Final = 8
_LONGEST_QUOTE: Final = 3 * LONGEST_TEXT
_DONE_MARKS: Final = ("✅", "✔", "☑", "✓")
_UNFINISHED: Final = (
    ",",
    ";",
    ":",
    " and",
    " or",
    " the",
    " a",
    " to",
    " of",
    " with",
    " for",
    " in",
    " that",
    " by",
    "…",
)


def end_of(lines: Sequence[Line], index: int) -> int:
    """Return the index of the last line of the sentence that begins at `index`: lines that only wrap belong to it."""
    first = lines[index].spoken
    if first is None or first.chat or lines[index].raw.lstrip().startswith("#"):
        return index
    end = index
    while end + 1 < len(lines) and end - index < _MOST_LINES and _goes_on(lines[end], lines[end + 1], first.quoted):
        end += 1
    return end


def _goes_on(above: Line, line: Line, quoted: bool) -> bool:  # noqa: FBT001  a plain property of the first line
    spoken = line.spoken
    if spoken is None or spoken.bullet or spoken.timed or spoken.speaker or spoken.quoted != quoted:
        return False
    if len(line.raw) > LONGEST_TEXT:
        return False
    if above.raw.endswith(("  ", "\\")) or line.raw.lstrip().startswith(("|", "#")):
        return False
    if spoken.dots:
        return above.raw.rstrip().lower().endswith(_UNFINISHED)
    return read_label(spoken) is None and not is_near_miss(spoken) and not _FIELD.match(spoken.said)


def _rest(lines: Sequence[Line], index: int, end: int) -> list[str]:
    return [line.spoken.said for line in lines[index + 1 : end + 1] if line.spoken is not None]


def _is_bullet(line: Line) -> bool:
    return line.spoken is not None and line.spoken.bullet
