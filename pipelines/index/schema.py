"""The tables of the index, made and migrated through sqlite-utils.

`PRAGMA user_version` counts the migrations that a file has seen, so that a reader knows at once whether it can read it.
Everything in it is derived: a migration that would be hard may empty the tables instead, and the next update fills
them. A change of how files are cut into units is such a migration, too.
"""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from sqlite_utils import Database

VERSION: Final = 6

SEPARATOR: Final = "\x1f"
"""Joins what a unit has several of: headings, types, tags."""

SHOWN, PAST, NEVER = 0, 1, 2
"""What `hidden` says: when a unit may be found: always; as of a day on which it held; never."""

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
    "crc": int,
}
_PASSED: Final[Mapping[str, type]] = {"id": int, "path": str, "reason": str}
# What ranking looks at stands first in a row, and the texts last: they need not be read to sort.
_UNITS: Final[Mapping[str, type]] = {
    "id": int,
    "file": int,
    "start_line": int,
    "end_line": int,
    "first_passage": int,
    "last_passage": int,
    "hidden": int,
    "crc": int,
    "key": bytes,
    "date": str,
    "until": str,
    "types": str,
    "project": str,
    "tags": str,
    "trust": str,
    "confidence": str,
    "status": str,
    "item": str,
    "record": str,
    "title": str,
    "headings": str,
    "text": str,
    "grams": str,
    "about": str,
    "around": str,
}
_PASSAGES: Final[Mapping[str, type]] = {"id": int, "file": int, "place": int, "text": str}
# A unit's number is never given twice, because its vector stands in the row of that number, in another file.
_MARKS: Final[Mapping[str, type]] = {"id": int, "build": str, "last_unit": int, "tables": int}

# Stems, so that `painted` finds `painting`; accents do not matter.
TOKENIZE: Final = "porter unicode61 remove_diacritics 2"


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database up to `VERSION`. Nothing else may write to it meanwhile.

    After a `transform` of a table that has triggers, a migration makes its full-text table and triggers anew:
    `transform` drops them without a word.
    """
    from sqlite_utils import Database, Migrations  # noqa: PLC0415  heavy, and only writers of a new file need it

    migrations = Migrations("memcurate.index")
    migrations(name="6 files, what was passed over, units, passages and what names the vectors, with checksums")(_first)
    # Plugins of a user's own sqlite-utils have no business in here.
    migrations.apply(Database(connection, execute_plugins=False))
    connection.execute("UPDATE marks SET tables = ?", (schema_sum(connection),))
    connection.execute(f"PRAGMA user_version = {VERSION:d}")


def schema_sum(connection: sqlite3.Connection) -> int:
    """Return the checksum of the tables' own definitions, with what their triggers do."""
    told = connection.execute("SELECT coalesce(sql, name) FROM sqlite_master ORDER BY type, name").fetchall()
    return zlib.crc32("\n".join(one for (one,) in told).encode())


def _first(db: Database) -> None:
    _table(db, "files", _FILES)
    db.table("files").create_index(["path"], unique=True)
    # What is not in the index is asked for without looking at what is.
    db.execute("CREATE INDEX files_skipped ON files(path, reason) WHERE reason != ''")
    db.execute("CREATE INDEX files_partial ON files(path, note) WHERE note != ''")
    _table(db, "passed", _PASSED)
    _table(db, "units", _UNITS, ("text", "grams", "about", "around"))
    db.table("units").create_index(["file"])
    db.table("units").create_index(["item"])
    db.execute("CREATE INDEX idx_units_record ON units(record) WHERE record != ''")
    # Where candidates stand and what filters ask for: a tenth of what is read where the texts stand beside it.
    db.execute(
        "CREATE INDEX idx_units_placed ON units(id, file, start_line, first_passage, last_passage, hidden, date, until,"
        " trust, confidence, types, project)"
    )
    # How many are not shown is asked often, and they are few.
    db.execute("CREATE INDEX idx_units_hidden ON units(hidden) WHERE hidden")
    _table(db, "passages", _PASSAGES, ("text",))
    db.table("passages").create_index(["file"])
    _table(db, "marks", _MARKS)
    db.table("marks").insert({"id": 1, "build": os.urandom(8).hex(), "last_unit": 0, "tables": 0})


def _table(db: Database, name: str, columns: Mapping[str, type], searched: tuple[str, ...] = ()) -> None:
    table = db.table(name)
    table.create(dict(columns), pk="id", not_null=set(columns) - {"id", "first_passage", "last_passage"})
    if searched:
        table.enable_fts(searched, create_triggers=True, tokenize=TOKENIZE)
        # What moves within its file keeps its words: handing them over again takes longer than all else.
        update = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (f"{name}_au",)).fetchone()[0]
        db.execute(f"DROP TRIGGER {name}_au")
        db.execute(update.replace(" AFTER UPDATE ON ", f" AFTER UPDATE OF {', '.join(searched)} ON "))
