"""Adopting notes in place: a memory in a folder among them that reads the others, and never changes one."""

from __future__ import annotations

import contextlib
import json
import os
from glob import escape
from typing import TYPE_CHECKING, NamedTuple

from pipelines.agents.adopt_items import with_statements, write_pages
from pipelines.agents.adopt_source import (
    APART,
    TEXTS,
    LeftOut,
    NotesKind,
    Source,
    Vault,
    dated,
    glob_of,
    globs_of,
    is_note,
    note_text,
    read_vault,
)
from pipelines.errors import GitFault, UsageFault
from pipelines.store.edits import commit_edits
from pipelines.store.files import replace_synced, writing
from pipelines.store.git import Author, Git
from pipelines.store.git_process import GitCommands
from pipelines.store.item import Trust
from pipelines.store.layout import BRIEFING, NOTES, NOTES_FILE, SOUL, USER, Layout, day_of_log
from pipelines.store.lock import run_lock
from pipelines.store.snapshot import read_documents
from pipelines.store.template import lay_down
from pipelines.store.trees import read_version
from pipelines.store.user_layout import MOST_GLOBS
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings


HOME = "Curated"
"""The folder of a memory among notes."""
OFTEN = (SOUL, USER, BRIEFING)
"""Notes that every session sees."""
_NEVER = ("AGENTS.md", "CLAUDE.md")


class InPlace(NamedTuple):
    """What adopting in place would do.

    Args:
        kind: the kind of the notes.
        layout: what the new curate-notes.toml says.
        logs: the daily notes.
        notes: the other notes, which search covers.
        left_out: what is not part of the memory, and why.
    """

    kind: NotesKind
    layout: Layout
    logs: Sequence[str]
    notes: Sequence[str]
    left_out: Sequence[LeftOut]


def plan_in_place(found: Source) -> InPlace:
    """Return the plan for adopting notes in place.

    Raises:
        UsageFault: the folder cannot be adopted in place; the sentence says why.
    """
    if os.path.lexists(found.root / HOME):
        raise UsageFault(f"{found.root / HOME} already exists.", "Rename it: the memory is to have that name.")
    kind, vault = found.kind, read_vault(found.root, filter(is_note, found.files))
    days = _days(found, vault)
    word = Trust.SELF if kind.is_by_agents else ""
    globs = (*globs_of(found, vault.templates), *(f"!{name}" for name in _NEVER))
    if len(globs) > MOST_GLOBS:
        raise UsageFault(f"{found.root} holds too many repositories and packages.", "Copy it without --in-place.")
    layout = Layout(HOME, (days,) if days else (), globs, word)
    inside = [path for path in found.files if layout.has(f"{NOTES}/{path}")]
    logs = [path for path in inside if layout.has(f"{NOTES}/{path}", layout.logs) and day_of_log(f"{NOTES}/{path}")]
    left = [(escape_terminal_line(path), APART) for path in found.files if path not in inside]
    notes = [path for path in inside if path not in logs and path.lower().endswith(TEXTS)]
    return InPlace(kind, layout, logs, notes, (*found.left_out, *left))


def _days(found: Source, vault: Vault) -> str:
    """Return the glob of daily notes: from the kind or the vault's settings, else as most of them are named."""
    if found.kind is NotesKind.OPENCLAW:
        return "memory/????-??-??*.md"
    if found.kind is NotesKind.OBSIDIAN and vault.form:
        glob = glob_of(vault.form) if vault.pattern else None
        if glob is None:
            why = f"{found.root} names its daily notes in a format that cannot be read in place ({vault.form})."
            raise UsageFault(why, "Copy it without --in-place, or use a format such as YYYY-MM-DD or DD.MM.YYYY.")
        return f"{escape(vault.folder)}/{glob}.md" if vault.folder else f"{glob}.md"
    named = [dated(path) for path in filter(is_note, found.files)]
    several = any(shape == vault.shape and more for _, shape, more in named)
    return f"{vault.shape}{'*' * several}.md" if vault.shape else ""


def move_in(plan: InPlace, root: Path, settings: Settings, now: datetime) -> None:
    """Make a memory in its folder among the notes, and commit it. Existing files are not touched.

    Args:
        plan: the plan.
        root: the folder of the notes.
        settings: its first settings: the time zone, and the author of commits if git has none.
        now: the moment of the commit.

    Raises:
        NotWritable: the disk refused.
        GitFault: git refused.
    """
    memory, (home, logs, covered, trust) = root / plan.layout.home, plan.layout
    rows = [("memory", home, "the folder of the memory"), ("logs", logs, "daily notes, read each night"),
            ("notes", covered, "notes that search covers")]  # fmt: skip
    rows += [("trust", trust, "their prose is an agent's word")] if trust else []
    text = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}  # {what}\n" for key, value, what in rows)
    lay_down(memory, settings.timezone)
    with writing(root / NOTES_FILE):
        replace_synced(root / NOTES_FILE, f"# What memcurate reads here, and never changes.\n{text}".encode(), 0o644)
    git = Git(memory)
    git.init()
    git.check()
    with contextlib.suppress(GitFault):  # a repository around the notes leaves out the memory, which is one of its own
        around = GitCommands(root)
        file = root / around.run("rev-parse", "--git-path", "info/exclude").decode().rstrip("\n")
        place = around.run("rev-parse", "--show-prefix").decode().rstrip("\n")
        with writing(file):
            file.parent.mkdir(exist_ok=True)
            with file.open("a", encoding="utf-8") as told:
                told.write(f"/{place}{home}/\n")
    if plan.kind is NotesKind.CLAUDE_CODE:
        pages = read_documents(memory)
        notes = [read_version(f"{NOTES}/{path}", note_text(root, path)) for path in plan.notes]
        new = with_statements(notes, pages, now.date().isoformat(), settings.caps.briefing)
        write_pages(memory, pages, pages | new)
    with run_lock(memory, "curate init"):
        commit_edits(git, f"Adopt {plan.kind.called} in place\n", Author(*settings.author, now))
