"""Verbatim lines of a document, log or transcript, for agents that read the files themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from pipelines.errors import BadFile, UsageFault
from pipelines.store.files import list_files, log_notes, open_regular
from pipelines.store.layout import NOTES, day_of_log, log_path
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


MOST_LINES: Final = 400
MOST_CHARACTERS: Final = 20_000
LONGEST_LINE: Final = 2_000

_LONGEST_NAME = 500
_SUFFIXES = (".md", ".txt", ".jsonl")
_CITED = re.compile(
    r"(?P<path>.+?)(?::(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?|#L(?P<from>\d{1,9})(?:-L(?P<to>\d{1,9}))?(?:~\w+)?)"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """Verbatim lines of a file.

    Args:
        path: the file, relative to the memory.
        start_line: the first line, counted from 1.
        end_line: the last line, inclusive; before `start_line` if the file has no such line.
        total_lines: the number of lines of the file.
        lines: their text, without line ends; a line longer than `LONGEST_LINE` is cut and ends with `…`.
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


def read_passage(root: Path, name: str, today: Callable[[], str], start: int | None, end: int | None = None) -> Passage:
    """Return lines of a document, log or transcript, at most `MOST_LINES` and `MOST_CHARACTERS`.

    Args:
        root: the memory.
        name: a path in the memory; a citation (`Logs/2026-03-18.md:12-14` or, as in evidence,
            `PATH#L12~HASH`); a document's id, title or file name; or a log's day (`2026-03-18`).
        today: returns the memory's day, for the name `today`.
        start: the first line, counted from 1; by default the citation's, or the first.
        end: the last line, inclusive; by default as many as fit.

    Raises:
        UsageFault: nothing has that name, or it leads out of the memory, or to files that agents must not read.
        BadFile: the file cannot be read, or a part of its path is a symbolic link.
    """
    if len(name) > _LONGEST_NAME:
        raise UsageFault(f"The name has {len(name):,} characters.", f"Use at most {_LONGEST_NAME}.")
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
    """Open the file with that name, and return its path as well; refuse one outside, hidden, or not printable."""
    day = today() if name.casefold() == "today" else name
    log = log_path(day)
    log = log if day_of_log(log) else ""
    path = log or (name if name.endswith(_SUFFIXES) else f"{name}.md")
    is_odd = any(not part or part.startswith((".", "~")) for part in path.split("/"))
    if not path.isprintable() or (is_odd and not layout_of(root).has(path)):
        shown = "".join(c if c.isprintable() else "?" for c in path)
        raise UsageFault(
            f"{shown} is not a document or log of the memory.",
            "Give a path in the memory such as Projects/NAME.md, a document's name, or a log's day such as 2026-03-18.",
        )
    for one in (path, *(one for one in log_notes(root) if log and day_of_log(one) == day)):
        if (file := open_regular(root, one)) is not None:
            return one, file
    if log:
        raise UsageFault(f"There is no log of {day}.", "Search for the topic to find its days.")
    wanted = name.casefold().removesuffix(".md").rpartition("/")[2]
    notes = list_files(root, NOTES, ".md", globs=layout_of(root).notes)
    paths = [path for path in notes if path.rpartition("/")[2].removesuffix(".md").casefold() == wanted]
    paths = paths or named_documents(read_documents(root), name)
    if len(paths) > 1:
        raise UsageFault(f"{name} matches more than one document: {', '.join(sorted(paths)[:5])}.", "Give its path.")
    if (file := open_regular(root, paths[0])) is None:
        raise BadFile(paths[0], "was moved while it was being read", "Try again.")
    return paths[0], file


def _lines(path: str, file: BinaryIO, start: int, end: int | None) -> Passage:
    kept = list[str]()
    room, total = MOST_CHARACTERS, 0
    last = min(start + MOST_LINES - 1, end if end is not None else start + MOST_LINES)
    for total, raw in enumerate(file, 1):
        if room > 0 and start <= total <= last:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            line = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
            kept.append(line)
            room -= len(line) + 1
    return Passage(path, start, start + len(kept) - 1, total, tuple(kept))
