"""How files of a memory that was adopted in place are called on the disk, and what the program calls those there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.memory.globs import is_matched, may_hold
from pipelines.memory.layout import BRIEFING, FOLDERS, LOGS, NOTES, PRIVATE, REVIEW, SESSIONS, SETTINGS, STATE, USER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.memory.daynames import DayNames

SOUL: Final = "SOUL.md"
MADE: Final = (BRIEFING, USER, REVIEW, *FOLDERS, STATE, SESSIONS)
"""What stands in the home: what runs make."""


@dataclass(frozen=True)
class Names:
    """The names of a memory that was adopted in place.

    Args:
        home: the folder of what runs make.
        days: how daily notes are named.
        theirs: canonical → real name of the files of the person's that play MEMORY.md, USER.md and SOUL.md.
        notes: globs of the person's documents that are searched.
        opted_in: globs of those into which ids and items may be written.
    """

    home: str
    days: DayNames
    theirs: Mapping[str, str]
    notes: tuple[str, ...] = ()
    opted_in: tuple[str, ...] = ()

    def real(self, path: str) -> str:
        """Return the path on the disk of what the program calls `path`; what it has no name for stays as it is."""
        if path in self.theirs and (path == SOUL or self.is_opted_in(self.theirs[path])):
            return self.theirs[path]
        top, _, rest = path.partition("/")
        if top == NOTES and rest:
            return rest
        if top == LOGS:
            return self.days.real(path) or f"{self.home}/{path}"
        return f"{self.home}/{path}" if top in MADE else path

    def canonical(self, real: str) -> str | None:
        """Return what the program calls the file at `real`, or None for a file that is no part of the memory."""
        if real == SETTINGS or real.startswith(f"{PRIVATE}/"):
            return real
        if (log := self.days.canonical(real)) is not None:
            return log
        for own in (BRIEFING, USER, SOUL):
            if self.theirs.get(own) == real and self.real(own) == real:
                return own
        if real.startswith(f"{self.home}/"):
            own = real.removeprefix(f"{self.home}/")
            return own if own.partition("/")[0] in MADE and self.real(own) == real else None
        return f"{NOTES}/{real}" if self._is_note(real) else None

    def is_opted_in(self, real: str) -> bool:
        """Whether the person allowed that ids and items are written into a file of theirs."""
        return real.endswith(".md") and is_matched(real, self.opted_in)

    def is_tracked(self, path: str) -> bool:
        """Whether the memory commits the file that the program calls `path`."""
        top, _, rest = path.partition("/")
        if top == NOTES:
            return self.is_opted_in(rest)
        return top in {SETTINGS, LOGS} or (top in MADE and top != SESSIONS)

    def tracked(self, real: str) -> str | None:
        """Return what the program calls a file that the memory commits, or None for any other."""
        path = self.canonical(real)
        return path if path is not None and self.is_tracked(path) else None

    def is_writable(self, path: str) -> bool:
        """Whether a run may write a file: what runs make, and what the person opted in. Never a log."""
        top, _, rest = path.partition("/")
        return self.is_opted_in(rest) if top == NOTES else top in MADE

    def is_theirs(self, path: str) -> bool:
        """Whether the program's `path` is a file of the person's."""
        return path.startswith((f"{NOTES}/", f"{LOGS}/")) or (path in self.theirs and self.real(path) in self.opened)

    @property
    def opened(self) -> frozenset[str]:
        """The person's files that play MEMORY.md or USER.md and are opted in."""
        return frozenset(real for own, real in self.theirs.items() if own != SOUL and self.is_opted_in(real))

    @property
    def forsaken(self) -> dict[str, str]:
        """The files in the home that the person's own took the place of when they were opted in: theirs by path."""
        return {f"{self.home}/{own}": real for own, real in self.theirs.items() if real in self.opened}

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """What git is told to look at for everything that holds items."""
        globs = (glob for glob in self.opted_in if not glob.startswith("!"))
        return self.home, *self.opened, *(f":(glob){glob}" for glob in globs)

    @property
    def open_folders(self) -> tuple[str, ...]:
        """The folders, with `/` at their ends, that the globs of what is opted in name first."""
        globs = [glob.split("/")[:-1] for glob in self.opted_in if not glob.startswith("!")]
        plain = ["/".join(takewhile(lambda part: not set("*?[") & set(part), parts)) for parts in globs]
        return tuple(dict.fromkeys(f"{folder}/" for folder in plain if folder))

    def leads(self, folder: str, wanted: str = "") -> bool:
        """Whether a part of the memory, or of what the program calls `wanted`, may stand below a real folder."""
        if f"{folder}/".startswith(f"{self.home}/") or self.home.startswith(f"{folder}/"):
            return True
        globs = (self.days.glob,) if wanted == LOGS else (*self.notes, *self.opted_in, self.days.glob)
        return may_hold(folder, globs)

    def start(self, folder: str) -> str:
        """Return the real folder below which everything of a canonical folder stands; empty for the top."""
        if folder == NOTES:
            return ""
        return self.days.folder if folder == LOGS else self.real(folder)

    def link(self, path: str) -> str:
        """Return a path as a link in MEMORY.md leads to it: from the folder in which that stands."""
        told = os.path.relpath(self.real(path), Path(self.real(BRIEFING)).parent)
        return told.replace(" ", "%20")

    def _is_note(self, real: str) -> bool:
        hidden = any(not part or part.startswith(".") for part in real.split("/"))
        return not hidden and (is_matched(real, self.notes) or self.is_opted_in(real))
