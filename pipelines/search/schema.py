"""The index's file: its tables, created and migrated with sqlite-utils, how it is opened, and how it is replaced.

`PRAGMA user_version` counts a file's migrations, so that a reader knows at once whether it can read it. All content is
derived: a difficult migration may simply empty the tables, and the next update fills them. A change of how files are
split into units is such a migration, too.

Writers hold `.curate/index.lock` one at a time. Readers never wait for a writer: the database is in WAL mode. Only
while a new file is renamed over the old one must nobody have it open, because the old file's write-ahead log must not
be applied to the new one; for those milliseconds `.curate/index.swap` keeps readers out.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
import zlib
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from pipelines.errors import IndexUnusable, LockHeld
from pipelines.store.files import writing
from pipelines.store.folders import refuse_links
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import private

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlite_utils import Database


VERSION: Final = 13

STAMP: Final = "matrix.json"
"""What the vectors' matrix was made from, in `.curate/`."""
SEPARATOR: Final = "\x1f"
"""Joins multiple values of a unit: headings, types, tags."""

SHOWN, PAST, NEVER = 0, 1, 2
"""Values of `hidden`: a unit is shown always; only as of a day on which it held; never."""

_FILES: Final[Mapping[str, type]] = {
    "id": int,
    "path": str,
    "size": int,
    "mtime_ns": int,
    "ctime_ns": int,
    "beside": str,
    "checked_ns": int,
    "sha256": str,
    "reason": str,
    "note": str,
    "meta": str,
    "crc": int,
}
_PASSED: Final[Mapping[str, type]] = {"id": int, "path": str, "reason": str}
# Columns for ranking come first and texts last, so that sorting need not read the texts.
_UNITS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("id", "file", "start_line", "end_line", "first_passage", "last_passage", "hidden", "crc"), int),
    "key": bytes,
    **dict.fromkeys(
        ("date", "until", "types", "project", "tags", "trust", "confidence", "status", "item", "cites"), str
    ),
    **dict.fromkeys(
        ("confidence_reason", "source", "record", "title", "headings", "text", "grams", "about", "around"), str
    ),
}
_PASSAGES: Final[Mapping[str, type]] = {"id": int, "file": int, "place": int, "text": str}
# A unit's number is never reused, because its vector is in the row of that number in another file.
_CLAIMS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("id", "file", "crc"), int),
    **dict.fromkeys(("item", "cited", "why", "successor", "since", "path"), str),
    **dict.fromkeys(("start_line", "end_line"), int),
}
_MARKS: Final[Mapping[str, type]] = {"id": int, "build": str, "last_unit": int, "tables": int}

SUMMED_UNIT: Final = tuple(column for column in _UNITS if column != "crc")
"""The columns of a unit, in the order in which they are written and summed."""
SUMMED_CLAIM: Final = tuple(column for column in _CLAIMS if column not in {"id", "file", "crc"})
# A wrong stamp merely causes the file to be read again.
SUMMED_FILE: Final = ("path", "sha256", "reason", "note", "meta")
DAMAGED_ROW: Final = "it is damaged (a row has changed)"
_BETWEEN: Final = "\x1e"

# Stemmed, so that `painted` finds `painting`; accents are ignored.
TOKENIZE: Final = "porter unicode61 remove_diacritics 2"


def has_vectors(root: Path) -> bool:
    """Return whether anything was ever embedded here."""
    return (root / PRIVATE / STAMP).is_file()


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate a database to `VERSION`. Nothing else may write to it meanwhile.

    After a `transform` of a table with triggers, a migration must recreate its full-text table and triggers:
    `transform` silently drops them.
    """
    from sqlite_utils import Database, Migrations  # noqa: PLC0415  heavy, and needed only to create a file

    migrations = Migrations("memcurate.index")
    migrations(
        name="6 files, what was passed over, units, passages, claims and what names the vectors, with checksums"
    )(_first)
    # Do not run plugins of the user's own sqlite-utils.
    migrations.apply(Database(connection, execute_plugins=False))
    connection.execute("UPDATE marks SET tables = ?", (schema_sum(connection),))
    connection.execute(f"PRAGMA user_version = {VERSION:d}")


def schema_sum(connection: sqlite3.Connection) -> int:
    """Return the checksum of the tables' definitions, including their triggers."""
    rows = connection.execute("SELECT coalesce(sql, name) FROM sqlite_master ORDER BY type, name").fetchall()
    return zlib.crc32("\n".join(one for (one,) in rows).encode())


def _first(db: Database) -> None:
    _table(db, "files", _FILES)
    db.table("files").create_index(["path"], unique=True)
    # To list what is not indexed without scanning what is.
    db.execute("CREATE INDEX files_skipped ON files(path, reason) WHERE reason != ''")
    db.execute("CREATE INDEX files_partial ON files(path, note) WHERE note != ''")
    _table(db, "passed", _PASSED)
    _table(db, "units", _UNITS, ("text", "grams", "about", "around"))
    db.table("units").create_index(["file", "start_line"])
    db.table("units").create_index(["item"])
    db.execute("CREATE INDEX idx_units_record ON units(record) WHERE record != ''")
    # The columns for places and filters: a tenth of the data that the table with its texts has.
    db.execute(
        "CREATE INDEX idx_units_placed ON units(id, file, start_line, end_line, first_passage, last_passage, hidden,"
        " date, until, trust, confidence, types, project)"
    )
    # To find the episodes among all units found: they are few.
    db.execute("CREATE INDEX idx_units_told ON units(id, date, cites) WHERE cites != ''")
    # Hidden units are counted often, and are few.
    db.execute("CREATE INDEX idx_units_hidden ON units(hidden) WHERE hidden")
    # All rules are scanned, and they are few.
    db.execute("CREATE INDEX idx_units_rules ON units(id) WHERE item != '' AND types = 'Rule'")
    _table(db, "passages", _PASSAGES, ("text",))
    db.table("passages").create_index(["file"])
    _table(db, "claims", _CLAIMS)
    db.table("claims").create_index(["path", "start_line"])
    db.table("claims").create_index(["item"])
    db.table("claims").create_index(["file"])
    _table(db, "marks", _MARKS)
    db.table("marks").insert({"id": 1, "build": os.urandom(8).hex(), "last_unit": 0, "tables": 0})


def _table(db: Database, name: str, columns: Mapping[str, type], searched: tuple[str, ...] = ()) -> None:
    table = db.table(name)
    table.create(dict(columns), pk="id", not_null=set(columns) - {"id", "first_passage", "last_passage"})
    if searched:
        table.enable_fts(searched, create_triggers=True, tokenize=TOKENIZE)
        # A row that moves within its file keeps its words: indexing them again takes longer than all else.
        update = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (f"{name}_au",)).fetchone()[0]
        db.execute(f"DROP TRIGGER {name}_au")
        db.execute(update.replace(" AFTER UPDATE ON ", f" AFTER UPDATE OF {', '.join(searched)} ON "))


def row_sum(values: Sequence[str | int | bytes | None]) -> int:
    """Return the checksum of a row's values, joined as `summed` joins them in SQLite.

    SQLite detects a torn page, and FTS5 a word that no text contains, but neither detects a flipped bit that changes a
    day or a line number. So every row has a checksum, and a hit's is verified before it is shown.
    """
    texts = [
        one if type(one) is str else "" if one is None else one.hex().upper() if isinstance(one, bytes) else str(one)
        for one in values
    ]
    return zlib.crc32(_BETWEEN.join(texts).encode())


def summed(columns: Sequence[str]) -> str:
    """Return the SQL expression for the bytes that `row_sum` sums, as a blob, so that no decoding can fail."""
    texts = (f"hex({one})" if one == "key" else f"ifnull({one}, '')" for one in columns)
    return f"CAST({' || char(30) || '.join(texts)} AS BLOB)"


INDEX: Final = f"{PRIVATE}/index.db"
BUSY_SECONDS: Final = 5.0
PATIENCE: Final = 60.0
"""Seconds to wait for another process that writes the index."""

_LOCK: Final = "index.lock"
_GATE: Final = f"{PRIVATE}/index.gate"
_SWAP: Final = f"{PRIVATE}/index.swap"
ASIDE: Final = f"{INDEX}.new"
"""What a killed rebuild leaves, which may be as large as the index; the holder of the writer lock may remove it."""
_NEWEST_FORMAT: Final = 2
_BESIDE: Final = ("-wal", "-shm", "-journal")
# Errors that a rebuild would not fix: the cause is the disk or another process, not the file.
_NOT_BROKEN: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
    | {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT}
)


FAULTS: Final = (sqlite3.Error, UnicodeDecodeError)
"""What reading a database raises; Python fails to decode SQLite's message if it quotes a damaged name."""


class OtherVersion(IndexUnusable):
    """Raised when another version of memcurate wrote the index."""

    def __init__(self, version: int) -> None:
        self.version = version
        age = "a newer version of memcurate wrote it" if version > VERSION else "it is empty or of an older version"
        super().__init__(f"{age} (format {version}, this version knows {VERSION})")


def is_broken(error: Exception) -> bool:
    """Return whether an error means that the file itself is damaged, so that a rebuild would help."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF not in _NOT_BROKEN


@contextlib.contextmanager
def reading(root: Path) -> Iterator[sqlite3.Connection]:
    """Open the index to read, without sqlite-utils, whose import takes longer than a search.

    Raises:
        IndexUnusable: there is none, it is damaged, or another version wrote it.
    """
    path = root / INDEX
    refuse_links(root, PRIVATE)
    if not path.is_file():
        raise IndexUnusable("there is none yet")
    with _swap_lock(root, fcntl.LOCK_SH), contextlib.closing(_open_reading(path)) as connection:
        try:
            connection.execute("BEGIN")  # every statement sees the same state
            yield connection
        except FAULTS as error:
            raise IndexUnusable(f"it is damaged or cannot be read ({error})") from error


def _open_reading(path: Path, how: str = "mode=ro") -> sqlite3.Connection:
    address = f"file:{quote(str(path))}?{how}"
    try:
        check_header(path)
        connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except FAULTS:
            connection.close()
            raise
    except sqlite3.OperationalError:
        if how == "mode=ro":
            # A read-only disk has no room for WAL mode's shared memory, and no writers.
            return _open_reading(path, "immutable=1")
        raise IndexUnusable("it cannot be opened") from None
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise IndexUnusable(f"it is damaged ({error})") from None
    if version != VERSION:
        connection.close()
        raise OtherVersion(version)
    return connection


def check_header(path: Path) -> None:
    """Check the two bytes with which a damaged header would make SQLite treat the file as read-only.

    Raises:
        sqlite3.DatabaseError: no version of SQLite writes such values.
    """
    if path.is_symlink():
        raise sqlite3.DatabaseError("it is a symbolic link")  # a rebuild replaces the link
    with path.open("rb") as file:
        if any(byte > _NEWEST_FORMAT for byte in file.read(20)[18:]):
            raise sqlite3.DatabaseError("its header is damaged")


def open_private(path: Path, patience: float) -> sqlite3.Connection:
    """Open a database to write, creating it if needed, readable by its owner only: it contains the memory's text.

    Args:
        path: its path; a symbolic link is refused.
        patience: seconds to wait for another process that writes it.

    Raises:
        OSError: the disk refuses.
        sqlite3.DatabaseError: its header is damaged.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600))
    check_header(path)
    return sqlite3.connect(path, timeout=patience, isolation_level=None)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit all or nothing. Begins as a writer, because SQLite does not let a reader wait to become one."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def writer_lock(root: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the right to write the index.

    Args:
        root: the memory.
        patience: seconds to wait for another writer.

    Raises:
        LockHeld: another process is still writing it after that time.
        NotWritable: the disk refuses.
    """
    with private(root) as folder, writing(INDEX):
        descriptor = folder.open(_LOCK, os.O_RDWR | os.O_CREAT)
    until = time.monotonic() + patience
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise LockHeld("it is updating the search index") from None
                time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _swap_lock(root: Path, kind: int) -> Iterator[None]:
    """Keep swaps and readers apart. A swap closes the gate first, so that new readers cannot starve it."""
    descriptors: list[int] = []
    try:
        for name in (_GATE, _SWAP):
            # On a read-only disk nobody swaps, and no lock is needed.
            with contextlib.suppress(OSError):
                descriptors.append(os.open(root / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
                fcntl.flock(descriptors[-1], kind)
        if kind == fcntl.LOCK_SH and descriptors:
            os.close(descriptors.pop(0))
        yield
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


@contextlib.contextmanager
def replacing(root: Path) -> Iterator[sqlite3.Connection]:
    """Open an empty database beside the index, and replace the index with it if the block succeeds."""
    aside, path = root / ASIDE, root / INDEX
    remove_database(aside)
    try:
        with contextlib.closing(open_private(aside, BUSY_SECONDS)) as connection:
            connection.execute("PRAGMA synchronous = OFF")  # not shared yet, and flushed at the end
            connection.execute("PRAGMA journal_mode = OFF")
            yield connection
            connection.execute("PRAGMA journal_mode = WAL")
        _sync(aside)
        with _swap_lock(root, fcntl.LOCK_EX):
            _settle(path)
            aside.replace(path)
    finally:
        remove_database(aside)


def remove_database(path: Path) -> None:
    """Remove a database and SQLite's files beside it.

    Raises:
        OSError: the disk refuses.
    """
    for suffix in ("", *_BESIDE):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _settle(path: Path) -> None:
    """Fold the old file's write-ahead log into it, so that it is complete even if the rename never happens."""
    if path.is_file():
        with contextlib.suppress(*FAULTS), contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in _BESIDE:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
