"""Compare a model's sentence with what the model was shown, in any language.

A number that was shown nowhere is refused: nothing true needs it. A small number may be a count of what is told, and a
name may be another form of one: they are noted, and the second reader decides.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_SMALL = 12
"""The largest number that people write as a word, and that a sentence may have counted."""
_WRITTEN = re.compile(r"(?<!\d)\d{1,3}(?:[.,'’ \u00a0\u066c\u202f]\d{3})+(?!\d)|\d+")
"""A grouped number as a whole, or a plain one."""
_DIGITS = re.compile(r"\d+")
_LONGEST = 40
_MARKS = dict.fromkeys(map(ord, "`*\\"))
"""Marks of Markdown within a word: `WNV\\_NA`, nell'`AppDbContext`."""
_WORD = re.compile(r"[^\W_]+(?:['’_][^\W_]+)*")
_ENDS = re.compile(r"[.!?:;。！？]\s*$")


class Shown(NamedTuple):
    """The numbers and words of everything that a model was shown.

    Args:
        numbers: the value of each number; of a grouped one (`1,200`), that of the whole and of its parts.
        words: each word, folded.
    """

    numbers: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Shown:
        """Return what some texts show."""
        whole = " \n ".join(texts).translate(_MARKS)
        numbers = frozenset(_value(one) for one in (*_WRITTEN.findall(whole), *_DIGITS.findall(whole)))
        return cls(numbers, frozenset(map(_folded, _WORD.findall(whole))))

    def numbers_missing(self, text: str) -> tuple[list[str], list[str]]:
        """Return the large and the small numbers of a text that were not shown, as they are written."""
        large, small = dict[str, None](), dict[str, None]()
        for written in _WRITTEN.findall(text):
            value = _value(written)
            parts = written.split()  # a space may group a number, or part two
            if value in self.numbers or all(_value(part) in self.numbers for part in parts):
                continue
            (small if value.isascii() and int(value) <= _SMALL else large)[written] = None
        return list(large), list(small)

    def names_missing(self, text: str) -> list[str]:
        """Return the words of a text that have a capital, do not begin a sentence, and were not shown."""
        found = dict[str, None]()
        text = text.translate(_MARKS)
        for word in _WORD.finditer(text):
            before = text[: word.start()].rstrip("\"“„«'( ")
            begins = not before or _ENDS.search(before)
            if word[0] == word[0].lower() or begins:
                continue
            folded = _folded(word[0])
            stem = folded[: max(_STEM, len(folded) - _ENDING)]  # inflected words differ in their last three letters
            if not any(one.startswith(stem) for one in self.words):
                found[word[0]] = None
        return list(found)


_STEM = 4
_ENDING = 3


def words_in(data: object) -> Iterator[str]:
    """Yield the words of a request, without ids, whose digits say nothing."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        rows = [value for key, value in data.items() if key not in {"id", "ids"}] if isinstance(data, dict) else data
        for one in rows:
            yield from words_in(one)


def _value(written: str) -> str:
    digits = "".join(_DIGITS.findall(written))
    return str(int(digits)) if len(digits) <= _LONGEST else digits


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.replace("’", "'"))
    return "".join(char for char in decomposed if not unicodedata.combining(char)).casefold()
