"""The one pass over the bytes: where does any rule's keyword stand?

A regular expression finds the next of a few bytes fast, and the next of many slowly. So of each keyword the byte is
looked for that is rarest in what agents write, and what stands around it is compared only there.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Bytes that are rare in transcripts of code and prose, and of which every keyword has one. Each byte that is
# added costs the whole pass time.
_LOOKED_FOR: Final = "~&@?zxJKGBA_kw-c"
_COST: Final = {char: cost for cost, char in enumerate(_LOOKED_FOR)}

Keyword = tuple[str, bool]


class Anchors:
    """Finds keywords.

    Args:
        keywords: each with whether its case counts.
    """

    def __init__(self, keywords: Iterable[Keyword]) -> None:
        self._keywords = sorted(keywords, key=lambda one: (-len(one[0]), one))
        self._ways: list[tuple[Keyword, int]] = []
        self._pattern = re.compile(self._source().encode(), re.DOTALL)

    def hits(self, data: bytes) -> Iterator[tuple[int, Keyword]]:
        """Yield where a keyword begins, and which one, in the order of the bytes that are looked for."""
        ways, search, at = self._ways, self._pattern.search, 0
        while found := search(data, at):
            at = found.start() + 1  # what was looked at after a byte may hold the next keyword's
            keyword, offset = ways[(found.lastindex or 0) - 1]
            yield at - 1 - offset, keyword

    def rivals(self, keyword: Keyword) -> Iterator[tuple[Keyword, int]]:
        """Yield the keywords that can stand around the same byte, itself included, with how much later each begins.

        A hit names one of them, and the others may stand there as well: `glpat-us` holds `glpat-` and `-us`.
        """
        for other in self._keywords:
            later = _offset(keyword) - _offset(other)
            if _agree(keyword, other, later):
                yield other, later

    def _source(self) -> str:
        """Return the pattern: the bytes that are looked for, each with what follows it and what stands before."""
        ways: dict[str, list[tuple[Keyword, int]]] = {}
        for keyword in self._keywords:
            offset = _offset(keyword)
            for char in _bytes(keyword[0][offset], exact=keyword[1]):
                ways.setdefault(char, []).append((keyword, offset))
        often = sorted(ways.items(), key=lambda way: (-_COST.get(way[0], 0), way[0]))
        return "|".join(f"{re.escape(char)}(?:{self._after(found)})" for char, found in often)

    def _after(self, ways: list[tuple[Keyword, int]]) -> str:
        """Return the alternatives after one byte by what follows it: a byte that does not follow costs next to nothing.

        Of keywords that can stand at one place the longest comes first.
        """
        tails: dict[str, list[tuple[Keyword, int]]] = {}
        for keyword, offset in sorted(ways, key=lambda way: (way[1] - len(way[0][0]), -len(way[0][0]))):
            tail = "".join(_class(char, exact=keyword[1]) for char in keyword[0][offset + 1 :])
            tails.setdefault(tail, []).append((keyword, offset))
        return "|".join(f"{tail}(?:{self._before(found)})" for tail, found in tails.items())

    def _before(self, ways: list[tuple[Keyword, int]]) -> str:
        """Return the alternatives by what stands before, looked at in a few groups of neighbours."""
        groups: dict[str, list[tuple[Keyword, int]]] = {}
        for keyword, offset in ways:
            groups.setdefault(keyword[0][offset - 1].lower() if offset else "", []).append((keyword, offset))
        told = sorted(set(groups) - {""})
        size = max(1, math.isqrt(len(told)))
        parts = []
        for some in (told[at : at + size] for at in range(0, len(told), size)):
            chars = "".join(re.escape(char) + re.escape(char.upper()) for char in some)
            length = {len(keyword[0]) - offset for char in some for keyword, offset in groups[char]}
            inner = "|".join(self._way(*one) for char in some for one in groups[char])
            parts.append(f"(?<=[{chars}]{'.' * length.pop()})(?:{inner})")
        return "|".join([*parts, *(self._way(*one) for one in groups.get("", ()))])

    def _way(self, keyword: Keyword, offset: int) -> str:
        self._ways.append((keyword, offset))
        text, exact = keyword
        before = "".join(_class(char, exact=exact) for char in text[:offset])
        return f"(?<={before}{'.' * (len(text) - offset)})()" if before else "()"


@cache
def _offset(keyword: Keyword) -> int:
    """Return the offset of the keyword's rarest byte."""
    text = keyword[0] if keyword[1] else keyword[0].lower()
    return min(range(len(text)), key=lambda at: (_COST.get(text[at], len(_COST)), at))


def _agree(one: Keyword, other: Keyword, later: int) -> bool:
    """Whether two keywords can stand in one text, the other one beginning so much later."""
    start, end = max(0, later), min(len(one[0]), later + len(other[0]))
    pairs = [(one[0][at], other[0][at - later]) for at in range(start, end)]
    same = all(_bytes(a, exact=one[1]) & _bytes(b, exact=other[1]) for a, b in pairs)
    return same and _offset(one) in range(start, end)


def _bytes(char: str, *, exact: bool) -> frozenset[str]:
    return frozenset({char} if exact else {char.lower(), char.upper()})


def _class(char: str, *, exact: bool) -> str:
    return re.escape(char) if exact or len(_bytes(char, exact=False)) == 1 else f"[{char.lower()}{char.upper()}]"
