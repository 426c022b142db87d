"""Which notes are daily notes: by their names, or by a vault's own settings."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from pipelines.errors import BadFile
from pipelines.store.files import read_bytes
from pipelines.store.layout import log_day

if TYPE_CHECKING:
    from pathlib import Path


_SETTINGS = ".obsidian/daily-notes.json"
_TEMPLATES = ".obsidian/templates.json"
_TOKEN = re.compile(
    r"\[([^\]]{0,100})\]|(Y{4}|YY|M{1,4}|D{1,4}o?|d{1,4}|WW?|ww?|gggg|GGGG|[HhkmsSaAXxZQEe])|(.)", re.DOTALL
)
_WORD = r"[^\W\d_]{1,20}"
_PATTERNS = {
    "YYYY": r"\d{4}",
    "YY": r"\d{2}",
    "MM": r"\d{2}",
    "M": r"\d{1,2}",
    "DD": r"\d{2}",
    "D": r"\d{1,2}",
    "MMMM": _WORD,
    "MMM": _WORD,
}
_IGNORED = {
    **dict.fromkeys(("dddd", "ddd", "dd"), rf"{_WORD}\.?"),
    **dict.fromkeys(("WW", "W", "ww", "w"), r"\d{1,2}"),
    **dict.fromkeys(("gggg", "GGGG"), r"\d{4}"),
    "d": r"\d",
    "Q": r"[1-4]",
}
_VARYING = frozenset({"dddd", "ddd", "dd", "MMMM", "MMM", "WW", "W", "ww", "w", "M", "D"})
_MOST_VARYING = 4
_LONGEST = 200
"""Limits for formats that others wrote: each part of variable length multiplies the ways to match a name."""
_MONTHS = {name: n for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_SUFFIXED = re.compile(r"(\d{4}-\d{2}-\d{2})[-_ .T][^/]*\.md", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Vault:
    """What a vault's settings say.

    Args:
        folder: the folder of daily notes; empty for the top.
        pattern: matches the rest of a daily note's path, without `.md`; None without a usable format.
        templates: the folder of templates; empty if there is none.
        fault: what is wrong with the settings, as the start of a sentence; may be empty.
        form: the format of days in its settings; empty without one.
    """

    folder: str = ""
    pattern: re.Pattern[str] | None = None
    templates: str = ""
    fault: str = ""
    form: str = ""

    def day_of(self, path: str) -> str:
        """Return the day of a note by the vault's own format, or an empty string."""
        inside = f"{self.folder}/" if self.folder else ""
        if self.pattern is None or not path.startswith(inside):
            return ""
        name = path.removeprefix(inside)[:-3]
        found = self.pattern.fullmatch(name)
        if not found and "/" not in self.form:  # people sort old notes into folders
            found = self.pattern.fullmatch(name.rpartition("/")[2])
        return _date_of(found.groupdict()) if found else ""


def read_vault(root: Path) -> Vault:
    """Return what the settings of a vault say; missing or broken ones are ignored."""
    daily, templates = _settings(root, _SETTINGS), _settings(root, _TEMPLATES)
    folder = _folder(templates, "folder")
    if daily is None:
        return Vault(templates=folder)
    form = daily.get("format") or "YYYY-MM-DD"
    pattern = moment_pattern(form) if isinstance(form, str) else None
    fault = "" if pattern else f"{_SETTINGS} has an unknown date format ({form})"
    return Vault(_folder(daily, "folder"), pattern, folder, fault, str(form))


def named_day(path: str) -> str:
    """Return the day that a note is named after (`YYYY-MM-DD.md`), or an empty string."""
    return log_day(path.rpartition("/")[2])


def begun_day(path: str) -> str:
    """Return the day that a note's name starts with (`YYYY-MM-DD-meeting.md`), or an empty string."""
    name = path.rpartition("/")[2]
    found = _SUFFIXED.fullmatch(name)
    return log_day(f"{found[1]}.md") if found else log_day(name)


def moment_pattern(form: str) -> re.Pattern[str] | None:
    """Return a pattern for dates in a moment.js format, or None if the format has no full date or is unknown."""
    tokens = _TOKEN.findall(form) if len(form) <= _LONGEST else []
    if sum(written.removesuffix("o") in _VARYING for _, written, _ in tokens) > _MOST_VARYING:
        return None
    parts, seen = [], set()
    for literal, written, other in tokens:
        token = written.removesuffix("o")
        suffix = "(?:st|nd|rd|th)" if written != token else ""
        if token in seen:
            parts.append(f"(?P={token}){suffix}")
        elif token in _PATTERNS:
            seen.add(token)
            parts.append(f"(?P<{token}>{_PATTERNS[token]}){suffix}")
        elif token in _IGNORED:
            parts.append(_IGNORED[token])
        elif token:
            return None
        else:
            parts.append(re.escape(literal or other))
    whole = seen & {"YYYY", "YY"} and seen & {"MM", "M", "MMM", "MMMM"} and seen & {"DD", "D"}
    return re.compile("".join(parts)) if whole else None


def written_pattern(form: str) -> str | None:
    """Return a moment.js format in the notation of `[layout]`, or None if it has more than year, month and day.

    Names that we write, and do not only read, must not depend on a language or on how weeks are counted.
    """
    parts = []
    for literal, token, other in _TOKEN.findall(form):
        if token and token not in {"YYYY", "MM", "DD"}:
            return None
        parts.append(f"{{{token}}}" if token else literal or other)
    return "".join(parts)


def _date_of(raw: dict[str, str]) -> str:
    year = raw.get("YYYY") or f"20{raw['YY']}"
    name = (raw.get("MMMM") or raw.get("MMM") or "")[:3].casefold()
    month = raw.get("MM") or raw.get("M") or _MONTHS.get(name, 0)
    try:
        return date(int(year), int(month), int(raw.get("DD") or raw["D"])).isoformat()
    except ValueError:
        return ""


def _settings(root: Path, path: str) -> dict[str, Any] | None:
    try:
        raw: Any = json.loads(read_bytes(root, path) or b"")
    except (BadFile, ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def _folder(raw: dict[str, Any] | None, key: str) -> str:
    value = (raw or {}).get(key)
    return value.strip("/ ") if isinstance(value, str) else ""
