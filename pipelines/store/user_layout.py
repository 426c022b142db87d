"""The layout of a memory: how its files are called on the disk, and what the program calls them.

Inside the program every path is canonical: `Logs/2026-03-18.md`, `Projects/alpha.md`, `MEMORY.md`, and `Notes/…` for a
person's own documents. In a memory whose curate.toml has no `[layout]` that is what they are called on the disk, too.
In one that was adopted in place, paths are translated where bytes enter or leave, and nowhere else. Evidence in the
comments of items is canonical, so that it holds when the person moves the folder of daily notes.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import unicodedata
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pipelines.errors import BadFile, BadSettings, NoMemory, fault_line, read_toml
from pipelines.store.day_names import DayNames, name_fault
from pipelines.store.folders import LINKED
from pipelines.store.layout import (
    BRIEFING,
    FOLDERS,
    LOGS,
    NOTES,
    PRIVATE,
    REVIEW,
    SESSIONS,
    SETTINGS,
    STATE,
    TRACKED,
    USER,
    can_stand,
    day_of_log,
    is_matched,
    log_day,
    may_hold,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


SOUL: Final = "SOUL.md"
MADE: Final = (BRIEFING, USER, REVIEW, *FOLDERS, STATE, SESSIONS)
"""What stands in the home: what runs make."""
_MENTION: Final = re.compile(rb"^[ \t]*\[[ \t]*layout\b|^[ \t]*layout[ \t]*[.=]", re.MULTILINE)
_MOST: Final = 1024 * 1024
_KNOWN: dict[str, Layout] = {}
"""The layout of each memory as a command found it when it began."""


def find_memory(named: str | os.PathLike[str] | None) -> Path:
    """Return the memory that is named, here or by CURATE_MEMORY, else the nearest folder upward with curate.toml.

    Its layout is read now. Whoever needs one with faults says what they are.

    Raises:
        NoMemory: the folder that was named holds no curate.toml, or none is found upward.
    """
    named = named or os.environ.get("CURATE_MEMORY")
    start = Path(named).expanduser().absolute() if named else Path.cwd()
    for folder in (start,) if named else (start, *start.parents):
        if (folder / SETTINGS).is_file():
            with contextlib.suppress(BadFile, BadSettings):
                read_layout(folder)
            return folder
    raise NoMemory(start)


def layout_of(root: Path) -> Layout:
    """Return the layout of a memory, as `read_layout` found it; it is read where nobody asked before.

    Raises:
        BadFile: curate.toml is a symbolic link.
        BadSettings: the `[layout]` of its curate.toml has faults.
    """
    known = _KNOWN.get(str(root))
    return read_layout(root) if known is None else known


def read_layout(root: Path) -> Layout:
    """Read the layout of a memory from its curate.toml, as each command does once when it begins.

    Raises:
        BadFile: curate.toml is a symbolic link.
        BadSettings: the `[layout]` of its curate.toml has faults.
    """
    file, data, raw = Path(f"{root}/{SETTINGS}"), b"", None
    with contextlib.suppress(OSError):
        if stat.S_ISLNK(os.lstat(file).st_mode):
            raise BadFile(SETTINGS, LINKED)
        with file.open("rb") as settings:
            data = settings.read(_MOST)  # whoever needs the settings says that they are too large
    if b"layout" in data:
        try:
            raw = read_toml(file).get("layout")
        except BadSettings:
            if _MENTION.search(data):
                raise  # else whoever needs the settings says what is wrong with them
    if raw is not None and (faults := layout_faults(raw, root)):
        raise BadSettings(file, faults)
    _KNOWN[str(root)] = found = Layout() if raw is None else layout_names(raw)
    return found


def real_path(root: Path, path: str) -> str:
    """Return the path on the disk, relative to the memory, of what the program calls `path`: what people are shown."""
    return layout_of(root).real(path)


def at(root: Path, path: str) -> Path:
    """Return where on the disk the file is that the program calls `path`."""
    return Path(root) / real_path(root, path)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the files of a memory are called on the disk: here as the program calls them.

    Args:
        home: the folder of what runs make; empty for the memory itself.
        theirs: canonical → real name of the files of the person's that play MEMORY.md, USER.md and SOUL.md.
        notes: globs of the person's documents that are searched.
        opted_in: globs of those into which ids and items may be written.
    """

    in_place: ClassVar[bool] = False
    """Whether the memory was adopted in place, so that most of its files are a person's."""

    home: str = ""
    theirs: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    opted_in: tuple[str, ...] = ()

    def real(self, path: str) -> str:
        """Return the path on the disk of what the program calls `path`; what it has no name for stays as it is."""
        return path

    def canonical(self, real: str) -> str | None:
        """Return what the program calls the file at `real`, or None for a file that is no part of the memory."""
        return real

    def tracked(self, real: str) -> str | None:
        """Return what the program calls a file that git has, or None for one that the memory does not commit."""
        return real

    def is_tracked(self, path: str) -> bool:
        """Whether the memory commits the file that the program calls `path`."""
        return path.partition("/")[0] in TRACKED

    def day_of_log(self, path: str) -> str:
        """Return the day whose log stands at a path, or an empty string."""
        return log_day(path.removeprefix(f"{LOGS}/"))

    def is_opted_in(self, real: str) -> bool:
        """Whether the person allowed that ids and items are written into a file of theirs."""
        return real.endswith(".md") and is_matched(real, self.opted_in)

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """What git is told to look at for everything that holds items."""
        return (BRIEFING, USER, REVIEW, *FOLDERS)

    def leads(self, folder: str, wanted: str = "") -> bool:  # noqa: ARG002  here every folder may
        """Whether a part of the memory, or of what the program calls `wanted`, may stand below a real folder."""
        return True

    def start(self, folder: str) -> str:
        """Return the real folder below which everything of a canonical folder stands; empty for the top."""
        return folder

    def link(self, path: str) -> str:
        """Return a path as a link in MEMORY.md leads to it: from the folder in which that stands."""
        return path


@dataclass(frozen=True, kw_only=True)
class InPlaceLayout(Layout):
    """The layout of a memory that was adopted in place.

    Args:
        days: how daily notes are named.
    """

    in_place: ClassVar[bool] = True

    days: DayNames

    def real(self, path: str) -> str:
        """Return the path on the disk of what the program calls `path`; what it has no name for stays as it is."""
        if path in self.theirs and (path == SOUL or self.is_opted_in(self.theirs[path])):
            return self.theirs[path]
        top, _, rest = path.partition("/")
        if top == NOTES and rest:
            return rest
        if top == LOGS:
            return self.days.real(path) or f"{self.home}/{path}"
        return f"{self.home}/{path}" if top in MADE else path

    def canonical(self, real: str) -> str | None:
        """Return what the program calls the file at `real`, or None for a file that is no part of the memory."""
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
        """Return the day whose log stands at a path; several can tell of one."""
        return day_of_log(path)

    def is_tracked(self, path: str) -> bool:
        """Whether the memory commits the file that the program calls `path`."""
        top, _, rest = path.partition("/")
        if top == NOTES:
            return self.is_opted_in(rest)
        return top in {SETTINGS, LOGS} or (top in MADE and top != SESSIONS)

    def tracked(self, real: str) -> str | None:
        """Return what the program calls a file that the memory commits, or None for any other."""
        path = self.canonical(real)
        return path if path is not None and self.is_tracked(path) else None

    def is_writable(self, path: str) -> bool:
        """Whether a run may write a file: what runs make, and what the person opted in. Never a log."""
        top, _, rest = path.partition("/")
        return self.is_opted_in(rest) if top == NOTES else top in MADE

    def is_theirs(self, path: str) -> bool:
        """Whether the program's `path` is a file of the person's."""
        return path.startswith((f"{NOTES}/", f"{LOGS}/")) or (path in self.theirs and self.real(path) in self.opened)

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """What git is told to look at for everything that holds items."""
        globs = (glob for glob in self.opted_in if not glob.startswith("!"))
        return self.home, *self.opened, *(f":(glob){glob}" for glob in globs)

    @property
    def opened(self) -> frozenset[str]:
        """The person's files that play MEMORY.md or USER.md and are opted in."""
        return frozenset(real for own, real in self.theirs.items() if own != SOUL and self.is_opted_in(real))

    @property
    def forsaken(self) -> dict[str, str]:
        """The files in the home that the person's own took the place of when they were opted in: theirs by path."""
        return {f"{self.home}/{own}": real for own, real in self.theirs.items() if real in self.opened}

    @property
    def open_folders(self) -> tuple[str, ...]:
        """The folders, with `/` at their ends, that the globs of what is opted in name first."""
        globs = [glob.split("/")[:-1] for glob in self.opted_in if not glob.startswith("!")]
        fixed = ["/".join(takewhile(lambda part: not set("*?[") & set(part), parts)) for parts in globs]
        return tuple(dict.fromkeys(f"{folder}/" for folder in fixed if folder))

    def leads(self, folder: str, wanted: str = "") -> bool:
        """Whether a part of the memory, or of what the program calls `wanted`, may stand below a real folder."""
        if f"{folder}/".startswith(f"{self.home}/") or self.home.startswith(f"{folder}/"):
            return True
        globs = (self.days.glob,) if wanted == LOGS else (*self.notes, *self.opted_in, self.days.glob)
        return may_hold(folder, globs)

    def start(self, folder: str) -> str:
        """Return the real folder below which everything of a canonical folder stands; empty for the top."""
        if folder == NOTES:
            return ""
        return self.days.folder if folder == LOGS else self.real(folder)

    def link(self, path: str) -> str:
        """Return a path as a link in MEMORY.md leads to it: from the folder in which that stands."""
        return os.path.relpath(self.real(path), Path(self.real(BRIEFING)).parent).replace(" ", "%20")


# What `[layout]` of curate.toml may say, and every fault of it at once. Its paths are paths of the memory: none leads
# out of it, into what is hidden, or through a symbolic link.


_ROLES: Final = {"memory": BRIEFING, "user": USER, "soul": SOUL}
_ALIAS: Final = re.compile(r"git~\d", re.IGNORECASE)
"""What `.git` is called on some disks; git commits no such name."""
_MOST_GLOBS: Final = 200
_LONGEST_NAME: Final = 255
_LONGEST: Final = 1024
KEYS: Final = ("home", "logs", *_ROLES, "notes", "opted_in")


def layout_names(raw: Any) -> InPlaceLayout:  # noqa: ANN401  what TOML gives; `layout_faults` has found no fault in it
    """Return the layout that a `[layout]` without faults gives."""
    return InPlaceLayout(
        home=raw["home"],
        days=DayNames(raw["logs"]),
        theirs={own: raw[key] for key, own in _ROLES.items() if raw.get(key)},
        notes=tuple(raw.get("notes", ())),
        opted_in=tuple(raw.get("opted_in", ())),
    )


def layout_faults(raw: object, root: Path) -> list[str]:
    """Return each fault of a layout as `key = value: what is wrong`. What only the user's settings can say is none."""
    if not isinstance(raw, dict):
        return [fault_line("layout", raw, "it should be a table")]
    return [fault_line(f"layout.{key}", value, what) for key, value, what in _faults(raw, root)]


def _faults(raw: dict[str, object], root: Path) -> Iterator[tuple[str, object, str]]:
    from pipelines.provider_settings import restricted_keys  # noqa: PLC0415  few memories have a `[layout]`

    set_aside = restricted_keys(raw, KEYS)
    yield from ((key, raw[key], "there is no such key") for key in raw if key not in KEYS and key not in set_aside)
    for key in ("home", "logs", *(role for role in _ROLES if role in raw)):
        if what := _path_fault(raw.get(key), root):
            yield key, raw.get(key), what
    for key in ("notes", "opted_in"):
        yield from _glob_faults(key, raw.get(key, []))
    home, logs = raw.get("home"), raw.get("logs")
    if isinstance(home, str) and not _odd(home) and not _can_be_made(home):
        yield "home", home, "a folder of that name cannot be made on every disk, or not be committed"
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
    if what := _odd(value):
        return what
    parts = value.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    if link := next((one for one in above if (root / one).is_symlink()), ""):
        return f"{link} is a symbolic link, which is never followed"
    return ""


def _odd(value: str) -> str:
    parts = value.split("/")
    if value.startswith(("/", "~")) or ".." in parts:
        return "it leads out of the memory"
    if not value.isprintable() or "\\" in value or not all(parts):
        return "it is no plain path; write it with single / between folders and none at its ends"
    if len(value.encode()) > _LONGEST or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return "it is longer than a file can be called"
    if parts[0].casefold() == SETTINGS:
        return "the settings have that name"
    return "it is hidden, and what is hidden is left alone" if any(part.startswith(".") for part in parts) else ""


def _glob_faults(key: str, value: object) -> Iterator[tuple[str, object, str]]:
    if not isinstance(value, list):
        yield key, value, "it should be a list of globs"
        return
    if len(value) > _MOST_GLOBS:
        yield key, value, f"it has more than {_MOST_GLOBS} globs"
        return
    for number, glob in enumerate(value):
        path = glob.removeprefix("!") if isinstance(glob, str) else ""
        if what := _odd(path) if path else 'it should be a glob, such as "**/*.md"':
            yield f"{key}[{number}]", glob, what


def _overlaps(home: str, logs: str, roles: dict[str, str]) -> Iterator[tuple[str, object, str]]:
    """Yield what stands in the way of another: two things under one name, or a file of the person's in the home."""
    if logs.startswith(f"{home}/") and not logs.startswith(f"{home}/{LOGS}/"):
        yield "logs", logs, f"daily notes can stand beside {home} or in {home}/{LOGS}, not elsewhere in it"
    if logs == home:
        yield "home", home, "the daily notes have that name"
    taken: dict[str, str] = {}
    for key, value in roles.items():
        if f"{value}/".startswith(f"{home}/"):
            yield key, value, f"it stands in {home}, which is for what runs make"
        if value in taken:
            yield key, value, f"layout.{taken[value]} says the same"
        if not name_fault(logs) and DayNames(logs).canonical(value):
            yield key, value, "it is named like a daily note"
        if not value.endswith(".md"):
            yield key, value, "it must end with .md"
        taken[value] = key
