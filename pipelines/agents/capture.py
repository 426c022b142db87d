"""Capturing sessions: transcripts are kept under Sessions, and what was said in them goes to the logs of its days.

It takes no run lock: a session that ends during a night is captured at once. What a person deleted from a log stays
deleted, because `State/sessions.jsonl` says how far each transcript was captured.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Self

from pipelines.errors import BadFile
from pipelines.store import files
from pipelines.store.append_log import Spool
from pipelines.store.evidence import captured_in, render_pointer
from pipelines.store.files import read_bytes
from pipelines.store.item import Trust
from pipelines.store.layout import SESSIONS, log_path
from pipelines.store.lock import capture_lock
from pipelines.store.log import parse_entries
from pipelines.store.session_state import Kept, load_seals, note_kept, read_kept
from pipelines.store.transcripts import Role, Transcript
from pipelines.store.transcripts.reader import head_of, keep, recording
from pipelines.store.user_layout import at, real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pipelines.store.days import Days
    from pipelines.store.secrets.redact import TranscriptCleaner
    from pipelines.store.session_state import Seals
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


# ---------------------------------------- where agents keep their sessions


_PLACES: Final = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "codex": ("CODEX_HOME", ".codex", "sessions"),
    "openclaw": ("OPENCLAW_STATE_DIR", ".openclaw", "agents"),
}
# What a subagent said comes back in its agent's own session.
_SUBAGENTS: Final = ("agent-", "subagents")


def sessions_folder(agent: str, environ: Mapping[str, str]) -> Path:
    """Return the folder below which an agent keeps its sessions.

    Args:
        agent: claude-code, codex or openclaw.
        environ: the environment, which may say that its folder is elsewhere.
    """
    variable, folder, below = _PLACES[agent]
    home = Path(environ.get("HOME") or "~").expanduser()
    return Path(environ.get(variable) or home / folder).expanduser() / below


def transcripts_below(folder: Path) -> list[Path]:
    """Return the transcripts anywhere below a folder, the one that was begun first in front; subagents' are none.

    Raises:
        BadFile: more files than a memory may have end as transcripts do.
    """
    listed = list(islice(folder.rglob("*.jsonl"), files.MOST_FILES + 1))
    if len(listed) > files.MOST_FILES:
        raise BadFile(
            folder, files.too_many(files.MOST_FILES), "Name the transcripts that are meant, or a folder in it."
        )
    found = [
        path
        for path in listed
        if path.is_file()
        and not path.is_symlink()
        and not path.name.startswith(_SUBAGENTS)
        and not any(part in _SUBAGENTS for part in path.relative_to(folder).parts)
    ]
    return sorted(found, key=lambda path: (path.stat().st_mtime, path))


# ---------------------------------------- from the turns of a session to the lines of its days' logs
# one list item a turn, each with where its record stands.
#
# A turn's words are somebody's text and never structure: they stand under their item, four blanks in, where no
# heading, project line or comment of theirs means anything to whoever reads the log.


LONGEST: Final = 4000
"""Characters of a turn that a log takes; the transcript beside it has the rest."""
_NOWHERE: Final = frozenset({"tmp", "temp", "src", "code", "desktop", "documents", "downloads", "workspace"})
_NAME: Final = 40
_SHOWN: Final = 8
_ENDS: Final = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Thematic breaks and the attributes of some Markdowns end an entry wherever they stand, and say nothing.
_STRUCTURE: Final = re.compile(r"\s*(?:([-*_=])(?:[ \t]*\1)*[ \t]*$|\{:)")
_AFTER: Final = "- next\n- ```\n  code\n  ```\n- ~~~\n  code\n  ~~~\n- last\n"
_FENCES: Final = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Said:
    """A turn as a log has it.

    Args:
        day: the log's day.
        clock: `HH:MM` in the memory's zone.
        turn: what was said.
        mark: a hash of moment, role and words, by which the same turn is known in another transcript.
    """

    day: str
    clock: str
    turn: Turn
    mark: str

    @property
    def trust(self) -> Trust:
        """Whose words it holds: the agent's count as from outside once it read what others wrote."""
        if self.turn.role is Role.USER:
            return Trust.OWNER
        return Trust.EXTERNAL if self.turn.after_outside else Trust.SELF


@dataclass(frozen=True, slots=True)
class Session:
    """What the heading of a session's lines says, and where its transcript is kept."""

    name: str
    tool: str
    project: str
    file: str

    @property
    def heading(self) -> str:
        """The heading, without its number signs."""
        return ", ".join(part for part in (f"Session {self.name[:_SHOWN]}", self.tool, self.project) if part)


def said_by(turn: Turn, moment: datetime, day: str) -> Said:
    """Return a turn as a log has it.

    Args:
        turn: the turn.
        moment: when it was said, in the memory's zone.
        day: the memory's day of that moment.
    """
    told = f"{turn.time.timestamp() if turn.time else turn.line}\x1f{turn.role}\x1f{turn.text}"
    mark = hashlib.sha256(told.encode(errors="replace")).hexdigest()[:8]
    return Said(day, f"{moment:%H:%M}", turn, mark)


def session_of(turn: Turn, name: str, project: str, file: str) -> Session:
    """Return the session that a turn is the first of.

    Args:
        turn: its first turn.
        name: what it is called where no record says so.
        project: its project; empty for that of its working directory.
        file: where its transcript is kept.
    """
    return Session(session_name(turn.session or name), turn.tool, project or project_of(turn), file)


def session_name(ident: str) -> str:
    """Return a session's id as headings and file names have it: letters, digits and dashes, at most 40."""
    return "-".join(re.findall(r"[A-Za-z0-9]+", ident))[:_NAME] or "unnamed"


def project_of(turn: Turn) -> str:
    """Return the project that a session is about: where it worked; empty where that names nothing in particular."""
    name = turn.project
    return "" if name.casefold() in _NOWHERE else name.replace("[", "(").replace("]", ")")[:80].strip()


def heading_above(session: Session, log: str) -> str:
    """Return what stands above a session's lines in a log: nothing where its own heading is the log's last."""
    at = log.rfind("\n## ")
    last = log[at + 4 :].partition("\n")[0].strip() if at >= 0 else ""
    gap = "" if not log or log.endswith("\n\n") else "\n"
    return "" if last == session.heading else f"{gap}## {session.heading}\n\n"


def lines_of(session: Session, said: Said, seals: Seals) -> str:
    """Return the lines of a turn as a log has them; a person's words are sealed as theirs."""
    return "".join(f"{line}\n" for line in _item(session, said, seals))


def _item(session: Session, said: Said, seals: Seals) -> list[str]:
    first, *more = _words(said.turn.text)
    project = f"[project: {session.project}] " if session.project else ""
    speaker = "user" if said.turn.role is Role.USER else "assistant"
    told = " ".join(part for part in (f"- {said.clock}", f"{project}**{speaker}:**", first) if part)
    rest = [f"    {line}" for line in more]
    trust, seal = said.trust, ""
    if trust is Trust.OWNER:
        seal = seals.of(log_path(said.day), [told, *rest], session.file, said.turn.line, trust)
        trust = trust if seal else Trust.SELF
    return [f"{told} {render_pointer(session.file, said.turn.line, said.mark, trust, seal)}", *rest]


def _words(text: str) -> list[str]:
    """Return a turn's lines, none of them blank; comment marks are broken, and so are fences that nothing closes."""
    left_out = len(text) - LONGEST
    if left_out > LONGEST // 10:
        text = f"{text[:LONGEST].rstrip()}\n… ({left_out:,} characters more in the transcript)"
    text = text.replace("<!--", "&lt;!--").replace("-->", "--&gt;")
    lines = [line.rstrip() for line in _ENDS.split(text) if line.strip() and not _STRUCTURE.match(line)]
    lines = lines if _stands_alone(lines) else [line.replace("```", "'''").replace("~~~", "'''") for line in lines]
    return [lines[0].lstrip(), *lines[1:]] if lines and not lines[0].lstrip().startswith(_FENCES) else ["", *lines]


def _stands_alone(lines: list[str]) -> bool:
    """Whether no fence of a turn reaches into what is said after it, as whoever reads the log sees it."""
    if not any(mark in line for line in lines for mark in _FENCES):
        return True
    told = "".join(f"    {line}\n" for line in lines)
    return len(parse_entries("", "", f"- turn\n{told}{_AFTER}")) == 1 + _AFTER.count("- ")
