"""Which files are indexed, and their text: the logs and the documents, never what is private or loaded anyway.

Logs, Projects, Areas, Resources, Archives, MEMORY.md and USER.md. Left out on purpose: SOUL.md and AGENTS.md, which
every session loads whole and which tell the agent how to be, not what was; Review.md, because what waits is not
believed; Logs/partial, which is folded into its day; State, Sessions, `.curate`, `.git` and every hidden file. A
symbolic link is never followed, so that nothing outside the memory is ever read through it.
"""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.memory.files import read_bytes
from pipelines.memory.layout import BRIEFING, FOLDERS, LOGS, PARTIAL, USER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES: Final = (".md", ".txt")
MAX_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the disk tells of a file without reading it. The change time shows what a kept modification time hides."""

    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not indexed; `reason` ends a sentence that begins with its path."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    """The files to index with their stamps, in order of paths, and what was passed over."""

    files: dict[str, Stamp]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """One file as it was read: its text, or the reason why it has none, and the hash of its bytes."""

    text: str
    sha256: str
    reason: str = ""


def scan(root: Path) -> Scan:
    """Return the files of a memory that belong in the index. Nothing on the disk makes this fail."""
    files: dict[str, Stamp] = {}
    skipped: list[Skipped] = []
    for entry, path in _candidates(root, skipped):
        if reason := _unfit(entry, path):
            skipped.append(Skipped(_shown(path), reason))
        elif stamp := _stamp(entry):
            if stamp.size > MAX_BYTES:
                skipped.append(Skipped(path, f"is larger than {MAX_BYTES >> 20} MB"))
            else:
                files[path] = stamp
    return Scan(dict(sorted(files.items())), tuple(sorted(skipped, key=lambda one: one.path)))


def _candidates(root: Path, skipped: list[Skipped]) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Yield every file, link and oddity that has a name to be indexed."""
    pending = [""]
    while pending:
        here = pending.pop()
        try:
            with os.scandir(root / here) as entries:
                listed = [entry for entry in entries if _wanted(here, entry.name)]
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTDIR}:
                skipped.append(Skipped(_shown(here), f"cannot be listed: {_why(error)}"))
            continue
        for entry in listed:
            path = f"{here}/{entry.name}" if here else entry.name
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
            elif entry.name.lower().endswith(SUFFIXES) or not here:
                yield entry, path


def _wanted(folder: str, name: str) -> bool:
    if not folder:
        return name in {BRIEFING, USER, LOGS, *FOLDERS}
    return not name.startswith(".") and f"{folder}/{name}" != PARTIAL


def _unfit(entry: os.DirEntry[str], path: str) -> str:
    if entry.is_symlink():
        return "is a symbolic link, which is never followed"
    if not entry.is_file(follow_symlinks=False):
        return "is no regular file"
    return "" if path == _shown(path) else "has a name that is not UTF-8"


def _stamp(entry: os.DirEntry[str]) -> Stamp | None:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:  # it vanished after it was listed
        return None
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _shown(path: str) -> str:
    return path.encode(errors="backslashreplace").decode()


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def read_source(root: Path, path: str) -> Source | None:
    """Return a file as it is now, or None where it vanished. Text is UTF-8, with or without a byte order mark."""
    try:
        data = read_bytes(root, path)
    except BadFile as error:
        return Source("", "", error.why)
    if data is None:
        return None
    digest = hashlib.sha256(data).hexdigest()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Source("", digest, f"is not UTF-8 (byte {error.start})")
    return Source("", digest, "holds NUL characters, so it is no text") if "\0" in text else Source(text, digest)
