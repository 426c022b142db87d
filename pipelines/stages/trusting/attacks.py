"""The attack reader: patterns as data, held against the skeleton of a text. It asks nobody.

They stand in `attacks.toml`; those of other languages than English in `tongues.toml`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.stages.trusting.skeleton import MOST, plain_letters, skeleton
from pipelines.text import spelled_in_tags, turns_direction

if TYPE_CHECKING:
    from collections.abc import Mapping

_PIECE: Final = re.compile(r"<(gap|always|person|keeper|address|secret|private|send)>")
_COMMENT: Final = re.compile(r"<!--(?P<told>.{0,4000}?)-->", re.DOTALL)
_OWN_COMMENT: Final = re.compile(
    r" (?:Sessions/[^<>\s]+\.jsonl#L\d{1,9}~[0-9a-f]{8}(?: [a-z]+~[0-9a-f-]+)?|allow-secret) "
)
_WORDS: Final = 4
_CLAUSE: Final = re.compile(r"[.;!?,:]")
_BEFORE: Final = 60
"""So many characters above a match are looked at for the beginning of its clause."""


@dataclass(frozen=True)
class Attack:
    """One pattern; `attacks.toml` says what the fields mean, and `tongues.toml` holds those of other languages."""

    id: str
    why: str
    source: str
    unless: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, which is searched for in a skeleton."""
        return re.compile(self.source)

    @cached_property
    def refusal(self) -> re.Pattern[str] | None:
        """What forbids the very thing, or None."""
        return re.compile(self.unless) if self.unless else None

    def is_in(self, plain: str) -> bool:
        """Return whether a skeleton reads like this attack."""
        if self.refusal is None:
            return bool(self.pattern.search(plain))
        return any(not self._refused(plain, found) for found in self.pattern.finditer(plain))

    def _refused(self, plain: str, found: re.Match[str]) -> bool:
        before = _CLAUSE.split(plain[max(0, found.start() - _BEFORE) : found.start()])[-1]
        return bool(self.refusal and self.refusal.search(before + found[0]))


def attacks_text() -> str:
    """Return the patterns as they are written, those of other languages after the rest."""
    names = ("attacks.toml", "tongues.toml")
    return "\n".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names)


@lru_cache(maxsize=1)
def load_attacks() -> tuple[Attack, ...]:
    """Return the patterns; the file is read once."""
    raw = tomllib.loads(attacks_text())
    pieces = raw["pieces"]
    return tuple(
        Attack(one["id"], one["why"], plain_letters(_whole(one["pattern"], pieces)), one.get("unless", ""))
        for one in raw["attack"]
    )


def attack_in(text: str) -> str:
    """Return why a text reads like an attack, as the end of a sentence that begins with *it*; empty where it does not.

    Args:
        text: words of a log, as they stand there.
    """
    if len(text) > MOST:
        return "is too long to be looked through"
    if spelled_in_tags(text) or turns_direction(text):
        return "hides words in characters that no reader sees"
    if any(_hides(found["told"]) for found in _COMMENT.finditer(text)):
        return "hides words in a comment"
    bare = _COMMENT.sub(lambda found: " " if _OWN_COMMENT.fullmatch(found["told"]) else found[0], text)
    plain = skeleton(bare)
    return next((one.why for one in load_attacks() if one.is_in(plain)), "")


def _hides(told: str) -> bool:
    """Whether a comment says something to whoever reads the file as text."""
    return not _OWN_COMMENT.fullmatch(told) and len(told.split()) >= _WORDS


def _whole(pattern: str, pieces: Mapping[str, str]) -> str:
    while _PIECE.search(pattern):
        pattern = _PIECE.sub(lambda found: pieces[found[1]], pattern)
    return pattern
