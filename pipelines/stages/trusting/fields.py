"""Fields of words: how one thing may be said in one language, as one pattern.

A field is written as plain alternatives. `~` stands for the rest of a word, `_` for up to five words between others,
and `<name>` for another field in the same language. A skeleton holds neither `~`, `_` nor accents, so none is missed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pipelines.stages.trusting.skeleton import plain_letters

if TYPE_CHECKING:
    from collections.abc import Mapping

UNSPACED: Final = frozenset({"zh", "ja"})
"""Languages that put no blanks between words."""
_FIELD: Final = re.compile(r"<([a-z][a-z-]*)>")
_REST: Final = r"\w{0,9}"
_BETWEEN: Final = r"(?:,? (?:[\w'@.-]{1,20},? ){0,5}?(?:[ldnsqj]')?)"
_BETWEEN_UNSPACED: Final = r"[^.;!?。]{0,8}?"
_DEEPEST: Final = 4


@dataclass(frozen=True)
class Field:
    """One thing, and the ways in which one language says it.

    Args:
        name: the field.
        language: the language.
        source: the alternatives, without references to other fields.
    """

    name: str
    language: str
    source: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, which is searched for in a skeleton; it is compiled when it is first asked for."""
        unspaced = self.language in UNSPACED
        plain = plain_letters(self.source).replace("~", _REST).replace("_", _BETWEEN_UNSPACED if unspaced else _BETWEEN)
        return re.compile(plain if unspaced else rf"\b(?:{plain})\b")


def field_of(name: str, language: str, fields: Mapping[str, Mapping[str, str]]) -> Field:
    """Return a field in a language.

    Args:
        name: the field.
        language: the language.
        fields: all fields, each with its alternatives by language.

    Raises:
        KeyError: a field, or one that it refers to, is not there, or not in this language.
    """
    source = fields[name][language]
    for _ in range(_DEEPEST):
        source = _FIELD.sub(lambda found: f"(?:{fields[found[1]][language]})", source)
    return Field(name, language, source)
