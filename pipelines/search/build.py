"""Update the index, or rebuild it. Both give the same answers to every query.

Before a search, the index is updated if that is quick; otherwise the answer leaves out the files that changed.
"""

from __future__ import annotations

import json
import time
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.errors import IndexUnusable, LockHeld, NotWritable
from pipelines.search.indexed_files import CLAIMING, Changes, Skipped, changed_in, scan
from pipelines.search.schema import (
    ASIDE,
    FAULTS,
    INDEX,
    PATIENCE,
    reading,
    remove_database,
    replacing,
    writer_lock,
    writing_in,
)
from pipelines.text import count

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


CHEAP_BYTES = 16 * 1024 * 1024
"""The limit of changed text that is indexed while a person waits for an answer."""
FRESH_PATIENCE = 1.0
"""Seconds to wait for another process that writes the index, if an older index can answer."""


class IndexReport(NamedTuple):
    """The result of an update or a rebuild.

    Args:
        files: files in the index now.
        added: files that were not in it.
        changed: files that changed, so that they were read again.
        removed: files that no longer exist.
        units: units in the index now.
        skipped: the files that should be in the index but are not, or only in part, with the reason.
        seconds: the duration.
    """

    files: int
    added: int
    changed: int
    removed: int
    units: int
    skipped: tuple[Skipped, ...]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return self._asdict() | {"skipped": [one._asdict() for one in self.skipped]}


def update_index(root: Path, patience: float = PATIENCE) -> IndexReport:
    """Update the index; only files that changed are read again.

    An index that is missing, of another version, or gives any error is rebuilt.

    Args:
        root: the memory.
        patience: seconds to wait for another process that writes the index.

    Raises:
        LockHeld: another process is still writing it.
        NotWritable: the disk refuses.
    """
    began = time.monotonic()
    with writer_lock(root, patience):
        try:
            return _follow(root, began, anew=False)
        except (IndexUnusable, *FAULTS):
            return _follow(root, began, anew=True)


def rebuild_index(root: Path) -> IndexReport:
    """Rebuild the index from the files beside the old one, and swap it in; searches meanwhile use the old one.

    Raises:
        LockHeld: another process is still writing it.
        NotWritable: the disk refuses.
    """
    began = time.monotonic()
    with writer_lock(root):
        return _follow(root, began, anew=True)


_FILES = """
    SELECT count(*) FROM files WHERE path NOT IN (SELECT value FROM json_each(?))
    AND (reason = '' OR EXISTS (SELECT 1 FROM units WHERE file = files.id))
"""
_SKIPPED = "SELECT path, reason FROM files WHERE reason != ''"


def _follow(root: Path, began: float, *, anew: bool) -> IndexReport:
    """Let the index follow the files, in a file of its own if anew, and return the report."""
    remove_database(root / ASIDE)  # of a killed rebuild: it may be as large as the index
    found, passed = scan(root)
    try:
        changes = changed_in(root, found)
    except IndexUnusable:
        if not anew:
            raise
        changes = Changes(list(found), [], [])
    if anew or any(changes):
        from pipelines.search.read_files import place_claims, put, take_out  # noqa: PLC0415  not needed if all is there

        with replacing(root) if anew else writing_in(root) as connection, connection:  # all or nothing
            connection.execute("BEGIN IMMEDIATE")  # SQLite does not let a reader wait to become a writer
            for path in () if anew else changes.removed:
                take_out(connection, path)
            for path in found if anew else (*changes.added, *changes.changed):
                put(connection, root, path, found[path])
            place_claims(connection, root, [*chain(*changes)])
            for table in ("units", "passages") if anew else ():
                connection.execute(f"INSERT INTO {table}_fts({table}_fts) VALUES ('optimize')")  # noqa: S608  ours
    with reading(root) as connection:
        (files,) = connection.execute(_FILES, (json.dumps(sorted(CLAIMING)),)).fetchone()
        (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
        skipped = tuple(Skipped(*one) for one in sorted({*passed, *connection.execute(_SKIPPED)}))
    added, changed, removed = (len(set(paths) - CLAIMING) for paths in changes)
    return IndexReport(files, added, changed, removed, units, skipped, round(time.monotonic() - began, 3))


class Freshness(NamedTuple):
    """How far the index is up to date.

    Args:
        stale: changed files whose rows are out of date; a search leaves them out.
        notes: sentences for the person who asked.
    """

    stale: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def freshen(root: Path) -> Freshness:
    """Update the index before a search, so that no hit shows text that is no longer in its file.

    Every file's size and times are compared with the index's record. Changes are indexed first if that is quick; if
    there are too many, another process writes the index, or the disk is read-only, the answer leaves those files out
    and a note says so. An index that is missing, gives an error or is of another version is rebuilt.

    Raises:
        LockHeld: there is no usable index, and another process does not finish building it.
        NotWritable: there is no usable index, and the disk refuses one.
    """
    found, _ = scan(root)
    try:
        changes = changed_in(root, found)
    except IndexUnusable as error:
        return rebuilt(root, error, update_index)  # another process may have built it by now
    stale = frozenset(chain(*changes))
    if not stale:
        return Freshness()
    anew = (*changes.added, *changes.changed)
    why = "Run `curate index` to include them."
    if sum(found[path].size for path in anew) <= CHEAP_BYTES:
        try:
            update_index(root, FRESH_PATIENCE)
        except (LockHeld, NotWritable) as error:
            why = error.sentence
        else:
            return Freshness()
    files = count(len(stale), "file changed and is", "files changed and are")
    return Freshness(stale, (f"{files} left out of this answer. {why}",))


def rebuilt(root: Path, fault: IndexUnusable, build: Callable[[Path], IndexReport] = rebuild_index) -> Freshness:
    """Rebuild the index because of a fault, and say so; a first build needs no note.

    Args:
        root: the memory.
        fault: why.
        build: how.

    Raises:
        LockHeld: another process does not finish writing the index.
        NotWritable: the disk refuses.
    """
    first = not (root / INDEX).exists()
    report = build(root)
    if first:
        return Freshness()
    return Freshness(notes=(f"{fault.sentence} It was rebuilt from {report.files:,} files.",))
