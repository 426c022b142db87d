"""Adopting notes in place: the role of each note, and the few new files that turn the folder into a memory.

Existing files are never moved, renamed or rewritten.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.agents.adopt_days import DIGEST, Vault, dated, read_vault, written_pattern
from pipelines.agents.adopt_items import with_statements, write_pages
from pipelines.agents.adopt_source import LeftOut, NotesKind, Source, is_note, note_text, shown
from pipelines.errors import UsageFault
from pipelines.store.edits import commit_edits, find_edits
from pipelines.store.files import create_file
from pipelines.store.git import Author, Git
from pipelines.store.in_place_layout import InPlaceLayout, layout_faults, layout_names
from pipelines.store.layout import BRIEFING, LOGS, NOTES, PARA, SETTINGS, SOUL, USER
from pipelines.store.lock import run_lock
from pipelines.store.snapshot import read_documents
from pipelines.store.template import lay_down
from pipelines.store.trees import read_version
from pipelines.store.user_layout import read_layout
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings


_DAY = "{YYYY}-{MM}-{DD}"
_ROLES = {"memory": BRIEFING, "user": USER, "soul": SOUL}
_AGENTS = ("AGENTS.md", "CLAUDE.md")
_WORKSPACE = ("*.md", "memory/**", *(f"{folder}/**" for folder in PARA))


@dataclass(frozen=True)
class InPlace:
    """What adopting in place would do.

    Args:
        kind: the kind of the notes.
        layout: the `[layout]` of the new curate.toml.
        names: the same, as names in the memory.
        logs: the daily notes.
        notes: the person's documents, which search covers.
        opted_in: the person's files that runs may write ids and items into.
        left_out: what is not part of the memory, and why.
        sentences: notes for the person.
    """

    kind: NotesKind
    layout: dict[str, Any]
    names: InPlaceLayout
    logs: tuple[str, ...]
    notes: tuple[str, ...]
    opted_in: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    sentences: tuple[str, ...]


def plan_in_place(found: Source, kind: NotesKind, home: str, opted_in: Sequence[str]) -> InPlace:
    """Return the plan for adopting a folder in place.

    Args:
        found: the folder as it was found.
        kind: its kind.
        home: the folder for files that runs create.
        opted_in: globs of the files that runs may write ids and items into.

    Raises:
        UsageFault: the folder cannot be adopted in place, or not with these options; the sentence says why.
    """
    if os.path.lexists(found.root / home):
        raise UsageFault(
            f"{found.root / home} already exists.", "Name another folder for the files of runs with --home."
        )
    vault = read_vault(found.root, filter(is_note, found.files))
    layout: dict[str, Any] = {"home": home, "logs": _days(found, kind, vault, home)}
    layout |= {key: name for key, name in _ROLES.items() if name in found.files}
    # An agent's workspace holds much that is not memory.
    globs = list(_WORKSPACE) if kind is NotesKind.OPENCLAW else ["**"]
    globs += [f"!{vault.templates}/**"] if vault.templates else []
    layout |= {"notes": [*globs, *(f"!{name}" for name in _AGENTS)], "opted_in": list(opted_in)}
    if faults := layout_faults(layout, found.root):
        raise UsageFault(f"{found.root} cannot be adopted like this: {'; '.join(faults)}.", "Fix --home or --opt-in.")
    names = layout_names(layout)
    own = {path: names.canonical(path) or "" for path in found.files}
    opened = tuple(path for path in own if names.is_opted_in(path) and not own[path].startswith(f"{LOGS}/"))
    notes = tuple(path for path, name in own.items() if name.startswith(f"{NOTES}/") and path not in opened)
    logs = tuple(path for path, name in own.items() if name.startswith(f"{LOGS}/"))
    apart = [
        (shown(path), "is not part of the memory, so search does not cover it")
        for path, name in own.items()
        if not name
    ]
    told = _sentences(layout, own, opened)
    if kind is NotesKind.BASIC_MEMORY and not opened:
        told.append('Observations such as `- [decision] …` become items only in notes that you opt in: --opt-in "**".')
    return InPlace(kind, layout, names, logs, notes, opened, (*found.left_out, *apart), tuple(told))


def _days(found: Source, kind: NotesKind, vault: Vault, home: str) -> str:
    """Return the naming of daily notes: from the kind or the vault's settings, else that of most of them.

    A digest of a day would count as a second note of it, so that then only the days themselves are its notes.
    """
    if kind is NotesKind.OPENCLAW:
        return f"memory/{_DAY}*.md"
    if kind is NotesKind.OBSIDIAN and vault.form:
        pattern = written_pattern(vault.form) if vault.pattern else None
        if pattern is None:
            why = f"{found.root} names its daily notes in a format that cannot be written in place ({vault.form})."
            raise UsageFault(why, "Copy it without --in-place, or use a format of only YYYY, MM and DD.")
        return f"{vault.folder}/{pattern}.md" if vault.folder else f"{pattern}.md"
    more = [path for path in found.files if is_note(path) and dated(path)[1] == vault.shape and dated(path)[2]]
    several = "*" if more and not any(map(DIGEST.search, more)) else ""
    return f"{vault.shape}{several}.md" if vault.shape else f"{home}/{LOGS}/{_DAY}.md"


def _sentences(layout: dict[str, Any], own: dict[str, str], opened: Sequence[str]) -> list[str]:
    home, lines = layout["home"], list[str]()
    for key, name in (("memory", BRIEFING), ("user", USER)):
        if key in layout and layout[key] not in opened:
            lines.append(
                f"{layout[key]} is never changed: what runs learn goes to {home}/{name}, and sessions see both."
                f" To let runs write into it, use --opt-in {layout[key]}."
            )
    patterns = [glob for glob in layout["opted_in"] if not glob.startswith("!")]
    lines += [f"--opt-in {glob} matches no file yet." for glob in patterns if not opened and own]
    lines.append("`curate log` and `curate capture` append to your daily notes; nothing else is changed.")
    return lines


def repository_of(root: Path, plan: InPlace) -> Path | None:
    """Return the top of the git repository around a folder, or None if there is none.

    Raises:
        UsageFault: the repository ignores or filters what a memory must commit.
        DetachedHead, GitFault: no commit can be made in it.
    """
    git = Git(root)
    if not git.is_repository() and not os.path.lexists(root / ".git"):
        return None
    git.check()
    if git.ignored([SETTINGS]):
        raise UsageFault(
            f"The repository at {git.repository.top} ignores {root / SETTINGS}.",
            "A memory needs git. Change the ignore rules, or copy the notes without --in-place.",
        )
    _refuse_filters(git, [SETTINGS, f"{plan.names.home}/{BRIEFING}", *plan.logs, *plan.opted_in])
    return git.repository.top


def _refuse_filters(git: Git, paths: Sequence[str]) -> None:
    """Refuse a repository that encrypts or filters files: a memory commits them as they are."""
    answer = git.run(
        "check-attr", "-z", "--stdin", "filter", data=b"".join(os.fsencode(path) + b"\0" for path in paths)
    )
    fields = [os.fsdecode(field) for field in answer.split(b"\0")]
    for path, value in zip(fields[::3], fields[2::3], strict=False):
        if value not in {"unspecified", "unset"}:
            raise UsageFault(
                f"The repository at {git.repository.top} passes {path} through the filter {value}.",
                "A memory would commit it unfiltered. Copy the notes without --in-place.",
            )


def move_in(plan: InPlace, root: Path, settings: Settings, now: datetime) -> tuple[str, ...]:
    """Turn a folder into a memory and commit it. Existing files are not touched.

    The folder is a memory as soon as it has curate.toml; the next run adds what an interrupted start left out.

    Args:
        plan: the plan.
        root: the folder.
        settings: its first settings: the time zone, and the author of commits if git has none.
        now: the moment of the commit.

    Returns:
        The files that were not committed, because they hold a secret or something private.

    Raises:
        UsageFault: curate.toml has appeared meanwhile.
        NotWritable: the disk refused.
        GitFault: git refused.
    """
    git = Git(root)
    if repository_of(root, plan) is None:
        git.init()
        git.check()
    template = (resource("memory_template") / SETTINGS).read_text(encoding="utf-8")
    rows = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plan.layout.items()]
    head = "[layout]  # the notes that were adopted in place; docs/getting-started.md explains each key"
    text = template.replace('timezone = "UTC"', f'timezone = "{settings.timezone}"').rstrip()
    if not create_file(root, SETTINGS, "\n".join([text, "", head, *rows, ""]).encode()):
        raise UsageFault(f"{root / SETTINGS} already exists.", f"`curate init {root}` adds what is missing.")
    layout, git = read_layout(root), Git(root)
    lay_down(root, resource("memory_template"), settings.timezone)
    if plan.kind is NotesKind.CLAUDE_CODE:
        pages = read_documents(root)
        notes = [read_version(f"{NOTES}/{path}", note_text(root, path)) for path in (*plan.notes, *plan.opted_in)]
        new = with_statements(notes, pages, now.date().isoformat(), settings.caps.briefing)
        write_pages(root, pages, pages | new)
    with run_lock(root, "curate init"):
        edits = find_edits(root, git)
        commit_edits(root, git, f"Adopt {plan.kind.called} in place\n", Author(*settings.author, now), edits)
    return tuple(map(layout.real, edits.held))
