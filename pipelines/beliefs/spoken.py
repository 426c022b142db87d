"""The transcript behind a line of a log: what was said there, by whom and when, as the session's record has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile
from pipelines.store.days import read_days
from pipelines.store.files import open_regular
from pipelines.store.transcripts import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.store.transcripts import Turn

SHOWN: Final = 600
"""Characters of a record that are shown; the place says where the rest is."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A record of a transcript.

    Args:
        path: the transcript, relative to the memory.
        line: the record's line, counted from 1.
        role: user or assistant; empty where the record cannot be read.
        text: what was said, cut where it is long.
        time: when, ISO 8601, or empty.
        session: the session's id, or empty.
        tool: which program wrote it, or empty.
        why_not: why it cannot be shown, the end of a sentence that begins with the place; else empty.
    """

    path: str
    line: int
    role: str = ""
    text: str = ""
    time: str = ""
    session: str = ""
    tool: str = ""
    why_not: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told = (("role", self.role), ("text", self.text), ("time", self.time), ("session", self.session))
        rest = (("tool", self.tool), ("why_not", self.why_not))
        return {"path": self.path, "line": self.line, **{key: value or None for key, value in (*told, *rest)}}


def spoken_at(root: Path, path: str, line: int) -> Spoken:
    """Return the record at a line of a transcript. The transcript is read up to it, and no further."""
    try:
        file = open_regular(root, path)
    except BadFile as fault:
        return Spoken(path, line, why_not=fault.why)
    if file is None:
        return Spoken(path, line, why_not="is not on this machine")
    with file:
        turn = next((one for one in Transcript(file, read_days(root).zone) if one.line >= line), None)
    if turn is None or turn.line != line:
        return Spoken(path, line, why_not="holds nothing that was said")
    return _spoken(path, turn)


def _spoken(path: str, turn: Turn) -> Spoken:
    from pipelines.store.secrets import veil  # noqa: PLC0415  only where there are transcripts

    text = turn.text if len(turn.text) <= SHOWN else f"{turn.text[:SHOWN].rstrip()} …"
    time = turn.time.isoformat(timespec="seconds") if isinstance(turn.time, datetime) else ""
    return Spoken(path, turn.line, turn.role.value, veil(text), time, turn.session, turn.tool)
