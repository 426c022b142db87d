"""Where a rule is worth trying: at a word, and where a long run of a token's characters begins like a token.

A search for many texts at once is slow in any regular expression. So each word is searched for by itself, and tokens
are looked at only where as many of their characters stand in a row as the shortest token has: words do not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

R = TypeVar("R")

_LONG: Final = 15
"""Characters of the shortest token."""
_ANY: Final = 24
"""Characters of the shortest token that is known by nothing but its looks."""
_SIGNS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=$%@!#^&*?"
_IN_TOKENS: Final = bytes(0x61 if code in _SIGNS else 0x20 for code in range(256))
_PART: Final = re.compile(rb"[A-Za-z0-9_-]{2,}")
# An escape of JSON, of a terminal or of an address may stand right before a token.
_ESCAPE: Final = re.compile(rb"(?<=\\)[nrt]|[0-9]{1,3}m|(?<=%)[0-9A-Fa-f]{2}")
_CROWD: Final = 32
_CLOSE: Final = 256
_UNBROKEN: Final = re.compile(rb"""[^\s"'`,;<>|&]+""")


class Beginnings(Generic[R]):
    """Finds where to try which rule, in time proportional to the text.

    Args:
        keywords: how tokens begin → their rules; nothing of a token precedes it. "" is any long run.
        words: texts in lower case → their rules; they count anywhere and in any case.
    """

    def __init__(self, keywords: Mapping[str, Sequence[R]], words: Mapping[str, Sequence[R]]) -> None:
        self._any = keywords.get("", ())
        self._tokens: dict[bytes, list[tuple[bytes, Sequence[R]]]] = {}
        for text, rules in keywords.items():
            self._tokens.setdefault(text[:2].encode(), []).append((text.encode(), rules))
        # A word within others is searched for, and what is around it is compared.
        self._words: dict[bytes, list[tuple[int, bytes, Sequence[R]]]] = {}
        for text, rules in words.items():
            stem = min((one for one in words if one in text), key=len)
            self._words.setdefault(stem.encode(), []).append((text.index(stem), text.encode(), rules))

    def of(self, data: bytes) -> Iterator[tuple[int, R]]:
        """Yield each place where a rule may apply, and the rule."""
        lower = data.lower()
        for stem, ways in self._words.items():
            for at in _places(data, lower, stem):
                for offset, word, rules in ways:
                    if lower.startswith(word, at - offset if at >= offset else at):
                        for rule in rules:
                            yield at - offset, rule
        yield from self._tokens_of(data)

    def _tokens_of(self, data: bytes) -> Iterator[tuple[int, R]]:
        for start, end in runs(data):
            if end - start >= _ANY:
                for rule in self._any:
                    yield start, rule
            for part in _PART.finditer(data, start, end):
                at = part.start()
                yield from self._tokens_at(data, at) if data[at : at + 2] in self._tokens else ()
                if at == start and (escape := _ESCAPE.match(data, at)):
                    yield from self._tokens_at(data, escape.end())

    def _tokens_at(self, data: bytes, at: int) -> Iterator[tuple[int, R]]:
        for text, rules in self._tokens.get(data[at : at + 2], ()):
            if data.startswith(text, at):
                yield from ((at, rule) for rule in rules)


def _places(data: bytes, lower: bytes, word: bytes) -> Iterator[int]:
    """Yield where a word occurs, unless it is repeated without a blank: nobody does so except to cost us time."""
    at, last, crowd = lower.find(word), 0, 0
    while at >= 0:
        crowd = crowd + 1 if at - last < _CLOSE and _UNBROKEN.fullmatch(data, last, at) else 0
        if crowd < _CROWD:
            yield at
        last = at
        at = lower.find(word, at + 1)


def runs(data: bytes, table: bytes = _IN_TOKENS, length: int = _LONG) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of so many characters; `table` has an `a` for what counts, else a blank."""
    signs, sought = data.translate(table), b"a" * length
    at = signs.find(sought)
    while at >= 0:
        end = signs.find(b" ", at + length)
        yield at, end if end >= 0 else len(data)
        at = signs.find(sought, end) if end >= 0 else -1
