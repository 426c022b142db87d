"""The files and folders of a memory, and the rules for their names."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


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
NOTES: Final = "Notes"
"""The canonical folder of a person's own documents in a memory adopted in place; it does not exist on disk."""

EPISODES: Final = "Episodes"
PARA: Final = ("Projects", "Areas", "Resources", "Archives")
FOLDERS: Final = (*PARA, EPISODES)
TRACKED: Final = (
    "MEMORY.md", "SOUL.md", "USER.md", "AGENTS.md", "Review.md", "curate.toml", ".gitignore", ".gitattributes",
    "Logs", *FOLDERS, "State",
)  # fmt: skip
MADE: Final = (BRIEFING, USER, REVIEW, *FOLDERS, STATE, SESSIONS)
"""What runs create, in the home folder."""


class Kind(StrEnum):
    """The kind of a document."""

    PROJECT = "project"
    AREA = "area"
    RESOURCE = "resource"
    ARCHIVE = "archive"
    USER = "user"
    BRIEFING = "briefing"
    REVIEW = "review"
    EPISODE = "episode"


_KINDS = {
    "Projects": Kind.PROJECT,
    "Areas": Kind.AREA,
    "Resources": Kind.RESOURCE,
    "Archives": Kind.ARCHIVE,
    EPISODES: Kind.EPISODE,
    NOTES: Kind.RESOURCE,
    USER: Kind.USER,
    BRIEFING: Kind.BRIEFING,
    REVIEW: Kind.REVIEW,
}


DESCRIPTIONS: Final = (".md", ".meta.json")
"""What stands behind an image's name in that of its description; the first that is there counts."""
IMAGES: Final = (".png", ".jpg", ".jpeg", ".webp", ".gif")


def is_image(path: str) -> bool:
    """Whether the name of a file is that of an image."""
    return path.lower().endswith(IMAGES)


def kind_of(path: str) -> Kind | None:
    """Return the kind of the document at `path` (relative, with `/`), or None if no document may be there.

    An image's description is no document: nothing is filed in it.
    """
    is_page = path.endswith(".md") and not is_image(path.removesuffix(".md"))
    return _KINDS.get(path.partition("/")[0]) if is_page else None


def document_id(path: str) -> str:
    """Return a document's id, its path without `.md`: `Projects/alpha`, `USER`, `MEMORY`."""
    return path.removesuffix(".md")


def document_path(ident: str) -> str:
    """Return the path of the document with that id."""
    return f"{ident}.md"


def archive_path(page: str, day: str) -> str:
    """Return the path of the archive for a page's items that were learnt in the year of a day."""
    return f"Archives/{document_id(page).rpartition('/')[2]}-{day[:4] or 'undated'}.md"


_PART = re.compile(r"(?:-(?:\d{4}|undated))?(?:-\d{1,3})?\.md")


def is_archive_of(path: str, page: str) -> bool:
    """Whether a path is that of a page after it was closed, or of an archive of what the page had no room for."""
    begin = f"Archives/{document_id(page).rpartition('/')[2]}"
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

_BAD = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\:*?"<>|]|^[\s.~]|[\s.]$')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_LONGEST = 180


def can_stand(name: str) -> bool:
    """Whether a visible file or folder of that name is possible on every disk, and in git."""
    return bool(name) and not _BAD.search(name) and not _DEVICE.fullmatch(name) and len(name.encode()) <= _LONGEST


_LOG_NAME = re.compile(r"(\d{4})-(\d{2})-(\d{2})\.md")
_IN_EVERY_MONTH = re.compile(r"(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])\.md", re.ASCII)


def log_path(day: str) -> str:
    """Return the path of the log of a day (`YYYY-MM-DD`)."""
    return f"{LOGS}/{day}.md"


def episode_path(day: str) -> str:
    """Return the path of the monthly episode page for a day (`YYYY-MM-DD`)."""
    return f"{EPISODES}/{day[:7]}.md"


@lru_cache(maxsize=4096)
def log_day(name: str) -> str:
    """Return the day in a log's file name, or an empty string if it is not a valid date."""
    if _IN_EVERY_MONTH.fullmatch(name):  # fast path for nearly all
        return name.removesuffix(".md")
    from datetime import date  # noqa: PLC0415  not needed by every start

    found = _LOG_NAME.fullmatch(name)
    if not found:
        return ""
    try:
        return date(*map(int, found.groups())).isoformat()
    except ValueError:
        return ""


def day_of_log(path: str) -> str:
    """Return the day of a log by its path (`Logs/DAY.md` or `Logs/DAY/REST`), or an empty string."""
    name, more, _ = path.removeprefix(f"{LOGS}/").partition("/")
    return log_day(f"{name}.md" if more else name)


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


def may_hold(folder: str, globs: Iterable[str]) -> bool:
    """Whether globs may include something below a folder; if not, it need not be walked."""
    parts = folder.split("/") if folder else []
    return any(_leads(parts, glob.split("/")) for glob in globs if not glob.startswith("!"))


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
    for number, part in enumerate(parts):
        if number >= len(shape):
            return False
        if shape[number] == "**":
            return True
        if not fnmatchcase(part, shape[number]):
            return False
    return len(shape) > len(parts)


class Layout:
    """The paths on disk of a memory's files; in this class they equal the canonical ones.

    Args:
        home: the folder for what runs create; empty for the memory itself.
        theirs: canonical → real path of the person's own files used as MEMORY.md, USER.md and SOUL.md.
        notes: globs of the person's documents to be searched.
        opted_in: globs of those into which ids and items may be written.
    """

    in_place: ClassVar[bool] = False
    """Whether the memory was adopted in place, so that most of its files are the person's."""

    home: str = ""
    theirs: Mapping[str, str] = MappingProxyType({})
    notes: tuple[str, ...] = ()
    opted_in: tuple[str, ...] = ()

    def real(self, path: str) -> str:
        """Return the path on disk of a canonical path; other paths stay as they are."""
        return path

    def canonical(self, real: str) -> str | None:
        """Return the canonical path of the file at `real`, or None if it is not part of the memory."""
        return real

    def tracked(self, real: str) -> str | None:
        """Return the canonical path of a file in git, or None if the memory does not commit it."""
        return real

    def is_tracked(self, path: str) -> bool:
        """Whether the memory commits the file at a canonical path."""
        return path.partition("/")[0] in TRACKED

    def is_writable(self, path: str) -> bool:  # noqa: ARG002  here every file is
        """Whether a run may write the file at a canonical path."""
        return True

    def day_of_log(self, path: str) -> str:
        """Return the day of the log at a path, or an empty string."""
        return log_day(path.removeprefix(f"{LOGS}/"))

    def is_opted_in(self, real: str) -> bool:
        """Whether the person allows ids and items to be written into a file of theirs."""
        return real.endswith(".md") and is_matched(real, self.opted_in)

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """Git pathspecs of all files with items."""
        return (BRIEFING, USER, REVIEW, *FOLDERS)

    def leads(self, folder: str, wanted: str = "") -> bool:  # noqa: ARG002  here every folder may
        """Whether a real folder may contain files of the memory, or of the canonical folder `wanted`."""
        return True

    def start(self, folder: str) -> str:
        """Return the real folder that contains everything of a canonical folder; empty for the top."""
        return folder

    def link(self, path: str) -> str:
        """Return a path as a link target in MEMORY.md, relative to its folder."""
        return path
