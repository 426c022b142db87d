"""Text as it may be shown: nothing in it moves the cursor, sets a terminal, turns the direction of reading or hides.

A memory may be somebody else's, and so may be the names of its files. What they hold is shown, never obeyed.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

# Control characters, those of format, halves of characters, and separators of lines but for line ends and tabs. The two
# joiners stay between letters that are not ASCII: Persian and many an emoji need them.
_STEERING: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
    "|\r(?!\n)|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_ENDS: Final = re.compile(r"[\t\n\r]")


def escape_terminal(text: str) -> str:
    r"""Return a text in which what steers is written out (`\x1b`, `\u202e`); line ends and tabs stay."""
    return _STEERING.sub(_written_out, text)


def escape_terminal_line(text: str) -> str:
    """Return the same on one line: for names, which could forge lines of their own, and for cells of a table."""
    return _ENDS.sub(_written_out, escape_terminal(text))


def escape_terminal_json(
    value: Any,  # noqa: ANN401  whatever JSON can hold
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
) -> str:
    """Return a value as JSON that may be shown, written as `json.dumps` does; it reads back as the same value."""
    told = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _STEERING.sub(lambda found: json.dumps(found[0])[1:-1], told)


def escape_terminal_xml(text: str) -> str:
    """Return text of an XML document, which holds no character that none may, so that it may be shown, too."""
    return _STEERING.sub(lambda found: f"&#x{ord(found[0]):x};", text)


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def is_safe_line(text: str) -> bool:
    """Whether a text can be a word of a line: links and evidence name paths; a line end in one would forge a line."""
    return (text.isascii() and text.isprintable()) or escape_terminal_line(text) == text


# Zero-width marks, directions, fillers, tags and selectors. The two joiners are seen to apart: scripts need them.
_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_MARKS: Final = re.compile(f"[{_UNSEEN}]")
# A joiner means something between letters of scripts that join: from Hebrew's block to those of India and beyond.
_JOINER: Final = re.compile(
    "(?<![\u0590-\u109f\u1780-\u18af])[\u200c\u200d]|[\u200c\u200d](?![\u0590-\u109f\u1780-\u18af])"
)
# The flags of England, Scotland and Wales are spelled in tags behind a black flag, and hide nothing.
_FLAG: Final = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f")
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]+")
_OVERRIDES: Final = re.compile("[\u202d\u202e]")
_TAG_BASE: Final = 0xE0000


def without_unseen(text: str) -> str:
    """Return a text without characters that no reader sees; what a script needs between its letters stays."""
    if text.isascii():
        return text
    return _JOINER.sub("", _MARKS.sub("", text))


def spelled_in_tags(text: str) -> str:
    """Return what tag characters spell, which a model reads as letters; empty where there are none."""
    if text.isascii():
        return ""
    spelled = _TAGS.findall(_FLAG.sub("", text))
    return " ".join("".join(chr(ord(char) - _TAG_BASE) for char in run) for run in spelled)


def turns_direction(text: str) -> bool:
    """Return whether a text holds marks by which it is shown in another order than it is read."""
    return not text.isascii() and bool(_OVERRIDES.search(text))


# Lone surrogates cannot be stored, and control characters would write to the terminal of whoever reads the text.
_UNSAID: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    """Return a text without control characters and halves of characters; every line end becomes a newline."""
    return _UNSAID.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def clipped(text: str, most: int) -> str:
    """Return a text whole, or its beginning up to a word's end, in at most so many characters, with `…` behind it."""
    if len(text) <= most:
        return text
    return f"{text[:most].rpartition(' ')[0].rstrip(' ,;:.–—-') or text[: most - 1]}…"
