"""Which transcripts are kept, and how far each was captured: `State/sessions.jsonl`, one line a capture, appended only.

Of several lines for one transcript the one that says most holds, so that two machines' lines can simply stand together.

A log is a file that anybody with the memory can write, and so is a transcript under Sessions. So capture seals what it
writes, with an HMAC over the line's words, its record and whose they are. The key lies outside of every memory: text
cannot make a seal, and neither can somebody else's repository.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.store.append_log import append_bytes
from pipelines.store.evidence import voice_in, without_pointer
from pipelines.store.files import read_bytes
from pipelines.store.folders import LINKED
from pipelines.store.item import Trust, fold
from pipelines.store.layout import STATE
from pipelines.store.lock import log_lock
from pipelines.store.secrets.redact import key_outside
from pipelines.store.state import read_rows
from pipelines.store.user_layout import at

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


CAPTURED: Final = f"{STATE}/sessions.jsonl"


@dataclass(frozen=True, slots=True)
class Kept:
    """A transcript that was captured.

    Args:
        file: where it is kept, relative to the memory.
        head: the hash of its first record, by which the same session is known when it has grown.
        lines: how many of its lines were captured.
        digest: the hash of those lines, by which a transcript that was written anew is told from one that has grown.
        first: the hash of its first turn, by which a session that goes on from it is known; may be empty.
        project: its project.
        repository: what its project's repository is known by: its remote, its first commit; empty where there is none.
    """

    file: str
    head: str
    lines: int
    digest: str
    first: str = ""
    project: str = ""
    repository: tuple[str, ...] = ()


def read_kept(root: Path) -> dict[str, Kept]:
    """Return head → transcript. Lines that cannot be read are passed over: what they say can be captured again.

    Raises:
        BadFile: the file is there and cannot be read.
    """
    rows = read_rows(
        read_bytes(root, CAPTURED),
        lambda row: Kept(
            str(row["file"]),
            str(row["head"]),
            int(row["lines"]),
            str(row["digest"]),
            str(row.get("first", "")),
            str(row.get("project", "")),
            tuple(map(str, row.get("repository", ()))),
        ),
    )
    return {one.head: one for one in sorted(rows, key=lambda one: one.lines)}


def note_kept(root: Path, kept: Kept) -> None:
    """Note how far a transcript was captured.

    Raises:
        NotWritable: the disk refused.
        BadFile: the file is a symbolic link.
    """
    if at(root, CAPTURED).is_symlink():
        raise BadFile(CAPTURED, LINKED)
    with log_lock(root):
        append_bytes(root, CAPTURED, json.dumps(asdict(kept), ensure_ascii=False).encode() + b"\n")


NAME: Final = "capture.key"
_DIGITS: Final = 16
_CLOCK: Final = re.compile(r"^- \d{2}:\d{2} ")


@dataclass(frozen=True, slots=True)
class Seals:
    """Makes and checks seals.

    Args:
        key: the key; empty where there is none, and then nothing is sealed and no seal is believed.
    """

    key: bytes

    def of(self, log: str, lines: Sequence[str], file: str, record: int, trust: Trust) -> str:
        """Return the seal of a captured turn, or an empty string where there is no key.

        Args:
            log: the log: what was said on another day cannot be said again today.
            lines: the entry's lines in it, with or without its pointer. The project that they name is sealed, too: what
                was said of one is no rule of another.
            file: the transcript.
            record: the record's line, from 1.
            trust: whose words they are.
        """
        if not self.key:
            return ""
        words = fold(_CLOCK.sub("", " ".join(map(without_pointer, lines))))
        sealed = "\x1f".join((log, file, str(record), trust, words))
        return hmac.new(self.key, sealed.encode(errors="replace"), hashlib.sha256).hexdigest()[:_DIGITS]

    def trust_of(self, log: str, lines: Sequence[str]) -> Trust:
        """Return whose words an entry of a log holds.

        A log line without a record is the agent's own journal, and so is one whose seal does not fit: nothing that is
        written in a log raises trust. That it lowers it is believed.
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
        make: whether a key is made where there is none: capture makes it, and who only checks has no need of one.
    """
    return Seals(key_outside(NAME, make=make))
