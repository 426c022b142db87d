"""Show what was found: one line of a hit's text, with the words that matched marked."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final

from pipelines.index.schema import TOKENIZE
from pipelines.index.words import match_expression, parted, spaced, unspaced_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

OPEN, CLOSE = "\x01", "\x02"
"""Stand around a matched word; no text holds them, because control characters are taken out."""
_BETWEEN: Final = "\x03"

WIDTH: Final = 240
_CONTROL: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


def snippets(query: str, texts: Sequence[str]) -> list[str]:
    """Return each text as one line of some 240 characters around its first match, matched words between the marks.

    The same tokenizer that found the texts tells which words matched. Control characters are taken out: what a log
    holds must not speak to a terminal.
    """
    return [_cut(text) for text in _marked(query, [_CONTROL.sub(" ", text).strip() for text in texts])]


def _marked(query: str, texts: Sequence[str]) -> list[str]:
    marked = list(texts)
    if expression := match_expression(spaced(query)):
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute(f"CREATE VIRTUAL TABLE shown USING fts5(text, tokenize = '{TOKENIZE}')")
            connection.executemany(
                "INSERT INTO shown(rowid, text) VALUES (?, ?)", enumerate(parted(text, _BETWEEN) for text in texts)
            )
            found = "SELECT rowid, highlight(shown, 0, ?, ?) FROM shown WHERE shown MATCH ?"
            for row, text in connection.execute(found, (OPEN, CLOSE, expression)):
                marked[row] = text.replace(_BETWEEN, "")
    if pairs := "|".join(sorted(map(re.escape, unspaced_pairs(query)), key=len, reverse=True)):
        # Pairs overlap: a word of three characters is two of them.
        whole = re.compile(f"(?:(?:(?={pairs}).)*(?:{pairs}))+")
        marked = [whole.sub(rf"{OPEN}\g<0>{CLOSE}", text) for text in marked]
    return marked


def _cut(text: str) -> str:
    if len(text) <= WIDTH:
        return text
    first = max(text.find(OPEN), 0)
    start = max(0, min(first - WIDTH // 3, len(text) - WIDTH))
    # A blank is a good place to begin and to end, unless the script has none. To begin earlier would lose the end.
    start = text.find(" ", start - 1, start + 30) + 1 or start if start else 0
    end = start + WIDTH
    if end < len(text) and (blank := text.rfind(" ", end - 30, end)) > 0:
        end = blank
    piece = text[start:end]
    if piece.rfind(OPEN) > piece.rfind(CLOSE):
        piece += CLOSE
    if 0 <= piece.find(CLOSE) < piece.find(OPEN) or (CLOSE in piece and OPEN not in piece):
        piece = OPEN + piece
    return f"{'… ' if start else ''}{piece}{' …' if end < len(text) else ''}"
