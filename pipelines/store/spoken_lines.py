"""The spoken lines of an entry; those in a code fence or an HTML comment are blank."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.store.evidence import fold_markdown, turn_in, without_pointer
from pipelines.store.item import without_mark
from pipelines.store.log import CLOCK, Entry
from pipelines.store.markdown import BULLETED, fenced, indented_code
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# ---------------------------------------- marks before the words of a line
# Quote, list and heading marks, the time, and the speaker:
#
# `[Tue 10:06] <manu> RESOLVED: ...`, `> *Rob:* ...`, `- 14:05 **Anna:** ...`, `… and so on`. One pattern with bounded
# repeats matches each mark at its position, so that any line is parsed in constant time.


@dataclass(frozen=True, slots=True)
class Spoken:
    """One line, split into marks and words.

    Args:
        line: the whole line.
        marked: its words, including the speaker's name before them.
        said: the words after the speaker.
        is_speech: whether somebody is quoted, rather than the log's own text.
        speaker: the speaker's name as written, or empty.
        heading: whether it starts with a heading mark.
        bullet: whether it is a list item.
        box: the content of its tick box (a blank, `x`, or a task's state such as `/`), or empty if it has none.
        quoted: whether it starts with a quote mark.
        chat: whether it has the form of a chat message.
        dots: whether it continues what an earlier line's speaker said.
        timed: whether it has a time of day.
        turn: whether it is of a captured turn, where people and agents think aloud.
    """

    line: str
    marked: str
    said: str
    is_speech: bool
    speaker: str
    heading: bool
    bullet: bool
    box: str
    quoted: bool
    chat: bool
    dots: bool
    timed: bool
    turn: bool


_DATE = r"\d{4}-\d{2}-\d{2}"
_MARK = re.compile(
    rf"""
    (?P<quote>>[ \t]{{0,8}})
  | (?P<heading>\#{{1,6}}[ \t]{{1,8}}(?:\d{{1,3}}(?:\.\d{{1,3}}){{0,4}}\.?[ \t]{{1,4}})?)
  | (?P<bullet>(?:[-*+•]|\d{{1,3}}[.)])[ \t\xa0]{{1,8}}(?:\[(?P<box>[ xX/>!-])\](?:[ \t\xa0]{{1,4}}|$))?)
  | (?P<tick>\[(?P<late>[ xX/>!-])\](?:[ \t\xa0]{{1,4}}|$))
  | (?P<task>(?:NOW|LATER|DOING|WAITING|DONE|CANCELL?ED)[ ]{{1,4}}(?:\[\#[A-C]\][ ]{{1,4}})?(?=[\w\[#"]))
  | (?P<stamp>\[(?:[^\[\]\n]{{0,30}}\d:\d\d[^\[\]\n]{{0,30}}|{_DATE})?\](?=[ \t]|$)[ \t]{{0,12}})
  | (?P<project>\[(?i:project):[^\[\]\n]{{1,88}}\][ \t]{{0,8}})
  | (?P<clock>[*_`(]{{0,3}}(?:{_DATE},?[T ]{{1,2}})?{CLOCK}(?:[ ]?[-–][ ]?{CLOCK})?[*_`):]{{0,4}}
        (?:[ \t]{{1,4}}[-–—|][ \t]{{1,4}}|[ \t]{{1,12}})
      | [*_(]{{0,3}}{_DATE}[*_):]{{0,4}}[ \t]{{1,4}}(?:[-–—|][ \t]{{1,4}})?)
  | (?P<nick><[@+~&%]?(?P<nickname>[^<>\n]{{1,40}})>:?[ \t]{{0,12}})
  | (?P<named>(?P<em>\*{{1,3}}|_{{1,2}})(?P<name>[^*:\n]{{1,40}})(?::(?P=em)|(?P=em):)[ \t]{{0,8}})
  | (?P<plain>(?P<word>[^\W\d_][\w.'`|^\\-]{{0,29}}(?:[ ][A-Z][\w.'-]{{0,24}}){{0,3}}):[ \t]{{1,8}})
  | (?P<dots>(?:…|\.{{2,4}})[ \t]{{0,8}})
    """,
    re.VERBOSE,
)
_BOX_OF = {
    **dict.fromkeys(("NOW", "LATER", "DOING", "WAITING"), " "),
    **dict.fromkeys(("CANCELED", "CANCELLED"), "-"),
    "DONE": "x",
}
"""The box that says the same as a keyword of Logseq and Org before a task."""
_OPEN = "|".join(word for word, box in _BOX_OF.items() if box == " ")
OPEN_TASK = re.compile(rf"^\s*[-*+] (?:\[ \]|TODO|{_OPEN}) +\S")
"""The line of a note that is a task which nobody has ticked."""
_MOST_MARKS = 12

# Words before a colon that are not names: labels, their near misses, and the chair's own commands.
_NO_NAME = re.compile(
    r"(?:remember|proposed|proposals?|propose|draft|straw\W?poll|strawman|poll|vote|voting|not?|failed|pending|possible|"
    r"potential|previous|prior|old|former|example|examples|e\.g|eg|ex|i\.e|ie|for|like|format|template|syntax|usage|"
    r"sample|questions?|open|contacts?|how(?:to)?|q|topic|subtopic|scribe|scribenick|chair|agenda|present|regrets|meeting|date|time|title|see|"
    r"http|https|suggestion|suggested|idea|option|alternative|counterproposal|quote|quoting|he|she|they|it|was|is|"
    r"done|dropped|occurred|answered|corrections?|decisions?|decided|facts?|rules?|to-?dos?|risks?|resolved?|resolutions?|agreed|agreements?|consensus|actions?|"
    r"action-\d{1,6}|fixme|warnings?|cautions?|danger|important|blockers?|lessons?|learned|learnings?|til|"
    r"preferences?|polic(?:y|ies)|conventions?|guidelines?|constraints?|next|follow-?ups?|reminders?|final|key|note|"
    r"nb|update|status|reason|because|why|result|problem|cause|root|fix|impact|issue|pr|url|link|context|summary|"
    r"goals?|re|"
    r"fwd?)(?:\W|$)",
    re.IGNORECASE,
)


def parse_spoken(line: str, *, turn: bool = False) -> Spoken:
    """Split a line, of a captured turn or not, into marks and words. A label (`Decision:`) is no speaker and stays."""
    at = mark_at = len(line) - len(line.lstrip(" \t\ufeff\0"))
    seen = dict[str, str]()
    for _ in range(_MOST_MARKS):
        found = _MARK.match(line, at)
        kind = found.lastgroup if found else None
        if found is None or kind is None or not _may_follow(kind, found, seen):
            break
        at = found.end()
        if kind in _SPEAKERS:
            seen["speaker"] = (found["name"] or found["word"] or found["nickname"]).strip()
        if kind not in {"named", "plain"}:
            mark_at = at
        if kind in {"bullet", "tick", "task"}:
            seen["bullet"] = found["box"] or found["late"] or _BOX_OF.get((found["task"] or "").partition(" ")[0], "")
        else:
            seen[kind] = kind
    speaker, dots = seen.get("speaker", ""), "dots" in seen
    chat = "nick" in seen or ("stamp" in seen and next(iter(seen)) != "bullet")
    return Spoken(
        line=line,
        marked=line[mark_at:],
        said=line[at:],
        is_speech=chat or dots or bool(speaker),
        speaker=speaker,
        heading="heading" in seen,
        bullet="bullet" in seen,
        box=seen.get("bullet", ""),
        quoted="quote" in seen,
        chat=chat,
        dots=dots,
        timed="stamp" in seen or "clock" in seen,
        turn=turn,
    )


_SPEAKERS = frozenset({"nick", "named", "plain"})


def _may_follow(kind: str, found: re.Match[str], seen: dict[str, str]) -> bool:
    if kind in {"named", "plain"}:
        name = (found["name"] or found["word"]).strip()
        last = re.split(r"[.!?;] +", name)[-1]  # `Met Bea. Done:` is not a name
        return not ("named" in seen or "plain" in seen or _NO_NAME.match(name) or _NO_NAME.match(last))
    if kind == "bullet":
        fresh = "bullet" not in seen or bool(found["box"] and not seen["bullet"])
        return fresh and not _SPEAKERS & seen.keys()
    if kind in {"tick", "task"}:
        return seen.get("bullet") == ""
    if kind == "heading":
        return seen.keys() <= {"bullet"}  # a block of Logseq's may be a heading
    return kind not in seen or kind == "quote"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an entry.

    Args:
        number: its line in the log, from 1.
        raw: the line verbatim.
        spoken: the parsed line; None if it is blank, code, a comment or a block's property.
    """

    number: int
    raw: str
    spoken: Spoken | None


_LONGEST = 20_000  # characters of a line that are parsed; no sentence is longer
_CODE_INDENT = 4


_UNDER = "    "
_OF_BLOCK = re.compile(r"\s*+(?:[a-z][\w-]{0,40}::(?:[ \t].*)?|:[A-Z]{1,20}:|CLOCK: \[.*|SCHEDULED: <.*)?")
"""A line without words, or with what a program notes of a block: Logseq's properties and logbook."""
_DEADLINE = re.compile(r"(?<!\S)DEADLINE: <(\d{4}-\d\d-\d\d)[^<>\n]*>")


def read_lines(entry: Entry) -> list[Line]:
    """Return the lines of an entry. An entry indented as code has no spoken ones.

    The lines of a captured turn are parsed as they were said, without what capture wrote before them.
    """
    raw = entry.text.split("\n")
    turn = turn_in(entry.text)
    seen = _without_comments(entry.text).split("\n") if "<!--" in entry.text else raw
    seen = [without_mark(line) for line in seen] if "^k" in entry.text else seen
    code = fenced(raw) if "```" in entry.text or "~~~" in entry.text else frozenset()
    code |= indented_code(raw) if "\n\n" in entry.text else frozenset()
    prefix = raw[0][: len(raw[0]) - len(raw[0].lstrip(" \t"))]
    indented = len(prefix.expandtabs(_CODE_INDENT)) >= _CODE_INDENT  # a code block in Markdown
    indented &= "\t" not in prefix or not BULLETED.match(raw[0])  # a list of Logseq's below a heading
    found = []
    for index, text in enumerate(seen):
        words = text if turn is None else text.removeprefix(_UNDER) if index else text[turn.end() :].rstrip()
        said = (_DEADLINE.sub(r"(due \1)", words) if "DEADLINE" in words else words)[:_LONGEST]
        hidden = indented or index in code or _OF_BLOCK.fullmatch(said)
        spoken = None if hidden else parse_spoken(said, turn=turn is not None)
        found.append(Line(entry.start_line + index, raw[index], spoken))
    return found


def is_of_program(entry: Entry) -> bool:
    """Return whether a captured turn is what a program sent on the user's side."""
    turn = turn_in(entry.text)
    return turn is not None and turn["speaker"] == "program"


def _without_comments(text: str) -> str:
    parts = list[str]()
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + len("-->")
    return "".join([*parts, text[at:]])


# ---------------------------------------- sentence boundaries


_HEAD = re.compile(r"\A\d\d:\d\d (?:\[project: [^\[\]\n]{1,88}\] )?(?:assistant|program): ")


def said_in_turn(lines: Iterable[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return the words of a captured turn on one line, and the start and end of each sentence in them.

    Args:
        lines: the entry's lines, with or without its pointer.
    """
    spans, text = list[tuple[int, int]](), ""
    for line in map(without_pointer, lines):
        if words := _HEAD.sub("", fold_markdown([line])):
            text += " " * bool(text)
            spans += ((len(text) + start, len(text) + end) for start, end in sentences(words))
            text += words
    return text, spans


_STOP = re.compile(r"[.!?]{1,4}[\"'”’)\]*_]{0,4}\s{1,40}|\s[-–—]{1,2}\s(?=[A-Z][a-z]{0,30} )|;\s{1,8}|\n\s{0,40}\n")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|dr|mr|mrs|ms|st|approx|al|fig|sec|ver|jan|feb|mar|apr|jun|jul|"
    r"aug|sept?|oct|nov|dec)|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_QUOTES = ('"', "`", "“”„", "«»")


def is_within_quotes(text: str, at: int) -> bool:
    """Return whether a position of a text is after an opening quote without its end."""
    return any(sum(map(text[:at].count, marks)) % 2 for marks in _QUOTES)


_FILLER = re.compile(
    r"\A(?:so|ok(?:ay)?|well|and|but|also|anyway|alright|right|yes|yeah|yep|ah|oh|hmm|um|uh|then|now|btw|fyi|"
    r"basically|actually|finally|sure|great|cool|nice|good)(?:,|\s*[-–—:]|\.{2,3}|…|(?=\s))\s{1,4}(?=\S)",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence of `text`; an abbreviation's full stop ends none."""
    start = 0
    for stop in _STOP.finditer(text):
        if stop[0][0] == "." and _ABBREVIATION.search(text, max(0, stop.start() - 8), stop.start() + 1):
            continue
        end = stop.start() + len(stop[0].rstrip()) if stop[0][0] in ".!?" else stop.start()
        if end > start:
            yield start, end
        start = stop.end()
    if text[start:].strip():
        yield start, len(text.rstrip())


def without_filler(text: str) -> str:
    """Return a sentence without filler words at its start: `so`, `ok`, `well`."""
    return _FILLER.sub("", _FILLER.sub("", text))


# ---------------------------------------- text without its Markdown


LONGEST_TEXT: Final = 1200  # characters; longer text is cut at a word: no sentence worth keeping is longer

_CODE = re.compile(r"(`[^`\n]{1,400}`)")
_BOLD = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]{1,1500}?)(?<=\S)\1(?![\w*])")
_PROJECT = re.compile(r"[ \t]?\[project:[^\[\]\n]{1,88}\]", re.IGNORECASE)
_SELF_LINK = re.compile(r"\[(https?://[^\s\[\]()]{1,500})\]\(\1\)")


def clean(text: str, marks: str = "") -> str:
    """Return `text` on one line, without emphasis and `[project: NAME]`; code, links and every word stay.

    Args:
        text: verbatim words of a log.
        marks: the emphasis marks opened before the text, to be removed where they close.
    """
    text = fold(_PROJECT.sub("", text) if "[" in text else text)
    if len(text) > LONGEST_TEXT:
        text = text[:LONGEST_TEXT]
        text = text[: text.rfind(" ")] if " " in text[LONGEST_TEXT // 2 :] else text
    if marks:
        text = text.rstrip(" ")
        text = text[: -len(marks)].rstrip(" ") if text.endswith(marks) else text.replace(marks, "", 1)
    if "*" in text:
        parts = _CODE.split(text)
        parts[::2] = [_BOLD.sub(r"\2", part) for part in parts[::2]]
        text = "".join(parts)
    if text.startswith("_") and text.endswith("_") and (inner := text.strip("_")) and "_" not in inner:
        text = inner
    return _SELF_LINK.sub(r"\1", text).strip()
