"""The reader of meanings: what an attack must say, however it is put, as words near each other.

A pattern knows a phrase. A meaning knows that somebody in charge, a denial and a word of knowing within one sentence
keep something from that person: the words come from wide fields, in any order, in one of nine languages. Both are
needed, since the one is exact where the other is wide.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.stages.trusting.fields import field_of
from pipelines.stages.trusting.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.stages.trusting.fields import Field

LANGUAGES: Final = ("en", "de", "fr", "es", "it", "pt", "ru", "zh", "ja")
FILES: Final = ("words", "oversight", "guards", "secrecy", "handing", "untruth", "trust", "gain", "standing")
_NEAR: Final = 80


@dataclass(frozen=True)
class Meaning:
    """What an attack says, in one language; `oversight.toml` tells what the fields mean."""

    id: str
    why: str
    language: str
    said: Field
    near: tuple[tuple[Field, ...], ...]
    unless: tuple[Field, ...]
    about: tuple[Field, ...]
    within: int
    across: bool
    apart: bool

    def is_in(self, read: Reading) -> bool:
        """Return whether a text says this."""
        return any(self._is_meant(read, begin, end) for begin, end in read.places(self.said))

    def _is_meant(self, read: Reading, begin: int, end: int) -> bool:
        sentence = read.sentence(begin, end)
        least, most = (0, len(read.text)) if self.across else sentence
        least, most = max(least, begin - self.within), min(most, end + self.within)
        hole = (begin, end) if self.apart else (0, 0)
        if not all(any(read.has(one, least, most, hole) for one in some) for some in self.near):
            return False
        if any(read.has(one, *sentence) for one in self.about):
            return False
        return not any(read.has(one, *read.clause(begin, end), (begin, end)) for one in self.unless)


def meaning_in(plain: str) -> str:
    """Return why a skeleton reads like an attack, as the end of a sentence about it; empty where it does not."""
    read = Reading(plain)
    spoken = {one.language for one in _load_tongues() if read.places(one)}
    return next((one.why for one in load_meanings() if one.language in spoken and one.is_in(read)), "")


@lru_cache(maxsize=1)
def meanings_table() -> Mapping[str, Any]:
    """Return the meanings and the fields of words as they are written, of all files."""
    folder = Path(__file__).with_name("said")
    raw = [tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8")) for name in FILES]
    return {
        "words": {name: told for one in raw for name, told in one.get("words", {}).items()},
        "meaning": [told for one in raw for told in one.get("meaning", [])],
    }


@lru_cache(maxsize=1)
def load_meanings() -> tuple[Meaning, ...]:
    """Return the meanings, each once for every language; the files are read once."""
    table = meanings_table()
    return tuple(_meaning(one, language, table["words"]) for one in table["meaning"] for language in LANGUAGES)


@lru_cache(maxsize=1)
def _load_tongues() -> tuple[Field, ...]:
    """Return by what each language is known: words are spelled alike in several, and mean other things."""
    return tuple(field_of("tongue", language, meanings_table()["words"]) for language in LANGUAGES)


def _meaning(told: Mapping[str, Any], language: str, words: Mapping[str, Mapping[str, str]]) -> Meaning:
    def field(name: str) -> Field:
        return field_of(name, language, words)

    def pardons(key: str) -> tuple[Field, ...]:
        return tuple(field(name) for name in told.get(key, []) if language in words[name])

    return Meaning(
        told["id"],
        told["why"],
        language,
        said=field(told["said"]),
        near=tuple(tuple(map(field, some.split("|"))) for some in told.get("near", [])),
        unless=pardons("unless"),
        about=pardons("about"),
        within=told.get("within", _NEAR),
        across=told.get("across", False),
        apart=told.get("apart", False),
    )
