"""The layout of a memory that was adopted in place, the names of its daily notes, and the faults of a `[layout]`."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pipelines.errors import fault_line
from pipelines.store.layout import (
    BRIEFING,
    LINKED,
    LOGS,
    MADE,
    NOTES,
    PRIVATE,
    SESSIONS,
    SETTINGS,
    SOUL,
    USER,
    Layout,
    can_stand,
    day_of_log,
    is_matched,
    log_day,
    may_hold,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_TOKENS = {"{YYYY}": r"\d{4}", "{MM}": r"\d{2}", "{DD}": r"\d{2}"}
_TOKEN = re.compile("|".join(map(re.escape, _TOKENS)))
_CANONICAL = re.compile(rf"{LOGS}/(?P<day>\d{{4}}-\d{{2}}-\d{{2}})(?:\.md|/(?P<rest>[^/]+\.md))")
_MORE = r"[-_ .T][^/]*"


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


@dataclass(frozen=True, kw_only=True)
class InPlaceLayout(Layout):
    """The layout of a memory that was adopted in place.

    Args:
        home: the folder for what runs create.
        theirs: canonical → real path of the person's own files used as MEMORY.md, USER.md and SOUL.md.
        notes: globs of the person's documents to be searched.
        opted_in: globs of those into which ids and items may be written.
        days: the names of daily notes.
    """

    in_place: ClassVar[bool] = True

    home: str
    theirs: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    opted_in: tuple[str, ...] = ()
    days: DayNames

    def real(self, path: str) -> str:
        """Return the path on disk of a canonical path; other paths stay as they are."""
        if path in self.theirs and (path == SOUL or self.is_opted_in(self.theirs[path])):
            return self.theirs[path]
        top, _, rest = path.partition("/")
        if top == NOTES and rest:
            return rest
        if top == LOGS:
            return self.days.real(path) or f"{self.home}/{path}"
        return f"{self.home}/{path}" if top in MADE else path

    def canonical(self, real: str) -> str | None:
        """Return the canonical path of the file at `real`, or None if it is not part of the memory."""
        if real == SETTINGS or real.startswith(f"{PRIVATE}/"):
            return real
        if (log := self.days.canonical(real)) is not None:
            return log
        for own in (BRIEFING, USER, SOUL):
            if self.theirs.get(own) == real and self.real(own) == real:
                return own
        if real.startswith(f"{self.home}/"):
            own = real.removeprefix(f"{self.home}/")
            return own if own.partition("/")[0] in MADE and self.real(own) == real else None
        hidden = any(not part or part.startswith(".") for part in real.split("/"))
        is_note = not hidden and (is_matched(real, self.notes) or self.is_opted_in(real))
        return f"{NOTES}/{real}" if is_note else None

    def day_of_log(self, path: str) -> str:
        """Return the day of the log at a path; a day can have several logs."""
        return day_of_log(path)

    def is_tracked(self, path: str) -> bool:
        """Whether the memory commits the file at a canonical path."""
        top, _, rest = path.partition("/")
        if top == NOTES:
            return self.is_opted_in(rest)
        return top in {SETTINGS, LOGS} or (top in MADE and top != SESSIONS)

    def tracked(self, real: str) -> str | None:
        """Return the canonical path of a file that the memory commits, or None for any other."""
        path = self.canonical(real)
        return path if path is not None and self.is_tracked(path) else None

    def is_writable(self, path: str) -> bool:
        """Whether a run may write a file: files that runs create, and those opted in. Never a log."""
        top, _, rest = path.partition("/")
        return self.is_opted_in(rest) if top == NOTES else top in MADE

    def is_theirs(self, path: str) -> bool:
        """Whether a canonical path is a file of the person's."""
        return path.startswith((f"{NOTES}/", f"{LOGS}/")) or (path in self.theirs and self.real(path) in self.opened)

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """Git pathspecs of all files with items."""
        globs = (glob for glob in self.opted_in if not glob.startswith("!"))
        return self.home, *self.opened, *(f":(glob){glob}" for glob in globs)

    @property
    def opened(self) -> frozenset[str]:
        """The person's files that are used as MEMORY.md or USER.md and are opted in."""
        return frozenset(real for own, real in self.theirs.items() if own != SOUL and self.is_opted_in(real))

    @property
    def forsaken(self) -> dict[str, str]:
        """The files in the home folder that opted-in files of the person's replaced: home path → their path."""
        return {f"{self.home}/{own}": real for own, real in self.theirs.items() if real in self.opened}

    def leads(self, folder: str, wanted: str = "") -> bool:
        """Whether a real folder may contain files of the memory, or of the canonical folder `wanted`."""
        if f"{folder}/".startswith(f"{self.home}/") or self.home.startswith(f"{folder}/"):
            return True
        globs = (self.days.glob,) if wanted == LOGS else (*self.notes, *self.opted_in, self.days.glob)
        return may_hold(folder, globs)

    def start(self, folder: str) -> str:
        """Return the real folder that contains everything of a canonical folder; empty for the top."""
        if folder == NOTES:
            return ""
        return self.days.folder if folder == LOGS else self.real(folder)

    def link(self, path: str) -> str:
        """Return a path as a link target in MEMORY.md, relative to its folder."""
        return os.path.relpath(self.real(path), Path(self.real(BRIEFING)).parent).replace(" ", "%20")


# Validation of `[layout]` in curate.toml; all faults are reported at once. Paths must not lead out of the memory, into
# hidden folders, or through symbolic links.


_ROLES = {"memory": BRIEFING, "user": USER, "soul": SOUL}
_ALIAS = re.compile(r"git~\d", re.IGNORECASE)
"""What `.git` is called on some disks; git refuses to commit such a name."""
_MOST_GLOBS = 200
_LONGEST_NAME = 255
_LONGEST = 1024
_KEYS = ("home", "logs", *_ROLES, "notes", "opted_in")


def layout_names(raw: Any) -> InPlaceLayout:  # noqa: ANN401  parsed TOML in which `layout_faults` found no fault
    """Return the layout of a valid `[layout]` table."""
    return InPlaceLayout(
        home=raw["home"],
        days=DayNames(raw["logs"]),
        theirs={own: raw[key] for key, own in _ROLES.items() if raw.get(key)},
        notes=tuple(raw.get("notes", ())),
        opted_in=tuple(raw.get("opted_in", ())),
    )


def layout_faults(raw: object, root: Path) -> list[str]:
    """Return each fault of a layout as `key = value: what is wrong`."""
    if not isinstance(raw, dict):
        return [fault_line("layout", raw, "it should be a table")]
    return [fault_line(f"layout.{key}", value, what) for key, value, what in _faults(raw, root)]


def _faults(raw: dict[str, object], root: Path) -> Iterator[tuple[str, object, str]]:
    yield from ((key, raw[key], "there is no such key") for key in raw if key not in _KEYS)
    for key in ("home", "logs", *(role for role in _ROLES if role in raw)):
        if what := _path_fault(raw.get(key), root):
            yield key, raw.get(key), what
    for key in ("notes", "opted_in"):
        yield from _glob_faults(key, raw.get(key, []))
    home, logs = raw.get("home"), raw.get("logs")
    if isinstance(home, str) and not _malformed(home) and not _can_be_made(home):
        yield "home", home, "some disks cannot have a folder of that name, or git cannot commit it"
    if isinstance(logs, str) and logs and (what := name_fault(logs)):
        yield "logs", logs, what
    if isinstance(home, str) and isinstance(logs, str):
        yield from _overlaps(home, logs, {key: value for key in _ROLES if isinstance(value := raw.get(key), str)})


def _can_be_made(path: str) -> bool:
    is_plain = unicodedata.is_normalized("NFC", path)
    return is_plain and all(can_stand(name) and not _ALIAS.fullmatch(name) for name in path.split("/"))


def _path_fault(value: object, root: Path) -> str:
    if not isinstance(value, str) or not value:
        return "it should be a path in the memory"
    if what := _malformed(value):
        return what
    parts = value.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    if link := next((one for one in above if (root / one).is_symlink()), ""):
        return f"{link} {LINKED}"
    return ""


def _malformed(value: str) -> str:
    parts = value.split("/")
    if value.startswith(("/", "~")) or ".." in parts:
        return "it leads out of the memory"
    if not value.isprintable() or "\\" in value or not all(parts):
        return "it is not a plain path: separate folders by single slashes, without one at the start or end"
    if len(value.encode()) > _LONGEST or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return "it is too long for a file name"
    if parts[0].casefold() == SETTINGS:
        return "the settings file has that name"
    return "hidden files and folders are never used" if any(part.startswith(".") for part in parts) else ""


def _glob_faults(key: str, value: object) -> Iterator[tuple[str, object, str]]:
    if not isinstance(value, list):
        yield key, value, "it should be a list of globs"
        return
    if len(value) > _MOST_GLOBS:
        yield key, value, f"it has more than {_MOST_GLOBS} globs"
        return
    for number, glob in enumerate(value):
        path = glob.removeprefix("!") if isinstance(glob, str) else ""
        if what := _malformed(path) if path else 'it should be a glob, such as "**/*.md"':
            yield f"{key}[{number}]", glob, what


def _overlaps(home: str, logs: str, roles: dict[str, str]) -> Iterator[tuple[str, object, str]]:
    """Yield conflicts: two things of the same name, or a file of the person's in the home folder."""
    if logs.startswith(f"{home}/") and not logs.startswith(f"{home}/{LOGS}/"):
        yield "logs", logs, f"daily notes must be outside {home} or in {home}/{LOGS}"
    if logs == home:
        yield "home", home, "daily notes have the same name"
    taken: dict[str, str] = {}
    for key, value in roles.items():
        if f"{value}/".startswith(f"{home}/"):
            yield key, value, f"it is in {home}, which is reserved for files that runs create"
        if value in taken:
            yield key, value, f"layout.{taken[value]} names the same file"
        if not name_fault(logs) and DayNames(logs).canonical(value):
            yield key, value, "it has the name of a daily note"
        if not value.endswith(".md"):
            yield key, value, "it must end with .md"
        taken[value] = key
