"""The names of daily notes in a memory that was adopted in place, and their canonical paths."""

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
    """A pattern for the paths of daily notes: `memory/{YYYY}-{MM}-{DD}*.md`.

    A `*` before the ending allows several notes a day: the text in its place starts with `-`, `_`, `.`, `T` or a space,
    and every such note belongs to the day. Their canonical paths are `Logs/DAY.md` and `Logs/DAY/REST`.

    Args:
        pattern: a path with each of {YYYY}, {MM} and {DD}, ending with `.md` or `*.md`; `name_fault` accepts it.
    """

    pattern: str

    def real(self, path: str) -> str | None:
        """Return the path on disk of a canonical log path, or None if `path` is not a day's log."""
        found = _CANONICAL.fullmatch(path)
        if not found or not log_day(f"{found['day']}.md"):
            return None
        stem = self.stem(found["day"])
        if found["rest"] is None:
            return f"{stem}.md"
        return f"{stem}{found['rest']}" if self._rest.fullmatch(found["rest"]) else None

    def canonical(self, real: str) -> str | None:
        """Return the canonical path of a daily note, or None if `real` is not one."""
        found = self._shape.fullmatch(real)
        if not found:
            return None
        day = f"{found['YYYY']}-{found['MM']}-{found['DD']}"
        if not log_day(f"{day}.md"):
            return None
        return f"{LOGS}/{day}/{found['more']}.md" if found["more"] else f"{LOGS}/{day}.md"

    def stem(self, day: str) -> str:
        """Return the path of a day's main note without `.md`."""
        values = dict(zip(_TOKENS, day.split("-"), strict=True))
        return _TOKEN.sub(lambda token: values[token[0]], self._stem)

    @property
    def glob(self) -> str:
        """A glob that matches all daily notes, and perhaps other files."""
        return _TOKEN.sub(lambda token: "?" * (len(token[0]) - 2), self.pattern)

    @property
    def folder(self) -> str:
        """The folder that contains all daily notes; empty for the top."""
        return "/".join(takewhile(lambda part: "{" not in part, self.pattern.split("/")[:-1]))

    @property
    def _stem(self) -> str:
        return self.pattern.removesuffix(".md").removesuffix("*")

    @cached_property
    def _shape(self) -> re.Pattern[str]:
        shape = re.escape(self._stem)
        for token, digits in _TOKENS.items():  # a repeated token must match the first one
            name, escaped = token[1:-1], re.escape(token)
            shape = shape.replace(escaped, f"(?P<{name}>{digits})", 1).replace(escaped, f"(?P={name})")
        more = f"(?P<more>(?:{_MORE})?)" if self.pattern.endswith("*.md") else "(?P<more>)"
        return re.compile(rf"{shape}{more}\.md")

    @cached_property
    def _rest(self) -> re.Pattern[str]:
        return re.compile(rf"{_MORE}\.md" if self.pattern.endswith("*.md") else r"(?!)")


def name_fault(pattern: str) -> str:
    """Return what is wrong with a pattern, as a clause; empty for a valid one."""
    if missing := [token for token in _TOKENS if token not in pattern]:
        return f"{' and '.join(missing)} must be in it, as in Daily/{{YYYY}}-{{MM}}-{{DD}}.md"
    if not pattern.endswith(".md"):
        return "it must end with .md"
    if set("{}*?[]") & set(_TOKEN.sub("", pattern.removesuffix(".md").removesuffix("*"))):
        return "it may contain only {YYYY}, {MM}, {DD} and one * before .md"
    return ""
