"""Explicit statements of a log: labelled lines, tick boxes, and the items of a section or list under a label."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from pipelines.extract.extraction import Candidate, Place
from pipelines.extract.rules.labels import (
    ANSWER,
    CONTENTS,
    HEDGE,
    NAME,
    NEAR_MISS,
    ClosingForm,
    Label,
    introduces_example,
    is_chat,
    is_void,
    person_of,
    read_form,
    read_label,
    section_type,
    without_done,
)
from pipelines.store.evidence import Act, act_in, voice_in, without_pointer
from pipelines.store.item import Confidence, Item, ItemType
from pipelines.store.provenance import is_told
from pipelines.store.spoken_lines import LONGEST_TEXT, Line, Spoken, clean, is_within_quotes, read_lines, sentences
from pipelines.text import fold, stated_due

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.store.log import Entry


_FIELD = re.compile(
    r"[*_]{0,3}(?=[A-Z])[^\W\d_][\w /-]{0,30}[*_]{0,3}:(?:[\s*_]|$)"
)  # `Reason: ...` starts something new
_DUE = re.compile(
    r"(?:^(?:please )?(?:remind me|remember|don['’]t forget|do not forget) (?:to .*? (?:on )?|(?P<front>(?:on )?))"
    r"|(?P<inside>\()?\b(?:due:?|by|before)(?: on)? )"
    r"(?P<day>\d{4}-\d\d-\d\d|today|tomorrow|(?:next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:\d{1,2}(?:st|nd|rd|th)? [a-z]{3,9}|[a-z]{3,9} \d{1,2}(?:st|nd|rd|th)?)(?:,? \d{4})?)"
    r"(?(inside)\))(?(front) to\b|(?: at \d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?)?[.!]?$)",
    re.IGNORECASE,
)
"""A due day at a todo's end; that of a reminder needs no `by`, and may stand before its `to`."""
_NUMBER = re.compile(r"\d+")
_DAY_FORMS = ("%Y-%m-%d", "%d %B %Y", "%B %d %Y", "%d %b %Y", "%b %d %Y")
_MARKS = re.compile(r"[ ]?(?:[➕✅❌]\ufe0f?[ ]?\d{4}-\d\d-\d\d|[🔺⏫🔼🔽⏬]\ufe0f?(?=[ ]|$)|(?<=[ ])\^[\w-]+$)")
_TICKED = frozenset({"x", "X"})
_CANCELLED = "-"
_OVER = dict.fromkeys((ItemType.TODO, ItemType.RISK), "dropped")
_OWN_WORDS = frozenset({Act.TYPED, Act.REFUSED, Act.REMEMBERED})
_AFTER_LEAD = re.compile(r"[:,]\s+(?=\S)")
_FAR = 2  # lines between a label on its own line and its text: at most one blank line
_MOST_LINES = 8
_LONGEST_QUOTE = 3 * LONGEST_TEXT
_DONE_MARKS = "✅✔☑✓ "
_UNFINISHED = re.compile(r"(?:[,;:…]| (?:and|or|the|a|to|of|with|for|in|that|by))\s*$", re.IGNORECASE)


TICK_BOX, LOOSE = "tick box", "label of its own"
"""The reasons of an item that is one by its box alone, or by a label that is no type's own name, such as `Blocker:`."""
_BOXED = Label(ItemType.TODO, 0, sure=True)


@dataclass
class _Opened:
    """A label on its own line, which applies to the list or the single paragraph that follows."""

    label: Label
    end_line: int
    is_list: bool = False


@dataclass
class LabelReader:
    """Reads a day's entries in order.

    `found` holds the candidates, `forms` the closing and correcting forms, and
    `taken` the numbers of the lines that were understood or rejected.
    """

    forms: list[ClosingForm] = field(default_factory=list)
    found: list[Candidate] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    _opened: _Opened | None = None
    _headings: tuple[str, ...] | None = None
    _before: str = ""
    _entry: Entry = field(init=False)
    _lines: Sequence[Line] = field(init=False)

    def read(self, entry: Entry) -> list[Line]:
        """Find the explicit statements of an entry; return its lines."""
        turn = voice_in(entry.head)
        is_agents = bool(turn) and act_in(entry.text) is None
        lines = [part for line in read_lines(entry) for part in _at_labels(line, is_agents=is_agents)]
        first_of_section = entry.headings != self._headings
        self._entry, self._lines, self._headings = entry, lines, entry.headings
        if turn:
            return self._read_turn()
        if first_of_section or (self._opened and entry.start_line - self._opened.end_line > _FAR):
            self._opened = None
        if introduces_example(self._before, entry.headings):
            self._take(0, len(lines) - 1)
        else:
            index, any_label = 0, False  # if there is one, no section applies to the whole entry
            while index < len(lines):
                spoken = lines[index].spoken
                end = self._read_line(index, spoken) if spoken else None
                any_label |= end is not None
                index = index + 1 if end is None else end + 1
            if not any_label:
                self._read_section(first_of_section=first_of_section)
        self._before = lines[-1].raw[-200:]
        return lines

    def _read_turn(self) -> list[Line]:
        """Read a captured turn: its labels before their text, forms and finished tasks, without what it quotes.

        Lists of open tasks, and lists below a label or a heading, are a prompt's or an agent's plan for the session.
        """
        from pipelines.extract.rules.owner_acts import without_pasted  # noqa: PLC0415  only sessions have turns

        self._opened, act = None, act_in(self._entry.text)
        self._lines = lines = without_pasted(self._lines)
        if act is None:
            self._take(0, len(lines) - 1)
        for index, line in enumerate(lines if act is None or act[0] in _OWN_WORDS else ()):
            spoken = line.spoken
            if spoken and (read_label(spoken) or read_form(spoken) or spoken.box in {*_TICKED, _CANCELLED}):
                self._read_line(index, spoken)
        return lines

    def _read_line(self, index: int, spoken: Spoken) -> int | None:
        """Read a line that starts with a label or tick box; return its last line, or None if it has neither."""
        lines = self._lines
        asked = self.found[-1] if self.found and ANSWER.match(spoken.marked) else None
        if asked and asked.page_section == "questions" and lines[index].number - asked.places[0].end_line <= _FAR:
            self.found.pop()
        if NEAR_MISS.match(spoken.said) or (index and introduces_example(without_pointer(lines[index - 1].raw))):
            self._take(index, index)
            return index
        label, end = read_label(spoken), end_of(lines, index)
        for begin in (0, label.text_at if label else 0):  # `Todo: Done: call Anders` is also a form
            if form := read_form(replace(spoken, said=spoken.said[begin:])):
                how, at, marks = form
                return self._close(index, end, how, self._text(index, end, begin + at, marks))
        if label is None:
            if not spoken.box:
                text = "" if is_chat(spoken) else without_done(self._text(index, end))
                return self._close(index, end, "done", text) if text else None  # it ends with `- DONE`
            above = section_type(self._entry.headings[-1]) if self._entry.headings else None
            boxed = above if above and above.page_section == "questions" else _BOXED
            if " " in spoken.said.strip() or not _has_tasks(lines, index):  # else a word that names what they belong to
                self._add(index, end, boxed, self._text(index, end), TICK_BOX)
            self._take(index, end)
            return end
        if not spoken.said[label.text_at :].strip(" *_"):
            return self._read_list(index, label)
        end = index if label.marks and spoken.said.rstrip().endswith(label.marks) else end
        text = self._text(index, end, label.text_at, label.marks)
        text += f" ({fold(label.owner)})" if label.owner else ""
        if CONTENTS.match(text):
            self._take(index, end)
        else:
            self._add(index, end, label, text)
        return end

    def _close(self, index: int, end: int, how: str, target: str) -> int:
        """Add what closes an item; return its last line."""
        if self._opened:
            self._opened.end_line = self._entry.end_line  # the list continues after it
        target = target if how in {"", "ended"} else due_of(target, self._entry.day)[0]
        self.forms.append(ClosingForm(how, target, self._take(index, end)))
        return end

    def _read_list(self, index: int, label: Label) -> int:
        """Apply a label on its own line to the items of the list inside it, or to the rest of the paragraph."""
        lines, own = self._lines, self._lines[index].spoken
        self._take(index, index)
        below, end = index + 1, index
        first = lines[below].spoken if below < len(lines) else None
        while below < len(lines) and (spoken := lines[below].spoken) is not None:
            if not spoken.bullet and end > index and not (first and first.bullet):
                break
            if read_label(spoken) or spoken.box:
                break
            if spoken.bullet and own and own.bullet and _indent(spoken) <= _indent(own):
                break  # beside the label, not inside it
            end = end_of(lines, below)
            if not spoken.bullet or not first or _indent(spoken) <= _indent(first):
                self._add(below, end, label, self._text(below, end))
            below = end + 1
        if end == index and index == len(lines) - 1:
            self._opened = _Opened(label, self._entry.end_line)
        return end

    def _read_section(self, *, first_of_section: bool) -> None:
        """Read an unlabelled entry whose type follows from the heading above or an earlier label."""
        lines, opened, headings = self._lines, self._opened, self._entry.headings
        spoken = lines[0].spoken
        if spoken is None or CONTENTS.match(spoken.marked.lstrip("*_ ")):
            self._take(0, len(lines) - 1)
            return
        label = opened.label if opened else section_type(headings[-1]) if headings else None
        if label is None or spoken.chat or spoken.heading or lines[0].number in self.taken:
            return
        if not (opened or first_of_section) and "Decision" in headings[-1].split():
            return  # of one decision, the first entry says which, and the others why
        if not spoken.bullet:
            if spoken.speaker or not (first_of_section or (opened and not opened.is_list)):
                self._opened = None
                return
            if lines[-1].raw.rstrip(" *_").endswith(":"):
                return
        end = end_of(lines, 0)
        self._add(0, end, label._replace(closed=False), self._text(0, end), "section")
        if opened:
            self._opened = _Opened(label, self._entry.end_line, is_list=True) if spoken.bullet else None

    def _text(self, index: int, end: int, at: int | None = None, marks: str = "") -> str:
        """Return the text of some lines, the first one from a given position, or else without its marks."""
        first, *rest = (line.spoken for line in self._lines[index : end + 1])
        words = "" if first is None else first.marked if at is None else first.said[at:]
        return clean(" ".join([words, *(spoken.said for spoken in rest if spoken)]), marks)

    def _take(self, index: int, end: int) -> Place:
        """Note that some lines were understood or rejected; return their place."""
        lines = self._lines[index : end + 1]
        self.taken.update(line.number for line in lines)
        quote = "\n".join(line.raw for line in lines).strip()[:_LONGEST_QUOTE].rstrip()
        start = lines[0].number
        return Place(self._entry, start, min(lines[-1].number, start + quote.count("\n")), quote)

    def _add(self, index: int, end: int, label: Label, text: str, reason: str = "label") -> None:
        place = self._take(index, end)
        kind, section, spoken = label.type, label.page_section, self._lines[index].spoken
        box, bare = spoken.box if spoken else "", text.lstrip(_DONE_MARKS)
        done, text = label.closed or box in _TICKED or bare != text, bare
        if text.endswith(":") and reason == "label" and not section:
            text = text.rstrip(": ")  # the label says what it is; the list below it stays in the log
        reason = LOOSE if reason == "label" and not label.plain else reason
        if text.endswith(":") or is_void(kind, text, section) or (not label.sure and HEDGE.search(text[:400])):
            return
        how = _OVER.get(kind, "ended") if box == _CANCELLED else ""
        if not how and kind is ItemType.TODO and (done or without_done(text)):
            how, text = "done", without_done(text) or text
        if not how and section == "questions" and done:
            how = "answered"
        if how:
            self._close(index, end, how, text)
            return
        confidence = Confidence.HIGH if label.sure else Confidence.MEDIUM
        name = person_of(text) if section == "contacts" else ""
        self.found.append(Candidate(kind, text, (place,), confidence, reason, NAME, page_section=section, name=name))


def due_of(text: str, log_day: str) -> tuple[str, str]:
    """Return a todo's text, and the due day that it ends with (`by Friday`, `by 12 May`), or an empty string.

    A day without a year is the next one from the log's day on. A due day in brackets, or in a field of the Tasks
    plugin, leaves the text, as do that plugin's other marks and a block's id.
    """
    text, stated = stated_due(_MARKS.sub("", text))
    if stated:
        return text.strip(), stated
    found = _DUE.search(text)
    day = _day_after(found["day"].lower(), log_day) if found else ""
    if not found or not day:
        return text, ""
    return text[: found.start()].rstrip() if found["inside"] else text, day


def due_after(old: Item, text: str, log_day: str) -> str:
    """Return the due day of an updated item: the one that its new text ends with, or the old one.

    If the new text lacks the old one's number, only another number in its place tells the new day.

    Args:
        old: the item; only a todo is due.
        text: its new sentence.
        log_day: the day of the log that says so.
    """
    told = due_of(text, log_day)[1] if old.type is ItemType.TODO else ""
    if told or not old.due:
        return told
    day, (was, now) = date.fromisoformat(old.due), (_NUMBER.findall(one) for one in (old.text, text))
    if (number := str(day.day)) not in was or number in now:
        return old.due
    with suppress(ValueError):
        if len(now) == len(was) and _NUMBER.sub("", old.text) == _NUMBER.sub("", text):
            return day.replace(day=int(now[was.index(number)])).isoformat()
    return ""


def _day_after(words: str, log_day: str) -> str:
    """Return the day that words mean on a day, `YYYY-MM-DD`, or an empty string.

    On a Friday, "Friday" may be either of two days; "next Friday" is the nearer one, lest anybody be told too late.
    """
    today = date.fromisoformat(log_day)
    ahead = range(1, 7 + words.startswith("next "))
    near = {f"{one:%A}".lower(): one for one in (today + timedelta(days) for days in ahead)}
    near |= {"today": today, "tomorrow": today + timedelta(1)}
    if (words := words.removeprefix("next ")) in near:
        return near[words].isoformat()
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|,", "", words)
    for form in _DAY_FORMS:
        for year in ("", f" {today.year}", f" {today.year + 1}"):
            with suppress(ValueError):
                day = datetime.strptime(f"{plain}{year}", form).date()  # noqa: DTZ007  a day, of the memory's own time
                if not year or day >= today:
                    return day.isoformat()
    return ""


def read_labels(entries: Iterable[Entry]) -> LabelReader:
    """Return a reader that has read the entries of a day, in order."""
    reader = LabelReader()
    for entry in entries:
        reader.read(entry)
    return reader


def _at_labels(line: Line, *, is_agents: bool) -> list[Line]:
    """Return a line split before each label or form that starts a sentence, or in a journal what somebody says.

    In an agent's turn, all of a bullet is of what it names in bold: the risk of an option is no open one.
    """
    spoken = line.spoken
    raw = without_pointer(line.raw)
    is_named = is_agents and spoken and spoken.bullet and spoken.marked.startswith("**") and not read_label(spoken)
    if spoken is None or is_named or spoken.heading or ":" not in spoken.said or not raw.endswith(spoken.said):
        return [line]
    said, head = spoken.said, len(raw) - len(spoken.said)
    begins = [
        at
        for start, _ in sentences(said)
        for at in (start, *(found.end() for found in _AFTER_LEAD.finditer(said, start, start + 120)))
        if at and _begins_label(spoken, at)
        if at == start or not (spoken.turn or _begins_label(spoken, start))
        if at == start or is_told(f"{said[start:at]}x", "letter", "by")
    ]
    parts = []
    for start, end in pairwise([0, *begins, len(said)]) if begins else ():
        words = said[start:end].rstrip()
        marked = words if start else spoken.marked[: len(spoken.marked) - len(said) + end].rstrip()
        part = replace(spoken, marked=marked, said=words, box="" if start else spoken.box)
        parts.append(Line(line.number, raw[head + start if start else 0 : head + end].rstrip(), part))
    return parts or [line]


def _begins_label(spoken: Spoken, at: int) -> bool:
    """Whether a label with a colon, or a form, is at a position of a line, outside quotes."""
    if is_within_quotes(spoken.said, at):
        return False
    here = replace(spoken, said=spoken.said[at:])
    label = read_label(here)
    return bool(read_form(here) or (label and ":" in here.said[: label.text_at]))


def end_of(lines: Sequence[Line], index: int) -> int:
    """Return the index of the last line of the sentence that starts at `index`, wrapped lines included."""
    first = lines[index].spoken
    if first is None or first.chat or lines[index].raw.lstrip().startswith("#"):
        return index
    end = index
    while end + 1 < len(lines) and end - index < _MOST_LINES and _goes_on(lines[end].raw, lines[end + 1], first):
        end += 1
    return end


def _indent(spoken: Spoken) -> int:
    return len(spoken.line) - len(spoken.line.lstrip())


def _has_tasks(lines: Sequence[Line], index: int) -> bool:
    """Whether a line has a tick box right below and inside it."""
    first, below = lines[index].spoken, lines[index + 1].spoken if index + 1 < len(lines) else None
    return bool(first and below and below.box and _indent(below) > _indent(first))


_EMPTY_BULLETS = frozenset("-*+•")


def _goes_on(above: str, line: Line, first: Spoken) -> bool:
    """Whether a line continues the sentence above it, which started with `first`."""
    spoken = line.spoken
    if spoken is None or spoken.bullet or spoken.timed or spoken.speaker or spoken.quoted != first.quoted:
        return False
    if first.turn and _indent(spoken) <= _indent(first):
        return False  # capture leaves out blank lines, so that it may be another paragraph
    if (
        len(line.raw) > LONGEST_TEXT
        or line.raw.strip() in _EMPTY_BULLETS
        or above.endswith(("  ", "\\"))
        or line.raw.lstrip().startswith(("|", "#", "---"))
    ):
        return False
    if spoken.dots:
        return bool(_UNFINISHED.search(above))
    if read_form(spoken):
        return False
    return read_label(spoken) is None and not NEAR_MISS.match(spoken.said) and not _FIELD.match(spoken.said)
