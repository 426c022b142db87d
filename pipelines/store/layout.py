"""The files and folders of a memory, and the rules for their names.

A path is always the real one, relative to the memory, with `/`. Notes that were adopted in place lie around the memory,
so that their paths begin with `../`.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


LINKED: Final = "is a symbolic link, which is never followed"
SETTINGS: Final = "curate.toml"
BRIEFING: Final = "MEMORY.md"
USER: Final = "USER.md"
SOUL: Final = "SOUL.md"
REVIEW: Final = "Review.md"
LOGS: Final = "Logs"
PARTIAL: Final = "Logs/partial"
SESSIONS: Final = "Sessions"
STATE: Final = "State"
PROGRESS: Final = "State/progress.jsonl"
ITEMS: Final = "State/items/"
"""The folder of the ledger's rows of items."""
GENERATED: Final = "State/generated/"
"""The folder of the ledger's rows of lines that runs wrote."""
LEDGER: Final = (ITEMS, GENERATED)
TOMBSTONES: Final = "State/tombstones.jsonl"
PRIVATE: Final = ".curate"
ASIDE: Final = ".curate/tmp"
"""The folder for staging files."""
REPLIES: Final = ".curate/replies"
GENERAL: Final = "Areas/general.md"
NOTES: Final = ".."
"""The folder of the notes that were adopted in place, which contains the memory."""
NOTES_FILE: Final = "curate-notes.toml"
"""The file among these notes that says what the memory reads."""

EPISODES: Final = "Episodes"
PARA: Final = ("Projects", "Areas", "Resources", "Archives")
FOLDERS: Final = (*PARA, EPISODES)
TRACKED: Final = (
    "MEMORY.md", "SOUL.md", "USER.md", "AGENTS.md", "Review.md", "curate.toml", ".gitignore", ".gitattributes",
    "Logs", *FOLDERS, "State",
)  # fmt: skip


class Kind(StrEnum):
    """The kind of a document; `_KINDS` has the folders and files in the same order."""

    PROJECT = "project"
    AREA = "area"
    RESOURCE = "resource"
    ARCHIVE = "archive"
    USER = "user"
    BRIEFING = "briefing"
    REVIEW = "review"
    EPISODE = "episode"


_KINDS = dict(zip((*PARA, USER, BRIEFING, REVIEW, EPISODES), Kind, strict=True))


def kind_of(path: str) -> Kind | None:
    """Return the kind of the document at `path` (relative, with `/`), or None if no document may be there."""
    return _KINDS.get(path.partition("/")[0]) if path.endswith(".md") else None


def archive_path(page: str, day: str) -> str:
    """Return the path of the archive for a page's items that were learnt in the year of a day."""
    return f"Archives/{page.removesuffix('.md').rpartition('/')[2]}-{day[:4] or 'undated'}.md"


_PART = re.compile(r"(?:-(?:\d{4}|undated))?(?:-\d{1,3})?\.md")


def is_archive_of(path: str, page: str) -> bool:
    """Whether a path is that of a page after it was closed, or of an archive of what the page had no room for."""
    begin = f"Archives/{page.removesuffix('.md').rpartition('/')[2]}"
    return path.startswith(begin) and _PART.fullmatch(path, len(begin)) is not None


_ACCENTED = re.compile("([a-zA-Z])[\u0300-\u036f]+")
"""An accented Latin letter, decomposed. In other scripts a mark makes another letter: `й`, `ズ`."""


def slug(title: str) -> str:
    """Return the file name for a title: lower case, ASCII where possible, words joined by `-`, 60 characters at most.

    Letters of other scripts are kept in composed form; a title without letters and digits gives `untitled`.
    """
    letters = _ACCENTED.sub(r"\1", unicodedata.normalize("NFKD", title))
    words = re.findall(r"\w+", unicodedata.normalize("NFC", letters).casefold().replace("_", " "))
    name = "-".join(words)[:60].strip("-")
    return f"{name}-" if name.upper() in _RESERVED else name or "untitled"


_RESERVED = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{p}{n}" for p in ("COM", "LPT") for n in range(1, 10))})

_LOG_NAME = re.compile(r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\.md")


def log_path(day: str) -> str:
    """Return the path of the log of a day (`YYYY-MM-DD`)."""
    return f"{LOGS}/{day}.md"


def episode_path(day: str) -> str:
    """Return the path of the monthly episode page for a day (`YYYY-MM-DD`)."""
    return f"{EPISODES}/{day[:7]}.md"


def is_note(path: str) -> bool:
    """Whether a file is a note, which is read and never written."""
    return path.startswith(f"{NOTES}/")


_DATED = re.compile(
    r"(?:.*/)?[^/\d]*(?P<year>\d{4})([-_./]?)(?P<month>\d{2})\2(?P<day>\d{2})(?:[-_ .T][^/]*)?\.md", re.ASCII
)
_DAY_FIRST = re.compile(
    r"(?:.*/)?(?P<day>\d{2})([-_.])(?P<month>\d{2})\2(?P<year>\d{4})(?:[-_ .T][^/]*)?\.md", re.ASCII
)


@lru_cache(maxsize=4096)
def day_of_log(path: str) -> str:
    """Return the day of a log by its path (`Logs/2026-03-18.md`, `../2026/03/18.md`, `../18.03.2026.md`), or ""."""
    from datetime import date  # noqa: PLC0415  not needed by every start

    if is_note(path):
        found = _DATED.fullmatch(path) or _DAY_FIRST.fullmatch(path)
    else:
        found = _LOG_NAME.fullmatch(path.removeprefix(f"{LOGS}/"))
    try:
        return date(*(int(found[part]) for part in ("year", "month", "day"))).isoformat() if found else ""
    except ValueError:
        return ""


def is_log(path: str) -> bool:
    """Whether a file is a log, or a note that is named after a day."""
    return path.startswith(f"{LOGS}/") or (is_note(path) and bool(day_of_log(path)))


def is_tracked(path: str) -> bool:
    """Whether the memory commits the file at a path."""
    return path.partition("/")[0] in TRACKED


# Globs over paths of a memory: `*` and `?` match within one name, `**` matches any number of folders. A glob starting
# with `!` excludes what earlier ones included.


def is_matched(path: str, globs: Iterable[str]) -> bool:
    """Whether globs include a path (relative, with `/`); the last match decides."""
    parts, inside = path.split("/"), False
    for glob in globs:
        shape = glob.removeprefix("!").split("/")
        if inside is glob.startswith("!") and _matches(parts, shape):
            inside = not inside
    return inside


def _matches(parts: Sequence[str], shape: Sequence[str]) -> bool:
    """Whether parts match a pattern, in time proportional to both: only the last `**` is backtracked."""
    at = here = 0
    again: tuple[int, int] | None = None
    while at < len(parts):
        if here < len(shape) and shape[here] == "**":
            if here == len(shape) - 1:
                return True
            again, here = (at, here + 1), here + 1
        elif here < len(shape) and fnmatchcase(parts[at], shape[here]):
            at, here = at + 1, here + 1
        elif again is None:
            return False
        else:
            again = (again[0] + 1, again[1])
            at, here = again
    return here == len(shape)


def _leads(parts: Sequence[str], shape: Sequence[str]) -> bool:
    for part, form in zip(parts, shape, strict=False):
        if form == "**":
            return True
        if not fnmatchcase(part, form):
            return False
    return len(shape) > len(parts)


class Layout(NamedTuple):
    """The notes that a memory reads where they lie, and never changes.

    Args:
        home: the memory's own folder among the notes; empty if it has none.
        logs: globs of the notes that are logs, if their names say a day.
        notes: globs of those that search covers.
        trust: whose word the prose of those is that do not say so themselves; empty for the owner's.
    """

    home: str = ""
    logs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    trust: str = ""

    def has(self, path: str, globs: Iterable[str] = ()) -> bool:
        """Whether a path is that of a note; with globs, of one that they include."""
        note = path.removeprefix(f"{NOTES}/")
        other = note == NOTES_FILE or any(not part or part.startswith(".") for part in note.split("/"))
        if note == path or other or f"{note}/".startswith(f"{self.home}/"):
            return False
        return is_matched(note, globs) if globs else is_matched(note, self.notes) or is_matched(note, self.logs)

    def leads(self, folder: str, globs: Iterable[str] = ()) -> bool:
        """Whether there may be such notes below a folder; if not, it need not be walked."""
        below = folder.removeprefix(f"{NOTES}/")
        wanted = (glob.split("/") for glob in globs or (*self.notes, *self.logs) if not glob.startswith("!"))
        return below != self.home and any(_leads(below.split("/"), shape) for shape in wanted)
