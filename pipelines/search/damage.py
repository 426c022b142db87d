"""Damage in `.curate`: the state of the index, and one list of the other files there, each with how it is read.

What is damaged there is derived and may be deleted, but for `KEPT`, of which each night leaves a copy.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import zlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from pipelines.errors import BadFile, IndexUnusable, reason_of
from pipelines.search.indexed_files import CLAIMING, compare, recorded, scan
from pipelines.search.matrix import embedded_units, read_stamp
from pipelines.search.schema import (
    DAMAGED_ROW,
    FAULTS,
    INDEX,
    SUMMED_CLAIM,
    SUMMED_FILE,
    SUMMED_UNIT,
    VERSION,
    OtherVersion,
    reading,
    remove_database,
    schema_sum,
    summed,
)
from pipelines.store.append_log import append_bytes
from pipelines.store.conservation import Fault
from pipelines.store.files import making, read_bytes, replace_synced, writing
from pipelines.store.layout import PRIVATE
from pipelines.store.state import unreadable_lines

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path


# Rows that refer to missing rows, or to rows of another file, and numbers beyond the last one assigned.
_ASTRAY: Final = """
    SELECT 1 FROM units WHERE file NOT IN (SELECT id FROM files)
    UNION ALL SELECT 1 FROM passages WHERE file NOT IN (SELECT id FROM files)
    UNION ALL SELECT 1 FROM claims WHERE file NOT IN (SELECT id FROM files)
    UNION ALL SELECT 1 FROM units JOIN passages ON passages.id IN (first_passage, last_passage)
        WHERE passages.file != units.file
    UNION ALL SELECT 1 FROM marks WHERE last_unit < (SELECT ifnull(max(id), 0) FROM units)
    UNION ALL SELECT 1 WHERE (SELECT count(*) FROM marks) != 1
    LIMIT 1
"""


def check_whole(connection: sqlite3.Connection) -> None:
    """Check every row and every word of the index.

    Args:
        connection: the index, open to write: FTS5's check is a command.

    Raises:
        IndexUnusable: something in it is damaged.
        sqlite3.Error: SQLite cannot read it.
    """
    (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if answer != "ok":
        raise IndexUnusable(f"it is damaged ({answer})")
    if connection.execute("SELECT tables FROM marks").fetchone() != (schema_sum(connection),):
        raise IndexUnusable("it is damaged (its tables have changed)")
    for table in ("units_fts", "passages_fts"):
        # Rank 1 compares the indexed words with their texts.
        connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")  # noqa: S608  ours
    for table, columns in (("units", SUMMED_UNIT), ("files", SUMMED_FILE), ("claims", SUMMED_CLAIM)):
        for crc, values in connection.execute(f"SELECT crc, {summed(columns)} FROM {table}"):  # noqa: S608  as above
            if not isinstance(values, bytes) or zlib.crc32(values) != crc:
                raise IndexUnusable(DAMAGED_ROW)
    if connection.execute(_ASTRAY).fetchone():
        raise IndexUnusable("it is damaged (rows do not match)")


State = Literal["current", "behind", "missing", "damaged", "older", "newer"]

_BRINGS: Final = "the next run, search or `curate index` updates it."
_SENTENCES = {
    "missing": "There is none yet; the next run, search or `curate index` builds it.",
    "damaged": "It is damaged; the next run, search or `curate index` rebuilds it from the files.",
    "older": "An older version of memcurate wrote it; the next run, search or `curate index` rebuilds it.",
    "newer": "A newer version of memcurate wrote it; install that version to use it. This one would rebuild it.",
}


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """The vectors of the index.

    Args:
        model: the model that made them.
        dimension: numbers per vector.
        present: units with a vector.
        missing: units without one yet.
    """

    model: str
    dimension: int
    present: int
    missing: int


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """The state of the index.

    Args:
        state: whether it is usable and up to date.
        sentence: what is wrong and what to do if it is not current; else empty.
        files: files in it.
        units: units in it.
        behind: files added, changed or deleted since.
        vectors: None if nothing was ever embedded, or not for this build of the index.
    """

    state: State
    sentence: str = ""
    files: int = 0
    units: int = 0
    behind: int = 0
    vectors: VectorFacts | None = None


def index_facts(root: Path) -> IndexFacts:
    """Return the state of a memory's index. Writes nothing, and raises nothing for a broken index.

    Cheap for any memory: it checks only the files' metadata and the index's list of files. `curate index` reads all of
    the index to find damage inside it.
    """
    try:
        with reading(root) as connection:
            return _facts(root, connection)
    except OtherVersion as other:
        state: State = "newer" if other.version > VERSION else "older"
    except IndexUnusable:
        state = "damaged" if (root / INDEX).is_file() else "missing"
    return IndexFacts(state, _SENTENCES[state])


def _facts(root: Path, connection: sqlite3.Connection) -> IndexFacts:
    known = recorded(connection)
    behind = len(compare(root, scan(root)[0], known).stale)
    (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
    files = "1 file" if behind == 1 else f"{behind:,} files"
    stamp, vectors = read_stamp(root), None
    if stamp and connection.execute("SELECT build FROM marks").fetchone() == (stamp.build,):
        vectors = VectorFacts(stamp.name, stamp.dimension, *embedded_units(connection, stamp))
    return IndexFacts(
        state="behind" if behind else "current",
        sentence=f"{files} changed since; {_BRINGS}" if behind else "",
        files=sum(not reason for path, (*_, reason) in known.items() if path not in CLAIMING),
        units=units,
        behind=behind,
        vectors=vectors,
    )


def first_day(root: Path) -> str:
    """Return the earliest date in the index, or an empty string if there is none.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    with reading(root) as connection:
        (day,) = connection.execute("SELECT min(date) FROM units WHERE date != ''").fetchone()
        return str(day or "")


# ---------------------------------------- every other file of the derived folder


KEPT: Final = ("secrets.jsonl", "redaction.key")
"""What nothing can restore but a copy: known secrets, which persons have allowed, and the key of a user without a home.
Lines are only ever added to the one, and the other never changes."""
_COPIES: Final = "kept"
_KEY: Final = re.compile(rb"[0-9a-f]{64}\s*")


def _record(data: bytes) -> str:
    try:
        return "" if isinstance(json.loads(data), dict) else "is not a JSON object"
    except (ValueError, RecursionError):
        return "is not a JSON object"


def _lines(data: bytes) -> str:
    bad = unreadable_lines(data)
    return f"has lines that cannot be read ({len(bad):,})" if bad else "is empty" * (not data)


def _key(data: bytes) -> str:
    return "" if _KEY.fullmatch(data) else "is not a key"


def _anything(_: bytes) -> str:
    return ""


_READERS: Final[dict[str, Callable[[bytes], str]]] = {
    "*.jsonl": _lines,  # known secrets, spending, what sessions were shown
    "redaction.key": _key,
    "*.json": _record,  # reports, replies, the journal's manifest, stamps, and when nights and pushes were
    "*lock": _anything,
    "index.*": _anything,  # its rows are checked
    "vectors-*": _anything,  # each vector has a checksum, and a search that meets a bad one rebuilds
    "matrix-*": _anything,
    "context.txt": _anything,  # made anew by each run
    "index-base": _anything,
    "displaced/*": _anything,  # each is named by its hash
    "pending/*": _anything,  # as the manifest says
    "tmp/*": _anything,
    "*.txt": _anything,  # lists that commands ask a person to make
}
"""The files of `.curate`, each with a function that says what is wrong with it; the first match counts. The clones
`remote.git` and `broken` are not here: the one is made anew whenever it is used."""


def private_faults(root: Path) -> list[Fault]:
    """Return what is broken in the derived folder. Changes nothing."""
    return [fault for fault, _ in _damaged(root)]


def mend_private(root: Path) -> list[str]:
    """Delete what is damaged and derived, restore the rest, and return one sentence for each repair."""
    done = []
    for fault, mending in list(_damaged(root)):
        if mending:
            with writing(fault.path):
                mending()
            done.append(str(fault))
    keep_copies(root)
    return done


def keep_copies(root: Path) -> None:
    """Bring each file of `KEPT` and its copy to what either of them holds.

    Raises:
        NotWritable: the disk refused.
    """
    for name in KEPT:
        place, copy = f"{PRIVATE}/{name}", f"{PRIVATE}/{_COPIES}/{name}"
        for here, there in ((place, copy), (copy, place)):
            if lacking := _lacking(root, here, there):
                with writing(here), making(root, here.rpartition("/")[0]) as folder:
                    if name == KEPT[0]:
                        append_bytes(root, here, lacking)
                    else:
                        replace_synced(folder, name, lacking)


def _lacking(root: Path, here: str, there: str) -> bytes:
    """Return what a file of `KEPT` lacks and its twin has."""
    try:
        data, other = read_bytes(root, here) or b"", read_bytes(root, there) or b""
    except BadFile:
        return b""
    if here.endswith(".key"):
        return other if _key(data) and not _key(other) else b""
    bad, known = set(unreadable_lines(other)), set(data.split(b"\n"))
    rows = enumerate(other.split(b"\n"), 1)
    return b"".join(row + b"\n" for number, row in rows if row.strip() and number not in bad and row not in known)


def _damaged(root: Path) -> Iterator[tuple[Fault, Callable[[], object] | None]]:
    """Yield each fault of the derived folder with its repair, or None if a person must decide."""
    place = root / PRIVATE
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        yield Fault(PRIVATE, 0, "", "private", f"is no folder; `rm {shlex.quote(str(place))}` removes it"), None
        return
    refused: list[OSError] = []
    for folder, inner, names in os.walk(place, onerror=refused.append):
        below = os.path.relpath(folder, place)
        inner[:] = sorted(one for one in inner if one != "remote.git")
        for name in sorted({*names, *inner}):
            own = name if below == "." else f"{below}/{name}"
            reader = next((reader for glob, reader in _READERS.items() if fnmatchcase(own, glob)), None)
            if reader:
                yield from _damaged_file(root, f"{PRIVATE}/{own}", reader)
    for error in (one for one in refused if not isinstance(one, FileNotFoundError)):
        path = os.path.relpath(error.filename, root)
        yield (
            Fault(path, 0, "", "derived", f"cannot be listed: {reason_of(error)}"),
            partial(os.chmod, error.filename, 0o700),
        )
    for name in KEPT:
        path = f"{PRIVATE}/{name}"
        if lacking := _lacking(root, path, f"{PRIVATE}/{_COPIES}/{name}"):
            what = f"lacks what the last run left in it ({lacking.count(10):,} lines)"
            yield Fault(path, 0, "", "derived", what), partial(keep_copies, root)
    if why := _index_fault(root):
        yield Fault(INDEX, 0, "", "derived", why), partial(remove_database, root / INDEX)


def _damaged_file(
    root: Path, path: str, reader: Callable[[bytes], str]
) -> Iterator[tuple[Fault, Callable[[], object] | None]]:
    file = root / path
    if file.is_dir() and not file.is_symlink():
        yield Fault(path, 0, "", "private", f"is a folder; `rm -r {shlex.quote(str(file))}` removes it"), None
        return
    mending: Callable[[], object] = file.unlink
    try:
        data = b"" if reader is _anything else read_bytes(root, path) or b""
        why = reader(data)
        if not os.access(file, os.R_OK | os.W_OK):
            why, mending = "cannot be read and written by you", partial(os.chmod, file, 0o600)
        if bad := why and reader is _lines and unreadable_lines(data):
            mending = partial(_blank, root, path, bad)
    except BadFile as fault:
        why, mending = fault.why, (file.unlink if file.is_symlink() else partial(os.chmod, file, 0o600))
    if why:
        yield Fault(path, 0, "", "derived", why), mending


def _blank(root: Path, path: str, lines: list[int]) -> None:
    """Overwrite lines of a file, numbered from 1, with blanks: another process may be appending to it."""
    with (root / path).open("r+b") as file:
        data, at = file.read(), 0
        for number, line in enumerate(data.split(b"\n"), 1):
            if number in lines:
                os.pwrite(file.fileno(), b" " * len(line), at)
            at += len(line) + 1


def _index_fault(root: Path) -> str:
    """Return what is wrong with the index, or an empty string if it is sound, missing, or of another version."""
    import sqlite3  # noqa: PLC0415  only a check reads all of it

    try:
        if (root / INDEX).exists():
            with reading(root) as connection, contextlib.closing(sqlite3.connect(":memory:")) as copy:
                connection.backup(copy)  # the check writes
                check_whole(copy)
    except OtherVersion as other:
        return "is empty" if not other.version else ""
    except (IndexUnusable, BadFile, *FAULTS):
        return "is damaged"
    return ""
