"""From the turns of a session to the lines of its days' logs: one list item a turn, each with where its record stands.

A turn's words are somebody's text and never structure: they stand under their item, four blanks in, where no heading,
project line or comment of theirs means anything to whoever reads the log.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.store.evidence import render_pointer
from pipelines.store.item import Trust
from pipelines.store.layout import log_path
from pipelines.store.log import parse_entries
from pipelines.store.transcripts import Role

if TYPE_CHECKING:
    from datetime import datetime

    from pipelines.store.session_state import Seals
    from pipelines.store.transcripts import Turn

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
