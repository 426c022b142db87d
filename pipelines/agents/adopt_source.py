"""The notes to adopt: where they are, what they hold, of which kind they are, and which of them are daily notes.

They are only read, never written. Daily notes are told by a vault's own settings, or by their names, as most of them
are named.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections import Counter, defaultdict
from datetime import date, timedelta
from enum import StrEnum
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.errors import BadFile, UsageFault, reason_of
from pipelines.store.files import read_bytes
from pipelines.store.layout import NOTES, PARA, day_of_log, log_path
from pipelines.store.markdown import read_front_matter, split_lines
from pipelines.store.user_layout import memory_at
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


LeftOut = tuple[str, str]
"""The path of a file or folder that is not adopted, and why: the rest of a sentence that starts with the path."""
MAX_BYTES = 64 * 1024 * 1024
TEXTS = (".md", ".txt")
"""What search covers."""
ATTACHMENTS = (".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp")
_WORKSPACE = frozenset("SOUL.md USER.md IDENTITY.md AGENTS.md TOOLS.md HEARTBEAT.md BOOTSTRAP.md MEMORY.md".split())
_ENOUGH = 2
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
_ADDRESS = re.compile("https?://", re.IGNORECASE)


class NotesKind(StrEnum):
    """A kind of notes that can be adopted."""

    OPENCLAW = "openclaw"
    CLAUDE_CODE = "claude-code"
    OBSIDIAN = "obsidian"

    @property
    def called(self) -> str:
        """The name of a folder of this kind, with its article."""
        return _TITLES[self]

    @property
    def is_by_agents(self) -> bool:
        """Whether an agent wrote the notes."""
        return self in {NotesKind.OPENCLAW, NotesKind.CLAUDE_CODE}


_TITLES = {
    NotesKind.OPENCLAW: "an OpenClaw workspace",
    NotesKind.CLAUDE_CODE: "a project memory of Claude Code",
    NotesKind.OBSIDIAN: "a folder of notes",
}


_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""A byte that could not be decoded, as `surrogateescape` keeps it."""


APART = "is not part of the memory"
"""Why a file of an agent's workspace, or a template, stays behind."""


_OF_PROGRAMS = ("skills", "templates", "node_modules")
"""Folders of a workspace whose Markdown is no memory, at any depth."""
_PACKAGE = frozenset({".git", "package.json", "pyproject.toml"})
"""What the top folder of a repository or a package of its own holds."""


class Source(NamedTuple):
    """The notes that were found.

    Args:
        root: their folder.
        kind: what they are.
        files: the size of each note that can be adopted, by path, in order of paths; of other files, 0.
        left_out: what cannot be adopted, in order of paths.
    """

    root: Path
    kind: NotesKind
    files: Mapping[str, int]
    left_out: Sequence[LeftOut]


def globs_of(found: Source, templates: str) -> tuple[str, ...]:
    """Return globs of the files that belong to notes: a workspace also holds skills, repositories and attachments.

    Args:
        found: the notes.
        templates: the folder of templates; empty if there is none.
    """
    globs, apart = ["**"], {templates} - {""}
    if found.kind is NotesKind.OPENCLAW:
        globs = ["*", "**/*.md", "memory/**", *(f"{folder}/**" for folder in PARA)]
        globs += [f"!**/{name}/**" for name in _OF_PROGRAMS]
        places = [path.rpartition("/") for path, _ in found.left_out]
        apart |= {folder for folder, _, name in places if folder and name in _PACKAGE}
        apart = {one for one in apart if not any(one.startswith(f"{above}/") for above in apart)}
    return (*globs, *(f"!{escape(folder)}/**" for folder in sorted(apart)))


def notes_in(folder: Path, named: str | None) -> Source:
    """Return the notes in a folder; those of Claude Code may be in its folder `memory`, beside sessions.

    Links are not followed, and hidden folders not entered.

    Args:
        folder: the folder.
        named: their kind, or None to detect it.

    Raises:
        BadFile: there is no such folder, or it cannot be listed.
        UsageFault: it is already a memory, it has nothing to adopt, or its kind is not known.
    """
    root = folder.expanduser().absolute()
    if not root.is_dir():
        raise BadFile(root, "is not a folder", "Name the folder that holds the notes.")
    if memory_at(root):
        raise UsageFault(f"{root} is already a memory.", f"`curate init {root}` adds what it lacks.")
    files, left = _read(root := root.resolve())
    if not files:
        raise UsageFault(f"There is nothing to adopt in {root}.", "It has no notes, PDF files or images.")
    kind = NotesKind(named) if named else _detect(files, left)
    if kind is NotesKind.CLAUDE_CODE and "MEMORY.md" not in files and any(path.startswith("memory/") for path in files):
        return notes_in(root / "memory", kind)
    return Source(root, kind, dict(sorted(files.items())), sorted(left))


def _read(root: Path) -> tuple[dict[str, int], list[LeftOut]]:
    """Return the size of each file that can be adopted, and what cannot."""
    found = dict[str, int]()
    left = list[LeftOut]()

    def refused(error: OSError) -> None:
        left.append(
            (escape_terminal_line(os.path.relpath(error.filename, root)), f"cannot be listed: {reason_of(error)}")
        )

    for above, folders, names in os.walk(root, onerror=refused):
        here = Path(above)
        hidden = [name for name in (*folders, *names) if name.startswith(".")]
        left += [(escape_terminal_line(str((here / name).relative_to(root))), "is hidden") for name in hidden]
        folders[:] = [name for name in folders if name not in hidden]
        links = [name for name in folders if (here / name).is_symlink()]
        for name in (*names, *links):
            path = str((here / name).relative_to(root))
            if name in hidden:
                continue
            if why := _unfit(here / name, path):
                left.append((escape_terminal_line(path), why))
                continue
            try:
                data = note_text(root, path) if path.lower().endswith(TEXTS) else b""
                found[path] = len(data)
            except BadFile as fault:
                left.append((path, fault.why))
    return found, left


def is_note(path: str) -> bool:
    """Whether a file is Markdown rather than an attachment."""
    return path.lower().endswith(".md")


def file_bytes(root: Path, path: str) -> bytes:
    """Return the bytes of a file.

    Raises:
        BadFile: it vanished, or cannot be read.
    """
    data = read_bytes(root, path, MAX_BYTES)
    if data is None:
        raise BadFile(path, "vanished while it was read")
    return data


def note_text(root: Path, path: str) -> bytes:
    """Return a note as UTF-8: what is UTF-16 by its mark is converted, a byte that is not UTF-8 is Windows-1252.

    Raises:
        BadFile: it vanished, or cannot be read.
    """
    data = file_bytes(root, path)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace").encode()
    text = data.decode(errors="surrogateescape")
    return _NOT_UTF8.sub(
        lambda found: found[0].encode(errors="surrogateescape").decode("cp1252", errors="replace"), text
    ).encode()


def _unfit(file: Path, path: str) -> str:
    """Return why a file cannot be adopted, judged by name and type; empty if it can."""
    ending = file.suffix.lower()
    if file.is_symlink():
        return "is a symbolic link; links are not followed"
    if path != escape_terminal_line(path):
        return "has a name that cannot be printed"
    if ending == ".jsonl":
        return "may be a session: `curate capture` captures sessions"
    if ending not in TEXTS + ATTACHMENTS or not file.is_file():
        return "is no Markdown, text, PDF or image file"
    if not os.access(file, os.R_OK):
        return "cannot be read: permission denied"
    return f"is larger than {MAX_BYTES >> 20} MB" if file.stat().st_size > MAX_BYTES else ""


def _detect(files: Mapping[str, int], left: Sequence[LeftOut]) -> NotesKind:
    """Return the kind of notes in a folder; what is no agent's is a folder of notes."""
    top = {path for path in files if "/" not in path}
    sessions = any(path.endswith(".jsonl") and "/" not in path for path, _ in left)
    if sessions and "memory/MEMORY.md" in files:
        return NotesKind.CLAUDE_CODE
    has_days = any(is_note(path) and path.startswith("memory/") and dated(path)[0] for path in files)
    if has_days or len(top & _WORKSPACE) >= _ENOUGH:
        return NotesKind.OPENCLAW
    is_vault = any(path in {".obsidian", f"{LOGSEQ}/config.edn"} for path, _ in left)
    return NotesKind.CLAUDE_CODE if "MEMORY.md" in top and not is_vault else NotesKind.OBSIDIAN


# ---------------------------------------- daily notes


class Vault(NamedTuple):
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


def read_vault(root: Path, paths: Iterable[str]) -> Vault:
    """Return what the settings of a vault say, and how its notes are named; broken settings are ignored."""
    told = _settings(root, _PERIODIC) or {}  # those of the plugin Periodic Notes replace Obsidian's
    sets = told.get("calendarSets")
    days = [
        told.get("daily"),
        *(one.get("day") for one in (sets if isinstance(sets, list) else ()) if isinstance(one, dict)),
    ]
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
    if not (day := day_of_log(log_path(f"{year}-{month}-{found[4]}"))):
        return "", "", ""
    varying = [_DIGIT.sub("?", one) if one in {year, month, f"{year}-{month}"} else escape(one) for one in above]
    return day, "/".join([*varying, _DIGIT.sub("?", escape(name[: found.end(4)]))]), found[5] or ""


def said_elsewhere(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return the day of each note that is named after one and something else: of a meeting, or an idea.

    Not one in a folder of projects, areas, resources or archives, where it keeps its place; none of several with the
    same name on three days running, as digests and reports of days have; and no clipping from the web, which is any
    note with an address in its front matter.

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
        lines = split_lines(note_text(root, path).decode())
        return bool(_ADDRESS.search("".join(lines[: read_front_matter(lines).lines])))

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
