"""Update the index, or rebuild it. Both give the same answers to every query.

Before a search, the index is updated if that is quick; otherwise the answer leaves out the files that changed.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pipelines.errors import CurateError, IndexUnusable, LockHeld, NotWritable
from pipelines.search.indexed_files import (
    CLAIMING,
    Changes,
    FileForm,
    Recorded,
    Skipped,
    compare,
    form_of,
    is_kept,
    keep,
    recorded,
    scan,
    unread_in,
)
from pipelines.search.schema import (
    ASIDE,
    BUSY_SECONDS,
    FAULTS,
    INDEX,
    PATIENCE,
    has_vectors,
    is_broken,
    migrate,
    reading,
    remove_database,
    replacing,
    transaction,
    writer_lock,
)
from pipelines.store.files import writing

if TYPE_CHECKING:
    from pathlib import Path


SPARE_NUMBERS: Final = 20_000
"""The limit of idle unit numbers, beyond twice the number of units, before the index is rebuilt."""
CHEAP_BYTES: Final = 16 * 1024 * 1024
"""The limit of changed text that is indexed while a person waits for an answer."""
PDF_BYTES: Final = 2 * 1024 * 1024
"""The text that could be indexed in the time of reading one PDF."""
FRESH_PATIENCE: Final = 1.0
"""Seconds to wait for another process that writes the index, if an older index can answer."""

_FILES: Final = "SELECT count(*) FROM files WHERE reason = '' AND path NOT IN (SELECT value FROM json_each(?))"
_RESTAMP: Final = "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, beside=?, checked_ns=? WHERE path=?"


class IndexReport(NamedTuple):
    """The result of an update or a rebuild.

    Args:
        files: files in the index now.
        added: files that were not in it.
        changed: files whose bytes changed.
        removed: files that no longer exist.
        unchanged: files whose bytes did not change.
        units: units in the index now.
        skipped: the files that should be in the index but are not, with the reason.
        partial: the files that are only partly in it, with what is missing.
        seconds: the duration.
    """

    files: int
    added: int
    changed: int
    removed: int
    unchanged: int
    units: int
    skipped: tuple[Skipped, ...]
    partial: tuple[Skipped, ...]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        files = {"skipped": self.skipped, "partial": self.partial}
        return self._asdict() | {name: [one._asdict() for one in found] for name, found in files.items()}


def update_index(root: Path) -> IndexReport:
    """Check the index for damage, and update it; only files whose bytes changed are read again.

    A missing or damaged index, or one of another version, is rebuilt. The check reads the whole index, some 15 µs per
    unit.

    Raises:
        LockHeld: another process is still writing it.
        NotWritable: the disk refuses.
    """
    return refresh_index(root, check=True)


def refresh_index(root: Path, patience: float = PATIENCE, *, check: bool = False) -> IndexReport:
    """Update the index like `update_index`, but without the check: the time depends only on what changed.

    Args:
        root: the memory.
        patience: seconds to wait for another process that writes the index.
        check: whether to check for damage anyway.

    Raises:
        LockHeld: another process is still writing it.
        NotWritable: the disk refuses.
    """
    began = time.monotonic()
    with writer_lock(root, patience):
        with contextlib.suppress(OSError):
            remove_database(root / ASIDE)
        try:
            if check:
                _check(root)
            changes = _update(root)
            with reading(root) as connection:
                (last,) = connection.execute("SELECT last_unit FROM marks").fetchone()
                (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
            if last > 2 * units + SPARE_NUMBERS:  # every search by meaning passes over the idle numbers
                _rebuild(root)
            return _finish(root, changes, began)
        except IndexUnusable:
            return _finish(root, _rebuild(root), began)
        except FAULTS as error:
            if not is_broken(error):
                raise NotWritable(INDEX, str(error)) from error
            return _finish(root, _rebuild(root), began)


def rebuild_index(root: Path) -> IndexReport:
    """Rebuild the index from the files beside the old one, and swap it in; searches meanwhile use the old one.

    Raises:
        LockHeld: another process is still writing it.
        NotWritable: the disk refuses.
    """
    began = time.monotonic()
    with writer_lock(root):
        return _finish(root, _rebuild(root), began)


def _check(root: Path) -> None:
    from pipelines.search.damage import check_whole  # noqa: PLC0415  as for the rows below
    from pipelines.search.matrix import drop_damaged  # noqa: PLC0415  as for the rows below

    with reading(root):
        pass  # it exists, and is of this version
    with closing(sqlite3.connect(root / INDEX, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        check_whole(connection)
    drop_damaged(root)


def _update(root: Path) -> Changes:
    checked_ns = time.time_ns()
    found, skipped = scan(root)
    with reading(root) as connection:
        changes = compare(root, found, recorded(connection))
        if not (changes.stale or changes.touched) and is_kept(connection, skipped):
            return changes
    from pipelines.search.claimed_lines import place_claims  # noqa: PLC0415  most searches find no file changed
    from pipelines.search.rows import put, take_out  # noqa: PLC0415  as above

    with closing(sqlite3.connect(root / INDEX, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        # If a power cut loses the last update, the next scan notices; the file cannot be damaged by it.
        connection.execute("PRAGMA synchronous = NORMAL")
        with transaction(connection):
            for path in changes.removed:
                take_out(connection, path)
            for path in (*changes.added, *changes.changed):
                put(connection, root, path, found[path], checked_ns)
            place_claims(connection, root, changes.stale)
            for path in changes.touched:
                connection.execute(_RESTAMP, (*found[path], checked_ns, path))
            keep(connection, skipped)
    return changes


@writing(INDEX)
def _rebuild(root: Path) -> Changes:
    from pipelines.search.claimed_lines import place_claims  # noqa: PLC0415  as above
    from pipelines.search.rows import put  # noqa: PLC0415  as above

    checked_ns = time.time_ns()
    found, skipped = scan(root)
    known: dict[str, Recorded] = {}
    with contextlib.suppress(IndexUnusable), reading(root) as connection:
        known = recorded(connection)
    changes = compare(root, found, known)
    try:
        with replacing(root) as connection:
            migrate(connection)
            with transaction(connection):
                for path, stamp in found.items():
                    put(connection, root, path, stamp, checked_ns)
                place_claims(connection, root, ())
                keep(connection, skipped)
                for table in ("units", "passages"):
                    connection.execute(f"INSERT INTO {table}_fts({table}_fts) VALUES ('optimize')")  # noqa: S608  ours
    except sqlite3.Error as error:
        raise NotWritable(INDEX, str(error)) from error
    return changes


def _finish(root: Path, changes: Changes, began: float) -> IndexReport:
    """Update the vectors, if any, and report. Vectors are optional: without them, search uses words."""
    from pipelines.search.matrix import follow  # noqa: PLC0415  as above

    with reading(root) as connection:
        with contextlib.suppress(CurateError, OSError, *FAULTS):
            follow(root, connection)
        (files,) = connection.execute(_FILES, (json.dumps(sorted(CLAIMING)),)).fetchone()
        (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
        skipped, partial = unread_in(root, connection)
    return IndexReport(
        files=files,
        added=len(set(changes.added) - CLAIMING),
        changed=len(set(changes.changed) - CLAIMING),
        removed=len(set(changes.removed) - CLAIMING),
        unchanged=len(set(changes.unchanged) - CLAIMING),
        units=units,
        skipped=skipped,
        partial=partial,
        seconds=round(time.monotonic() - began, 3),
    )


class Freshness(NamedTuple):
    """How far the index is up to date.

    Args:
        stale: changed files whose rows are out of date; a search leaves them out.
        notes: sentences for the person who asked.
    """

    stale: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def freshen(root: Path, *, by_meaning: bool = True) -> Freshness:
    """Update the index before a search, so that no hit shows text that is no longer in its file.

    Every file's size and times are compared with the index's record. Changes are indexed first if that is quick; if
    there are too many, another process writes the index, or the disk is read-only, the answer leaves those files out
    and a note says so. An index that is missing, damaged or of another version is rebuilt.

    Args:
        root: the memory.
        by_meaning: whether vectors must cover the index, too.

    Raises:
        LockHeld: there is no usable index, and another process does not finish building it.
        NotWritable: there is no usable index, and the disk refuses one.
    """
    try:
        with reading(root) as connection:
            known = recorded(connection)
            vectors_fit = not (by_meaning and has_vectors(root)) or _fit(root, connection)
    except IndexUnusable as error:
        return rebuilt(root, error)
    found, _ = scan(root)
    changes = compare(root, found, known)
    if vectors_fit and not (changes.stale or changes.touched):
        return Freshness()
    anew = (*changes.added, *changes.changed)
    why = "Run `curate index` to include them."
    if sum(found[path].size + (PDF_BYTES if form_of(path) is FileForm.PDF else 0) for path in anew) <= CHEAP_BYTES:
        try:
            refresh_index(root, patience=FRESH_PATIENCE if changes.stale else 0.0)
        except (LockHeld, NotWritable) as error:
            why = error.sentence
        else:
            return Freshness()
    if not changes.stale:
        return Freshness()
    count = len(changes.stale)
    files = "1 file changed and is" if count == 1 else f"{count:,} files changed and are"
    return Freshness(frozenset(changes.stale), (f"{files} left out of this answer. {why}",))


def _fit(root: Path, connection: sqlite3.Connection) -> bool:
    from pipelines.search.matrix import fits  # noqa: PLC0415  only where there are vectors

    return fits(root, connection)


def rebuilt(root: Path, fault: IndexUnusable) -> Freshness:
    """Rebuild the index because of a fault, and say so; a first build needs no note.

    Raises:
        LockHeld: another process does not finish writing the index.
        NotWritable: the disk refuses.
    """
    first = not (root / INDEX).exists()
    report = rebuild_index(root)
    if first:
        return Freshness()
    return Freshness(notes=(f"{fault.sentence} It was rebuilt from {report.files:,} files.",))
