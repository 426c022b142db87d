"""Capturing sessions: transcripts are kept under Sessions, and their turns go to the logs of their days.

Capture does not take the run lock, so a session that ends during a night is captured at once. What a person deleted
from a log stays deleted, because `State/sessions.jsonl` records how far each transcript was captured.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from pipelines.agents.agent_folders import AGENTS_SESSIONS
from pipelines.errors import BadFile
from pipelines.provider_settings import trust_settings
from pipelines.store.append_log import append_to_log
from pipelines.store.days import Days
from pipelines.store.evidence import Act, act_label, captured_in, render_pointer
from pipelines.store.files import open_regular, read_bytes
from pipelines.store.item import Trust
from pipelines.store.layout import SESSIONS, log_path, slug
from pipelines.store.lock import log_lock
from pipelines.store.log import parse_entries
from pipelines.store.secrets.redact import TranscriptCleaner, load_redactor
from pipelines.store.session_state import KeptSession, Seals, load_seals, note_kept, read_kept
from pipelines.store.spoken_lines import said_in_turn
from pipelines.store.transcripts.acts import Acts
from pipelines.store.transcripts.outside import Outside
from pipelines.store.transcripts.reader import (
    Transcript,
    branches_of,
    head_of,
    keep,
    open_transcript,
    recording,
    rollouts,
    taken_back,
)
from pipelines.store.transcripts.records import Role, Turn
from pipelines.store.work_trees import as_project, remote_in, repository_of
from pipelines.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pipelines.settings import Settings


NOTHING_YET = "has no whole line yet"
NO_TURN = "has no turn of a person or an agent"
CHANGED = "changed while it was read"
LONGEST = 4000
"""Characters of a turn that go to the log; the transcript has the rest."""
_NAME = 40  # characters of a session's id in headings and file names
_SHOWN = 8
# Ids that begin with the time, as those of Codex: the sessions of a minute have the same beginning.
_TIMED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-")
_MOST_NAMED = 100  # sentences of a turn
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOST_ALIKE = 40
"""How many sessions with the same beginning are compared with a new one."""
_ENDS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Thematic breaks and the attributes of some Markdown dialects end an entry anywhere, and carry no words.
_STRUCTURE = re.compile(r"\s*(?:([-*_=])(?:[ \t]*\1)*[ \t]*$|\{:)")
_AFTER = "- next\n- ```\n  code\n  ```\n- ~~~\n  code\n  ~~~\n- last\n"
_FENCES = ("```", "~~~")
# Clocks may be a little ahead.
_AHEAD = timedelta(hours=1)
_APPROVED = re.compile(r"Read the approved plan at (/.+/attachments/[^/]+/approved-plan\.md) and implement it\.")
_OTHERS = {Role.ASSISTANT: "assistant", Role.USER: "program"}
_ROLES = (["assistant"], ["program"], ["user"], ["owner"])


class CapturedSession(NamedTuple):
    """The result for one transcript.

    Args:
        source: its path, as given.
        session: its name; empty if it has no turn.
        file: where it is kept, relative to the memory; empty if it is not kept.
        turns: how many turns are new in the logs, with those of the older files of its session.
        owners: how many of them are sealed as the owner's.
        days: the days of the logs they went to.
        known: how many turns the logs had already.
        unread: what could not be read, as a clause, or empty.
        fault: why it was not captured at all, or empty.
        redacted: how many of its lines held secrets; the copy does not have these.
    """

    source: str
    session: str = ""
    file: str = ""
    turns: int = 0
    days: tuple[str, ...] = ()
    known: int = 0
    unread: str = ""
    fault: str = ""
    redacted: int = 0
    owners: int = 0


def capture_sessions(  # noqa: PLR0913  one for each option and setting
    root: Path,
    settings: Settings,
    now: datetime,
    paths: Iterable[Path],
    project: str = "",
    since: str = "",
    *,
    opening: Callable[[Path], IO[bytes]] = open_transcript,
) -> list[CapturedSession]:
    """Capture transcripts one by one; a broken one does not stop the others.

    The user's settings say whether prompts that a program sent are the owner's, and which tools bring in nothing.

    Args:
        root: the memory.
        settings: its settings, which say when its days begin.
        now: the moment of the capture; no turn is later.
        paths: the transcripts.
        project: the project of every session; empty to go by its working directory.
        since: skip turns before this day, `YYYY-MM-DD`; empty for all.
        opening: opens a transcript.

    Raises:
        NotWritable: the disk refused.
        LockHeld: another capture does not finish.
    """
    capture = Capture(root, settings, now, project, since)
    capture.headless, capture.tools = trust_settings()
    found, listed = list[CapturedSession](), cache(rollouts)
    for path in paths:
        whole = CapturedSession("")
        with log_lock(root, "capture.lock"):  # two hooks of one session may fire at once
            for part, counts in branches_of(path, listed).items():  # what was captured may have been taken back since
                try:
                    with opening(part) as source:
                        one = capture.transcript(part, source, counts=counts)
                except (OSError, BadFile) as fault:
                    why = fault.why if isinstance(fault, BadFile) else fault.strerror or str(fault)
                    one = CapturedSession(str(part), fault=why)
                if one.turns or part == path:
                    whole = one._replace(
                        turns=whole.turns + one.turns,
                        owners=whole.owners + one.owners,
                        days=tuple(sorted({*whole.days, *one.days})),
                        redacted=whole.redacted + one.redacted,
                    )
                if part == path:
                    break
        found.append(whole)
    return found


class Capture:
    """Captures the transcripts of any number of sessions; the caller holds the lock."""

    def __init__(self, root: Path, settings: Settings, now: datetime, project: str, since: str) -> None:
        self.root, self.project, self.since, self.headless = root, project, since, False
        self.days = Days(settings.timezone, settings.day_end)
        self.now = now.astimezone(self.days.zone)
        self.cleaner = TranscriptCleaner(load_redactor(root))
        self.tools = frozenset[str]()
        self._projects: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}
        self._known: dict[str, KeptSession] = {}

    def transcript(
        self, path: Path, source: IO[bytes], known: dict[str, KeptSession] | None = None, counts: int | None = None
    ) -> CapturedSession:
        """Capture what is new in a transcript.

        Args:
            path: where it lies.
            source: its lines.
            known: those that were captured, where they were read already.
            counts: how many of its bytes a person did not take back; None for all.
        """
        head = head_of(source)
        if not head:
            return CapturedSession(str(path), fault=NOTHING_YET)
        self._known = read_kept(self.root) if known is None else known
        kept = self._known.get(head) or KeptSession("", head, 0, "")
        before = self.cleaner.redacted
        found = self._read(path, source, kept, counts)
        if found is None:  # it was rewritten: its lines are no longer the captured ones
            source.seek(0)
            found = self._read(path, source, kept._replace(file="", lines=0), counts)
        if found is None:
            return CapturedSession(str(path), fault=CHANGED)
        return found._replace(redacted=self.cleaner.redacted - before)

    def _read(self, path: Path, source: IO[bytes], kept: KeptSession, counts: int | None) -> CapturedSession | None:
        """Read a transcript; None if it no longer begins with what was captured before."""
        turns = _Turns(self, path, kept, self._replayed(source, kept))
        before = Acts(headless=True)
        gone = taken_back(source, before, counts)
        late = tuple(sorted({*kept.gone, *(line for line in gone if line <= kept.lines)}))
        source.seek(0)
        with recording(self.root, source, self.cleaner.record, kept.lines) as (recorder, copy):
            acts = Acts(self.headless, asked=before.asked)
            transcript = Transcript(recorder, self.days.zone, acts, turns.outside, taken_back=gone)
            for turn in transcript:
                turns.add(turn)
            copied = recorder.flush()
            unread, session = transcript.unread, turns.session
            if kept.lines > recorder.lines:
                name = session.name if session else ""
                return CapturedSession(str(path), name, kept.file, known=turns.known, unread=unread)
            if recorder.known_digest != kept.digest and kept.lines:
                return None
            if not session or not copied:
                if late != kept.gone:
                    note_kept(self.root, kept._replace(gone=late))
                fault = "" if turns.known or gone else NO_TURN
                if fault and transcript.strange:
                    fault = f"has no turn in a known form (line {transcript.strange} is in another one)"
                return CapturedSession(str(path), known=turns.known, unread=unread, fault=fault)
            days = tuple(sorted(turns.lines))
            if recorder.lines > kept.lines or not (self.root / session.file).exists():
                keep(self.root, copy, session.file)
            for day in days:
                text = "".join(turns.lines[day]).encode(errors="replace").decode()
                append_to_log(self.root, day, lambda log, text=text: f"{heading_above(session, log)}{text}")  # type: ignore[misc]
        if recorder.lines > kept.lines or late != kept.gone:
            told = recorder.lines, recorder.digest, turns.first, session.project, session.repository
            note_kept(self.root, KeptSession(session.file, kept.head, *told, late))
        return CapturedSession(
            str(path), session.name, session.file, turns.new, days, turns.known, unread, owners=turns.owners
        )

    def _replayed(self, source: IO[bytes], kept: KeptSession) -> int:
        """Return the line up to which a transcript repeats a captured session: a resumed one starts with a copy.

        The same words alone do not make a copy: the ids of the records, or the answer, must be the same too.
        """
        begins = "" if kept.lines else next((ident for _, _, ident in self._spoken(source)), "")
        alike = [one for one in self._known.values() if begins and one.first == begins]
        replayed = 0
        for one in alike[-_MOST_ALIKE:]:
            source.seek(0)
            with suppress(BadFile, OSError), open_regular(self.root, one.file) or BytesIO() as there:
                both = zip(self._spoken(source), self._spoken(there), strict=False)
                for count, ((line, is_sure, new), (_, _, old)) in enumerate(both):
                    if new != old:
                        break
                    if count or is_sure:
                        replayed = max(replayed, line)
        source.seek(0)
        return replayed

    def _spoken(self, file: IO[bytes]) -> Iterator[tuple[int, bool, str]]:
        """Yield the line of each turn, whether it has an id, and its identity."""
        for turn in Transcript(file, self.days.zone, Acts(self.headless), Outside(hears=False)):
            if not turn.subagent:
                told = replace(turn, text=self.cleaner.words(turn.text))
                yield turn.line, bool(turn.record), identity_of(told)

    def project_of(self, turn: Turn) -> tuple[str, tuple[str, ...]]:
        """Return the project of a turn's session, and the keys of its repository.

        A repository keeps the name by which the memory knows it, on any machine. The first name is that of its folder
        if a project has that name, else that of its remote.
        """
        place = turn.cwd, turn.remote
        if not self.project and place not in self._projects:
            main, remote = repository_of(turn.cwd) or ("", remote_in(turn.remote))
            folder = replace(turn, cwd=main or turn.cwd).project
            if not folder:  # a home folder is not a project
                main, remote, folder = "", "", turn.project
            known = {key: one.project for one in self._known.values() for key in one.repository}
            name = known.get(remote, "") if remote else ""
            is_one = folder and (self.root / f"Projects/{slug(folder)}.md").exists()
            own = folder if is_one else remote.rpartition("/")[2] or folder
            self._projects[place] = as_project(name or own), (remote,) if remote else ()
        return (self.project, ()) if self.project else self._projects[place]


class _Turns:
    """The turns of one transcript that no log has yet, on their way to the logs of their days.

    Args:
        capture: how sessions are captured.
        path: the transcript.
        kept: how far it was captured before.
        replayed: the last line that repeats another session.
    """

    def __init__(self, capture: Capture, path: Path, kept: KeptSession, replayed: int) -> None:
        self._capture, self._path, self._kept = capture, path, kept
        self._replayed, self._seen = replayed, set[str]()
        self._seals = load_seals(make=True)
        self.outside = Outside(capture.tools)
        self._logs: dict[str, tuple[int, frozenset[str]]] = {}
        self._last: datetime | None = None
        self.first = ""
        self.lines: dict[str, list[str]] = {}
        self.session: Session | None = None
        self.new = self.known = self.owners = 0

    def add(self, turn: Turn) -> None:
        """Add a turn; those of subagents count as known, because their agent reports what they found."""
        if turn.subagent:
            self.known += 1
            return
        capture = self._capture
        plan, turn = _plan_of(turn), replace(turn, text=capture.cleaner.words(turn.text))
        identity = identity_of(turn)  # a fork repeats what was typed
        if plan:
            turn = replace(turn, act=Act.PLANNED, text=capture.cleaner.words(plan))
        moment = self._moment(turn)
        day = capture.days.of(moment)
        self.first = self.first or identity
        if self.session is None:
            parts = re.findall(r"[A-Za-z0-9]+", turn.session or self._path.stem)
            name = "-".join(parts)[:_NAME] or "unnamed"
            file = self._kept.file or self._free_file(f"{SESSIONS}/{day}/{turn.tool}-{name}")
            project, repository = capture.project_of(turn)
            self.session = Session(name, turn.tool, project, file, repository)
        if day not in self._logs:
            log = (read_bytes(capture.root, log_path(day)) or b"").decode(errors="replace")
            self._logs[day] = captured_in(log, self.session.file)
        if day < capture.since:
            return
        after, marks = self._logs[day]
        is_again = bool(turn.record) and identity in self._seen  # a compaction may repeat a turn
        self._seen.add(identity)
        if is_again or turn.line <= max(after, self._kept.lines, self._replayed) or mark_of(turn) in marks:
            self.known += 1
            return
        # Of a session that began in no project, each turn has that of the folder to which it moved.
        place = self.session._replace(project=self.session.project or capture.project_of(turn)[0])
        more = lines_of(place, turn, moment, day, self._seals, self.outside)
        self.lines.setdefault(day, []).append(more)
        self.new += 1
        self.owners += bool(turn.act)

    def _moment(self, turn: Turn) -> datetime:
        """Return when a turn was said, in the memory's zone; a turn without a time has that of the turn before it.

        Turns before the first time have that of the session's start, from its first record or the name of its file.
        """
        now = self._capture.now
        told = next((one for one in (turn.time, self._last, turn.begun) if one and one <= now + _AHEAD), None)
        if told is None:
            with suppress(ValueError):
                day = _DAY.search(self._path.name)
                told = datetime.fromisoformat(f"{day[0] if day else ''}T12:00").replace(tzinfo=now.tzinfo)
        if told is None:
            with suppress(OSError):
                told = datetime.fromtimestamp(self._path.stat().st_mtime, UTC)
        self._last = told or now
        return min(self._last.astimezone(now.tzinfo), now)

    def _free_file(self, name: str) -> str:
        """Return a free place for a transcript that was never captured."""
        number = 1
        while True:
            file = f"{name}{'' if number == 1 else f'-{number}'}.jsonl"
            place = self._capture.root / file
            if not place.exists():
                return file
            if not self._kept.digest:  # a killed capture may have kept the file without recording it
                with place.open("rb") as there:
                    if head_of(there) == self._kept.head:
                        return file
            number += 1


class Session(NamedTuple):
    """What the heading above a session's lines says, and where its transcript is kept."""

    name: str
    tool: str
    project: str
    file: str
    repository: tuple[str, ...] = ()


def _plan_of(turn: Turn) -> str:
    """Return the plan that a turn approves, or nothing: Codex begins a new session with it, and keeps it in a file."""
    named = _APPROVED.fullmatch(turn.text) if turn.act is Act.TYPED and turn.tool == "codex" else None
    with suppress(OSError, ValueError):
        if named and Path(named[1]).is_relative_to(AGENTS_SESSIONS["codex"].home()):
            return clean(Path(named[1]).read_text(encoding="utf-8"))
    return ""


def heading_above(session: Session, log: str) -> str:
    """Return the heading to write above a session's lines; empty if the log's last heading is already its own."""
    shown = session.name[-_SHOWN:] if _TIMED.match(session.name) else session.name[:_SHOWN]
    heading = ", ".join(filter(None, (f"Session {shown}", session.tool, session.project)))
    at = log.rfind("\n## ")
    last = log[at + 4 :].partition("\n")[0].strip() if at >= 0 else ""
    gap = "" if not log or log.endswith("\n\n") else "\n"
    return "" if last == heading else f"{gap}## {heading}\n\n"


def identity_of(turn: Turn) -> str:
    """Return a hash of id, role and words, which identifies a turn in a session that continues its own."""
    return hashlib.sha256(f"{turn.record}\x1f{turn.role}\x1f{turn.text}".encode(errors="replace")).hexdigest()[:16]


def mark_of(turn: Turn) -> str:
    """Return a hash of time, role and words, which identifies the same turn in another transcript."""
    text = f"{turn.time.timestamp() if turn.time else turn.line}\x1f{turn.role}\x1f{turn.text}"
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]


def lines_of(session: Session, turn: Turn, moment: datetime, day: str, seals: Seals, outside: Outside) -> str:
    """Return the log lines of a turn; the owner's acts are labelled and sealed.

    If outside text came before an agent's turn, the mark says so and lists the sentences that repeat that text.

    A turn's words are text, never structure: they are indented by four spaces below their item, where no heading,
    project line or comment among them has a meaning.

    Args:
        session: the turn's session.
        turn: the turn.
        moment: when it was said, in the memory's zone.
        day: the memory's day of that moment.
        seals: makes the seal.
        outside: the outside text that came before.
    """
    first, *more = _words(turn.text.lstrip("# ") if turn.act is Act.PLANNED else turn.text)
    project = f"[project: {session.project}] " if session.project else ""
    name = re.sub(r"[^\w .@'-]+", " ", turn.speaker).strip()
    # What names a role of the session is no person's.
    name = f"{name} (chat)" if name.casefold().split()[:1] in _ROLES else name
    speaker = act_label(turn.act, turn.refused) if turn.act else name or _OTHERS[turn.role]
    lines = [" ".join(part for part in (f"- {moment:%H:%M}", f"{project}**{speaker}:**", first) if part)]
    lines += [f"    {line}" for line in more]
    trust, seal = Trust.EXTERNAL if outside.seen else Trust.SELF, ""
    if not turn.act:
        text, spans = said_in_turn(lines)
        echoes = [str(at) for at in outside.echoing(text, spans)]
        seal = ".".join(echoes) if len(echoes) <= _MOST_NAMED else "all"
    if turn.speaker:
        trust, seal = Trust.EXTERNAL, "all"
    if turn.act:
        seal = seals.of(log_path(day), lines, session.file, turn.line, Trust.OWNER)
        trust = Trust.OWNER if seal else Trust.SELF
    lines[0] += f" {render_pointer(session.file, turn.line, mark_of(turn), trust, seal)}"
    return "".join(f"{line}\n" for line in lines)


def _words(text: str) -> list[str]:
    """Return a turn's lines without blank ones; comment marks and unclosed fences are defused."""
    left_out = len(text) - LONGEST
    if left_out > LONGEST // 10:
        text = f"{text[:LONGEST].rstrip()}\n… ({left_out:,} more characters in the transcript)"
    text = text.replace("<!--", "&lt;!--").replace("-->", "--&gt;")
    lines = [line.rstrip() for line in _ENDS.split(text) if line.strip() and not _STRUCTURE.match(line)]
    if any(mark in line for line in lines for mark in _FENCES):
        text = "".join(f"    {line}\n" for line in lines)
        # Does every code fence end within the turn, as a reader of the log sees it?
        if len(parse_entries("", "", f"- turn\n{text}{_AFTER}")) != 1 + _AFTER.count("- "):
            lines = [line.replace("```", "'''").replace("~~~", "'''") for line in lines]
    return [lines[0].lstrip(), *lines[1:]] if lines and not lines[0].lstrip().startswith(_FENCES) else ["", *lines]
