"""The rules: what counts as a secret, read from `rules.toml`, each pattern compiled when its first keyword is met."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEFT: Final = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=\x1b\[[0-9]m)|(?<=[0-9]m))"
_BLANK: Final = r"(?:[ \t]|\\t)"
_SEP: Final = (
    r"""(?:\\{0,7}["'`]\]?|\*{1,2}|\])?"""
    rf"(?:{_BLANK}{{0,3}}(?P<sep>=>|:=|={{1,3}}|:|->|>){_BLANK}{{0,3}}\*{{0,2}}{_BLANK}{{0,3}}"
    rf"|{_BLANK}{{1,3}}(?P<verb>is|was|are){_BLANK}{{1,3}}(?:now[ \t])?(?::[ \t]{{0,3}})?|(?P<blank>{_BLANK}{{1,3}}))"
)


@dataclass(frozen=True)
class Rule:
    """One kind of secret; `rules.toml` says what the fields mean."""

    id: str
    source: str
    keywords: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    since: str = ""
    before: int = 0
    value: str = ""
    check: str = ""
    near: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The pattern, which is matched where a keyword begins."""
        return re.compile(self.source.replace("<left>", _LEFT).replace("<sep>", _SEP).encode())


@dataclass(frozen=True)
class Rules:
    """All rules, and the words that tell a value from a secret.

    Args:
        rules: in the order in which they are tried.
        placeholders: values that hide nothing, in lower case.
        names: what in the rest of a name says that it holds no secret.
    """

    rules: tuple[Rule, ...]
    placeholders: frozenset[bytes]
    names: re.Pattern[bytes]

    @cached_property
    def by_keyword(self) -> Mapping[tuple[str, bool], tuple[Rule, ...]]:
        """(keyword, whether its case counts) → the rules to try."""
        found: dict[tuple[str, bool], tuple[Rule, ...]] = {}
        for rule in self.rules:
            for key in (*((word, True) for word in rule.keywords), *((word, False) for word in rule.words)):
                found[key] = (*found.get(key, ()), rule)
        return found


def rules_text() -> str:
    """Return the file of the rules."""
    return Path(__file__).with_name("rules.toml").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def load_rules() -> Rules:
    """Return the rules; the file is read once."""
    raw = tomllib.loads(rules_text())
    rules = tuple(
        Rule(
            one["id"],
            one["pattern"],
            tuple(one.get("keywords", ())),
            tuple(one.get("words", ())),
            one.get("since", ""),
            one.get("before", 0),
            one.get("value", ""),
            one.get("check", ""),
            tuple(one.get("near", ())),
        )
        for one in raw["rule"]
    )
    names = "|".join(map(re.escape, raw["values"]["names"].split()))
    return Rules(
        rules,
        frozenset(raw["values"]["placeholders"].encode().split()),
        re.compile(names.encode(), re.IGNORECASE),
    )
