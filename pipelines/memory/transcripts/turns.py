"""The turn: what one side said at one moment of a session."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime


_HOME_DEPTH: Final = 2


class Role(StrEnum):
    """Who spoke."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One record of a transcript in which somebody said something.

    Args:
        line: the record's line, counted from 1.
        role: who spoke.
        text: what was said, without tool calls, thinking and what the agent's program put in; never empty.
        time: when, with its zone; None where the record does not tell a moment that can be.
        session: the session's id, or empty.
        record: the record's own id, or empty: a resumed session repeats the records of the old one under their ids.
        tool: which program wrote it: claude-code, codex, openclaw or plain.
        cwd: the working directory, or empty.
        subagent: whether it belongs to a subagent: there, the user is the agent that gave it its task.
        after_outside: whether words from outside had come into the session before: of a page, a server, a foreign file.
    """

    line: int
    role: Role
    text: str
    time: datetime | None = None
    session: str = ""
    record: str = ""
    tool: str = ""
    cwd: str = ""
    subagent: bool = False
    after_outside: bool = False

    @property
    def project(self) -> str:
        """The name of the working directory; empty where that is the root or somebody's home."""
        parts = [part for part in re.split(r"[/\\]", self.cwd) if part and not part.endswith(":")]
        home = len(parts) <= _HOME_DEPTH and parts[:1] in (["home"], ["Users"], ["root"])
        return "" if home or not parts else parts[-1]
