"""Capturing sessions: transcripts are kept under Sessions, and what was said in them goes to the logs of its days.

It takes no run lock: a session that ends during a night is captured at once. What a person deleted from a log stays
deleted, because `State/sessions.jsonl` says how far each transcript was captured.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import IO, TYPE_CHECKING, Final, Self

from pipelines.errors import BadFile
from pipelines.stages.sessions import heading_above, lines_of, said_by, session_name, session_of
from pipelines.store.append_log import Spool
from pipelines.store.evidence import captured_in
from pipelines.store.files import read_bytes
from pipelines.store.layout import SESSIONS, log_path
from pipelines.store.lock import capture_lock
from pipelines.store.session_state import Kept, load_seals, note_kept, read_kept
from pipelines.store.transcripts import Transcript
from pipelines.store.transcripts.reader import head_of, keep, recording
from pipelines.store.user_layout import at, real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pipelines.stages.sessions import Session
    from pipelines.store.days import Days
    from pipelines.store.secrets.redact import TranscriptCleaner
    from pipelines.store.transcripts import Turn

# A clock that is a little ahead is no reason to doubt a moment.
_AHEAD: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of one transcript.

    Args:
        source: its path, as it was given.
        session: its name, or empty where it holds no turn.
        file: where it is kept, relative to the memory; empty where it is not.
        turns: how many turns are new in the logs.
        days: the days whose logs they are in.
        known: how many of its turns the logs had already.
        faults: what of it could not be read, as parts of a sentence.
        fault: why it was not captured at all, or empty.
        redacted: how many of its lines held secrets, which are not in the copy.
    """

    source: str
    session: str = ""
    file: str = ""
    turns: int = 0
    days: tuple[str, ...] = ()
    known: int = 0
    faults: tuple[str, ...] = ()
    fault: str = ""
    redacted: int = 0


@dataclass(frozen=True, slots=True)
class Capture:
    """How transcripts are captured.

    Args:
        root: the memory.
        days: how it cuts its days.
        now: the moment of the capture: nothing was said later.
        cleaner: takes out of a transcript what must not be kept.
        project: the project of every session; empty for that of its working directory.
        since: the first day whose turns are wanted, `YYYY-MM-DD`; empty for all.
    """

    root: Path
    days: Days
    now: datetime
    cleaner: TranscriptCleaner
    project: str = ""
    since: str = ""


def capture_sessions(capture: Capture, paths: Iterable[Path], done: Callable[[Captured], None]) -> list[Captured]:
    """Capture transcripts, one after the other; what is wrong with one costs no other.

    Args:
        capture: how.
        paths: the transcripts.
        done: told of each, as it is done.

    Raises:
        NotWritable: the disk refused.
        LockHeld: another capture does not end.
    """
    found = []
    for path in paths:
        with capture_lock(capture.root):
            try:
                with path.open("rb") as source:
                    one = _capture(capture, path, source)
            except (OSError, BadFile) as fault:
                why = fault.why if isinstance(fault, BadFile) else fault.strerror or str(fault)
                one = Captured(str(path), fault=why)
            one = replace(one, file=real_path(capture.root, one.file)) if one.file else one
        found.append(one)
        done(one)
    return found


def _capture(capture: Capture, path: Path, source: IO[bytes]) -> Captured:
    head = head_of(source)
    if not head:
        return Captured(str(path), fault="has no whole line yet")
    kept = read_kept(capture.root).get(head) or Kept("", head, 0, "")
    before = capture.cleaner.redacted
    found = _recorded(capture, path, source, kept)
    if found is None:  # it was written anew, so that its lines are no longer those that were captured
        source.seek(0)
        found = _recorded(capture, path, source, replace(kept, file="", lines=0))
    if found is None:
        return Captured(str(path), fault="changed while it was read")
    return replace(found, redacted=capture.cleaner.redacted - before)


def _recorded(capture: Capture, path: Path, source: IO[bytes], kept: Kept) -> Captured | None:
    """Capture what is new in a transcript; None where its beginning is not what was captured before."""
    told = Telling(capture, path, kept)
    with recording(capture.root, source, capture.cleaner.record, kept.lines) as (recorder, copy), told:
        transcript = Transcript(recorder, capture.days.zone)
        for turn in transcript:
            told.tell(turn)
        copied = recorder.flush()
        if kept.lines > recorder.lines:
            return Captured(str(path), told.name, kept.file, known=told.known, faults=tuple(transcript.faults()))
        if recorder.known_digest != kept.digest and kept.lines:
            return None
        if not told.session or not copied:
            return Captured(str(path), faults=tuple(transcript.faults()), fault="holds no turn of a person or an agent")
        if recorder.lines > kept.lines or not at(capture.root, told.session.file).exists():
            keep(capture.root, copy, told.session.file)
        days = told.write()
    if recorder.lines > kept.lines:
        note_kept(capture.root, Kept(told.session.file, kept.head, recorder.lines, recorder.digest))
    faults = tuple(transcript.faults())
    return Captured(str(path), told.session.name, told.session.file, told.new, days, told.known, faults)


class Telling:
    """Tells the turns of one transcript to the logs of their days, as far as no log has them.

    Args:
        capture: how sessions are captured.
        path: the transcript.
        kept: how far it was captured before.
        session: the session, once its first turn was told.
        new: how many turns are new.
        known: how many the logs have already.
    """

    def __init__(self, capture: Capture, path: Path, kept: Kept) -> None:
        self._capture, self._path, self._kept = capture, path, kept
        self._spool = Spool(capture.root)
        self._seals = load_seals(make=True)
        self._logs: dict[str, tuple[int, frozenset[str]]] = {}
        self._now = capture.now.astimezone(capture.days.zone)
        self._last = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        self.session: Session | None = None
        self.new = self.known = 0

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of what was not written."""
        self._spool.__exit__()

    @property
    def name(self) -> str:
        """The session's name; empty before its first turn."""
        return self.session.name if self.session else ""

    def tell(self, turn: Turn) -> None:
        """Take a turn; a subagent's are its agent's business, and come back as what that says."""
        if turn.subagent:
            return
        turn = replace(turn, text=self._capture.cleaner.words(turn.text))
        moment = self._moment(turn)
        day = self._capture.days.of(moment)
        if self.session is None:
            file = self._kept.file or self._free(turn, day)
            self.session = session_of(turn, self._path.stem, self._capture.project, file)
        said = said_by(turn, moment, day)
        after, marks = self._log(day)
        if day < self._capture.since:
            return
        if turn.line <= max(after, self._kept.lines) or said.mark in marks:
            self.known += 1
            return
        self._spool.add(day, lines_of(self.session, said, self._seals))
        self.new += 1

    def write(self) -> tuple[str, ...]:
        """Append what is new to the logs, and return their days.

        Raises:
            NotWritable: the disk refused; what was appended is known by its marks the next time.
        """
        session = self.session
        return self._spool.append(lambda log: heading_above(session, log)) if session else ()

    def _moment(self, turn: Turn) -> datetime:
        """Return when a turn was said, in the memory's zone; one without a moment was said when the one before was."""
        told = turn.time.astimezone(self._now.tzinfo) if turn.time else None
        if told is not None and told <= self._now + _AHEAD:
            self._last = told
        return min(self._last.astimezone(self._now.tzinfo), self._now)

    def _log(self, day: str) -> tuple[int, frozenset[str]]:
        if day not in self._logs:
            text = (read_bytes(self._capture.root, log_path(day)) or b"").decode(errors="replace")
            self._logs[day] = captured_in(text, self.session.file if self.session else "")
        return self._logs[day]

    def _free(self, turn: Turn, day: str) -> str:
        """Return where a transcript that was never captured is to be kept: where no other one is."""
        name = f"{SESSIONS}/{day}/{turn.tool}-{session_name(turn.session or self._path.stem)}"
        number = 1
        while True:
            file = f"{name}{'' if number == 1 else f'-{number}'}.jsonl"
            place = at(self._capture.root, file)
            if not place.exists() or (not self._kept.digest and _head(place) == self._kept.head):
                return file
            number += 1


def _head(place: Path) -> str:
    """Return the head of a transcript that is kept: a capture that was killed may have kept it and not said so."""
    with place.open("rb") as file:
        return head_of(file)
