"""A transcript read line by line: its turns, and what was passed over, counted by kind and with the first line of each.

Most of a transcript's bytes are what tools gave back. Lines that cannot hold a turn are told by their bytes and never
parsed; every other line is parsed on its own, so that no record can spoil another.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING, Final

from pipelines.memory.transcripts.lines import LONGEST, read_lines
from pipelines.memory.transcripts.outside import lets_in, may_call
from pipelines.memory.transcripts.records import SUMMARIES, UNKNOWN, said_in, session_of
from pipelines.memory.transcripts.times import moment_of
from pipelines.memory.transcripts.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from pipelines.memory.transcripts.lines import Lines
    from pipelines.memory.transcripts.records import Record, Said

TOO_LONG: Final = f"longer than {LONGEST >> 20} MB"
NOT_JSON: Final = "not JSON"
CUT_OFF: Final = "cut off at the end"
UNREAD: Final = "of other kinds"
FAULTS: Final = (NOT_JSON, TOO_LONG, CUT_OFF)
"""The kinds of lines that hold something which could not be read."""

_SPEAKERS: Final = (b'"user"', b'"assistant"')
_OPENERS: Final = (b'"session_meta"', b'"session"')
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Transcript:
    """The turns of one transcript, in the order of their lines; it can be gone through once.

    Nothing in the file makes it fail: a line that cannot be read is counted and the next one is read. What is not UTF-8
    becomes a replacement character, so that one bad byte costs no turn.

    Args:
        file: opened for reading bytes; only one line of it is held at a time.
        zone: the zone of times that name none.
        passed: how many lines were passed over, by kind, as far as it was gone through.
        first: the first line of each kind, counted from 1.
        strange: the first line of a shape that no known program writes, or zero.
    """

    file: Lines
    zone: tzinfo = UTC
    passed: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    strange: int = 0
    _session: tuple[str, str] = ("", "")
    _spoken: bool = False
    _outside: bool = False

    def __iter__(self) -> Iterator[Turn]:
        """Yield the turns."""
        for number, line in enumerate(read_lines(self.file), start=1):
            before = self._outside
            said = self._said(line.removeprefix(_BOM) if line and number == 1 else line)
            if isinstance(said, str):
                self._pass(said, number)
                # Every record of the known programs tells its type.
                if not self.strange and line and (said == UNKNOWN or (said == UNREAD and b'"type"' not in line)):
                    self.strange = number
            elif said:
                yield self._turn(said, number, after_outside=before)

    def faults(self) -> list[str]:
        """Return what could not be read, as parts of a sentence: `3 lines are not JSON (the first is line 8)`."""
        return [_told(kind, self.passed[kind], self.first[kind]) for kind in FAULTS if kind in self.passed]

    def _said(self, line: bytes | None) -> Said | str | None:
        """Return what a line says, the kind for which it is passed over, or None for an empty line."""
        if line is None:
            return TOO_LONG
        if not line.strip():
            return None
        speaks = any(mark in line for mark in _SPEAKERS)
        if not speaks and not any(mark in line for mark in _OPENERS):
            self._outside = self._outside or (may_call(line) and self._is_from_outside(line))
            return UNREAD if line.startswith(b"{") and line.rstrip().endswith(b"}") else _broken(line)
        record = _parsed(line)
        if record is None:
            return _broken(line)
        self._session = session_of(record) or self._session
        said = said_in(record)
        # A session that begins with a summary goes on from one that may have read anything.
        goes_on = said == SUMMARIES and not self._spoken
        self._outside = self._outside or goes_on or lets_in(record, self._session[1])
        return said

    def _is_from_outside(self, line: bytes) -> bool:
        record = _parsed(line)
        return record is None or lets_in(record, self._session[1])

    def _turn(self, said: Said, number: int, *, after_outside: bool) -> Turn:
        session, cwd = self._session
        self._spoken = True
        return Turn(
            line=number,
            role=said.role,
            text=said.text,
            time=moment_of(said.time, self.zone),
            session=said.session or session,
            record=said.record,
            tool=said.tool,
            cwd=said.cwd or cwd,
            subagent=said.subagent,
            after_outside=after_outside,
        )

    def _pass(self, kind: str, number: int) -> None:
        self.passed[kind] = self.passed.get(kind, 0) + 1
        self.first.setdefault(kind, number)


def _parsed(line: bytes) -> Record | None:
    text = line.decode(errors="replace")
    try:
        record = json.loads(text)
    except RecursionError:  # nested deeper than anything that was said
        return None
    except json.JSONDecodeError:
        return None
    except ValueError:  # a number with more digits than Python reads: nothing that is looked at is one
        try:
            record = json.loads(text, parse_int=str)
        except (ValueError, RecursionError):
            return None
    return record if isinstance(record, dict) else None


def _broken(line: bytes) -> str:
    return NOT_JSON if line.endswith(b"\n") else CUT_OFF


def _told(kind: str, count: int, first: int) -> str:
    return f"line {first} is {kind}" if count == 1 else f"{count:,} lines are {kind} (the first is line {first})"
