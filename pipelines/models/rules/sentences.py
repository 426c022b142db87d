"""Where the sentences of a text begin and end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_STOP = re.compile(r"[.!?]{1,4}[\"'”’)\]*_]{0,4}\s{1,40}|\s[-–—]{1,2}\s(?=[A-Z][a-z]{0,30} )|;\s{1,8}|\n\s{0,40}\n")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|dr|mr|mrs|ms|st|approx|al|fig|sec|ver|jan|feb|mar|apr|jun|jul|"
    r"aug|sept?|oct|nov|dec)|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?:so|ok(?:ay)?|well|and|but|also|anyway|alright|right|yes|yeah|yep|ah|oh|hmm|um|uh|then|now|btw|fyi|"
    r"basically|actually|finally|sure|great|cool|nice|good)(?:,|\s*[-–—:]|\.{2,3}|…|(?=\s))\s{1,4}(?=\S)",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of `text` begins and ends; a stop behind an abbreviation ends none."""
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
    """Return a sentence without the words that only open the mouth: `so`, `ok`, `well`."""
    for _ in range(2):
        if (found := _FILLER.match(text)) is None:
            break
        text = text[found.end() :]
    return text
