"""Which kind of notes a folder holds."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pipelines.adopting.daily import begun_day, named_day
from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from pipelines.adopting.found import Source


class Kind(StrEnum):
    """A kind of notes that can be adopted."""

    OPENCLAW = "openclaw"
    CLAUDE_CODE = "claude-code"
    OBSIDIAN = "obsidian"
    BASIC_MEMORY = "basic-memory"

    @property
    def called(self) -> str:
        """What a folder of this kind is called, with its article."""
        return _TITLES[self]


_TITLES: Final = {
    Kind.OPENCLAW: "an OpenClaw workspace",
    Kind.CLAUDE_CODE: "a project memory of Claude Code",
    Kind.OBSIDIAN: "an Obsidian vault",
    Kind.BASIC_MEMORY: "a folder of basic-memory",
}
_WORKSPACE: Final = frozenset(
    {"SOUL.md", "USER.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"}
)
_ENOUGH: Final = 2
_LOOKED_FOR: Final = """It was looked for
  openclaw      memory/YYYY-MM-DD*.md, or two of SOUL.md, USER.md, IDENTITY.md, AGENTS.md, MEMORY.md and their like
  basic-memory  notes most of which name a permalink in their front matter
  obsidian      a folder .obsidian, or notes named YYYY-MM-DD.md
  claude-code   MEMORY.md, or memory/MEMORY.md beside sessions
If it is one of these all the same, say so with --as KIND."""


def detect(source: Source) -> Kind:
    """Return which kind of notes a folder holds. What is told apart most surely is looked for first.

    Raises:
        UsageFault: it is none of them; the sentence says what was looked for.
    """
    notes = [found for found in source.files if found.is_note]
    top = {found.path for found in notes if "/" not in found.path}
    sessions = any(left.path.endswith(".jsonl") and "/" not in left.path for left in source.left_out)
    if sessions and any(found.path == "memory/MEMORY.md" for found in notes):
        return Kind.CLAUDE_CODE
    dated = any(found.path.startswith("memory/") and begun_day(found.path) for found in notes)
    if dated or len(top & _WORKSPACE) >= _ENOUGH:
        return Kind.OPENCLAW
    if notes and 2 * sum(found.permalink for found in notes) >= len(notes):
        return Kind.BASIC_MEMORY
    if (source.root / ".obsidian").is_dir() and not (source.root / ".obsidian").is_symlink():
        return Kind.OBSIDIAN
    if "MEMORY.md" in top:
        return Kind.CLAUDE_CODE
    if any(named_day(found.path) for found in notes):
        return Kind.OBSIDIAN
    raise UsageFault(f"{source.root} is no kind of memory that can be adopted.", _LOOKED_FOR)


def base_of(kind: Kind, source: Source) -> str:
    """Return the folder in which the memory of that kind stands: empty for the top, else with `/` at its end."""
    inside = kind is Kind.CLAUDE_CODE and not any(found.path == "MEMORY.md" for found in source.files)
    return "memory/" if inside and any(found.path.startswith("memory/") for found in source.files) else ""
