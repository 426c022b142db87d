"""Lines of a document, log or transcript as they stand, for agents who read the files themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from pipelines.errors import BadFile, UsageFault
from pipelines.store.files import list_files, open_regular
from pipelines.store.layout import NOTES, log_day, log_path
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


MOST_LINES: Final = 400
MOST_CHARACTERS: Final = 20_000
LONGEST_LINE: Final = 2_000

_LONGEST_NAME: Final = 500
_SUFFIXES: Final = (".md", ".txt", ".jsonl")
_CITED = re.compile(
    r"(?P<path>.+?)(?::(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?|#L(?P<from>\d{1,9})(?:-L(?P<to>\d{1,9}))?(?:~\w+)?)"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file as they stand.

    Args:
        path: the file, relative to the memory.
        start_line: the first line, counted from 1.
        end_line: the last line, inclusive; before `start_line` where the file has no such line.
        total_lines: how many lines the file has.
        lines: their text, without line ends; a line longer than `LONGEST_LINE` ends with `…`.
    """

    path: str
    start_line: int
    end_line: int
    total_lines: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


def read_passage(
    root: Path, name: str, today: Callable[[], str], start: int | None = None, end: int | None = None
) -> Passage:
    """Return lines of a document, log or transcript, at most `MOST_LINES` and `MOST_CHARACTERS` of them.

    Args:
        root: the memory.
        name: a path in the memory, a citation (`Logs/2026-03-18.md:12-14`, or as evidence has it, `PATH#L12~HASH`), a
            document's id, title or file name, or a log's day (`2026-03-18`). In a memory that was adopted in place a
            path may be the file's own, or what the program calls it.
        today: tells the memory's day, where the name is `today`.
        start: the first line, counted from 1; the citation's, or the first, where it is not given.
        end: the last line, inclusive; as many as there is room for, where it is not given.

    Raises:
        UsageFault: the name means nothing, or leads out of the memory, or into what no agent is to read.
        BadFile: the file cannot be read, or a part of its path is a symbolic link.
    """
    if len(name) > _LONGEST_NAME:
        raise UsageFault(f"The name has {len(name):,} characters.", f"Give one of {_LONGEST_NAME} at most.")
    cited = _CITED.fullmatch(name.strip())
    wanted = cited["path"] if cited else name.strip()
    if cited and start is None:
        start = int(cited["start"] or cited["from"])
        last = cited["end"] or cited["to"]
        end = end if end is not None else int(last) if last else start
    path, file = _open(root, wanted, today)
    with file:
        return _lines(path, file, max(start or 1, 1), end)


def _open(root: Path, name: str, today: Callable[[], str]) -> tuple[str, BinaryIO]:
    """Open the file that a name means, and return its path on the disk as well."""
    layout = layout_of(root)
    day = today() if name.casefold() == "today" else name
    log = log_path(day) if log_day(f"{day}.md") else ""
    for given in (name, log) if layout.in_place and log else (log or name,):
        path = given if given.endswith(_SUFFIXES) else f"{given}.md"
        _check(path)
        for real in (path, layout.real(path)):
            own = layout.canonical(real)
            if own and not own.startswith(".") and (file := open_regular(root, own)) is not None:
                return real, file
    if log:
        raise UsageFault(f"There is no log of {day}.", "A search finds the days that speak of something.")
    wanted = name.casefold().removesuffix(".md").rpartition("/")[2]
    notes = list_files(root, NOTES, ".md") if layout.in_place else []
    paths = [path for path in notes if path.rpartition("/")[2].removesuffix(".md").casefold() == wanted]
    paths = paths or named_documents(read_documents(root), name, layout.real)
    if len(paths) > 1:
        shown = ", ".join(sorted(map(layout.real, paths))[:5])
        raise UsageFault(f"More than one document is called {name}: {shown}.", "Give its path.")
    real, file = layout.real(paths[0]), open_regular(root, paths[0])
    if file is None:
        raise BadFile(real, "was moved away while it was read", "Ask again.")
    return real, file


def _check(path: str) -> None:
    """Refuse what is no plain path in the memory: what climbs out of it, is absolute, hidden, or no text."""
    parts = path.split("/")
    if not path.isprintable() or any(not part or part.startswith((".", "~")) for part in parts):
        shown = "".join(c if c.isprintable() else "?" for c in path)
        raise UsageFault(
            f"{shown} is no document or log of the memory.",
            "Give a path in the memory such as Projects/NAME.md, a document's name, or a log's day such as 2026-03-18.",
        )


def _lines(path: str, file: BinaryIO, start: int, end: int | None) -> Passage:
    kept: list[str] = []
    room, total = MOST_CHARACTERS, 0
    last = min(start + MOST_LINES - 1, end if end is not None else start + MOST_LINES)
    for total, raw in enumerate(file, 1):
        if room > 0 and start <= total <= last:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            line = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
            kept.append(line)
            room -= len(line) + 1
    return Passage(path, start, start + len(kept) - 1, total, tuple(kept))
