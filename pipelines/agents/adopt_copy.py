"""Adopting a copy: each file of the source gets its place in the memory, or a reason to be left out.

A whole memory is made beside, put under git, and only then moved to its place. The source is only read.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Final

from pipelines.agents.adopt_days import begun_day, named_day, read_vault
from pipelines.agents.adopt_source import Kind, base_of, distinct_paths, is_note, note_text, portable_path, shown
from pipelines.errors import BadFile, UsageFault
from pipelines.store.edits import commit_edits
from pipelines.store.files import open_regular, writing
from pipelines.store.git import Author, Git
from pipelines.store.layout import BRIEFING, LOGS, PARA, SETTINGS, USER, log_path
from pipelines.store.lock import run_lock
from pipelines.store.markdown import line_end, read_front_matter, split_lines
from pipelines.store.template import lay_down
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.agents.adopt_days import Vault
    from pipelines.agents.adopt_source import LeftOut, Source
    from pipelines.settings import Settings


AGENTS: Final = "AGENTS.md"
LARGE_BRIEFING: Final = "Resources/adopted-MEMORY.md"
_ROOT_NAMES: Final = (BRIEFING, USER, "SOUL.md", AGENTS)
_PARA: Final = re.compile(r"[\d\s._-]*(project|area|resource|archive)s?", re.IGNORECASE)
_FOLDER_OF: Final = {folder.casefold().removesuffix("s"): folder for folder in PARA}
_DREAMING: Final = "memory/dreaming/"
"""Where OpenClaw writes reports on what it remembered: no log, though each is named after its night."""
_LONGEST: Final = 1000
_STAGE: Final = ".adopting"


@dataclass(frozen=True, slots=True)
class Piece:
    """One file of the new memory: where it will stand, which files of the source it comes from, and what is odd."""

    target: str
    sources: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an adoption would do.

    Args:
        kind: what the source is taken for.
        pieces: the files that would be made, in order of their sources.
        left_out: what would stay behind, and why.
        notes: sentences for the person.
    """

    kind: Kind
    pieces: tuple[Piece, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...] = ()

    @property
    def days(self) -> int:
        """How many days get a log."""
        return sum(piece.target.startswith(f"{LOGS}/") for piece in self.pieces)


def plan_adoption(source: Source, kind: Kind, cap: int) -> Plan:
    """Return what would become of every file of a source.

    Args:
        source: the folder as it was found.
        kind: what it is taken for.
        cap: how many bytes MEMORY.md may have; a larger one is kept as a resource.
    """
    base, vault = base_of(kind, source), read_vault(source.root)
    inside: list[str] = []
    left = list(source.left_out)
    for path in source.files:
        if why := _unfit(path, kind, base, vault):
            left.append((path, why))
        else:
            inside.append(path)
    roots = _roots(inside, base)
    days: dict[str, list[str]] = {}
    others: list[tuple[str, str]] = []
    stripped = "memory/" if kind is Kind.OPENCLAW else base
    for path in inside:
        if path in roots:
            continue
        if day := _day_of(path, kind, vault):
            days.setdefault(day, []).append(path)
        else:
            others.append((path, _place(path.removeprefix(stripped))))
    pieces = [_root_piece(path, name, source.files[path], cap) for path, name in roots.items()]
    for day, paths in sorted(days.items()):
        own_first = sorted(paths, key=lambda path: (path.rpartition("/")[2] != f"{day}.md", path))
        pieces.append(Piece(log_path(day), tuple(own_first)))
    pieces += _distinct_pieces(others)
    fits = [piece for piece in pieces if len(piece.target.encode()) <= _LONGEST]
    left += [(one.sources[0], "has a path that is too long") for one in pieces if len(one.target.encode()) > _LONGEST]
    return Plan(kind, tuple(fits), tuple(sorted(left)), _notes(fits, vault))


def _unfit(path: str, kind: Kind, base: str, vault: Vault) -> str:
    """Return why a file does not belong to the memory: an agent's workspace holds much that is none."""
    if vault.templates and path.startswith(f"{vault.templates}/"):
        return "is a template"
    top = path.partition("/")[0]
    own = kind is not Kind.OPENCLAW or top in {path, "memory"} or _PARA.fullmatch(top)
    return "" if own and path.startswith(base) else f"does not belong to {kind.called}"


def _roots(paths: Sequence[str], base: str) -> dict[str, str]:
    """Return path → name at the top of the memory: the exact name wins, then one in another case, and CLAUDE.md."""
    there = {path.removeprefix(base): path for path in paths}
    top = sorted(name for name in there if "/" not in name)
    roots = {}
    for name in _ROOT_NAMES:
        same_letters = (one for one in top if one.casefold() == name.casefold())
        own = name if name in there else next(same_letters, "CLAUDE.md" if name == AGENTS else "")
        if own in there:
            roots[there[own]] = name
    return roots


def _root_piece(path: str, name: str, size: int, cap: int) -> Piece:
    if name == BRIEFING and size > cap:
        return Piece(LARGE_BRIEFING, (path,), f"has {size:,} bytes, more than the {cap:,} of a briefing")
    return Piece(name, (path,))


def _day_of(path: str, kind: Kind, vault: Vault) -> str:
    if not is_note(path) or (kind is Kind.OPENCLAW and path.startswith(_DREAMING)):
        return ""
    if kind is Kind.OPENCLAW and path.startswith("memory/"):
        return begun_day(path)
    return vault.day_of(path) if vault.pattern else named_day(path)


def _place(path: str) -> str:
    """Return where a note or an attachment belongs: the folder of its own kind where it stands in one."""
    top, slash, rest = path.partition("/")
    if slash and (found := _PARA.fullmatch(top)):
        return f"{_FOLDER_OF[found[1].casefold()]}/{portable_path(rest)}"
    return f"Resources/{portable_path(path)}"


def _distinct_pieces(wishes: Sequence[tuple[str, str]]) -> list[Piece]:
    pieces = []
    targets = distinct_paths([LARGE_BRIEFING, *(wish for _, wish in wishes)])[1:]
    for (path, wish), target in zip(wishes, targets, strict=True):
        numbered = f"is numbered, because another is named {wish.rpartition('/')[2]}, too" if target != wish else ""
        why = numbered or ("" if path.endswith(wish.partition("/")[2]) else "has a name that cannot stand everywhere")
        pieces.append(Piece(target, (path,), why))
    return pieces


def _notes(pieces: Sequence[Piece], vault: Vault) -> tuple[str, ...]:
    notes = [f"{vault.fault}, so the notes named YYYY-MM-DD.md are taken for the days."] if vault.fault else []
    if any(piece.target == LARGE_BRIEFING for piece in pieces):
        notes.append(
            f"MEMORY.md is too large to be loaded at every start: it is kept whole as {LARGE_BRIEFING}, where search"
            " finds it, and the memory begins with a fresh one."
        )
    if any(piece.target == AGENTS for piece in pieces):
        notes.append("AGENTS.md is yours, so it does not tell agents of `curate`: `curate install agents` adds that.")
    if renamed := sum(bool(piece.why) and piece.target != LARGE_BRIEFING for piece in pieces):
        notes.append(f"{renamed:,} files get another name; links to the old one lead nowhere.")
    return tuple(notes)


def check_places(source: Path, target: Path) -> None:
    """See that a source can be copied to a target without one standing in the other.

    Raises:
        UsageFault: they overlap, or the target holds something.
        BadFile: the target is no folder.
        NotWritable: the target cannot even be listed.
    """
    old, new = source.resolve(), target.resolve()
    if old == new:
        raise UsageFault(
            f"{target} is the folder that is to be adopted.", "It is copied, never changed: name a new folder."
        )
    if old in new.parents or new in old.parents:
        raise UsageFault(f"{target} and {source} stand in each other.", "Name a folder elsewhere.")
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise BadFile(target, "is no folder", "Name a folder, or one to be made.")
    with writing(target):
        there = [entry.name for entry in target.iterdir()]
    if there == [_STAGE]:
        raise UsageFault(f"{target / _STAGE} is left of an adoption that was broken off.", "Remove it, and adopt anew.")
    if there:
        raise UsageFault(f"{target} is not empty.", "Name a new folder: adopting never mixes two memories.")


def carry_out(plan: Plan, source: Path, target: Path, settings: Settings, now: datetime) -> Plan:
    """Copy what a plan says, lay down what a memory needs besides, and commit it. The source is only read.

    What stands in `target` is a whole memory or nothing.

    Args:
        plan: the plan.
        source: the folder that is adopted.
        target: the new memory.
        settings: those it begins with: the zone that its curate.toml names, and who commits where git knows nobody.
        now: the moment of its first commit.

    Returns:
        The plan as it was carried out: what could not be read any more is left out.

    Raises:
        UsageFault, BadFile: as `check_places`.
        NotWritable: the disk refused; nothing is left.
        GitFault: git refused; nothing is left.
    """
    check_places(source, target)
    with _stage_in(target) as stage:
        lost = [left for piece in plan.pieces for left in _put(source, stage, piece)]
        done = _without(plan, lost)
        lay_down(stage, resource("memory_template"), settings.timezone)
        git = Git(stage)
        git.init()
        git.check()
        with run_lock(stage, "curate init"):
            author = Author(*settings.author, now)
            commit_edits(stage, git, f"Adopt {plan.kind.called}: {len(done.pieces):,} files\n", author)
        with writing(target):
            os.sync()
            # The settings are what makes a folder a memory: they come last.
            for entry in sorted(stage.iterdir(), key=lambda one: one.name == SETTINGS):
                entry.rename(target / entry.name)
    return done


@contextlib.contextmanager
def _stage_in(target: Path) -> Iterator[Path]:
    """Give a folder inside the target, on the same disk; it goes at the end, and with it a target that was made."""
    made = not os.path.lexists(target)
    stage = target / _STAGE
    with writing(target):
        stage.mkdir(parents=True)
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if made:
            with contextlib.suppress(OSError):
                target.rmdir()  # succeeds only where nothing came into it


def _put(source: Path, stage: Path, piece: Piece) -> list[LeftOut]:
    """Write one file of the new memory, and return which of its sources could not be read."""
    lost: list[LeftOut] = []
    place = stage / piece.target
    with writing(piece.target):
        place.parent.mkdir(parents=True, exist_ok=True)
    if piece.target.lower().endswith((".md", ".txt")):
        notes = []
        for path in piece.sources:
            try:
                notes.append((path, note_text(source, path)))
            except BadFile as fault:
                lost.append((path, fault.why))
        if notes:
            _write(place, io.BytesIO(joined(place.stem, notes)), source / notes[0][0])
        return lost
    [path] = piece.sources
    try:
        reading = open_regular(source, path)
    except BadFile as fault:
        return [(path, fault.why)]
    if reading is None:
        return [(path, "vanished while it was read")]
    with reading:
        _write(place, reading, source / path)
    return lost


def _write(place: Path, data: IO[bytes], like: Path) -> None:
    """Write a file, and take from it what others may not do with the original."""
    with writing(place), place.open("xb") as file:
        shutil.copyfileobj(data, file)
        mode = os.fstat(file.fileno()).st_mode & (like.stat().st_mode | 0o600) & 0o666
        os.fchmod(file.fileno(), mode)


def _without(plan: Plan, lost: Sequence[LeftOut]) -> Plan:
    """Return the plan as it was carried out where files could not be read any more when it came to copying."""
    gone = {path for path, _ in lost}
    pieces = [replace(one, sources=tuple(path for path in one.sources if path not in gone)) for one in plan.pieces]
    left = sorted((*plan.left_out, *lost))
    return replace(plan, pieces=tuple(piece for piece in pieces if piece.sources), left_out=tuple(left))


def joined(day: str, notes: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the log of a day: the note that is named after it as it is, each other one under a heading of its own.

    Args:
        day: the day, `YYYY-MM-DD`.
        notes: path and bytes (UTF-8) of each note, the day's own in front.
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
    """Return a note as it can stand further down: front matter is that only at a file's top, elsewhere a comment."""
    lines = split_lines(text)
    front = read_front_matter(lines)
    if not front.lines:
        return text
    end = line_end(lines)
    kept = "".join(lines[1 : front.lines - 1]).replace("-->", "--&gt;")
    return "".join([f"<!--{end}", kept, f"-->{end}", *lines[front.lines :]])
