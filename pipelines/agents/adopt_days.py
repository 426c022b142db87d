"""Which notes are daily notes: by a vault's own settings, or by their names, as most of them are named."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from pipelines.errors import BadFile
from pipelines.store.files import read_bytes
from pipelines.store.layout import NOTES, day_of_log, log_day
from pipelines.store.markdown import read_front_matter, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


_SETTINGS = ".obsidian/daily-notes.json"
_PERIODIC = ".obsidian/plugins/periodic-notes/data.json"
_TEMPLATES = ".obsidian/templates.json"
LOGSEQ = "logseq"
"""Where a graph of Logseq keeps its settings, and its backups of notes."""
_TOKEN = re.compile(r"\[([^\]]{0,100})\]|(YYYY|M{1,4}|Do|DD?)|(([A-Za-z])\4*)|(.)", re.DOTALL)
_PARTS = {
    "YYYY": ("year", r"\d{4}"),
    "MM": ("month", r"\d{2}"),
    "M": ("month", r"\d{1,2}"),
    **dict.fromkeys(("MMM", "MMMM"), ("month", r"[^\W\d_]{1,20}")),
    "DD": ("day", r"\d{2}"),
    "D": ("day", r"\d{1,2}"),
    "Do": ("day", r"\d{1,2})(?:st|nd|rd|th"),
}
_ANY = r"[^/]{1,20}"
_SAMPLE = {"": "", "YYYY": "2026", "MM": "03", "DD": "18"}
_MOST_VARYING = 4
_LONGEST = 200
"""Limits for formats that others wrote: each part of variable length multiplies the ways to match a name."""
_MONTHS = {name: n for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_DATED = re.compile(r"(?:(\d{4})([-_.])(\d{2})\2)?(\d{2})([-_ .T][^/]*)?\.md", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
PARA_FOLDER = re.compile(r"[\d\s._-]*(project|area|resource|archive)s?", re.IGNORECASE)
_CLIPPED = ("source", "url")
"""Where web clippers keep the address of what they clipped."""


@dataclass(frozen=True, slots=True)
class Vault:
    """What a vault's settings say.

    Args:
        folder: the folder of daily notes; empty for the top.
        pattern: matches the rest of a daily note's path, without `.md`; None without a usable format.
        templates: the folder of templates, or of what is no note at all; empty if there is none.
        form: the format of days in its settings; empty without one.
        shape: how most notes are named that are named after days, as `dated` says it; empty if there are none.
    """

    folder: str = ""
    pattern: re.Pattern[str] | None = None
    templates: str = ""
    form: str = ""
    shape: str = ""

    def day_of(self, path: str) -> str:
        """Return the day of a note by the vault's own format, else by its name, or an empty string."""
        inside = f"{self.folder}/" if self.folder else ""
        day, shape, more = dated(path)
        if self.pattern is None:
            return day if shape == self.shape or not more else ""
        if not path.startswith(inside):
            return ""
        name = path.removeprefix(inside)[:-3]
        found = self.pattern.fullmatch(name)
        if not found and "/" not in self.form:  # people sort old notes into folders
            found = self.pattern.fullmatch(name.rpartition("/")[2])
        own = day if inside or "/" not in name else ""  # what a format before this one named, or a second note
        return _date_of(**found.groupdict()) if found else own


def read_vault(root: Path, paths: Iterable[str] = ()) -> Vault:
    """Return what the settings of a vault say, and how its notes are named; broken settings are ignored."""
    told = _settings(root, _PERIODIC) or {}  # those of the plugin Periodic Notes replace Obsidian's
    sets = told.get("calendarSets")
    days = [told.get("daily"), *(one.get("day") for one in sets or () if isinstance(one, dict))]
    enabled = (one for one in days if isinstance(one, dict) and one.get("enabled"))
    daily = next(enabled, None) or _settings(root, _SETTINGS)
    folder = LOGSEQ if (root / LOGSEQ / "config.edn").is_file() else _folder(_settings(root, _TEMPLATES))
    shapes = Counter(shape for path in paths if (shape := dated(path)[1]))
    shape = min(shapes, key=lambda one: (-shapes[one], one), default="")
    if daily is None:
        return Vault(templates=folder, shape=shape)
    form = daily.get("format") or "YYYY-MM-DD"
    pattern = moment_pattern(form) if isinstance(form, str) else None
    return Vault(_folder(daily), pattern, folder, str(form), shape)


def dated(path: str) -> tuple[str, str, str]:
    """Return the day after which a note is named, how it is named, as a glob, and what follows in its name.

    For `Journal/2026/02/03-standup.md` that is `2026-02-03`, `Journal/????/??/??` and `-standup`.
    """
    *above, name = path.split("/")
    if not (found := _DATED.fullmatch(name)):
        return "", "", ""
    year, month = (found[1], found[3]) if found[1] else ("", "", *above)[-2:]
    if not (day := log_day(f"{year}-{month}-{found[4]}.md")):
        return "", "", ""
    varying = [_DIGIT.sub("?", one) if one in {year, month, f"{year}-{month}"} else one for one in above]
    return day, "/".join([*varying, _DIGIT.sub("?", name[: found.end(4)])]), found[5] or ""


def said_elsewhere(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return the day of each note that is named after one and something else: of a meeting, or an idea.

    Not one in a folder of projects, areas, resources or archives, where it keeps its place; none of several with the
    same name on three days running, as digests and reports of days have; and no clipping from the web.

    Args:
        root: the folder of the notes.
        paths: the notes that are no daily ones.
    """
    found, named = dict[str, str](), defaultdict[tuple[str, str], set[date]](set)
    for path in paths:
        day, _, more = dated(path)
        top, slash, _ = path.partition("/")
        if any(map(str.isalpha, more)) and not (slash and PARA_FOLDER.fullmatch(top)):
            found[path] = day
            named[path.rpartition("/")[0], more].add(date.fromisoformat(day))

    def is_series(path: str) -> bool:
        days = named[path.rpartition("/")[0], dated(path)[2]]
        return any({one + timedelta(1), one + timedelta(2)} <= days for one in days)

    def is_clipping(path: str) -> bool:
        front = read_front_matter(split_lines((read_bytes(root, path) or b"").decode(errors="replace")))
        return any(front.get(key).startswith(("http://", "https://")) for key in _CLIPPED)

    return {path: day for path, day in found.items() if not is_series(path) and not is_clipping(path)}


def moment_pattern(form: str) -> re.Pattern[str] | None:
    """Return a pattern for dates in a moment.js format, or None if the format has no full date.

    Weekdays, weeks and what else it may hold are not read, nor the name of a month beside its number: it may be in any
    language.
    """
    tokens = _TOKEN.findall(form) if len(form) <= _LONGEST else []
    is_named = not {"M", "MM"}.intersection(token for _, token, *_ in tokens)
    if sum(bool(run) or token not in _SAMPLE for _, token, run, _, _ in tokens) > _MOST_VARYING:
        return None
    parts, seen = [], set()
    for literal, token, run, _, other in tokens:
        if token and (is_named or not token.startswith("MMM")):
            name, pattern = _PARTS[token]
            parts.append(f"({'?:' if name in seen else f'?P<{name}>'}{pattern})")
            seen.add(name)
        else:
            parts.append(_ANY if token or run else re.escape(literal or other))
    return re.compile("".join(parts)) if len(seen) == len({"year", "month", "day"}) else None


def glob_of(form: str) -> str | None:
    """Return a glob for dates in a moment.js format, or None if `day_of_log` cannot tell the day from such a name."""
    glob, sample = list[str](), list[str]()
    for literal, token, run, _, other in _TOKEN.findall(form):
        varies = bool(run) or token not in _SAMPLE  # in length: no day can be told from it
        glob.append("*" if varies else "?" * len(token) or literal or other)
        sample.append("x" if varies else _SAMPLE[token] or literal or other)
    return "".join(glob) if day_of_log(f"{NOTES}/{''.join(sample)}.md") == "2026-03-18" else None


def _date_of(year: str, month: str, day: str) -> str:
    try:
        return date(int(year), _MONTHS.get(month[:3].casefold()) or int(month), int(day)).isoformat()
    except ValueError:
        return ""


def _settings(root: Path, path: str) -> dict[str, Any] | None:
    try:
        raw: Any = json.loads(read_bytes(root, path) or b"")
    except (BadFile, ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def _folder(raw: dict[str, Any] | None) -> str:
    value = (raw or {}).get("folder")
    return value.strip("/ ") if isinstance(value, str) else ""
