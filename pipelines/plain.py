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


def plain(text: str) -> str:
    r"""Return a text in which what steers is written out (`\x1b`, `\u202e`); line ends and tabs stay."""
    return _STEERING.sub(_written_out, text)


def plain_line(text: str) -> str:
    """Return the same on one line: for names, which could forge lines of their own, and for cells of a table."""
    return _ENDS.sub(_written_out, plain(text))


def plain_json(
    value: Any,  # noqa: ANN401  whatever JSON can hold
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
) -> str:
    """Return a value as JSON that may be shown, written as `json.dumps` does; it reads back as the same value."""
    told = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _STEERING.sub(lambda found: json.dumps(found[0])[1:-1], told)


def plain_xml(text: str) -> str:
    """Return text of an XML document, which holds no character that none may, so that it may be shown, too."""
    return _STEERING.sub(lambda found: f"&#x{ord(found[0]):x};", text)


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def is_plain_line(text: str) -> bool:
    """Whether a text can be a word of a line: links and evidence name paths; a line end in one would forge a line."""
    return (text.isascii() and text.isprintable()) or plain_line(text) == text
