"""Adopting a copy: each file of the source gets a place in the new memory, or a reason why it is left out.

The source is only read.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from pipelines.agents.adopt_items import with_items, with_statements, without_envelopes, write_pages
from pipelines.agents.adopt_source import (
    APART,
    PARA_FOLDER,
    LeftOut,
    NotesKind,
    Source,
    Vault,
    dated,
    file_bytes,
    globs_of,
    is_note,
    note_text,
    read_vault,
    said_elsewhere,
)
from pipelines.errors import BadFile, UsageFault
from pipelines.store.document import document_at, with_front_matter, with_marks
from pipelines.store.edits import commit_edits
from pipelines.store.files import writing
from pipelines.store.git import Author, Git
from pipelines.store.item import Trust, new_id
from pipelines.store.layout import BRIEFING, LOGS, PARA, SETTINGS, USER, is_matched, kind_of, log_path
from pipelines.store.markdown import line_end, link_target, read_front_matter, split_lines
from pipelines.store.secrets.redact import Redactor, load_redactor
from pipelines.store.snapshot import read_documents
from pipelines.store.template import lay_down
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings


LARGE_BRIEFING = "Resources/adopted-MEMORY.md"
_ROOTS = {name.casefold(): name for name in (BRIEFING, USER, "SOUL.md", "AGENTS.md")} | {"claude.md": "AGENTS.md"}
_INDEX = re.compile(r"(?<=/)([^/]+)/(?:_?index|readme)(?=\.md$)", re.IGNORECASE)
_FOLDER_OF = {folder.casefold().removesuffix("s"): folder for folder in PARA}
_MOST_BRIEFING = 20_000
"""OpenClaw's own limit of each file that a session begins with, in characters: here that of any MEMORY.md, in bytes."""
_MARK = 22
"""Bytes of the front matter that says whose word an agent's page is."""
_JOURNAL = re.compile(r"memory/(?:\d[\d-]*/)*[^/]*$")
"""Where OpenClaw keeps its journal, in folders of dates or in none."""
_DREAMING = "memory/dreaming/"
"""Where it writes reports on what it remembered: named after nights, but not logs."""
_LINK = re.compile(r"\]\(<?([^()<>\n]{1,300}\.md)>?\)")


class CopyPlan(NamedTuple):
    """What an adoption would do.

    Args:
        kind: the kind of the source.
        pieces: each file of the new memory → the files of the source that it comes from.
        left_out: what stays behind, and why.
        sentences: notes for the person.
        cap: the size limit of the new MEMORY.md in bytes.
    """

    kind: NotesKind
    pieces: Mapping[str, Sequence[str]]
    left_out: Sequence[LeftOut]
    sentences: Sequence[str]
    cap: int

    @property
    def days(self) -> int:
        """The number of days that get a log."""
        return sum(target.startswith(f"{LOGS}/") for target in self.pieces)


def plan_adoption(source: Source, cap: int) -> CopyPlan:
    """Return the plan for every file of a source.

    Args:
        source: the notes as they were found.
        cap: the size limit of MEMORY.md in bytes; it grows with a larger one of at most 20,000, and a still larger one
            becomes a resource.
    """
    kind, notes = source.kind, [*filter(is_note, source.files)]
    if kind is NotesKind.OPENCLAW:  # its journal stands in its memory itself, and reports of a day in folders below
        notes = [path for path in notes if _JOURNAL.match(path) and dated(path)[0]] or notes
    vault = read_vault(source.root, notes)
    globs, unread = globs_of(source, vault.templates), escape_terminal_line(vault.form)
    strange = f"The format of daily notes is not known ({unread}), so only notes named like YYYY-MM-DD.md are."
    sentences = [strange] if unread and not vault.pattern else []
    inside = [path for path in source.files if is_matched(path, globs)]
    left = [(path, APART) for path in source.files if path not in inside]
    told = {path: day for path in filter(is_note, inside) if (day := _day_of(path, kind, vault))}
    if kind is NotesKind.OBSIDIAN:
        told |= said_elsewhere(source.root, [path for path in inside if is_note(path) and path not in told])
    size = next((source.files[path] for path in inside if path.casefold() == BRIEFING.casefold()), 0)
    larger = size if cap < size + _MARK <= _MOST_BRIEFING else 0  # one that is not too large
    cap += larger
    sentences += [f"MEMORY.md may have {cap:,} bytes, since yours has {larger:,}: `briefing` in {SETTINGS}."] * bool(
        larger
    )
    pieces = dict[str, list[str]]()
    days, others = dict[str, list[str]](), list[str]()
    for path in sorted(inside, key=lambda path: path not in _ROOTS.values()):  # the exact name wins
        root = _ROOTS.get(path.casefold(), "")
        # What instructs agents in a vault is for those that work there: the memory has an AGENTS.md of its own.
        root = "" if root == "AGENTS.md" and kind is NotesKind.OBSIDIAN else root
        if root == BRIEFING and source.files[path] + _MARK > cap and LARGE_BRIEFING not in pieces:
            pieces[LARGE_BRIEFING] = [path]
            sentences.append(
                f"MEMORY.md has {source.files[path]:,} bytes, too large to load at every start. It is kept whole as"
                f" {LARGE_BRIEFING}, where search finds it, and the memory starts with a fresh one."
            )
        elif root and root not in pieces:
            pieces[root] = [path]
        elif path in told:
            days.setdefault(told[path], []).append(path)
        else:
            others.append(path)
    for day, paths in sorted(days.items()):
        pieces[log_path(day)] = sorted(paths, key=lambda path: (path.rpartition("/")[2] != f"{day}.md", path))
    taken = {LARGE_BRIEFING.casefold()}
    for path in others:
        target, number = wish, _ = _place(path, kind), 1
        stem, dot, ending = wish.rpartition(".")
        while target.casefold() in taken:
            number += 1
            target = f"{stem}-{number}{dot}{ending}"
        taken.add(target.casefold())
        pieces[target] = [path]
    return CopyPlan(kind, pieces, sorted([*source.left_out, *left]), sentences, cap)


def _day_of(path: str, kind: NotesKind, vault: Vault) -> str:
    if kind is NotesKind.OPENCLAW:
        day, shape, _ = dated(path)
        if path.startswith(_DREAMING):
            return ""
        if _JOURNAL.match(path):
            return day
        if "/" in path and not path.startswith("memory/"):  # what an agent keeps elsewhere are reports
            return day if shape == vault.shape else ""
    return vault.day_of(path)


def _place(path: str, kind: NotesKind) -> str:
    """Return where a note or attachment goes: into the folder of its own kind if it was in one, else Resources.

    A folder's index is named like its folder: a page is known by the name of its file.
    """
    path = path.removeprefix("memory/") if kind is NotesKind.OPENCLAW else path
    top, slash, rest = path.partition("/")
    if slash and (found := PARA_FOLDER.fullmatch(top)):
        return _INDEX.sub(r"\1/\1", f"{_FOLDER_OF[found[1].casefold()]}/{rest}")
    return f"Resources/{path}"


def check_places(source: Path, target: Path) -> None:
    """Check that a source can be copied to a target.

    Raises:
        UsageFault: they overlap, or the target is not empty.
        BadFile: the target is not a folder.
        NotWritable: the target cannot even be listed.
    """
    old, new = source.resolve(), target.resolve()
    if old == new:
        raise UsageFault(f"{target} is the folder to adopt.", "It is copied and never changed. Name a new folder.")
    if old in new.parents or new in old.parents:
        raise UsageFault(f"One of {target} and {source} is inside the other.", "Name a folder elsewhere.")
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise BadFile(target, "is not a folder", "Name a folder, or one to create.")
    with writing(target):
        if any(target.iterdir()):
            raise UsageFault(f"{target} is not empty.", "Name a new folder: adopting never mixes two memories.")


def carry_out(plan: CopyPlan, source: Path, target: Path, settings: Settings, now: datetime) -> dict[str, int]:
    """Copy the files of a plan, add what else a memory needs, and commit it. The source is only read.

    If something goes wrong, `target` is missing or empty. Secrets are taken out of the copies: a page with one would
    wait outside git.

    Args:
        plan: the plan.
        source: the folder to adopt.
        target: the new memory.
        settings: its first settings: the time zone, and the author of commits if git has none.
        now: the moment of its first commit.

    Returns:
        Path in the memory → how many secrets were taken out.

    Raises:
        UsageFault, BadFile: see `check_places`, or a file can no longer be read; nothing is left.
        NotWritable: the disk refused; nothing is left.
        GitFault: git refused; nothing is left.
    """
    check_places(source, target)
    try:
        with writing(target):
            target.mkdir(parents=True, exist_ok=True)
        redactor = load_redactor(target)
        taken_out = {place: _put(source, target, place, plan, redactor) for place in plan.pieces}
        lay_down(target, settings.timezone)
        own = target / SETTINGS
        own.write_text(re.sub(r"(?m)^(briefing = )\d+", rf"\g<1>{plan.cap}", own.read_text("utf-8")), "utf-8")
        if plan.kind.is_by_agents:
            _mark_as_the_agents(target, now.date().isoformat(), plan.cap)
        git = Git(target)
        git.init()
        git.check()
        author = Author(*settings.author, now)
        commit_edits(git, f"Adopt {plan.kind.called}: {len(plan.pieces):,} files\n", author)
    except BaseException:
        for one in target.glob("*"):
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        raise
    return {path: secrets for path, secrets in taken_out.items() if secrets}


def _mark_as_the_agents(root: Path, today: str, cap: int) -> None:
    """Number the items of notes that an agent wrote: a line without a mark counts as a person's."""
    taken, before = set[str](), read_documents(root)
    documents = before | with_statements(before.values(), before, today, cap)
    for path, document in list(documents.items()):
        marked = {}
        for placed in document.items:
            trust = Trust.SELF if placed.item.trust is Trust.OWNER else placed.item.trust
            item = replace(placed.item, since=placed.item.since or today, trust=trust)
            marked[placed.line] = replace(item, id=item.id or new_id(item, path, taken))
            taken.add(marked[placed.line].id)
        if marked:
            documents[path] = with_marks(document, marked)
    write_pages(root, before, documents)


def _put(source: Path, target: Path, place: str, plan: CopyPlan, redactor: Redactor) -> int:
    """Write one file of the new memory without secrets, and count these; it grants others no more than the original."""
    file, sources, secrets = target / place, plan.pieces[place], 0
    if place.lower().endswith((".md", ".txt")):
        notes = [(path, note_text(source, path)) for path in sources]
        if plan.kind is NotesKind.OPENCLAW:
            notes = [(path, without_envelopes(text)) for path, text in notes]
        text = joined(file.stem, notes).decode()
        text = text if place.startswith(f"{LOGS}/") else with_items(plan.kind, text)
        if place == BRIEFING:  # its links lead to where its notes went
            places = {path: target for target, paths in plan.pieces.items() for path in paths}
            text = _LINK.sub(lambda to: f"]({link_target(at)})" if (at := places.get(unquote(to[1]))) else to[0], text)
        if plan.kind.is_by_agents and kind_of(place):  # whose word its prose is; an item's row says so itself
            page = document_at(place, text)
            text = with_front_matter(page, {"trust": page.front.get("trust") or Trust.SELF}).text
        data, found = redactor.redact_bytes(text.encode())
        secrets = len(found)
    else:
        data = file_bytes(source, sources[0])
    with writing(place):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o600, exist_ok=False)
        file.write_bytes(data)
        file.chmod((source / sources[0]).stat().st_mode & 0o666 | 0o600)
    return secrets


def joined(day: str, notes: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the log of a day: the note named after it unchanged, then each other note under its own heading.

    Args:
        day: the day, `YYYY-MM-DD`.
        notes: path and bytes (UTF-8) of each note, the day's own first.
    """
    if len(notes) == 1:
        return notes[0][1]
    own = notes[0][0].rpartition("/")[2] == f"{day}.md"
    out = notes[0][1].decode() if own else f"# {day}\n"
    for path, data in notes[1:] if own else notes:
        gap = "" if out.endswith("\n\n") else "\n" if out.endswith("\n") else "\n\n"
        lines = split_lines(data.decode().removeprefix("\ufeff"))
        if above := read_front_matter(lines).lines:  # it works only at the top of a file, so it becomes a comment
            end = line_end(lines)
            kept = "".join(lines[1 : above - 1]).replace("-->", "--&gt;")
            lines[:above] = [f"<!--{end}", kept, f"-->{end}"]
        out += f"{gap}## {escape_terminal_line(path).removesuffix('.md')}\n\n{''.join(lines)}"
    return out.encode()
