"""Whether a quote stands in the lines that it cites: the check that keeps every item grounded.

Only white space and Markdown's marks of lines and emphasis are folded. Case, punctuation, digits and the marks of
strike-through are not: a quote that differs in one of them may say something else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipelines.memory.items import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

# What may stand before the text of a line: quote marks, list marks, a box, a heading mark, in any order.
_LINE_MARKS = re.compile(r"^[ \t]*(?:(?:>|[-*+](?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s)|#{1,6}(?=\s))[ \t]*)+")
# Emphasis hugs a word on one side only; `max_tokens` and `2*3` keep their signs.
_OPENING = re.compile(r"(?<![\w*_])(?:\*{1,3}|_{1,3})(?=[^\s*_])")
_CLOSING = re.compile(r"(?<=[^\s*_])(?:\*{1,3}|_{1,3})(?![\w*_])")
_LINE_END = re.compile(r"\r\n|\r|\n")


def quote_stands(quote: str, lines: Sequence[str]) -> bool:
    """Return whether `quote` stands in `lines`, as whole words.

    Args:
        quote: what is said to stand there; it may run over several lines.
        lines: the cited lines, in order, verbatim.

    Returns:
        True where the folded quote is part of the folded lines and cuts no word or number in two. A quote without a
        letter or a digit proves nothing and never stands.
    """
    needle, text = fold_markdown([quote]), fold_markdown(lines)
    if not any(char.isalnum() for char in needle):
        return False
    at = text.find(needle)
    while at >= 0:
        end = at + len(needle)
        if not _cuts_a_word(text, at) and not _cuts_a_word(text, end):
            return True
        at = text.find(needle, at + 1)
    return False


def fold_markdown(lines: Sequence[str]) -> str:
    """Return the words of `lines` on one line: white space folded; list, quote, heading and emphasis marks gone."""
    bare = (_LINE_MARKS.sub("", line) for text in lines for line in _LINE_END.split(text))
    text = fold(" ".join(bare).replace("`", ""))
    return fold(_CLOSING.sub("", _OPENING.sub("", text)))


def _cuts_a_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _spelled(text[at - 1]) and _spelled(text[at])


def _spelled(char: str) -> bool:
    """Whether words of this letter's script are set apart by blanks; Chinese or Thai words are not."""
    return char.isdecimal() or char.lower() != char.upper()
