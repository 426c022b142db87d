"""Read a file for the index, and put its rows there: its units and claims, or why there are none.

Claims say which item rests on a log line, and why the line is overruled, if it is. A document's items cite the lines
they are based on; so do waiting items in Review.md, and the tombstones of items that a person rejected. The index
stores each file's claims, with the current positions of the lines.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import BadFile
from pipelines.search.chunk_context import grams, normalised, surround
from pipelines.search.chunks import DAY, Unit, prose_pieces, read_units
from pipelines.search.embed import key_of_unit
from pipelines.search.indexed_files import CLAIMING, FileStamp, rows_digest
from pipelines.search.schema import AS_SAID, CLAIM_COLUMNS, HELD_BACK, REJECTED, SEPARATOR, UNIT_COLUMNS
from pipelines.store.document import document_at
from pipelines.store.evidence import Quotes
from pipelines.store.files import open_regular, read_bytes
from pipelines.store.item import STRUCK, Evidence, Status, Trust, ids_in
from pipelines.store.layout import EPISODES, NOTES, REVIEW, SESSIONS, TOMBSTONES, day_of_log, is_log, kind_of
from pipelines.store.log import tags_of
from pipelines.store.review_queue import read_queue
from pipelines.store.secrets.redact import TranscriptCleaner, is_private, load_redactor, log_without_private
from pipelines.store.state import Reason, read_tombstones
from pipelines.store.trees import ledger_on_disk, left_out
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from sqlite3 import Connection

    from pipelines.store.days import Days
    from pipelines.store.transcripts.records import Turn


class FileReading(NamedTuple):
    """The result of reading a file.

    Args:
        units: in order.
        reason: why there are no units, or not all, as the predicate of a sentence about the path.
        claims: what it says about log lines.
        rests: for a document, the ids in it, and the digest of their rows in the ledger.
    """

    units: Sequence[Unit]
    reason: str = ""
    claims: Sequence[LineClaim] = ()
    rests: tuple[str, str] = ("", "")


def read_file(root: Path, path: str, beside: str) -> FileReading | None:
    """Return a file as it is now, or None if it vanished. Nothing in a file makes this fail.

    A text is UTF-8, with or without a byte order mark. It is redacted, because a log is indexed even before a run has
    redacted it.

    Args:
        root: the memory.
        path: the file, relative to the memory.
        beside: the `beside` of its stamp.
    """
    try:
        if path.startswith(f"{SESSIONS}/"):
            return _transcript(root, path, beside)
        data = read_bytes(root, path)
        data = left_out(root).get(path) if data is None else data
        if data is None:
            return None
        rows = ledger_on_disk(root) if kind_of(path) else {}
        try:
            text = data.decode("utf-8-sig").replace("\0", "\ufffd")  # SQLite ends text at a zero
        except UnicodeDecodeError as error:
            return FileReading((), f"is not UTF-8 (byte {error.start})")
        shown = log_without_private(text) if is_log(path) and is_private(text) else text
        redacted = load_redactor(root).redact(shown).text
        word = layout_of(root).trust if path.startswith(f"{NOTES}/") else ""
        units = () if path in CLAIMING else read_units(path, redacted, rows, word or Trust.OWNER)
        if path.startswith(f"{EPISODES}/") and layout_of(root).home:  # its lines may be those of a note
            units = tuple(unit._replace(source="") for unit in units)
        ids, claims = ids_in(redacted) if kind_of(path) else [], tuple(claims_in(path, redacted, rows))
        return FileReading(units, claims=claims, rests=(" ".join(ids), rows_digest(ids, rows)))
    except BadFile as error:
        return FileReading((), reason=error.why)
    except OSError as error:
        return FileReading((), reason=f"cannot be read: {(error.strerror or str(error)).lower()}")


def _transcript(root: Path, path: str, beside: str) -> FileReading | None:
    from pipelines.store.days import Days  # noqa: PLC0415  as above
    from pipelines.store.transcripts.reader import Transcript  # noqa: PLC0415  as above

    file, days = open_regular(root, path), Days(*beside.rsplit(" ", 1))
    if file is None:
        return None
    with file:
        transcript, words = Transcript(file, days.zone), TranscriptCleaner(load_redactor(root)).words
        turns = (replace(turn, text=words(turn.text)) for turn in transcript)
        units = list(turn_units(path, turns, days))
    unread, line = transcript.unread, transcript.strange
    if unread and not units:
        return FileReading((), reason=f"has no readable turn: {unread}")
    if line and not units:
        return FileReading((), reason=f"has no turn in a known format (line {line} is in another one)")
    return FileReading(units, f"is indexed in part: {unread}" if unread else "")


_PROJECT = 80


def turn_units(path: str, turns: Iterable[Turn], days: Days) -> Iterator[Unit]:
    """Yield the units of a transcript, one per turn unless it is long, starting with speaker and time.

    Args:
        path: the transcript; a day in it applies to turns before the first one with a time.
        turns: its turns, in order.
        days: the memory's days.
    """
    zone = days.zone
    day = found[-1] if (found := DAY.findall(path)) else ""
    for turn in turns:
        clock = ""
        if turn.time is not None:
            day, clock = days.of(turn.time), f" {turn.time.astimezone(zone):%H:%M}"
        own = Trust.OWNER if turn.act and not turn.subagent else Trust.SELF
        trust = Trust.EXTERNAL if turn.speaker else own
        speaker = turn.speaker or (turn.role.value if turn.act or turn.role != "user" else "program")
        if turn.subagent:  # its user is the agent
            speaker = "task" if turn.role == "user" else "subagent"
        for text in prose_pieces(turn.text):
            yield Unit(
                turn.line, turn.line, f"{speaker}{clock}: {text}", date=day, trust=trust,
                project=turn.project[:_PROJECT], tags=tags_of(text),
            )  # fmt: skip


# ---------------------------------------- a file's rows, made anew whenever it changed


_STAMPED = "path size mtime_ns ctime_ns beside ids rows reason meta".split()
_FILE = f"INSERT INTO files({', '.join(_STAMPED)}) VALUES ({', '.join('?' * len(_STAMPED))})"  # noqa: S608  our own columns
_UNIT = f"INSERT INTO units({', '.join(UNIT_COLUMNS[1:])}) VALUES (:{', :'.join(UNIT_COLUMNS[1:])})"  # noqa: S608  as above


def put(connection: Connection, root: Path, path: str, stamp: FileStamp) -> None:
    """Read a file and make its rows anew; an unreadable file is recorded with the reason, a vanished one has no rows.

    Args:
        connection: the index, in a transaction.
        root: the memory.
        path: the file, relative to the memory.
        stamp: its metadata from before it was read.
    """
    take_out(connection, path)
    read = read_file(root, path, stamp.beside)
    if read is None:
        return
    front = read.units[0].meta if read.units else ()  # the same for all units of a file
    meta = "".join(f"{SEPARATOR}{one}{SEPARATOR}" for one in front)
    file = connection.execute(_FILE, (path, *stamp, *read.rests, read.reason, meta)).lastrowid
    placed, passages = surround(path, read.units)
    (first,) = connection.execute("SELECT ifnull(max(id), 0) + 1 FROM passages").fetchone()
    numbered = ((number, file, text) for number, text in enumerate(passages, first))
    connection.executemany("INSERT INTO passages(id, file, text) VALUES (?, ?, ?)", numbered)
    for unit, about, around, *between in placed:
        told = {name: SEPARATOR.join(one) if isinstance(one, tuple) else one for name, one in unit._asdict().items()}
        first_passage, last_passage = (number if number is None else first + number for number in between)
        told |= {
            "file": file,
            "first_passage": first_passage,
            "last_passage": last_passage,
            "key": key_of_unit(unit),
            "meta": "".join(f"{SEPARATOR}{normalised(one)}{SEPARATOR}{AS_SAID}{one}" for one in unit.said),
            "grams": grams(unit.text),
            "about": about,
            "around": around,
        }
        connection.execute(_UNIT, told)
    cited = ((claim, at) for claim in read.claims if (at := Evidence.parse(claim.cited)))
    connection.executemany(_PUT, ((file, *claim, at.path, _UNPLACED, _UNPLACED) for claim, at in cited))


def take_out(connection: Connection, path: str) -> None:
    """Delete a file's rows, if it has any."""
    found = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    if found:
        for table in ("units", "passages", "claims"):
            connection.execute(f"DELETE FROM {table} WHERE file = ?", found)  # noqa: S608  ours
        connection.execute("DELETE FROM files WHERE id = ?", found)


# ---------------------------------------- claims about log lines


class LineClaim(NamedTuple):
    """What a document says about some lines: the item based on them, and why they are overruled, if they are."""

    item: str
    cited: str
    why: str = ""
    successor: str = ""
    since: str = ""


_QUARANTINE = "quarantine"
_WORDS = {Status.NEVER_HELD: "retracted", Status.RETRACTED: "retracted"}


def claims_in(path: str, text: str, ledger: Mapping[str, str]) -> Iterator[LineClaim]:
    """Yield the claims of a document, Review.md or the tombstones about log lines.

    Args:
        path: relative to the memory.
        text: the whole file.
        ledger: the rows of its items by id.
    """
    if is_log(path) or path.startswith(f"{SESSIONS}/"):
        return
    if path == TOMBSTONES:
        rejected = (one for one in sorted(read_tombstones(text.encode())) if one.reason is Reason.DELETED)
        yield from (LineClaim(one.id, cited, REJECTED, "", one.day) for one in rejected for cited in one.places)
        return
    document = document_at(path, text, ledger)
    if path == REVIEW:
        held = (
            (entry.day, item)
            for entry in read_queue(document)
            for item in entry.items
            if entry.kind == _QUARANTINE or not item.is_ours
        )
        yield from (LineClaim(item.id, at.render(), HELD_BACK, "", day) for day, item in held for at in item.evidence)
        return
    believed = [placed.item for placed in document.items if placed.item.status is not Status.WAITING]
    for item in believed:
        for number, at in enumerate(item.evidence):
            cited = at.render()
            if item.status is Status.MERGED:
                yield LineClaim(item.merged_into, cited)
            elif item.status in STRUCK:
                # A line from when it was already over is the one that says so, and remains true.
                says_so = number and item.until and day_of_log(at.path) >= item.until
                why = "" if says_so else _WORDS.get(item.status, str(item.status))
                yield LineClaim(item.id, cited, why, "" if says_so else item.superseded_by, item.until)
            elif item.trust is Trust.OWNER and not item.by:  # reworded: it cites lines, so a run wrote it originally
                yield LineClaim(item.id, cited, "corrected", item.id)
            else:
                yield LineClaim(item.id, cited)


_PUT = f"INSERT INTO claims(file, {', '.join(CLAIM_COLUMNS)}) VALUES (?, {', '.join('?' * len(CLAIM_COLUMNS))})"  # noqa: S608  our own columns
_PLACED = """
    SELECT id, cited, start_line, end_line FROM claims
    WHERE start_line = ? OR path IN (SELECT value FROM json_each(?))
"""
_MOVE = "UPDATE claims SET start_line = ?, end_line = ? WHERE id = ?"
_UNPLACED = -1


def place_claims(connection: Connection, root: Path, changed: Collection[str]) -> None:
    """Find the lines of claims that are new or whose log changed: lines move when somebody inserts text above them.

    Args:
        connection: the index, in a transaction.
        root: the memory.
        changed: the logs whose lines may have moved.
    """
    quotes = Quotes(root)
    for number, cited, start, end in connection.execute(_PLACED, (_UNPLACED, json.dumps(list(changed)))).fetchall():
        at = Evidence.parse(cited)
        found = quotes.found(at) if at else None
        lines = (found.start_line, found.end_line) if found and found.quote is not None else (0, 0)
        if lines != (start, end):
            connection.execute(_MOVE, (*lines, number))
