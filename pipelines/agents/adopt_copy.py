"""Adopting a copy: each file of the source gets a place in the new memory, or a reason why it is left out.

The source is only read.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pipelines.agents.adopt_days import DIGEST, LOGSEQ, Vault, dated, read_vault
from pipelines.agents.adopt_items import with_items, with_statements, without_envelopes, write_pages
from pipelines.agents.adopt_source import LeftOut, NotesKind, Source, file_bytes, is_note, note_text, shown
from pipelines.errors import BadFile, UsageFault
from pipelines.store.document import document_at, with_front_matter, with_marks
from pipelines.store.edits import commit_edits
from pipelines.store.files import writing
from pipelines.store.git import Author, Git
from pipelines.store.item import Trust, new_id
from pipelines.store.layout import BRIEFING, LOGS, PARA, PRIVATE, USER, document_id, kind_of, log_path
from pipelines.store.lock import run_lock
from pipelines.store.markdown import line_end, read_front_matter, split_lines
from pipelines.store.secrets.redact import load_redactor
from pipelines.store.snapshot import read_documents
from pipelines.store.template import lay_down

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.secrets.redact import Redactor


AGENTS = "AGENTS.md"
LARGE_BRIEFING = "Resources/adopted-MEMORY.md"
_ROOT_NAMES = (BRIEFING, USER, "SOUL.md", AGENTS)
_PARA = re.compile(r"[\d\s._-]*(project|area|resource|archive)s?", re.IGNORECASE)
_FOLDER_OF = {folder.casefold().removesuffix("s"): folder for folder in PARA}
_MARK = 22
"""Bytes of the front matter that says whose word an agent's page is."""
_DREAMING = "memory/dreaming/"
"""Where OpenClaw writes reports on what it remembered: named after nights, but not logs."""
_JOURNAL = re.compile(r"memory/(?:\d[\d-]*/)*[^/]*$")
"""Where OpenClaw keeps its journal, in folders of dates or in none."""
_LINK = re.compile(r"\]\(([^()\s]{1,300}\.md)\)")


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """One file of the new memory: its place, the source files it comes from, and anything unusual about it."""

    target: str
    sources: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """What an adoption would do.

    Args:
        kind: the kind of the source.
        pieces: the files to write, in order of their sources.
        left_out: what stays behind, and why.
        sentences: notes for the person.
    """

    kind: NotesKind
    pieces: tuple[CopiedFile, ...]
    left_out: tuple[LeftOut, ...]
    sentences: tuple[str, ...] = ()

    @property
    def days(self) -> int:
        """The number of days that get a log."""
        return sum(piece.target.startswith(f"{LOGS}/") for piece in self.pieces)


def plan_adoption(source: Source, cap: int) -> CopyPlan:
    """Return the plan for every file of a source.

    Args:
        source: the notes as they were found.
        cap: the size limit of MEMORY.md in bytes; a larger one becomes a resource.
    """
    kind, notes = source.kind, [path for path in source.files if is_note(path)]
    if kind is NotesKind.OPENCLAW:  # its journal stands in its memory itself, and reports of a day in folders below
        notes = [path for path in notes if _JOURNAL.match(path) and dated(path)[0]] or notes
    vault = read_vault(source.root, notes)
    inside: list[str] = []
    left = list(source.left_out)
    for path in source.files:
        if why := _unfit(path, kind, vault):
            left.append((path, why))
        else:
            inside.append(path)
    roots = _roots(inside)
    days: dict[str, list[str]] = {}
    others: list[tuple[str, str]] = []
    stripped = "memory/" if kind is NotesKind.OPENCLAW else ""
    for path in inside:
        if path in roots:
            continue
        if day := _day_of(path, kind, vault):
            days.setdefault(day, []).append(path)
        else:
            others.append((path, _place(path.removeprefix(stripped))))
    for day, paths in days.items():  # what sums a day up is not a second one
        apart = [*filter(DIGEST.search, paths)]
        days[day] = [path for path in paths if path not in apart] or paths
        others += [(path, _place(path.removeprefix(stripped))) for path in apart if path not in days[day]]
    pieces = [_root_piece(path, name, source.files[path], cap) for path, name in roots.items()]
    for day, paths in sorted(days.items()):
        own_first = sorted(paths, key=lambda path: (path.rpartition("/")[2] != f"{day}.md", path))
        pieces.append(CopiedFile(log_path(day), tuple(own_first)))
    pieces += _distinct_pieces(others)
    return CopyPlan(kind, tuple(pieces), tuple(sorted(left)), _notes(pieces, vault))


def _unfit(path: str, kind: NotesKind, vault: Vault) -> str:
    """Return why a file does not belong to the memory, such as other files in an agent's workspace; else empty."""
    if vault.templates and path.startswith(f"{vault.templates}/"):
        return "is Logseq's own" if vault.templates == LOGSEQ else "is a template"
    top = path.partition("/")[0]
    own = kind is not NotesKind.OPENCLAW or top in {path, "memory"} or _PARA.fullmatch(top)
    return "" if own else f"does not belong to {kind.called}"


def _roots(paths: Sequence[str]) -> dict[str, str]:
    """Return path → name at the top of the memory: the exact name wins, then another case, then CLAUDE.md."""
    top, roots = sorted(path for path in paths if "/" not in path), {}
    for name in _ROOT_NAMES:
        same_letters = (one for one in top if one.casefold() == name.casefold())
        own = name if name in top else next(same_letters, "CLAUDE.md" if name == AGENTS else "")
        if own in top:
            roots[own] = name
    return roots


def _root_piece(path: str, name: str, size: int, cap: int) -> CopiedFile:
    if name == BRIEFING and size + _MARK > cap:
        why = f"has {size:,} bytes, and a briefing may have {cap:,}, with its front matter"
        return CopiedFile(LARGE_BRIEFING, (path,), why)
    return CopiedFile(name, (path,))


def _day_of(path: str, kind: NotesKind, vault: Vault) -> str:
    if not is_note(path) or (kind is NotesKind.OPENCLAW and path.startswith(_DREAMING)):
        return ""
    if kind is NotesKind.OPENCLAW and _JOURNAL.match(path):
        return dated(path)[0]
    return vault.day_of(path)


def _place(path: str) -> str:
    """Return where a note or attachment goes: into the folder of its own kind if it was in one, else Resources."""
    top, slash, rest = path.partition("/")
    if slash and (found := _PARA.fullmatch(top)):
        return f"{_FOLDER_OF[found[1].casefold()]}/{rest}"
    return f"Resources/{path}"


def _distinct_pieces(wishes: Sequence[tuple[str, str]]) -> list[CopiedFile]:
    """Return the files at their places; names that differ at most in case get a number."""
    pieces, taken = [], {LARGE_BRIEFING.casefold()}
    for path, wish in wishes:
        target, number, why = wish, 1, ""
        stem, dot, ending = wish.rpartition(".")
        while target.casefold() in taken:
            number += 1
            target, why = f"{stem}-{number}{dot}{ending}", "is numbered, because another file has its name too"
        taken.add(target.casefold())
        pieces.append(CopiedFile(target, (path,), why))
    return pieces


def _notes(pieces: Sequence[CopiedFile], vault: Vault) -> tuple[str, ...]:
    notes = [f"{vault.fault}, so only notes named YYYY-MM-DD.md count as daily notes."] if vault.fault else []
    if any(piece.target == LARGE_BRIEFING for piece in pieces):
        notes.append(
            f"MEMORY.md is too large to load at every start. It is kept whole as {LARGE_BRIEFING}, where search"
            " finds it, and the memory starts with a fresh one."
        )
    return tuple(notes)


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
        there = [entry.name for entry in target.iterdir()]
    lock = target / PRIVATE / "lock"
    if lock.is_file() and "curate init" in lock.read_text() and not Git(target).head():
        advice = f"Delete that folder, then adopt again: {source} is as it was."
        raise UsageFault(f"{target} holds a copy that was broken off.", advice)
    if there:
        raise UsageFault(f"{target} is not empty.", "Name a new folder: adopting never mixes two memories.")


def carry_out(plan: CopyPlan, source: Path, target: Path, settings: Settings, now: datetime) -> dict[str, int]:
    """Copy the files of a plan, add what else a memory needs, and commit it. The source is only read.

    If something goes wrong, `target` is as it was: missing or empty. Secrets are taken out of the copies: a page with
    one would wait outside git.

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
    made = not os.path.lexists(target)
    try:
        with writing(target):
            target.mkdir(parents=True, exist_ok=True)
        with run_lock(target, "curate init"):  # which tells what this is, should it be killed
            redactor = load_redactor(target)
            taken_out = {piece.target: _put(source, target, piece, plan, redactor) for piece in plan.pieces}
            lay_down(target, settings.timezone)
            if plan.kind.is_by_agents:
                _mark_as_the_agents(target, now.date().isoformat(), settings.caps.briefing)
            git = Git(target)
            git.init()
            git.check()
            author = Author(*settings.author, now)
            commit_edits(git, f"Adopt {plan.kind.called}: {len(plan.pieces):,} files\n", author)
        with writing(target):
            os.sync()
    except BaseException:
        for one in target.iterdir() if target.is_dir() else ():
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        if made and target.is_dir():
            target.rmdir()
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
            marked[placed.line] = replace(item, id=item.id or new_id(item, document_id(path), taken))
            taken.add(marked[placed.line].id)
        if marked:
            documents[path] = with_marks(document, marked)
    write_pages(root, before, documents)


def _put(source: Path, target: Path, piece: CopiedFile, plan: CopyPlan, redactor: Redactor) -> int:
    """Write one file of the new memory without secrets, and count these; it grants others no more than the original."""
    place, secrets = target / piece.target, 0
    if piece.target.lower().endswith((".md", ".txt")):
        notes = [(path, note_text(source, path)) for path in piece.sources]
        if plan.kind is NotesKind.OPENCLAW:
            notes = [(path, without_envelopes(text)) for path, text in notes]
        data = joined(place.stem, notes)
        data = data if piece.target.startswith(f"{LOGS}/") else with_items(plan.kind, data.decode()).encode()
        data = _with_links(data.decode(), piece, plan).encode() if piece.target == BRIEFING else data
        if plan.kind.is_by_agents and kind_of(piece.target):  # whose word its prose is; an item's row says so itself
            page = document_at(piece.target, data.decode())
            data = with_front_matter(page, {"trust": page.front.get("trust") or Trust.SELF}).text.encode()
        data, found = redactor.redact_bytes(data)
        secrets = len(found)
    else:
        data = file_bytes(source, piece.sources[0])
    with writing(piece.target):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch(0o600, exist_ok=False)
        place.write_bytes(data)
        place.chmod((source / piece.sources[0]).stat().st_mode & 0o666 | 0o600)
    return secrets


def _with_links(text: str, briefing: CopiedFile, plan: CopyPlan) -> str:
    """Return a MEMORY.md whose links lead to where its notes went."""
    beside = briefing.sources[0].rpartition("/")[0]
    places = {os.path.relpath(path, beside or "."): piece.target for piece in plan.pieces for path in piece.sources}
    return _LINK.sub(lambda found: f"]({places.get(unquote(found[1]), found[1])})", text)


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
        text = _below(data.decode().removeprefix("\ufeff"))
        out += f"{gap}## {shown(path).removesuffix('.md')}\n\n{text}"
    return out.encode()


def _below(text: str) -> str:
    """Return a note to append to another: front matter works only at the top of a file, so it becomes a comment."""
    lines = split_lines(text)
    front = read_front_matter(lines)
    if not front.lines:
        return text
    end = line_end(lines)
    kept = "".join(lines[1 : front.lines - 1]).replace("-->", "--&gt;")
    return "".join([f"<!--{end}", kept, f"-->{end}", *lines[front.lines :]])
