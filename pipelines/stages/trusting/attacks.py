"""The attack reader: patterns as data in `attacks.toml`, held against the skeleton of a text. It asks nobody."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.memory.unseen import spelled_in_tags, turns_direction
from pipelines.stages.trusting.skeleton import MOST, skeleton

if TYPE_CHECKING:
    from collections.abc import Mapping

_PIECE: Final = re.compile(r"<(gap|always|person|address|secret|private|send)>")
_COMMENT: Final = re.compile(r"<!--(?P<told>.{0,4000}?)-->", re.DOTALL)
_OWN_COMMENT: Final = re.compile(
    r" (?:Sessions/[^<>\s]+\.jsonl#L\d{1,9}~[0-9a-f]{8}(?: [a-z]+~[0-9a-f-]+)?|allow-secret) "
)
_WORDS: Final = 4


@dataclass(frozen=True)
class Attack:
    """One pattern; `attacks.toml` says what the fields mean."""

    id: str
    why: str
    source: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, which is searched for in a skeleton."""
        return re.compile(self.source)


def attacks_text() -> str:
    """Return the file of the patterns."""
    return Path(__file__).with_name("attacks.toml").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def load_attacks() -> tuple[Attack, ...]:
    """Return the patterns; the file is read once."""
    raw = tomllib.loads(attacks_text())
    pieces = raw["pieces"]
    return tuple(Attack(one["id"], one["why"], _whole(one["pattern"], pieces)) for one in raw["attack"])


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
    return next((one.why for one in load_attacks() if one.pattern.search(plain)), "")


def _hides(told: str) -> bool:
    """Whether a comment says something to whoever reads the file as text."""
    return not _OWN_COMMENT.fullmatch(told) and len(told.split()) >= _WORDS


def _whole(pattern: str, pieces: Mapping[str, str]) -> str:
    while _PIECE.search(pattern):
        pattern = _PIECE.sub(lambda found: pieces[found[1]], pattern)
    return pattern
