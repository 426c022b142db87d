"""The index's file: its tables, how it is opened, and how it is replaced.

`PRAGMA user_version` says how a file was made: which tables it has, and how files are split into units. All content is
derived, so nothing is migrated or mended: an index of another version, or one that gives any error, is built anew.

Writers hold `.curate/index.lock` one at a time. Readers never wait for a writer: the database is in WAL mode.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from pipelines.errors import IndexUnusable, LockHeld, NotWritable
from pipelines.store.files import open_own, writing
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import private_folder
from pipelines.store.user_layout import inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sqlite_utils import Database


VERSION = 29

SEPARATOR = "\x1f"
"""Joins multiple values of a unit: headings, types, tags."""

Strings = tuple[str, ...]
"""Such values before they are joined."""

AS_SAID = "\x1d"
"""Stands before metadata as a person wrote it, behind its normalised form."""

REJECTED, HELD_BACK = "rejected", "held back"
"""Lines overruled for these reasons are hidden by default: a person said no, or has not been asked yet."""

SHOWN, PAST, NEVER = 0, 1, 2
"""Values of `hidden`: a unit is shown always; only as of a day on which it held; never."""

_FILES, _UNITS, _PASSAGES, _CLAIMS = (
    dict.fromkeys(numbers.split(), int) | dict.fromkeys(texts.split(), str)
    for numbers, texts in (
        ("id size mtime_ns ctime_ns", "path beside ids rows reason meta"),
        # Columns for ranking come first and texts last, so that sorting need not read the texts. The key names the
        # vector of the unit's text; it is 0 if the text is not embedded.
        (
            "id file start_line end_line first_passage last_passage hidden key",
            """date until types project tags trust confidence status item cites
            confidence_reason source record meta title headings text grams about around""",
        ),
        ("id file", "text"),
        ("id file", "item cited why successor since path"),
    )
)
"""The columns of each table: first those with numbers, then those with texts."""
_CLAIMS |= dict.fromkeys("start_line end_line".split(), int)
UNIT_COLUMNS = tuple(_UNITS)
CLAIM_COLUMNS = tuple(_CLAIMS)[2:]

# Stemmed, so that `painted` finds `painting`; accents are ignored.
TOKENIZE = "porter unicode61 remove_diacritics 2"


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty database. Nothing else may write to it meanwhile."""
    from sqlite_utils import Database  # noqa: PLC0415  heavy, and needed only to create a file

    # Do not run plugins of the user's own sqlite-utils.
    db = Database(connection, execute_plugins=False)
    _table(db, "files", _FILES)
    db.table("files").create_index(["path"], unique=True)
    # To list what is not indexed without scanning what is.
    db.execute("CREATE INDEX files_skipped ON files(path, reason) WHERE reason != ''")
    _table(db, "units", _UNITS, ("text", "grams", "about", "around"))
    for columns in (["file", "start_line"], ["item"]):
        db.table("units").create_index(columns)
    db.execute("CREATE INDEX idx_units_record ON units(record) WHERE record != ''")
    # The columns for places and filters: a tenth of the data that the table with its texts has.
    db.execute(
        "CREATE INDEX idx_units_placed ON units(id, file, start_line, end_line, first_passage, last_passage, hidden,"
        " key, date, until, trust, confidence, types, status, project)"
    )
    # To find the episodes among all units found: they are few.
    db.execute("CREATE INDEX idx_units_told ON units(id, date, cites) WHERE cites != ''")
    # What people said of items by their own keys is scanned, and is little.
    db.execute("CREATE INDEX idx_units_meta ON units(meta) WHERE meta != ''")
    # All rules are scanned, and they are few.
    db.execute("CREATE INDEX idx_units_rules ON units(id) WHERE item != '' AND types = 'Rule'")
    _table(db, "passages", _PASSAGES, ("text",))
    db.table("passages").create_index(["file"])
    _table(db, "claims", _CLAIMS)
    for columns in (["path", "start_line"], ["item"], ["file"]):
        db.table("claims").create_index(columns)
    connection.execute(f"PRAGMA user_version = {VERSION:d}")


def _table(db: Database, name: str, columns: Mapping[str, type], searched: tuple[str, ...] = ()) -> None:
    table = db.table(name)
    table.create(dict(columns), pk="id", not_null=set(columns) - {"id", "first_passage", "last_passage"})
    if searched:
        table.enable_fts(searched, create_triggers=True, tokenize=TOKENIZE)


INDEX = f"{PRIVATE}/index.db"
BUSY_SECONDS = 5.0
PATIENCE = 60.0
"""Seconds to wait for another process that writes the index."""

ASIDE = f"{INDEX}.new"
"""What a rebuild writes."""
_BESIDE = ("-wal", "-shm", "-journal")


FAULTS = (sqlite3.Error, TypeError, ValueError, LookupError)
"""What reading a damaged database raises: SQLite's own errors, and what follows from values of other types."""


@contextmanager
def reading(root: Path) -> Iterator[sqlite3.Connection]:
    """Open the index to read, without sqlite-utils, whose import takes longer than a search.

    Raises:
        IndexUnusable: there is none, it gives an error, or another version wrote it.
    """
    path = root / INDEX
    inside(root, PRIVATE)
    if not path.is_file():
        raise IndexUnusable("there is none yet")
    if path.is_symlink():  # building it anew replaces the link
        raise IndexUnusable("it is a symbolic link")
    try:
        # A read-only disk has no room for WAL mode's shared memory, and no writers.
        for how in ("mode=ro", "immutable=1"):
            address = f"file:{quote(str(path))}?{how}"
            opened = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            with closing(opened) as connection:
                try:
                    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                except sqlite3.OperationalError as error:
                    fault = error
                    continue
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                if version != VERSION:
                    raise IndexUnusable("another version of memcurate wrote it")
                connection.execute("BEGIN")  # every statement sees the same state
                yield connection
                return
        raise fault
    except FAULTS as error:
        raise IndexUnusable(f"it is damaged or cannot be read ({error})") from error


@contextmanager
def writer_lock(root: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the right to write the index.

    Args:
        root: the memory.
        patience: seconds to wait for another writer.

    Raises:
        LockHeld: another process is still writing it after that time.
        NotWritable: the disk refuses.
    """
    private_folder(root)
    with writing(INDEX):
        descriptor = open_own(root, f"{PRIVATE}/index.lock", os.O_RDWR | os.O_CREAT)
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


@contextmanager
def writing_in(root: Path) -> Iterator[sqlite3.Connection]:
    """Open the index to write; the caller holds the writer lock."""
    with closing(sqlite3.connect(root / INDEX, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        # If a power cut loses the last update, the next scan notices; the file cannot be damaged by it.
        connection.execute("PRAGMA synchronous = NORMAL")
        yield connection


@contextmanager
def replacing(root: Path) -> Iterator[sqlite3.Connection]:
    """Make empty tables beside the index, and replace the index with them if the block succeeds.

    Readers of the old one go on reading it. It is readable by its owner only: it contains the memory's text.

    Raises:
        NotWritable: the disk refuses.
    """
    path, aside = root / INDEX, root / ASIDE
    try:
        with writing(INDEX):
            os.close(os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            with closing(sqlite3.connect(aside, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = OFF")  # not shared yet, and flushed at the end
                connection.execute("PRAGMA journal_mode = OFF")
                make_tables(connection)
                yield connection
                connection.execute("PRAGMA journal_mode = WAL")
            with aside.open("rb") as file:
                os.fsync(file.fileno())
            # The old file's write-ahead log goes first, folded in: it must never be applied to the new file.
            with suppress(*FAULTS), closing(sqlite3.connect(path)) as old:
                old.execute("PRAGMA wal_checkpoint")
            remove_database(path, _BESIDE)
            aside.replace(path)
    except sqlite3.Error as error:
        raise NotWritable(INDEX, str(error)) from error
    finally:
        remove_database(aside)


def remove_database(path: Path, suffixes: tuple[str, ...] = ("", *_BESIDE)) -> None:
    """Remove a database with what SQLite keeps beside it, or only some of these; the caller holds the writer lock."""
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
