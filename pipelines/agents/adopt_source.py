"""The notes to adopt: where they are, what they hold, and of which kind they are.

It is only read, never written.
"""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.agents.adopt_days import LOGSEQ, dated
from pipelines.errors import BadFile, UsageFault, reason_of
from pipelines.store.files import read_bytes
from pipelines.store.layout import PARA
from pipelines.store.user_layout import memory_at
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


LeftOut = tuple[str, str]
"""The path of a file or folder that is not adopted, and why: the rest of a sentence that starts with the path."""
MAX_BYTES = 64 * 1024 * 1024
_NOTES = (".md", ".txt")
_ATTACHMENTS = (".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp")
_WORKSPACE = frozenset(
    {"SOUL.md", "USER.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"}
)
_ENOUGH = 2


class NotesKind(StrEnum):
    """A kind of notes that can be adopted."""

    OPENCLAW = "openclaw"
    CLAUDE_CODE = "claude-code"
    OBSIDIAN = "obsidian"

    @property
    def called(self) -> str:
        """The name of a folder of this kind, with its article."""
        return _TITLES[self]

    @property
    def is_by_agents(self) -> bool:
        """Whether an agent wrote the notes."""
        return self in {NotesKind.OPENCLAW, NotesKind.CLAUDE_CODE}


_TITLES = {
    NotesKind.OPENCLAW: "an OpenClaw workspace",
    NotesKind.CLAUDE_CODE: "a project memory of Claude Code",
    NotesKind.OBSIDIAN: "a folder of notes",
}


_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""A byte that could not be decoded, as `surrogateescape` keeps it."""


APART = "is not part of the memory"
"""Why a file of an agent's workspace, or a template, stays behind."""


_OF_PROGRAMS = ("skills", "templates", "node_modules")
"""Folders of a workspace whose Markdown is no memory, at any depth."""
_PACKAGE = frozenset({".git", "package.json", "pyproject.toml"})
"""What the top folder of a repository or a package of its own holds."""


@dataclass(frozen=True, slots=True)
class Source:
    """The notes that were found.

    Args:
        root: their folder.
        kind: what they are.
        files: the size of each note that can be adopted, by path, in order of paths; of other files, 0.
        left_out: what cannot be adopted, in order of paths.
    """

    root: Path
    kind: NotesKind
    files: Mapping[str, int]
    left_out: tuple[LeftOut, ...]


def globs_of(found: Source, templates: str) -> tuple[str, ...]:
    """Return globs of the files that belong to notes: a workspace also holds skills, repositories and attachments.

    Args:
        found: the notes.
        templates: the folder of templates; empty if there is none.
    """
    globs, apart = ["**"], {templates} - {""}
    if found.kind is NotesKind.OPENCLAW:
        globs = ["*", "**/*.md", "memory/**", *(f"{folder}/**" for folder in PARA)]
        globs += [f"!**/{name}/**" for name in _OF_PROGRAMS]
        places = [path.rpartition("/") for path, _ in found.left_out]
        apart |= {folder for folder, _, name in places if folder and name in _PACKAGE}
    return (*globs, *(f"!{folder}/**" for folder in sorted(apart)))


def notes_in(folder: Path, named: str | None) -> Source:
    """Return the notes in a folder; those of Claude Code may be in its folder `memory`, beside sessions.

    Links are not followed, and hidden folders not entered.

    Args:
        folder: the folder.
        named: their kind, or None to detect it.

    Raises:
        BadFile: there is no such folder, or it cannot be listed.
        UsageFault: it is already a memory, it has nothing to adopt, or its kind is not known.
    """
    root = folder.expanduser().absolute()
    if not root.is_dir():
        raise BadFile(root, "is not a folder", "Name the folder that holds the notes.")
    if memory_at(root):
        raise UsageFault(f"{root} is already a memory.", f"`curate init {root}` adds what it lacks.")
    files, left = _read(root := root.resolve())
    if not files:
        raise UsageFault(f"There is nothing to adopt in {root}.", "It has no notes, PDF files or images.")
    kind = NotesKind(named) if named else _detect(files, left)
    if kind is NotesKind.CLAUDE_CODE and "MEMORY.md" not in files and any(path.startswith("memory/") for path in files):
        return notes_in(root / "memory", kind)
    return Source(root, kind, dict(sorted(files.items())), tuple(sorted(left)))


def _read(root: Path) -> tuple[dict[str, int], list[LeftOut]]:
    """Return the size of each file that can be adopted, and what cannot."""
    found: dict[str, int] = {}
    left: list[LeftOut] = []

    def refused(error: OSError) -> None:
        left.append(
            (escape_terminal_line(os.path.relpath(error.filename, root)), f"cannot be listed: {reason_of(error)}")
        )

    for above, folders, names in os.walk(root, onerror=refused):
        here = Path(above)
        hidden = [name for name in (*folders, *names) if name.startswith(".")]
        left += [(escape_terminal_line(str((here / name).relative_to(root))), "is hidden") for name in hidden]
        folders[:] = [name for name in folders if name not in hidden]
        for name in names:
            path = str((here / name).relative_to(root))
            if name in hidden:
                continue
            if why := _unfit(here / name, path):
                left.append((escape_terminal_line(path), why))
                continue
            try:
                data = note_text(root, path) if path.lower().endswith(_NOTES) else b""
                found[path] = len(data)
            except BadFile as fault:
                left.append((path, fault.why))
    return found, left


def is_note(path: str) -> bool:
    """Whether a file is Markdown rather than an attachment."""
    return path.lower().endswith(".md")


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
    return _NOT_UTF8.sub(
        lambda found: found[0].encode(errors="surrogateescape").decode("cp1252", errors="replace"), text
    ).encode()


def _unfit(file: Path, path: str) -> str:
    """Return why a file cannot be adopted, judged by name and type; empty if it can."""
    ending = file.suffix.lower()
    if file.is_symlink():
        return "is a symbolic link; links are not followed"
    if path != escape_terminal_line(path):
        return "has a name that cannot be printed"
    if ending == ".jsonl":
        return "may be a session: `curate capture` captures sessions"
    if ending not in _NOTES + _ATTACHMENTS or not file.is_file():
        return "is not a note, a PDF file or an image"
    if not os.access(file, os.R_OK):
        return "cannot be read: permission denied"
    return f"is larger than {MAX_BYTES >> 20} MB" if file.stat().st_size > MAX_BYTES else ""


def _detect(files: Mapping[str, int], left: Sequence[LeftOut]) -> NotesKind:
    """Return the kind of notes in a folder; what is no agent's is a folder of notes."""
    top = {path for path in files if "/" not in path}
    sessions = any(path.endswith(".jsonl") and "/" not in path for path, _ in left)
    if sessions and "memory/MEMORY.md" in files:
        return NotesKind.CLAUDE_CODE
    has_days = any(is_note(path) and path.startswith("memory/") and dated(path)[0] for path in files)
    if has_days or len(top & _WORKSPACE) >= _ENOUGH:
        return NotesKind.OPENCLAW
    is_vault = any(path in {".obsidian", f"{LOGSEQ}/config.edn"} for path, _ in left)
    return NotesKind.CLAUDE_CODE if "MEMORY.md" in top and not is_vault else NotesKind.OBSIDIAN
