"""Captured transcripts, and how far each was captured: `State/sessions.jsonl`, append-only, one line per capture.

If a transcript has several lines, the one that covers most counts, so that two machines' lines can be merged by union.

Anybody with access to the memory can write to logs and transcripts. So capture seals what it writes, with an HMAC over
the line's words, its record and whose they are. The key is outside all memories: neither text nor somebody else's
repository can forge a seal.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.store.append_log import append_bytes
from pipelines.store.evidence import voice_in, without_pointer
from pipelines.store.files import read_bytes
from pipelines.store.item import Trust
from pipelines.store.layout import SESSIONS, STATE
from pipelines.store.lock import log_lock
from pipelines.store.secrets.redact import key_outside
from pipelines.store.state import read_rows
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


CAPTURED: Final = f"{STATE}/sessions.jsonl"


class KeptSession(NamedTuple):
    """A captured transcript.

    Args:
        file: its path, relative to the memory.
        head: the hash of its first record, which identifies the session when it has grown.
        lines: the number of captured lines.
        digest: the hash of those lines, which distinguishes a rewritten transcript from one that has grown.
        first: the hash of its first turn, which identifies a session that continues it; may be empty.
        project: its project.
        repository: what identifies the project's repository: its remote; empty if there is none.
        gone: the lines that were captured before a person took them back.
    """

    file: str
    head: str
    lines: int
    digest: str
    first: str = ""
    project: str = ""
    repository: tuple[str, ...] = ()
    gone: tuple[int, ...] = ()


def read_kept(root: Path) -> dict[str, KeptSession]:
    """Return head → transcript. Unreadable lines are skipped: their transcripts can be captured again.

    Raises:
        BadFile: the file exists and cannot be read.
    """
    rows = read_rows(
        read_bytes(root, CAPTURED),
        lambda row: KeptSession(
            str(row["file"]),
            str(row["head"]),
            int(row["lines"]),
            str(row["digest"]),
            str(row.get("first", "")),
            str(row.get("project", "")),
            tuple(map(str, row.get("repository", ()))),
            tuple(map(int, row.get("gone", ()))),
        ),
    )
    return {one.head: one for one in sorted(rows, key=lambda one: one.lines)}


def note_kept(root: Path, kept: KeptSession) -> None:
    """Record how far a transcript was captured.

    Raises:
        NotWritable: the disk refused.
        BadFile: the file is a symbolic link.
    """
    with log_lock(root):
        append_bytes(root, CAPTURED, json.dumps(kept._asdict(), ensure_ascii=False).encode() + b"\n")


_CALL = re.compile(rb'"type":\s?"(?:tool_use|toolCall|[a-z_]{1,40}_call)"')
_ESCAPES = {"n": "\n", '"': '"'}
_ESCAPED = re.compile(r'(?<!\\)\\++([n"])')
_END = re.compile(r"""['"]|[ \t]*+(?:$|<!--|\^k)""", re.MULTILINE)


def _times(line: str, call: str) -> int:
    at, found = call.find(line), 0
    while at >= 0:
        at += len(line)
        found += _END.match(call, at) is not None
        at = call.find(line, at)
    return found


def written_by_agents(root: Path, since: float) -> Callable[[str], bool]:
    """Return what tells whether an agent's tool wrote a line, by the transcripts captured since a moment, in seconds.

    A call that names a line twice, as what it replaces and as what it writes, did not bring it.
    """

    @cache
    def calls() -> list[str]:
        recent = (path for path in (root / SESSIONS).rglob("*.jsonl") if path.stat().st_mtime >= since)
        lines = (line for path in recent for line in path.read_bytes().splitlines() if _CALL.search(line))
        return [_ESCAPED.sub(lambda mark: _ESCAPES[mark[1]], line.decode(errors="replace")) for line in lines]

    def wrote(line: str) -> bool:
        return any(_times(line, call) == 1 for call in calls())

    return wrote


NAME: Final = "capture.key"
_CLOCK = re.compile(r"^- \d{2}:\d{2} ")


class Seals(NamedTuple):
    """Creates and verifies seals.

    Args:
        key: the key; without one, nothing is sealed and no seal is valid.
    """

    key: bytes

    def of(self, log: str, lines: Sequence[str], file: str, record: int, trust: Trust) -> str:
        """Return the seal of a captured turn, or an empty string without a key.

        Args:
            log: the log: what was said on one day cannot be replayed on another.
            lines: the entry's lines, with or without its pointer. They include the project's name: what was said about
                one project cannot become a rule of another.
            file: the transcript.
            record: the record's line, from 1.
            trust: whose words they are.
        """
        if not self.key:
            return ""
        words = fold(_CLOCK.sub("", " ".join(map(without_pointer, lines))))
        sealed = "\x1f".join((log, file, str(record), trust, words))
        return hmac.new(self.key, sealed.encode(errors="replace"), hashlib.sha256).hexdigest()[:16]

    def trust_of(self, log: str, lines: Sequence[str]) -> Trust:
        """Return whose words an entry of a log contains.

        A line without a record, or with an invalid seal, is the agent's own journal: text in a log can lower trust, but
        never raise it.
        """
        voice = voice_in(lines[0]) if lines else None
        if voice is None:
            return Trust.SELF
        file, record, trust, seal = voice
        if trust is not Trust.OWNER:
            return trust
        real = self.of(log, lines, file, record, trust)
        return Trust.OWNER if real and hmac.compare_digest(real, seal) else Trust.SELF


NO_SEALS: Final = Seals(b"")


def load_seals(*, make: bool = False) -> Seals:
    """Return the user's seals.

    Args:
        make: whether to create a missing key: capture needs one, and verification does not.
    """
    return Seals(key_outside(NAME, make=make))
