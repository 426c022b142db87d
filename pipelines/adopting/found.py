"""What stands in the folder that is to be adopted. It is read, and never written."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.store import files
from pipelines.store.files import read_bytes, too_many
from pipelines.text import plain_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_BYTES: Final = 64 * 1024 * 1024
NOTES: Final = (".md", ".txt")
_ATTACHMENTS: Final = (".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp")
_PERMALINK: Final = re.compile(rb"\A(?:\xef\xbb\xbf)?---\r?\n(?:(?!---|\.\.\.).*\n){0,60}?permalink[ \t]*:")


@dataclass(frozen=True, slots=True)
class Found:
    """A file that can be taken over.

    Args:
        path: where it stands, relative to the folder, with `/`.
        size: its bytes.
        permalink: whether it is a note whose front matter names a permalink.
    """

    path: str
    size: int
    permalink: bool = False

    @property
    def is_note(self) -> bool:
        """Whether it is Markdown, and no attachment."""
        return self.path.lower().endswith(".md")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder that is not taken over; `why` ends a sentence that begins with its path."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Source:
    """A folder as it was found: what can be taken over, in order of paths, and what cannot."""

    root: Path
    files: tuple[Found, ...]
    left_out: tuple[LeftOut, ...]


def read_source(root: Path) -> Source:
    """Look at every file below a folder; links are not followed, and nothing hidden is looked into.

    Raises:
        BadFile: the folder itself cannot be listed, or holds too many files.
    """
    found: list[Found] = []
    left: list[LeftOut] = []
    for entry, path in _walk(root, left):
        if why := _unfit(entry, path):
            left.append(LeftOut(shown(path), why))
        else:
            try:
                found.append(_read(root, path, entry.stat(follow_symlinks=False).st_size))
            except BadFile as fault:
                left.append(LeftOut(path, fault.why))
            except OSError as error:
                left.append(LeftOut(path, f"cannot be read: {(error.strerror or str(error)).lower()}"))
    by_path = sorted(found, key=lambda one: one.path), sorted(left, key=lambda one: one.path)
    return Source(root, tuple(by_path[0]), tuple(by_path[1]))


def shown(path: str) -> str:
    """Return a path as it can be printed: bytes that are no UTF-8, and line ends, become escapes."""
    return plain_line(path)


def note_text(root: Path, path: str) -> bytes:
    """Return the bytes of a note that can be text of a memory.

    Raises:
        BadFile: it vanished, cannot be read, is not UTF-8, or holds NUL characters.
    """
    data = read_bytes(root, path)
    if data is None:
        raise BadFile(path, "vanished while it was read")
    if b"\0" in data:
        raise BadFile(path, "holds NUL characters, so it is no text")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise BadFile(path, f"is not UTF-8 (byte {error.start})") from None
    return data


def _walk(root: Path, left: list[LeftOut]) -> Iterator[tuple[os.DirEntry[str], str]]:
    pending, seen = [""], 0
    while pending:
        here = pending.pop()
        try:
            with os.scandir(root / here) as entries:
                listed = list(islice(entries, files.MOST_FILES + 1 - seen))
        except OSError as error:
            why = f"cannot be listed: {(error.strerror or str(error)).lower()}"
            if not here:
                raise BadFile(root, why, "Name a folder that you may read.") from None
            left.append(LeftOut(shown(here), why))
            continue
        seen += len(listed)
        if seen > files.MOST_FILES:
            raise BadFile(root, too_many(files.MOST_FILES), "Name a folder that holds notes, or move what is none.")
        for entry in listed:
            path = f"{here}/{entry.name}" if here else entry.name
            if entry.name.startswith("."):
                left.append(LeftOut(shown(path), "is hidden"))
            elif entry.is_dir(follow_symlinks=False):
                pending.append(path)
            else:
                yield entry, path


def _unfit(entry: os.DirEntry[str], path: str) -> str:
    """Return why a file cannot be taken over, as far as its name and kind tell; empty where it can."""
    ending = path[path.rfind(".") :].lower() if "." in entry.name else ""
    if entry.is_symlink():
        return "is a symbolic link, which is never followed"
    if not entry.is_file(follow_symlinks=False):
        return "is no regular file"
    if ending == ".jsonl":
        return "may be a session: `curate capture` takes sessions in"
    if ending not in NOTES + _ATTACHMENTS:
        return "is neither a note, a PDF file nor an image"
    return f"is larger than {MAX_BYTES >> 20} MB" if entry.stat(follow_symlinks=False).st_size > MAX_BYTES else ""


def _read(root: Path, path: str, size: int) -> Found:
    if not path.lower().endswith(NOTES):
        if not os.access(root / path, os.R_OK):
            raise BadFile(path, "cannot be read: permission denied")
        return Found(path, size)
    data = note_text(root, path)
    return Found(path, len(data), bool(_PERMALINK.match(data)))
