"""The folder to adopt: what is in it, and which kind of notes it holds.

It is only read, never written.
"""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pipelines.agents.adopt_days import dated, is_graph
from pipelines.errors import BadFile, UsageFault, reason_of
from pipelines.store.files import read_bytes
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


LeftOut = tuple[str, str]
"""The path of a file or folder that is not adopted, and why: the rest of a sentence that starts with the path."""
MAX_BYTES = 64 * 1024 * 1024
_NOTES = (".md", ".txt")
_ATTACHMENTS = (".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp")
_PERMALINK = re.compile(rb"\A(?:\xef\xbb\xbf)?---\r?\n(?:(?!---|\.\.\.).*\n){0,60}?permalink[ \t]*:")
_WORKSPACE = frozenset(
    {"SOUL.md", "USER.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"}
)
_ENOUGH = 2
_LOOKED_FOR = """A folder can be adopted if it has
  openclaw      memory/YYYY-MM-DD*.md, or two of SOUL.md, USER.md, IDENTITY.md, AGENTS.md, MEMORY.md and their like
  basic-memory  notes, most of them with a permalink in their front matter
  obsidian      a folder .obsidian, a graph of Logseq (logseq/config.edn), or notes named YYYY-MM-DD*.md
  claude-code   MEMORY.md, or memory/MEMORY.md beside sessions
If it is one of these anyway, name the kind with --as KIND."""


class NotesKind(StrEnum):
    """A kind of notes that can be adopted."""

    OPENCLAW = "openclaw"
    CLAUDE_CODE = "claude-code"
    OBSIDIAN = "obsidian"
    BASIC_MEMORY = "basic-memory"

    @property
    def called(self) -> str:
        """The name of a folder of this kind, with its article."""
        return _TITLES[self]


_TITLES = {
    NotesKind.OPENCLAW: "an OpenClaw workspace",
    NotesKind.CLAUDE_CODE: "a project memory of Claude Code",
    NotesKind.OBSIDIAN: "a vault of Obsidian or Logseq",
    NotesKind.BASIC_MEMORY: "a folder of basic-memory",
}


_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""A byte that could not be decoded, as `surrogateescape` keeps it."""


@dataclass(frozen=True, slots=True)
class Source:
    """What was found in a folder.

    Args:
        root: the folder.
        files: the size of each file that can be adopted, by path, in order of paths.
        permalinks: how many notes have a permalink in their front matter.
        left_out: what cannot be adopted, in order of paths.
    """

    root: Path
    files: Mapping[str, int]
    permalinks: int
    left_out: tuple[LeftOut, ...]


def read_source(root: Path) -> Source:
    """Read a folder with everything below it, without following links or entering hidden folders.

    Raises:
        BadFile: the folder cannot be listed.
    """
    found: dict[str, int] = {}
    left: list[LeftOut] = []
    permalinks = 0
    for entry, path in _walk(root, left):
        if why := _unfit(entry, path):
            left.append((shown(path), why))
            continue
        try:
            size = entry.stat(follow_symlinks=False).st_size
            if path.lower().endswith(_NOTES):
                data = note_text(root, path)
                size = len(data)
                permalinks += is_note(path) and bool(_PERMALINK.match(data))
            elif not os.access(root / path, os.R_OK):
                left.append((path, "cannot be read: permission denied"))
                continue
            found[path] = size
        except BadFile as fault:
            left.append((path, fault.why))
        except OSError as error:
            left.append((path, f"cannot be read: {reason_of(error)}"))
    return Source(root, dict(sorted(found.items())), permalinks, tuple(sorted(left)))


def is_note(path: str) -> bool:
    """Whether a file is Markdown rather than an attachment."""
    return path.lower().endswith(".md")


def shown(path: str) -> str:
    """Return a path for printing: line breaks and bytes that are not UTF-8 become escapes."""
    return escape_terminal_line(path)


def file_bytes(root: Path, path: str) -> bytes:
    """Return the bytes of a file.

    Raises:
        BadFile: it vanished, or cannot be read.
    """
    data = read_bytes(root, path, MAX_BYTES)
    if data is None:
        raise BadFile(path, "vanished while it was read")
    return data


def note_text(root: Path, path: str) -> bytes:
    """Return a note as UTF-8: what is UTF-16 by its mark is converted, a byte that is not UTF-8 is Windows-1252.

    Raises:
        BadFile: it vanished, or cannot be read.
    """
    data = file_bytes(root, path)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace").encode()
    text = data.decode(errors="surrogateescape")
    return _NOT_UTF8.sub(lambda found: _windows(found[0]), text).encode()


def _windows(byte: str) -> str:
    return byte.encode(errors="surrogateescape").decode("cp1252", errors="replace")


def _walk(root: Path, left: list[LeftOut]) -> Iterator[tuple[os.DirEntry[str], str]]:
    pending = [""]
    while pending:
        here = pending.pop()
        try:
            with os.scandir(root / here) as entries:
                listed = list(entries)
        except OSError as error:
            why = f"cannot be listed: {reason_of(error)}"
            if not here:
                raise BadFile(root, why, "Name a folder that you can read.") from None
            left.append((shown(here), why))
            continue
        for entry in listed:
            path = f"{here}/{entry.name}" if here else entry.name
            if entry.name.startswith("."):
                left.append((shown(path), "is hidden"))
            elif entry.is_dir(follow_symlinks=False):
                pending.append(path)
            else:
                yield entry, path


def _unfit(entry: os.DirEntry[str], path: str) -> str:
    """Return why a file cannot be adopted, judged by name and type; empty if it can."""
    ending = path[path.rfind(".") :].lower() if "." in entry.name else ""
    if entry.is_symlink():
        return "is a symbolic link; links are not followed"
    if not entry.is_file(follow_symlinks=False):
        return "is not a regular file"
    if path != shown(path):
        return "has a name that cannot be printed"
    if ending == ".jsonl":
        return "may be a session: `curate capture` captures sessions"
    if ending not in _NOTES + _ATTACHMENTS:
        return "is not a note, a PDF file or an image"
    return f"is larger than {MAX_BYTES >> 20} MB" if entry.stat(follow_symlinks=False).st_size > MAX_BYTES else ""


def detect(source: Source) -> NotesKind:
    """Return the kind of notes in a folder. The surest signs are checked first.

    Raises:
        UsageFault: it is of no known kind; the sentence lists the signs.
    """
    notes = [path for path in source.files if is_note(path)]
    top = {path for path in notes if "/" not in path}
    sessions = any(path.endswith(".jsonl") and "/" not in path for path, _ in source.left_out)
    if sessions and "memory/MEMORY.md" in notes:
        return NotesKind.CLAUDE_CODE
    has_days = any(path.startswith("memory/") and dated(path)[0] for path in notes)
    if has_days or len(top & _WORKSPACE) >= _ENOUGH:
        return NotesKind.OPENCLAW
    if notes and 2 * source.permalinks >= len(notes):
        return NotesKind.BASIC_MEMORY
    settings = source.root / ".obsidian"
    if is_graph(source.root) or (settings.is_dir() and not settings.is_symlink()):
        return NotesKind.OBSIDIAN
    if "MEMORY.md" in top:
        return NotesKind.CLAUDE_CODE
    if any(dated(path)[0] for path in notes):
        return NotesKind.OBSIDIAN
    raise UsageFault(f"{source.root} is not a kind of notes that can be adopted.", _LOOKED_FOR)


def base_of(kind: NotesKind, source: Source) -> str:
    """Return the folder that holds the memory in a source of that kind: empty for the top, else with a final `/`."""
    inside = kind is NotesKind.CLAUDE_CODE and "MEMORY.md" not in source.files
    return "memory/" if inside and any(path.startswith("memory/") for path in source.files) else ""
