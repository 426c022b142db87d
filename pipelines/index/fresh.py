"""Before a search: bring the index up to date where that is quick, and else say which files it must not speak for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import IndexUnusable, LockHeld, NotWritable
from pipelines.index.changes import compare, recorded
from pipelines.index.matrix import fits
from pipelines.index.sources import Form, form_of, scan
from pipelines.index.store import INDEX, reading
from pipelines.index.vectors import has_vectors

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.index.changes import Changes
    from pipelines.index.sources import Stamp

CHEAP_BYTES: Final = 16 * 1024 * 1024
"""More changed text than this takes longer than a person wants to wait for an answer."""
PDF_BYTES: Final = 2 * 1024 * 1024
"""As much text as this is indexed while one PDF is read."""
PATIENCE: Final = 1.0
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
    from pipelines.index.build import rebuild_index  # noqa: PLC0415  most searches build nothing

    first = not (root / INDEX).exists()
    report = rebuild_index(root)
    if first:
        return Freshness()
    return Freshness(notes=(f"{fault.sentence} It was built anew from {report.files:,} files.",))


def _updated(root: Path, changes: Changes) -> Freshness:
    from pipelines.index.build import refresh_index  # noqa: PLC0415  most searches find nothing changed

    try:
        refresh_index(root, patience=PATIENCE if changes.stale else 0.0)
    except (LockHeld, NotWritable) as error:
        return _left_out(changes, error.sentence) if changes.stale else Freshness()
    return Freshness()


def _left_out(changes: Changes, why: str) -> Freshness:
    count = len(changes.stale)
    files = "1 file changed and is" if count == 1 else f"{count:,} files changed and are"
    return Freshness(frozenset(changes.stale), (f"{files} left out of this answer. {why}",))
