"""Where agents keep their sessions, and the sweep, which captures what is new there, whatever hooks did.

Every run, every sync and every session start sweeps. A file whose size and time are those of the last look is not
opened. What a sweep knows is in `.curate/sweep.json`. The first look, at the installation, leaves alone what is older
than two days, so that it does not bring in years of old sessions. What appears later is new, whatever its time says.

Another program's sessions are captured through an entry point of the group `memcurate.sessions`: a module with
`paths(memory)`, which yields the files whose sessions belong in a memory, and `turns(path)`, which yields the records
of a session (`role`, `content`, `timestamp`).
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import stat
import time
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import entry_points
from io import BytesIO
from operator import itemgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from pipelines.agents.agent_folders import AGENTS_SESSIONS, GROUP
from pipelines.agents.capture import CHANGED, NO_TURN, NOTHING_YET, CapturedSession, capture_sessions
from pipelines.agents.install_plan import InstallRequest, this_program
from pipelines.agents.targets import gives_sessions
from pipelines.errors import BadFile
from pipelines.store.layout import SESSIONS
from pipelines.store.state import read_record, write_record
from pipelines.store.transcripts.reader import DATABASE, open_transcript, sessions_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pipelines.settings import Settings

    # A session's path, its size, and the time of its last change in nanoseconds.
    Kept = tuple[str, int, int]


# A subagent's answer comes back in the session of its agent; what a person said to one does not.
_SUBAGENTS = "subagents"
_BY_PERSON = re.compile(rb'"kind":\s?"human"|"agentId":\s?"aside_question-')
_SESSION = re.compile(r".+\.jsonl(?:\.(?:reset|deleted)\.[^/]+?)?(?:\.zst)?|openclaw-agent\.sqlite(?:#.*)?")
_RECORD = "sweep.json"
_BACK = 2 * 24 * 3600 * 1_000_000_000
_QUIET = ("", NOTHING_YET, NO_TURN)


def sessions_of(agent: str) -> list[Path]:
    """Return what an agent keeps, oldest first.

    Raises:
        BadFile: a database of its sessions cannot be read.
    """
    return [Path(path) for path, _, _ in _opened_up(one for one in _kept_by(agent) if _has_person(one[0]))]


def open_kept(path: Path) -> IO[bytes]:
    """Open a session where its agent keeps it.

    Raises:
        BadFile: it is in a form that is not known, or `open_transcript` cannot read it.
        OSError: it cannot be read.
    """
    if not _SESSION.fullmatch(path.name):
        raise BadFile(path, "is in a form that is not known")
    return open_transcript(path) if _has_person(str(path)) else BytesIO()


def _has_person(path: str) -> bool:
    """Whether a session may hold a person's words: few subagents' do; one that compacts or traces repeats others'."""
    name = path.rpartition("/")[2]
    if name.endswith(".trajectory.jsonl"):  # what OpenClaw's runtime did, beside the session itself
        return False
    is_subagents, is_among = name.startswith("agent-"), f"/{_SUBAGENTS}/" in path
    if not (is_subagents and is_among) or name.startswith("agent-acompact-"):
        return not (is_subagents or is_among)
    with contextlib.suppress(OSError), open(path, "rb") as file:  # noqa: PTH123  many files, no Path made of each
        return any(map(_BY_PERSON.search, file))
    return True


def _kept_by(agent: str) -> Iterator[Kept]:
    """Yield what an agent keeps, and what looks like a session in another form."""
    place = AGENTS_SESSIONS[agent]
    home = glob.escape(str(place.home()))
    for below in place.places:
        for path in glob.iglob(f"{home}/{below}/*", recursive=True):  # noqa: PTH207  many files, no Path made of each
            name = path.rpartition("/")[2]
            is_like_one = name.startswith("rollout-") or ".jsonl." in name  # a session, in a form that is not known
            if not _SESSION.fullmatch(name) and (not is_like_one or name.endswith((".lock", ".tmp"))):
                continue
            with contextlib.suppress(OSError):
                found = os.lstat(path)
                size, changed = found.st_size, found.st_mtime_ns
                if name.endswith(DATABASE):  # what was written last is in a file beside it
                    with contextlib.suppress(FileNotFoundError):
                        beside = os.lstat(f"{path}-wal")
                        size, changed = size + beside.st_size, max(changed, beside.st_mtime_ns)
                if stat.S_ISREG(found.st_mode):
                    yield path, size, changed


def transcripts_below(folder: Path) -> list[Path]:
    """Return the transcripts below a folder, oldest first, without those of subagents."""
    found = [
        path
        for path in folder.rglob("*.jsonl*")
        if _SESSION.fullmatch(path.name) and path.is_file() and not path.is_symlink() and _has_person(str(path))
    ]
    return sorted(found, key=lambda path: (path.stat().st_mtime, path))


# ---------------------------------------- the sweep


class SweptAgent(NamedTuple):
    """What the last sweep knows of an agent's sessions.

    Args:
        at: when it was, ISO 8601; empty if there was none.
        last: when the newest captured session was written, in nanoseconds; 0 if there is none.
        files: path → size and time of what was looked at, or left alone at the first look.
        passed: path → why it was not captured.
    """

    at: str
    last: int
    files: dict[str, list[int]]
    passed: dict[str, str]

    @classmethod
    def read(cls, row: object, kept: Iterable[Kept]) -> SweptAgent:
        """Return what a row of the record says; if it is none, leave alone what is old of what an agent keeps."""
        with contextlib.suppress(TypeError):
            told: Any = row
            return cls(**told)
        before, every = time.time_ns() - _BACK, _opened_up(kept, {})
        return cls("", 0, {path: [size, changed] for path, size, changed in every if changed < before}, {})

    def is_new(self, kept: Kept) -> bool:
        """Whether a session changed since it was looked at."""
        path, *stamp = kept
        return self.files.get(path) != stamp

    def sentence(self, waiting: int) -> str:
        """Return the state for people: up to when sessions are captured, how many wait, and what was passed over."""
        last = datetime.fromtimestamp(self.last / 1e9).astimezone() if self.last else None
        parts = [f"captured up to {last:%Y-%m-%d %H:%M}" if last else "no session captured yet"]
        if not self.at:
            parts = ["its sessions were not looked at yet; the next run does"]
        parts += [f"{waiting} to capture"] if waiting else []
        for path, why in [*self.passed.items()][:1]:
            parts.append(f"{len(self.passed)} not captured: {path} {why}{', …' if len(self.passed) > 1 else ''}")
        return "; ".join(parts)


def note_installed(root: Path, agent: str) -> None:
    """Record which of an agent's sessions are old, unless a sweep knows it already."""
    if agent in AGENTS_SESSIONS:
        record = read_record(root, _RECORD)
        known = SweptAgent.read(record.get(agent), _kept_by(agent))
        write_record(root, _RECORD, {**record, agent: known._asdict()})


def _sources(root: Path) -> Iterator[tuple[str, list[Kept], Callable[[Path], IO[bytes]], dict[str, str]]]:
    """Yield the agents whose settings name a memory, and the programs with an entry point.

    Yields:
        Its name, what it keeps, how to open that, and what is wrong with it.
    """
    if os.environ.get("HOME"):
        asked = InstallRequest(this_program(root), Path.home())
        for agent in AGENTS_SESSIONS:
            if gives_sessions(agent, asked):
                yield agent, list(_kept_by(agent)), open_kept, {}
    for point in entry_points(group=GROUP):
        try:
            module = point.load()
            found = [(str(path), (stat := path.stat()).st_size, stat.st_mtime_ns) for path in module.paths(root)]
            yield point.name, found, partial(_opened, point.name, module.turns), {}
        except Exception as fault:  # noqa: BLE001  somebody else's code fails for itself alone
            yield point.name, [], open_kept, {point.value: f"failed: {type(fault).__name__}: {fault}"}


def _opened(name: str, turns: Callable[[Path], Iterable[Mapping[str, Any]]], path: Path) -> IO[bytes]:
    """Open a session of another program: its records as the lines of a transcript."""
    try:
        lines = [json.dumps({"program": name, **one}) for one in turns(path)]
    except Exception as fault:  # noqa: BLE001  as above
        raise BadFile(path, f"cannot be read: {type(fault).__name__}: {fault}") from None
    return BytesIO("".join(f"{line}\n" for line in lines).encode())


def sweep(root: Path, settings: Settings, now: datetime) -> list[CapturedSession]:
    """Capture what is new in the sessions of the agents that use a memory.

    A night that is replayed sweeps too: what is captured has the times at which it was said, whatever `now` is.

    Args:
        root: the memory.
        settings: its settings.
        now: the moment; turns are believed that are no later than this, or than the clock.

    Returns:
        The sessions with new turns, and those that were passed over for the first time.

    Raises:
        NotWritable: the disk refused.
        LockHeld: another capture does not finish.
    """
    record, told = read_record(root, _RECORD), list[CapturedSession]()
    clock = max(now, datetime.now(UTC))
    for name, kept, opening, passed in _sources(root):
        known = SweptAgent.read(record.get(name), kept)
        new = list(filter(known.is_new, _opened_up(filter(known.is_new, kept), passed)))
        last, at = known.last, {path: [size, changed] for path, size, changed in new}
        captured = capture_sessions(root, settings, clock, map(Path, at), opening=opening)
        here = {path for path, _, _ in kept}
        seen = {
            path: stamp
            for path, stamp in known.files.items()
            if not here or path in here or path.rpartition("#")[0] in here  # none: a disk may be away
        }
        for one in captured:
            if one.fault in _QUIET:
                seen[one.source] = at[one.source]
                last = max(last, at[one.source][1]) if one.file else last
            elif one.fault != CHANGED:
                passed[one.source] = one.fault
            told += [one] if one.turns else []
        left = {path.rpartition("#")[0] for path in at if seen.get(path) != at[path]}
        whole = here - left - passed.keys()  # a database counts once all in it was looked at
        seen |= {path: stamp for path, *stamp in kept if path.endswith(DATABASE) and path in whole}
        told += [CapturedSession(path, fault=why) for path, why in passed.items() if path not in known.passed]
        at_last = clock.isoformat(timespec="seconds")
        record[name] = known._replace(at=at_last, last=last, files=seen, passed=passed)._asdict()
        write_record(root, _RECORD, record)
    return told


def _opened_up(kept: Iterable[Kept], passed: dict[str, str] | None = None) -> list[Kept]:
    """Return sessions, oldest first: of a database, those in it; one that cannot be read goes to `passed`.

    Raises:
        BadFile: a database cannot be read, and there is no `passed`.
    """
    found: list[Kept] = []
    for one in kept:
        try:
            found += sessions_in(one[0]) if one[0].endswith(DATABASE) else [one]
        except BadFile as fault:
            if passed is None:
                raise
            passed[one[0]] = fault.why
    return sorted(found, key=itemgetter(2, 0))


def swept_agents(root: Path) -> dict[str, tuple[SweptAgent, str]]:
    """Return, for each agent whose sessions belong in a memory, what the last sweep knows, and a sentence on it."""
    record, found = read_record(root, _RECORD), dict[str, tuple[SweptAgent, str]]()
    for name, kept, _, _ in _sources(root):
        known = SweptAgent.read(record.get(name), kept)
        waiting = sum(one[0] not in known.passed and _has_person(one[0]) for one in filter(known.is_new, kept))
        older = len(known.files.keys() - known.passed.keys())
        none = name in AGENTS_SESSIONS and older and not any(root.glob(f"{SESSIONS}/*/{name}-*"))
        hint = f"; {older} older, which `curate capture --from {name}` reads" if none else ""
        found[name] = known, known.sentence(waiting) + hint
    return found
