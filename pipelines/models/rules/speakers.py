"""What stands before the words of a line: quote, list and heading marks, the time, and who speaks.

`[Tue 10:06] <manu> RESOLVED: ...`, `> *Rob:* ...`, `- 14:05 **Anna:** ...`, `… and so on`. Each mark is matched at its
place by one pattern with bounded repeats, so a line is peeled in constant time whatever it holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Spoken:
    """One line, peeled.

    Args:
        line: the whole line.
        mark_at: where the words begin, a named speaker included.
        said_at: where the words begin, after the speaker.
        speaker: who speaks, as the log names them, or empty.
        bullet: whether it is a list item.
        box: the content of its tick box (a blank, `x`), or empty where it has none.
        quoted: whether a quote mark stands before it.
        chat: whether it has the form of a chat message.
        dots: whether it goes on with what the speaker of an earlier line said.
        timed: whether it bears a time of day.
    """

    line: str
    mark_at: int
    said_at: int
    speaker: str = ""
    bullet: bool = False
    box: str = ""
    quoted: bool = False
    chat: bool = False
    dots: bool = False
    timed: bool = False

    @property
    def is_speech(self) -> bool:
        """Whether somebody is quoted here, rather than the log speaking for itself."""
        return self.chat or self.dots or bool(self.speaker)

    @property
    def said(self) -> str:
        """The words after the speaker."""
        return self.line[self.said_at :]

    @property
    def marked(self) -> str:
        """The words with the speaker's name before them, if the line has one."""
        return self.line[self.mark_at :]


_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?Z?(?:[ ]?[aApP]\.?[mM]\b\.?)?"
_DATE = r"\d{4}-\d{2}-\d{2}"
_MARK = re.compile(
    rf"""
    (?P<quote>>[ \t]{{0,8}})
  | (?P<heading>\#{{1,6}}[ \t]{{1,8}}(?:\d{{1,3}}(?:\.\d{{1,3}}){{0,4}}\.?[ \t]{{1,4}})?)
  | (?P<bullet>(?:[-*+•]|\d{{1,3}}[.)])[ \t]{{1,8}}(?:\[(?P<box>[ xX])\](?:[ \t]{{1,4}}|$))?)
  | (?P<tick>\[(?P<late>[ xX])\](?:[ \t]{{1,4}}|$))
  | (?P<stamp>\[(?:[^\[\]\n]{{0,30}}\d:\d\d[^\[\]\n]{{0,30}}|{_DATE})?\](?=[ \t]|$)[ \t]{{0,12}})
  | (?P<project>\[(?i:project):[^\[\]\n]{{1,88}}\][ \t]{{0,8}})
  | (?P<clock>[*_`(]{{0,3}}(?:{_DATE},?[T ]{{1,2}})?{_CLOCK}(?:[ ]?[-–][ ]?{_CLOCK})?[*_`):]{{0,4}}
        (?:[ \t]{{1,4}}[-–—|][ \t]{{1,4}}|[ \t]{{1,12}})
      | [*_(]{{0,3}}{_DATE}[*_):]{{0,4}}[ \t]{{1,4}}(?:[-–—|][ \t]{{1,4}})?)
  | (?P<nick><[@+~&%]?(?P<nickname>[^<>\n]{{1,40}})>:?[ \t]{{0,12}})
  | (?P<named>(?P<em>\*{{1,3}}|_{{1,2}})(?P<name>[^*:\n]{{1,40}})(?::(?P=em)|(?P=em):)[ \t]{{0,8}})
  | (?P<plain>(?P<word>[^\W\d_][\w.'`|^\\-]{{0,29}}(?:[ ][A-Z][\w.'-]{{0,24}}){{0,3}}):[ \t]{{1,8}})
  | (?P<dots>(?:…|\.{{2,4}})[ \t]{{0,8}})
    """,
    re.VERBOSE,
)
_MOST_MARKS: Final = 12

# What looks like a name before a colon and is none: labels, their near misses, and the chair's own commands.
_NO_NAME = re.compile(
    r"(?:proposed|proposals?|propose|draft|straw\W?poll|strawman|poll|vote|voting|not?|failed|pending|possible|"
    r"potential|previous|prior|old|former|example|examples|e\.g|eg|ex|i\.e|ie|for|like|format|template|syntax|usage|"
    r"sample|question|q|topic|subtopic|scribe|scribenick|chair|agenda|present|regrets|meeting|date|time|title|see|"
    r"http|https|suggestion|suggested|idea|option|alternative|counterproposal|quote|quoting|he|she|they|it|was|is|"
    r"decisions?|decided|facts?|rules?|to-?dos?|risks?|resolved?|resolutions?|agreed|agreements?|consensus|actions?|"
    r"action-\d{1,6}|fixme|warnings?|cautions?|danger|important|blockers?|lessons?|learned|learnings?|til|"
    r"preferences?|polic(?:y|ies)|conventions?|guidelines?|constraints?|next|follow-?ups?|reminders?|final|key|note|"
    r"nb|update|status|reason|because|why|result|problem|cause|root|fix|impact|issue|pr|url|link|context|summary|"
    r"goal|re|"
    r"fwd?)(?:\W|$)",
    re.IGNORECASE,
)


def peel(line: str) -> Spoken:
    """Return the line with its marks told apart from its words. A label (`Decision:`) is no speaker and stays."""
    at = mark_at = len(line) - len(line.lstrip(" \t\ufeff"))
    seen: dict[str, str] = {}
    for _ in range(_MOST_MARKS):
        found = _MARK.match(line, at)
        kind = found.lastgroup if found else None
        if found is None or kind is None or not _may_follow(kind, found, seen):
            break
        at = found.end()
        if kind in _SPEAKERS:
            seen["speaker"] = (found["name"] or found["word"] or found["nickname"]).strip()
        else:
            mark_at = at
        if kind in {"bullet", "tick"}:
            seen["bullet"] = found["box"] or found["late"] or ""
        else:
            seen[kind] = kind
        if kind == "nick":
            mark_at = at
    return _spoken(line, mark_at, at, seen)


_SPEAKERS: Final = frozenset({"nick", "named", "plain"})


def _may_follow(kind: str, found: re.Match[str], seen: dict[str, str]) -> bool:
    if kind in {"named", "plain"}:
        name = (found["name"] or found["word"]).strip()
        return not ("named" in seen or "plain" in seen or _NO_NAME.match(name))
    if kind == "bullet":
        fresh = "bullet" not in seen or bool(found["box"] and not seen["bullet"])
        return fresh and not _SPEAKERS & seen.keys()
    if kind == "tick":
        return seen.get("bullet") == ""
    if kind == "heading":
        return not seen
    return kind not in seen or kind == "quote"


def _spoken(line: str, mark_at: int, said_at: int, seen: dict[str, str]) -> Spoken:
    return Spoken(
        line=line,
        mark_at=mark_at,
        said_at=said_at,
        speaker=seen.get("speaker", ""),
        bullet="bullet" in seen,
        box=seen.get("bullet", ""),
        quoted="quote" in seen,
        chat="nick" in seen or ("stamp" in seen and next(iter(seen)) != "bullet"),
        dots="dots" in seen,
        timed="stamp" in seen or "clock" in seen,
    )
