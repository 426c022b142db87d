"""Text on one line, and text that is safe to show.

It cannot move the cursor, control a terminal, reverse the reading direction, or hide.

A memory, and the names of its files, may come from somebody else. Their content is displayed, never obeyed.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

# Control and format characters, lone surrogates, and line separators other than line ends and tabs. The two joiners are
# allowed between non-ASCII letters: Persian and many emoji need them.
_STEERING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
    "|\r(?!\n)|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_ENDS = re.compile(r"[\t\n\r]")


def escape_terminal(text: str) -> str:
    r"""Return `text` with control characters escaped (`\x1b`, `\u202e`); line ends and tabs stay."""
    return _STEERING.sub(_written_out, text)


def escape_terminal_line(text: str) -> str:
    """Return the same on one line. For names, which could otherwise forge lines, and for table cells."""
    return _ENDS.sub(_written_out, escape_terminal(text))


def escape_terminal_json(
    value: Any,  # noqa: ANN401  whatever JSON can hold
    indent: int | None,
) -> str:
    """Return `value` as JSON that is safe to show. Arguments are those of `json.dumps`; it parses to the same value."""
    dumped = json.dumps(value, ensure_ascii=False, indent=indent)
    return _STEERING.sub(lambda found: json.dumps(found[0])[1:-1], dumped)


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def is_utf8(text: str) -> bool:
    """Whether a text can be written as UTF-8; the bytes of an argument or a file name need not have been."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_safe_line(text: str) -> bool:
    """Whether `text` fits on one line, so that a path in a link or in evidence cannot forge another line."""
    return (text.isascii() and text.isprintable()) or escape_terminal_line(text) == text


# Zero-width marks, direction marks, fillers, tags and selectors. `_JOINER` handles the two joiners: scripts need them.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_MARKS = re.compile(f"[{_UNSEEN}]")
# Joiners are meaningful only in scripts that join letters: the blocks from Hebrew to Myanmar, Khmer and Mongolian.
_JOINER = re.compile("(?<![\u0590-\u109f\u1780-\u18af])[\u200c\u200d]|[\u200c\u200d](?![\u0590-\u109f\u1780-\u18af])")


def without_unseen(text: str) -> str:
    """Return `text` without invisible characters, except the joiners that a script needs between letters."""
    if text.isascii():
        return text
    return _JOINER.sub("", _MARKS.sub("", text))


# Lone surrogates cannot be stored, and control characters would reach the reader's terminal.
_UNSAID = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    """Return `text` stripped, without control characters and lone surrogates; every line end becomes a newline."""
    return _UNSAID.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


ARROW = " → "
"""Separates a question from its answer; a question never contains it, an answer may."""


def clipped(text: str, most: int) -> str:
    """Return `text` in at most `most` characters: cut after a word and ended with `…` if it is longer.

    Of a question and its answer, the question is cut first.
    """
    if len(text) <= most:
        return text
    question, arrow, answer = text.partition(ARROW)
    if answer:
        answer = clipped(answer, max(most // 2, most - len(question) - len(arrow)))
        return f"{clipped(question, most - len(arrow) - len(answer))}{arrow}{answer}"
    return f"{text[:most].rpartition(' ')[0].rstrip(' ,;:.–—-') or text[: most - 1]}…"


def fold(text: str) -> str:
    """Return `text` on one line: runs of white space and control characters become one space; the ends are stripped."""
    if text.isprintable() and "  " not in text:  # fast path for nearly all text
        return text.strip(" ")
    return _BLANKS.sub(" ", text).strip(" ")


_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


_DAY = r"[ ]?(\d{4}-\d\d-\d\d)"
_DUE = re.compile(
    rf"[ ]?(?:[📅📆🗓]\ufe0f?{_DAY}|\(due:{{0,2}}{_DAY}\)|\[due::{_DAY}\]"
    rf"|(?<!\S)(?:@{{{_DAY}}}|@due\({_DAY}\)|\(@{_DAY}(?:[ ]\d\d:\d\d)?\)))"
)


def stated_due(text: str) -> tuple[str, str]:
    """Return a text without the field of its due day (`📅 DAY`, `[due:: DAY]`, `(due DAY)`, `@{DAY}`), and the day."""
    found = _DUE.search(text)
    return (text[: found.start()] + text[found.end() :], "".join(found.groups(""))) if found else (text, "")


_WORD = re.compile(r"[^\W_][\w'’-]*")

STOP_WORDS = frozenset(
    """a about after again all also am an and any are as at be because been before being but by can could did do does
    doing done down each few for from further get gets got had has have having he her here hers him his how i
    if in into is it its itself just let like may me more most much must my need needs new no nor not now of
    off on once one only or other our out over own per please same shall she should so some still such than
    that the their them then there these they this those through to too under until up us use used uses using
    very via was we were what when where which while who whom why will with within would yes yet you your""".split()
)
GERMAN_WORDS = frozenset(
    """aber als auch auf aus bei beim bis bitte dabei damit dann das dass dein deine dem der diese diesem diesen dieser
    dieses doch dort durch ein eine einem einen einer eines er für gegen habe haben hatte hatten hier ich ihr ihre ihrem
    ihren ihrer im immer ist jetzt kann können mehr mein meine meinem meinen meiner mich mir muss müssen nach nicht noch
    nun nur ob oder schon sehr sein seine sich sie sind soll sollen sollte sowie statt über und uns unser unsere unter
    vom von vor waren weil wenn werden wie wieder wir wird wurde wurden zu zum zur zwischen""".split()
)
"""German words as small as the `STOP_WORDS`, without those that mean something in English."""
_SMALL_WORDS = STOP_WORDS | GERMAN_WORDS


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Return the words that say what a text is about: lower case, three letters or more, no stop words."""
    words = {word.strip("-'’") for word in _WORD.findall(text.casefold())}
    return frozenset([word for word in words if len(word) > 2 and word not in _SMALL_WORDS])  # noqa: PLR2004  "of", "to"


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `count(2, "day")` is "2 days"."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
