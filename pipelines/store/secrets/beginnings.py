"""Where a rule matches: its words and the beginnings of its tokens are found in a few passes over the text."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipelines.store.secrets.secret_rules import Rule


# A search for many texts at once is slow in any regular expression, unless all have one rare sign: it is searched for,
# and what is around it compared. Tokens are looked at only where as many of their characters stand in a row as the
# shortest token has: words do not.
_RARE = "QBkcp-"
"""Signs that are rare in texts; a capital, the rarest, is sought in words that count only as they are written."""
_LONG = 15
"""Characters of the shortest token."""
_ANY = 24
"""Characters of the shortest token that is known by nothing but its looks."""
_BATCH = 64
"""Runs that are looked at together: few have so much as a keyword."""
_KEPT = 4096
"""Runs that are remembered: paths, addresses and long names recur in any text."""
_IMAGE = 400
"""Characters of a run that is likely to have some keyword by chance."""
_FIRST = 3
_PART = re.compile(rb"(?=([A-Za-z0-9_-]..))[A-Za-z0-9_-]++", re.DOTALL)
_OF_TOKENS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=$%@!#^&*?"
_IN_TOKENS = bytes(0x61 if code in _OF_TOKENS else 0x20 for code in range(256))
ASCII: Final = bytes(range(128))
# An escape of JSON or of a terminal may stand right before a token.
_ESCAPE = re.compile(rb"(?<=\\)[nrt]|[0-9]{1,3}m")
_OF_ESCAPES = b"nrt0123456789"
_CROWD = 32
_CLOSE = 256
_UNBROKEN = re.compile(rb"""[^\s"'`,;<>|&]+""")


class Stem(NamedTuple):
    """The shortest part of words that is searched for.

    Args:
        text: in lower case, or with capitals as it is written.
        sign: the place of its rare sign, or 0.
        words: each word with the place of the stem in it, and its rules.
    """

    text: bytes
    sign: int
    words: list[tuple[int, bytes, Sequence[Rule]]]


class Beginnings:
    """Finds where rules match, in time proportional to the text.

    Args:
        keywords: how tokens begin → their rules; nothing of a token precedes it. "" is any long run.
        words: texts in lower case → their rules; they count anywhere and in any case. A text with capitals counts
            only as it is written.
    """

    def __init__(self, keywords: Mapping[str, Sequence[Rule]], words: Mapping[str, Sequence[Rule]]) -> None:
        self._any = keywords.get("", ())
        self._tokens: dict[bytes, list[tuple[bytes, Sequence[Rule]]]] = {}
        for keyword, rules in keywords.items():
            text = keyword.encode()
            firsts = [text[:_FIRST]] if len(text) >= _FIRST else [text + bytes([code]) for code in range(256)]
            for first in firsts if text else ():
                self._tokens.setdefault(first, []).append((text, rules))
        self._firsts = frozenset(self._tokens)
        self.plain: set[bytes] = set()  # runs without a token, seen before
        # A word within others is searched for, and what is around it is compared.
        stems: dict[str, Stem] = {}
        sought: dict[str, list[Stem]] = {}
        for word, rules in words.items():
            stem = min((one for one in words if one in word), key=len)
            if stem not in stems:
                sign = next((one for one in _RARE if one in stem and stem.isascii()), stem)
                stems[stem] = Stem(stem.encode(), stem.index(sign), [])
                sought.setdefault(sign, []).append(stems[stem])
            stems[stem].words.append((word.index(stem), word.encode(), rules))
        searches = [(_mark(found), _search(sign.encode(), found), found) for sign, found in sought.items()]
        self._searches = [one for one in searches if not one[0]]
        self._foreign = [one for one in searches if one[0]]

    def matches(self, data: bytes, foreign: bytes) -> Iterator[tuple[re.Match[bytes], Rule]]:
        """Yield each match of a rule's pattern that begins with one of its keywords or words, and the rule.

        Args:
            data: a text.
            foreign: its bytes that are not `ASCII`.
        """
        for at, rules in self.places(data, foreign):
            for rule in rules:
                if found := rule.pattern.match(data, at):
                    yield found, rule

    def places(self, data: bytes, foreign: bytes) -> Iterator[tuple[int, Sequence[Rule]]]:
        """Yield where a keyword or word occurs, and its rules; the arguments are those of `matches`."""
        yield from self._words_of(data, foreign)
        yield from self._tokens_of(data)

    def _words_of(self, data: bytes, foreign: bytes) -> Iterator[tuple[int, Sequence[Rule]]]:
        lower = data.lower()
        for _, search, stems in [*self._searches, *(one for one in self._foreign if foreign and one[0] in foreign)]:
            text = lower if stems[0].text.islower() else data
            for at, stem in _places(text, search, stems):
                for offset, word, rules in stem.words:
                    if text.startswith(word, at - offset if at >= offset else at):
                        yield at - offset, rules

    def _tokens_of(self, data: bytes) -> Iterator[tuple[int, Sequence[Rule]]]:
        found = runs(data)
        while batch := [(start, data[start:end]) for start, end in islice(found, _BATCH)]:
            self._look_at({run for _, run in batch if len(run) <= _IMAGE})
            for start, run in batch:
                if run not in self.plain:
                    if len(run) >= _ANY:
                        yield start, self._any
                    for part in _PART.finditer(data, start, start + len(run)):
                        yield from self._tokens_at(data, part.start())
                if data[start] in _OF_ESCAPES and (escape := _ESCAPE.match(data, start)):
                    yield from self._tokens_at(data, escape.end())

    def _look_at(self, found: set[bytes]) -> None:
        """Remember those runs that no rule can match, whatever stands before them: a quick test of all at once."""
        if len(self.plain) > _KEPT:
            self.plain.clear()
        if not (fresh := found - self.plain):
            return
        text = b" ".join(fresh)
        if self._firsts.isdisjoint(firsts := _PART.findall(text)) or not any(
            keyword in text for first in self._firsts.intersection(firsts) for keyword, _ in self._tokens[first]
        ):
            patterns = [rule.pattern for rule in self._any]
            odd = {run for run in fresh if len(run) >= _ANY and any(one.match(run) for one in patterns)}
            self.plain |= fresh - odd

    def _tokens_at(self, data: bytes, at: int) -> Iterator[tuple[int, Sequence[Rule]]]:
        for text, rules in self._tokens.get(data[at : at + _FIRST], ()):
            if data.startswith(text, at):
                yield at, rules


def _mark(stems: Sequence[Stem]) -> bytes:
    """Return the signs of another alphabet without which a text has none of the stems; most texts have none."""
    return stems[0].text.translate(None, ASCII) if len(stems) == 1 else b""


def _search(sign: bytes, stems: Sequence[Stem]) -> bytes | re.Pattern[bytes]:
    """Return what finds the sign of each stem: the sign itself, perhaps with what must follow it, or a pattern."""
    if sign.isupper():
        return sign
    if stems[0].text == sign:
        after = {rule.then for _, _, rules in stems[0].words for rule in rules}
        return re.compile(re.escape(sign) + b"(?=%b)" % "|".join(sorted(after)).encode()) if all(after) else sign
    around = [re.escape(stem.text[stem.sign + 1 :]) + b"(?<=%b)" % re.escape(stem.text) for stem in stems]
    return re.compile(re.escape(sign) + b"(?=%b)" % b"|".join(around))


def _starts(text: bytes, sought: bytes | re.Pattern[bytes]) -> Iterator[int]:
    """Yield where a text has what is sought, from left to right and without overlap."""
    if isinstance(sought, re.Pattern):
        yield from (found.start() for found in sought.finditer(text))
        return
    at = text.find(sought)  # quicker than a pattern
    while at >= 0:
        yield at
        at = text.find(sought, at + len(sought))


def _places(text: bytes, search: bytes | re.Pattern[bytes], stems: Sequence[Stem]) -> Iterator[tuple[int, Stem]]:
    """Yield where a stem occurs, unless it is repeated without a blank: nobody does so except to cost us time."""
    crowds = [(stem, stem.text, stem.sign, [-_CLOSE, 0]) for stem in stems]  # where it was last, how often in a row
    for found in _starts(text, search):
        for stem, sought, sign, crowd in crowds:
            if found >= sign and text.startswith(sought, at := found - sign):
                last, count = crowd
                count = count + 1 if at - last < _CLOSE and _UNBROKEN.fullmatch(text, last, at) else 0
                crowd[:] = at, count
                if count < _CROWD:
                    yield at, stem


def runs(data: bytes, table: bytes = _IN_TOKENS, length: int = _LONG) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of so many characters; `table` has an `a` for what counts, else a blank."""
    signs, sought = data.translate(table), b"a" * length
    at = signs.find(sought)
    while at >= 0:
        end = signs.find(b" ", at + length)
        yield at, end if end >= 0 else len(data)
        at = signs.find(sought, end) if end >= 0 else -1
