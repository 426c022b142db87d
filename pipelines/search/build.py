"""Bring the index up to date with the files, or build it anew. Both give the same answers to every query."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from contextlib import closing
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import CurateError, IndexUnusable, LockHeld, NotWritable
from pipelines.search.damage import check_whole
from pipelines.search.indexed_files import (
    Form,
    as_shown,
    compare,
    form_of,
    is_kept,
    keep,
    partial_files,
    recorded,
    scan,
    skipped_files,
)
from pipelines.search.matrix import drop_damaged, fits, follow
from pipelines.search.rows import put, take_out
from pipelines.search.schema import (
    FAULTS,
    INDEX,
    clear_aside,
    is_broken,
    migrate,
    open_writing,
    reading,
    replacing,
    transaction,
    writer_lock,
)
from pipelines.search.vectors import forget_others, has_vectors, vector_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipelines.search.indexed_files import Changes, Recorded, Scan, Skipped, Stamp


PATIENCE: Final = 60.0
"""Seconds to wait for another process that writes the index."""


SPARE_NUMBERS: Final = 20_000
"""So many unit numbers, beyond twice the units there are, may lie idle before the index is built anew."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an update or a rebuild did.

    Args:
        files: files in the index now.
        added: files that were not in it.
        changed: files whose bytes changed.
        removed: files that are no more.
        unchanged: files whose bytes are as they were.
        units: units in the index now.
        skipped: every file that belongs in the index and is not in it, with its reason.
        partial: every file of which something is missing in it, with what.
        seconds: how long it took.
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
        """Return it as what `json` can write."""
        return asdict(self) | {"seconds": round(self.seconds, 3)}


def update_index(root: Path, patience: float = PATIENCE) -> IndexReport:
    """Check the index for damage, and bring it up to date; only files whose bytes changed are read into it again.

    A missing or damaged index, or one of another version, is built anew. The check reads the whole index, some 15 µs a
    unit.

    Args:
        root: the memory.
        patience: seconds to wait for another process that writes the index.

    Raises:
        LockHeld: another process still writes it.
        NotWritable: the disk refuses.
    """
    return _bring(root, patience, _checked)


def refresh_index(root: Path, patience: float = PATIENCE) -> IndexReport:
    """Bring the index up to date as `update_index` does, without the check: its time follows what changed.

    Args:
        root: the memory.
        patience: seconds to wait for another process that writes the index.

    Raises:
        LockHeld: another process still writes it.
        NotWritable: the disk refuses.
    """
    return _bring(root, patience, _update)


def _bring(root: Path, patience: float, update: Callable[[Path, float], IndexReport]) -> IndexReport:
    began = time.monotonic()
    with writer_lock(root, patience):
        with contextlib.suppress(OSError):
            clear_aside(root)
        report = _mended(root, began, update)
        _follow(root)
        return report


def _mended(root: Path, began: float, update: Callable[[Path, float], IndexReport]) -> IndexReport:
    try:
        return _compacted(root, began, update(root, began))
    except IndexUnusable:
        return _rebuild(root, began)
    except FAULTS as error:
        if not is_broken(error):
            raise NotWritable(INDEX, str(error)) from error
        return _rebuild(root, began)


def _compacted(root: Path, began: float, report: IndexReport) -> IndexReport:
    """Number the units anew where too many numbers lie idle: each is a row that every search by meaning scans."""
    with reading(root) as connection:
        (last,) = connection.execute("SELECT last_unit FROM marks").fetchone()
    if last > 2 * report.units + SPARE_NUMBERS:
        _rebuild(root, began)
    return report


def _follow(root: Path) -> None:
    """Let the vectors follow, where there are any. They are a help: without them, words are searched."""
    if has_vectors(root):
        with contextlib.suppress(CurateError, sqlite3.Error, OSError), reading(root) as connection:
            follow(root, connection)


def rebuild_index(root: Path, patience: float = PATIENCE) -> IndexReport:
    """Build the index anew from the files, aside, and swap it in whole; searches meanwhile use the old one.

    Vectors of texts that are no more are dropped, once they are more than the others.

    Args:
        root: the memory.
        patience: seconds to wait for another process that writes the index.

    Raises:
        LockHeld: another process still writes it.
        NotWritable: the disk refuses.
    """
    began = time.monotonic()
    with writer_lock(root, patience):
        report = _rebuild(root, began)
        _follow(root)
        _forget(root)
        return report


def _forget(root: Path) -> None:
    if has_vectors(root):
        unsaid = contextlib.suppress(CurateError, sqlite3.Error, OSError)
        with unsaid, vector_store(root) as store, reading(root) as connection:
            forget_others(store, {key for (key,) in connection.execute("SELECT key FROM units")})


def _checked(root: Path, began: float) -> IndexReport:
    with reading(root):
        pass  # it is there, and of this version
    with closing(open_writing(root / INDEX)) as connection:
        check_whole(connection)
    drop_damaged(root)
    return _update(root, began)


def _update(root: Path, began: float) -> IndexReport:
    checked_ns = time.time_ns()
    found = scan(root)
    with reading(root) as connection:
        changes = compare(root, found, recorded(connection))
        if not (changes.stale or changes.touched) and is_kept(connection, found.skipped):
            return _report(root, connection, changes, began)
    with closing(open_writing(root / INDEX)) as connection:
        with transaction(connection):
            _apply(connection, root, found, changes, checked_ns)
        return _report(root, connection, changes, began)


_RESTAMP: Final = "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, beside=?, checked_ns=? WHERE path=?"


def _apply(connection: sqlite3.Connection, root: Path, found: Scan, changes: Changes, checked_ns: int) -> None:
    for path in changes.removed:
        take_out(connection, path)
    for path in (*changes.added, *changes.changed):
        put(connection, root, path, found.files[path], checked_ns)
    for path in changes.touched:
        values = (*astuple(found.files[path]), checked_ns, path)
        connection.execute(_RESTAMP, values)
    keep(connection, found.skipped)


def _rebuild(root: Path, began: float) -> IndexReport:
    checked_ns = time.time_ns()
    found = scan(root)
    try:
        changes = compare(root, found, _known(root))
        with replacing(root) as connection:
            migrate(connection)
            with transaction(connection):
                for path, stamp in found.files.items():
                    put(connection, root, path, stamp, checked_ns)
                keep(connection, found.skipped)
                for table in ("units", "passages"):
                    connection.execute(f"INSERT INTO {table}_fts({table}_fts) VALUES ('optimize')")  # noqa: S608  ours
            return _report(root, connection, changes, began)
    except OSError as error:
        raise NotWritable(INDEX, (error.strerror or str(error)).lower()) from error
    except sqlite3.Error as error:
        raise NotWritable(INDEX, str(error)) from error


def _known(root: Path) -> dict[str, Recorded]:
    try:
        with reading(root) as connection:
            return recorded(connection)
    except IndexUnusable:
        return {}


def _report(root: Path, connection: sqlite3.Connection, changes: Changes, began: float) -> IndexReport:
    (files,) = connection.execute("SELECT count(*) FROM files WHERE reason = ''").fetchone()
    (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
    return IndexReport(
        files=files,
        added=len(changes.added),
        changed=len(changes.changed),
        removed=len(changes.removed),
        unchanged=len(changes.unchanged),
        units=units,
        skipped=as_shown(root, skipped_files(connection)),
        partial=as_shown(root, partial_files(connection)),
        seconds=time.monotonic() - began,
    )


# ---------------------------------------- before a search
# bring the index up to date where that is quick, and else say which files it must not speak for.


CHEAP_BYTES: Final = 16 * 1024 * 1024
"""More changed text than this takes longer than a person wants to wait for an answer."""
PDF_BYTES: Final = 2 * 1024 * 1024
"""As much text as this is indexed while one PDF is read."""
FRESH_PATIENCE: Final = 1.0
"""Seconds to wait for another process that writes the index, where there is an index to answer from."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far the index can be believed.

    Args:
        stale: files that changed and are not in it as they are; a search leaves them out.
        notes: sentences for the person who asked.
    """

    stale: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def freshen(root: Path) -> Freshness:
    """Make the index tell the truth before it is asked: no hit may show what no longer stands in its file.

    Every file's size and times are compared with what the index recorded. What changed is indexed first when that is
    quick; when it is too much, or another process writes the index, or the disk is read-only, those files are left out
    of the answer and a note says so. An index that is missing, damaged or of another version is built anew.

    Raises:
        LockHeld: there is no usable index, and another process does not finish building it.
        NotWritable: there is no usable index, and the disk refuses one.
    """
    try:
        with reading(root) as connection:
            known = recorded(connection)
            vectors_fit = not has_vectors(root) or fits(root, connection)
    except IndexUnusable as error:
        return rebuilt(root, error)
    found = scan(root)
    changes = compare(root, found, known)
    if not (changes.stale or changes.touched):
        return Freshness() if vectors_fit else _updated(root, changes)
    if sum(_effort(path, found.files[path]) for path in (*changes.added, *changes.changed)) > CHEAP_BYTES:
        return _left_out(changes, "`curate index` brings them in.")
    return _updated(root, changes)


def _effort(path: str, stamp: Stamp) -> int:
    """Return how much text takes as long to index as a file does; a PDF is read by a process of its own."""
    return stamp.size + (PDF_BYTES if form_of(path) is Form.PDF else 0)


def rebuilt(root: Path, fault: IndexUnusable) -> Freshness:
    """Build the index anew because of a fault, and say so; a first build needs no words.

    Raises:
        LockHeld: another process writes the index and does not finish.
        NotWritable: the disk refuses.
    """
    first = not (root / INDEX).exists()
    report = rebuild_index(root)
    if first:
        return Freshness()
    return Freshness(notes=(f"{fault.sentence} It was built anew from {report.files:,} files.",))


def _updated(root: Path, changes: Changes) -> Freshness:

    try:
        refresh_index(root, patience=FRESH_PATIENCE if changes.stale else 0.0)
    except (LockHeld, NotWritable) as error:
        return _left_out(changes, error.sentence) if changes.stale else Freshness()
    return Freshness()


def _left_out(changes: Changes, why: str) -> Freshness:
    count = len(changes.stale)
    files = "1 file changed and is" if count == 1 else f"{count:,} files changed and are"
    return Freshness(frozenset(changes.stale), (f"{files} left out of this answer. {why}",))
