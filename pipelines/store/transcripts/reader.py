"""Reads a transcript line by line: yields its turns, and counts the lines that it cannot read.

Every line is parsed on its own, so that no record affects another. A captured transcript is copied to Sessions while it
is read, so that one pass suffices.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import tempfile
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.store.files import make_folder, open_own, sync_folder, writing
from pipelines.store.layout import ASIDE, SESSIONS
from pipelines.store.transcripts.acts import Acts, Record
from pipelines.store.transcripts.outside import Outside
from pipelines.store.transcripts.records import SUMMARY, UNKNOWN, Opening, Role, Said, Turn, opening_of, said_in
from pipelines.store.user_layout import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


DATABASE: Final = ".sqlite"
"""How the name of a file ends in which OpenClaw keeps all sessions of one agent."""
COMPRESSED: Final = ".zst"
_ROLLOUT = re.compile(r"rollout-.{19}-([0-9a-f-]{36})(?:_([0-9a-f-]{36}))?\.jsonl")
_SESSIONS = "SELECT session_id, count(*), max(created_at) FROM transcript_events GROUP BY session_id"
_EVENTS = "SELECT * FROM transcript_events WHERE session_id = ? ORDER BY seq"


def open_transcript(path: Path) -> IO[bytes]:
    """Open a session for reading its lines, whatever its agent keeps it in.

    Args:
        path: a JSONL file, also a compressed one; or `DATABASE#SESSION`, as `sessions_in` names them.

    Raises:
        BadFile: it is in another form, or what reads compressed ones is not installed.
        OSError: it cannot be read.
    """
    database, inside, session = str(path).rpartition("#")
    in_database = inside and database.endswith(DATABASE)
    if not in_database and path.suffix != COMPRESSED:
        return path.open("rb")
    with ExitStack() as stack:
        lines = stack.enter_context(tempfile.TemporaryFile())
        if in_database:
            for row in map(dict, _rows(Path(database), _EVENTS, session)):
                text = str(row["event_json"]).encode(errors="replace")
                if row["event_json"] is None and row.get("event_zstd"):  # later versions compress large ones
                    _decompress(Path(database), BytesIO(row["event_zstd"]), packed := BytesIO())
                    text = packed.getvalue()
                lines.write(text.replace(b"\n", b" ") + b"\n")
        else:
            with path.open("rb") as file:
                _decompress(path, file, lines)
        lines.seek(0)
        stack.pop_all()  # the caller closes it
    return lines


def sessions_in(database: str) -> list[tuple[str, int, int]]:
    """Return the sessions in a database of OpenClaw: each as `DATABASE#SESSION`, its size, and its time in nanoseconds.

    Raises:
        BadFile: it cannot be read, or is in another form.
    """
    return [(f"{database}#{row[0]}", row[1], row[2] * 1_000_000) for row in _rows(Path(database), _SESSIONS)]


def _rows(database: Path, query: str, *values: str) -> list[sqlite3.Row]:
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as opened:
            opened.row_factory = sqlite3.Row
            return opened.execute(query, values).fetchall()
    except sqlite3.Error as fault:
        raise BadFile(database, f"is a database in a form that is not known ({fault})") from None


def _decompress(path: Path, source: IO[bytes], target: IO[bytes]) -> None:
    try:
        import zstandard  # noqa: PLC0415  few sessions are compressed

        zstandard.ZstdDecompressor().copy_stream(source, target)
    except ImportError:
        raise BadFile(path, "is compressed, and the Python package zstandard is not installed") from None
    except zstandard.ZstdError as fault:
        raise BadFile(path, f"cannot be decompressed ({fault})") from None


_BROKEN = "broken"
"""A line that is not JSON."""
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Transcript:
    """The turns of one transcript, in the order of their lines; it can be iterated once.

    No content makes it fail: an unreadable line is counted, and reading continues. Invalid UTF-8 becomes a replacement
    character, so that one bad byte costs no turn.

    Args:
        file: its lines, such as a file opened for reading bytes; only one is held at a time.
        zone: the time zone of times without one.
        acts: decides whose act each record is; passed in if the user's settings trust what a program sent.
        outside: collects the outside text that tools brought in before each turn.
        broken: the unreadable lines so far, counted from 1.
        strange: the first line of a shape that no known program writes, or zero.
        taken_back: the lines that a person took back, as `taken_back` found them: they yield no turn.
    """

    file: Iterable[bytes]
    zone: tzinfo = UTC
    acts: Acts = field(default_factory=Acts)
    outside: Outside = field(default_factory=Outside)
    broken: list[int] = field(default_factory=list)
    strange: int = 0
    taken_back: frozenset[int] = frozenset()
    _opening: Opening = ("", "", "", None)
    _spoken: bool = False

    def __iter__(self) -> Iterator[Turn]:
        """Yield the turns."""
        for number, line in enumerate(self.file, start=1):
            if number == 1:
                line = line.removeprefix(_BOM)  # noqa: PLW2901  strip the mark once
                self._opening = opening_of(_parsed(line) or {}, self.zone)
            said = self._said(line)
            if said == _BROKEN:
                self.broken.append(number)
            elif said == UNKNOWN:
                self.strange = self.strange or number
            for turn in said if isinstance(said, list) and number not in self.taken_back else ():
                self._spoken = True
                session, cwd, remote, begun = self._opening
                yield replace(
                    turn, line=number, session=turn.session or session, cwd=turn.cwd or cwd, remote=remote, begun=begun
                )
                self.outside.own(turn.text)

    @property
    def unread(self) -> str:
        """What could not be read, as a clause, or empty: `3 lines are not JSON (the first is line 8)`."""
        if len(self.broken) > 1:
            return f"{len(self.broken):,} lines are not JSON (the first is line {self.broken[0]})"
        return f"line {self.broken[0]} is not JSON" if self.broken else ""

    def _said(self, line: bytes) -> Said:
        """Return a line's turns, if any; or its fault, or that it is unknown."""
        line = line.lstrip(b"\0")  # a crash of the machine leaves zeros before what was written next
        if not line.strip():
            return []
        if (record := _parsed(line)) is None:
            return _BROKEN
        # A fork also contains the opening record of the session that it continues: the first one counts.
        if not self._opening[0] and (opening := opening_of(record, self.zone))[0]:
            self._opening = opening
        said = said_in(record, self.zone, self.acts)
        acts = (turn.text for turn in said if turn.act) if isinstance(said, list) else ()
        self.outside.read(record, self._opening[1], acts)
        if said == SUMMARY:
            if not self._spoken:  # it continues a session that may have read anything
                self.outside.take(record)
            return []
        return said


def rollouts(folder: Path, days: str) -> dict[str, list[Path]]:
    """Return the files of each of Codex's sessions, oldest first, by its id.

    Args:
        folder: where they lie.
        days: the pattern of the folders in it, with a slash, or empty.
    """
    found = dict[str, list[Path]]()
    for one in sorted(folder.glob(f"{days}rollout-*.jsonl*"), key=lambda one: one.name):
        if named := _ROLLOUT.match(one.name):
            found.setdefault(named[1], []).append(one)
    return found


def branches_of(path: Path, listed: Callable[[Path, str], dict[str, list[Path]]]) -> dict[Path, int | None]:
    """Return the files of a session, oldest first, with how many bytes of each still count; None for all of them.

    Where a person goes back, Codex goes on in another file, which names the one before it and what counts of it.

    Args:
        path: one of the files.
        listed: `rollouts`, which may remember what it found.
    """
    every, named = list[Path](), _ROLLOUT.match(path.name)
    if named:
        at = (path.parent.parent.parent.parent, "*/*/*/") if path.parent.name.isdigit() else (path.parent, "")
        every = listed(*at).get(named[1], [])
    if path not in every or len(every) == 1:
        return {path: None}
    idents, before = dict[Path, str](), dict[str, tuple[str, int | None]]()
    for one in every:
        found, base = _ROLLOUT.match(one.name), None
        idents[one] = ident = (found[2] or found[1]) if found else ""
        with suppress(OSError, BadFile), open_transcript(one) as file:
            payload = (_parsed(file.readline()) or {}).get("payload")
            base = payload.get("history_base") if isinstance(payload, dict) else None
        if isinstance(base, dict):
            end = base.get("end_byte_offset")
            before[ident] = str(base.get("thread_id")), end if isinstance(end, int) else None
    live = dict[str, int | None]()
    ident, counts = idents[every[-1]], None
    while ident and ident not in live:
        live[ident] = counts
        ident, counts = before.get(ident, ("", None))
    return {one: live.get(idents[one], 0) for one in every}


def taken_back(file: Iterable[bytes], acts: Acts, counts: int | None) -> frozenset[int]:
    """Return the lines of a transcript that a person took back: their prompts, and all that followed from them.

    In Claude Code and OpenClaw a record names the one before it; a prompt is taken back if a later prompt follows the
    same record, and the last record of the file does not descend from it. Codex writes how many turns it rolled back,
    or goes on in another file.

    Args:
        file: the lines of the transcript.
        acts: learns on the way which questions the session asks.
        counts: how many of its bytes count; None for all.
    """
    parents, prompts = dict[str, tuple[int, str]](), dict[str, list[str]]()
    asked, rolled, last, read = list[int](), set[int](), "", 0
    for number, line in enumerate(file, start=1):
        read += len(line)
        if counts is not None and read > counts:
            rolled.add(number)
        record = _parsed(line) or {}
        in_tree, payload = not {"parentUuid", "parentId"}.isdisjoint(record), record.get("payload")
        if isinstance(payload, dict) and payload.get("type") == "thread_rolled_back":
            count = payload.get("num_turns")
            first = asked[-count] if isinstance(count, int) and 0 < count <= len(asked) else number
            rolled |= set(range(first, number))
            asked = [one for one in asked if one < first]
            continue
        said = said_in(record, UTC, acts)
        is_prompt = isinstance(said, list) and any(turn.role is Role.USER and turn.act for turn in said)
        ident = str(record.get("uuid") or record.get("id") or "")
        if in_tree and ident:
            parent = str(record.get("parentUuid") or record.get("parentId") or "")
            parents[ident], last = (number, parent), ident
            if is_prompt and parent and not record.get("isSidechain"):
                prompts.setdefault(parent, []).append(ident)
        elif is_prompt:
            asked.append(number)
    return frozenset(rolled) | _off_the_branch(parents, prompts, last)


def _off_the_branch(parents: dict[str, tuple[int, str]], prompts: dict[str, list[str]], last: str) -> frozenset[int]:
    """Return the lines of prompts that a later one replaced, and of what descends from them."""
    live = set[str]()
    while last and last not in live:
        live.add(last)
        last = parents.get(last, (0, ""))[1]
    gone = {one for siblings in prompts.values() for one in siblings[:-1] if one not in live}
    if gone:
        for ident, (_, parent) in parents.items():  # a record comes after the one that it follows
            if parent in gone and ident not in live:
                gone.add(ident)
    return frozenset(parents[ident][0] for ident in gone)


def _parsed(line: bytes) -> Record | None:
    text = line.decode(errors="replace")
    for parse_int in (None, str):  # numbers with more digits than Python parses are irrelevant
        with suppress(ValueError, RecursionError):
            record = json.loads(text, parse_int=parse_int, strict=False)  # a raw control character costs no record
            return record if isinstance(record, dict) else None
    return None


_HEAD = 1 << 16
_NAMED = re.compile(rb'"sessionId":\s?"[^"]+"')
_FLUSHED = 1 << 20


class Recorder:
    """Yields the lines of a transcript, cleaned, and writes them to a copy.

    A line that the session's program is still writing is left for next time.

    Args:
        source: the transcript.
        copy: the output.
        clean: removes from a line what must not be kept.
        known: the number of lines captured before.
        lines: the number of complete lines read.
        known_digest: the hash of the first `known` lines of the source; empty if it has fewer.
    """

    def __init__(self, source: IO[bytes], copy: IO[bytes], clean: Callable[[bytes], bytes], known: int) -> None:
        self._source, self._copy, self._clean = source, copy, clean
        self._hash = hashlib.sha256()
        self.known, self.known_digest = known, ""
        self.lines = 0

    @property
    def digest(self) -> str:
        """The hash of the lines read."""
        return self._hash.hexdigest()[:16]

    def __iter__(self) -> Iterator[bytes]:
        """Yield the complete lines."""
        for line in self._source:
            if not line.endswith(b"\n"):
                return
            self._hash.update(line)
            self.lines += 1
            if self.lines == self.known:
                self.known_digest = self.digest
            clean = self._clean(line)
            self._copy.write(clean)
            yield clean

    def flush(self) -> int:
        """Flush the buffer, and return the size of the copy in bytes."""
        self._copy.flush()
        return self._copy.tell()


def head_of(source: IO[bytes]) -> str:
    """Return the hash of a transcript's first line, or an empty string if it is not complete yet.

    A fork may begin with a line of the session that it continues, so a line without a session id is hashed together
    with the first id after it.
    """
    line, rest = source.readline(_HEAD), b""
    if b'"sessionId"' not in line and (named := _NAMED.search(source.read(_HEAD))):
        rest = named[0]
    source.seek(0)
    return hashlib.sha256(line + rest).hexdigest()[:16] if line.endswith(b"\n") or len(line) == _HEAD else ""


@contextmanager
def recording(
    root: Path, source: IO[bytes], clean: Callable[[bytes], bytes], known: int
) -> Iterator[tuple[Recorder, Path]]:
    """Yield a recorder, and the copy that it writes; the copy is deleted at the end unless `keep` took it.

    Raises:
        BadFile: a component of the path is a symbolic link.
        NotWritable: the disk refused.
    """
    name = f"{ASIDE}/session-{os.getpid()}"
    with writing(name):
        written = make_folder(root, ASIDE) / name.rpartition("/")[2]
        try:
            descriptor = open_own(root, name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with open(descriptor, "wb", buffering=_FLUSHED) as copy:  # noqa: PTH123  a descriptor
                yield Recorder(source, copy, clean, known), written
        finally:
            written.unlink(missing_ok=True)


def keep(root: Path, written: Path, file: str) -> None:
    """Move a finished copy to its place under Sessions, readable by its owner only.

    Raises:
        NotWritable: the disk refused.
        BadFile: a component of the path is a symbolic link.
    """
    target, sessions = inside(root, file), inside(root, SESSIONS)
    with writing(file):
        make_folder(root, file.rpartition("/")[0])
        for folder in target.parents:
            if folder.is_relative_to(sessions):  # only the owner may read Sessions and folders in it
                folder.chmod(0o700)
        with written.open("rb") as done:
            os.fsync(done.fileno())
        written.replace(target)
        sync_folder(target.parent)
