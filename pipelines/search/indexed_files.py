"""The files that are indexed: logs, transcripts and documents, but not those that are private or loaded anyway.

Markdown and text anywhere, and transcripts in Sessions. Deliberately excluded: SOUL.md and AGENTS.md, which every
session loads and which instruct the agent rather than record facts; Logs/partial, which is folded into its day; State;
what is hidden; outside the memory's own folders, what git ignores. From Review.md and State/tombstones.jsonl, only
claims about log lines are indexed: what waits or was rejected is not believed. Symbolic links are never followed, so
that nothing outside the memory is read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import GitFault
from pipelines.search.schema import reading
from pipelines.store.layout import (
    BRIEFING,
    EPISODES,
    LINKED,
    LOGS,
    NOTES,
    PARA,
    PARTIAL,
    REVIEW,
    SESSIONS,
    SETTINGS,
    SOUL,
    STATE,
    TOMBSTONES,
    USER,
    is_note,
)
from pipelines.store.trees import ledger_on_disk, left_out
from pipelines.store.user_layout import layout_of
from pipelines.text import is_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


MAX_BYTES = 64 * 1024 * 1024
MAX_TRANSCRIPT_BYTES = 1024 * 1024 * 1024
"""A transcript is read line by line, and most of it is tool results."""

CLAIMING = frozenset({REVIEW, TOMBSTONES})
"""Files without units that say which log lines are not believed."""
_NEVER = frozenset({SOUL, "AGENTS.md", REVIEW, SETTINGS})
_OWN = _NEVER | {BRIEFING, USER, LOGS, SESSIONS, EPISODES, *PARA, NOTES}
"""What is at the top of every memory, whether git ignores it or not."""


class FileStamp(NamedTuple):
    """A file's metadata. The change time reveals an edit that kept the modification time.

    `beside` is what else its text depends on: for a transcript the memory's days.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    beside: str = ""


class Skipped(NamedTuple):
    """A file that is not indexed, or only in part; `reason` is the predicate of a sentence about it."""

    path: str
    reason: str


def scan(root: Path) -> tuple[dict[str, FileStamp], tuple[Skipped, ...]]:
    """Return the files that belong in the index, by path, and those skipped. Nothing on disk makes this fail."""
    found = dict[str, FileStamp]()
    skipped = list[Skipped]()
    days = ""  # looked up when a transcript needs them
    for entry, path in _candidates(root, skipped):
        beside = ""
        if path.startswith(f"{SESSIONS}/"):
            from pipelines.store.days import read_days  # noqa: PLC0415  most memories have no transcripts

            beside = days = days or str(read_days(root))
        stamp = _stamp(entry, path, beside)
        if isinstance(stamp, FileStamp):
            found[path] = stamp
        elif stamp:
            skipped.append(Skipped(path, stamp))
    # Outside the memory's own files, what git ignores is left out; of notes, the layout says which are read.
    if others := [path for path in found if path.partition("/")[0] not in _OWN]:
        from pipelines.store.git import Git  # noqa: PLC0415  most memories have no other files

        with suppress(GitFault):
            for path in Git(root).ignored(others):
                del found[path]
    absent = {  # there is no file to change, but the commit may
        path: FileStamp(len(data), 0, 0, hashlib.sha256(data).hexdigest())
        for path, data in left_out(root).items()
        if path == TOMBSTONES or (path.endswith((".md", ".txt")) and path not in _NEVER)
    }
    found = absent | found
    for path in CLAIMING:
        with suppress(OSError):
            status = (root / path).lstat()
            if stat.S_ISREG(status.st_mode):
                found[path] = FileStamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    shown = {Skipped(path.encode(errors="backslashreplace").decode(), reason) for path, reason in skipped}
    return dict(sorted(found.items())), tuple(sorted(shown))


def _candidates(root: Path, skipped: list[Skipped]) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Yield every file, link and special file whose name belongs in the index, with its path."""
    layout = layout_of(root)
    pending = ["", NOTES] if layout.home else [""]
    while pending:
        here = pending.pop()
        try:
            with os.scandir(root / here) as entries:
                seen = list(entries)
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTDIR}:
                why = (error.strerror or str(error)).lower()
                skipped.append(Skipped(here, f"cannot be listed: {why}"))
            continue
        for entry in seen:
            path = f"{here}/{entry.name}" if here else entry.name
            if entry.name.startswith(".") or path in {PARTIAL, STATE}:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending += [path] if not is_note(path) or layout.leads(path) else []
            elif entry.is_symlink() and os.path.isdir(entry):  # noqa: PTH112  never fails, as a Path may
                skipped.append(Skipped(path, LINKED))
            elif (
                path.lower().endswith(".jsonl" if path.startswith(f"{SESSIONS}/") else (".md", ".txt"))
                and path.removeprefix(f"{NOTES}/") not in _NEVER
                and (not is_note(path) or layout.has(path))
            ):
                yield entry, path


def _stamp(entry: os.DirEntry[str], path: str, beside: str) -> FileStamp | str:
    """Return the stamp of a file, or why it is not indexed; an empty reason if it was deleted meanwhile."""
    if entry.is_symlink():
        return LINKED
    if not entry.is_file(follow_symlinks=False):
        return "is not a regular file"
    if not is_utf8(path):
        return "has a name that is not UTF-8"
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return ""
    most = MAX_TRANSCRIPT_BYTES if beside else MAX_BYTES
    if found.st_size > most:
        return f"is larger than {most >> 20} MB"
    return FileStamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, beside)


class Changes(NamedTuple):
    """The paths of files as compared with the index, in order; for all of them it is out of date."""

    added: list[str]
    changed: list[str]
    removed: list[str]


def changed_in(root: Path, found: Mapping[str, FileStamp]) -> Changes:
    """Return what changed since the index was made. No file but the ledger is read.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    with reading(root) as connection:
        known = {row[0]: row[1:] for row in connection.execute(_KNOWN)}
    ledger, changed = ledger_on_disk(root), list[str]()
    for path, (*stamp, ids, rows) in known.items():
        if path in found and (found[path] != tuple(stamp) or rows != rows_digest(ids.split(), ledger)):
            changed.append(path)
    return Changes([path for path in found if path not in known], sorted(changed), sorted(known.keys() - found.keys()))


_KNOWN = "SELECT path, size, mtime_ns, ctime_ns, beside, ids, rows FROM files"


def rows_digest(ids: Sequence[str], ledger: Mapping[str, str]) -> str:
    """Return the hash of the rows of a document's items; empty for none."""
    return hashlib.sha256("\n".join(ledger.get(one, "") for one in ids).encode()).hexdigest() if ids else ""
