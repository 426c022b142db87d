"""How the notes of days are named in a memory that was adopted in place, and by what path the program knows each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Final

from pipelines.store.layout import LOGS, log_day

_TOKENS: Final = {"{YYYY}": r"\d{4}", "{MM}": r"\d{2}", "{DD}": r"\d{2}"}
_TOKEN: Final = re.compile("|".join(map(re.escape, _TOKENS)))
_CANONICAL: Final = re.compile(rf"{LOGS}/(?P<day>\d{{4}}-\d{{2}}-\d{{2}})(?:\.md|/(?P<rest>[^/]+\.md))")
_MORE: Final = r"[-_ .T][^/]*"


@dataclass(frozen=True)
class DayNames:
    """How daily notes are named: `memory/{YYYY}-{MM}-{DD}*.md`.

    A `*` before the ending means that a day can have several: what stands in its place begins with one of `- _ . T` or
    a blank, and every such note belongs to the day. Inside the program they are `Logs/DAY.md` and `Logs/DAY/REST`.

    Args:
        pattern: a path with each of {YYYY}, {MM} and {DD}, ending with `.md` or `*.md`; `name_faults` finds none.
    """

    pattern: str

    def real(self, path: str) -> str | None:
        """Return where the log stands that the program knows by `path`, or None where that names no day's log."""
        found = _CANONICAL.fullmatch(path)
        if not found or not log_day(f"{found['day']}.md"):
            return None
        stem = self.stem(found["day"])
        if found["rest"] is None:
            return f"{stem}.md"
        return f"{stem}{found['rest']}" if self._rest.fullmatch(found["rest"]) else None

    def canonical(self, real: str) -> str | None:
        """Return by what path the program knows a daily note, or None where `real` is none."""
        found = self._shape.fullmatch(real)
        if not found:
            return None
        day = f"{found['YYYY']}-{found['MM']}-{found['DD']}"
        if not log_day(f"{day}.md"):
            return None
        return f"{LOGS}/{day}/{found['more']}.md" if found["more"] else f"{LOGS}/{day}.md"

    def stem(self, day: str) -> str:
        """Return the path of a day's own note without `.md`."""
        values = dict(zip(_TOKENS, day.split("-"), strict=True))
        return _TOKEN.sub(lambda token: values[token[0]], self._stem)

    @property
    def glob(self) -> str:
        """A glob that lets in all daily notes, and perhaps others."""
        return _TOKEN.sub(lambda token: "?" * (len(token[0]) - 2), self.pattern)

    @property
    def folder(self) -> str:
        """The folder below which all daily notes stand; empty for the top."""
        return "/".join(takewhile(lambda part: "{" not in part, self.pattern.split("/")[:-1]))

    @property
    def _stem(self) -> str:
        return self.pattern.removesuffix(".md").removesuffix("*")

    @cached_property
    def _shape(self) -> re.Pattern[str]:
        shape = re.escape(self._stem)
        for token, digits in _TOKENS.items():  # the first one tells, every other one repeats it
            name, escaped = token[1:-1], re.escape(token)
            shape = shape.replace(escaped, f"(?P<{name}>{digits})", 1).replace(escaped, f"(?P={name})")
        more = f"(?P<more>(?:{_MORE})?)" if self.pattern.endswith("*.md") else "(?P<more>)"
        return re.compile(rf"{shape}{more}\.md")

    @cached_property
    def _rest(self) -> re.Pattern[str]:
        return re.compile(rf"{_MORE}\.md" if self.pattern.endswith("*.md") else r"(?!)")


def name_fault(pattern: str) -> str:
    """Return what is wrong with a pattern, as the end of a sentence; empty for one that can be used."""
    if missing := [token for token in _TOKENS if token not in pattern]:
        return f"{' and '.join(missing)} must be in it, as in Daily/{{YYYY}}-{{MM}}-{{DD}}.md"
    if not pattern.endswith(".md"):
        return "it must end with .md"
    if set("{}*?[]") & set(_TOKEN.sub("", pattern.removesuffix(".md").removesuffix("*"))):
        return "besides {YYYY}, {MM} and {DD}, only one * before .md may be in it"
    return ""
