"""What would become what: each file of the source gets its place in the memory, or a reason to be left out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.agents.adopt_days import begun_day, named_day, read_vault
from pipelines.agents.adopt_source import Kind, base_of, settle, shown, standing
from pipelines.store.layout import BRIEFING, FOLDERS, LOGS, USER, log_path
from pipelines.store.markdown import line_end, read_front_matter, split_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.agents.adopt_days import Vault
    from pipelines.agents.adopt_source import Found, LeftOut, Source


AGENTS: Final = "AGENTS.md"
LARGE_BRIEFING: Final = "Resources/adopted-MEMORY.md"
_ROOT_NAMES: Final = (BRIEFING, USER, "SOUL.md", AGENTS)
_PARA: Final = re.compile(r"[\d\s._-]*(project|area|resource|archive)s?", re.IGNORECASE)
_LONGEST: Final = 1000


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
    inside, outside = _scoped(source.files, kind, base, vault)
    roots = _roots(inside, base)
    days: dict[str, list[str]] = {}
    others: list[tuple[str, str]] = []
    for found in inside:
        if found.path in roots:
            continue
        if day := _day_of(found, kind, vault):
            days.setdefault(day, []).append(found.path)
        else:
            others.append((found.path, _place(found.path.removeprefix(_stripped(kind, base)))))
    pieces = _root_pieces(roots, {found.path: found.size for found in inside}, cap)
    pieces += [Piece(log_path(day), tuple(_in_order(day, paths))) for day, paths in sorted(days.items())]
    pieces += _settled(others)
    fits = [piece for piece in pieces if not _too_long(piece)]
    outside += [(piece.sources[0], "has a path that is too long") for piece in pieces if _too_long(piece)]
    left = sorted((*source.left_out, *outside))
    return Plan(kind, tuple(fits), tuple(left), _notes(fits, vault))


def _too_long(piece: Piece) -> bool:
    return len(piece.target.encode()) > _LONGEST


def _scoped(files: Sequence[Found], kind: Kind, base: str, vault: Vault) -> tuple[list[Found], list[LeftOut]]:
    """Return the files that belong to the memory, and the others: an agent's workspace holds much that is no memory."""
    inside, outside = [], []
    for found in files:
        top = found.path.partition("/")[0]
        own = kind is not Kind.OPENCLAW or top in {found.path, "memory"} or _PARA.fullmatch(top)
        if vault.templates and found.path.startswith(f"{vault.templates}/"):
            outside.append((found.path, "is a template"))
        elif own and found.path.startswith(base):
            inside.append(found)
        else:
            outside.append((found.path, f"does not belong to {kind.called}"))
    return inside, outside


def _roots(files: Sequence[Found], base: str) -> dict[str, str]:
    """Return path → name at the top of the memory: the exact name wins, then one in another case, and CLAUDE.md."""
    there = {name.removeprefix(base): name for name in (found.path for found in files)}
    top = sorted(name for name in there if "/" not in name)
    roots = {}
    for name in _ROOT_NAMES:
        alike = [name] if name in there else [one for one in top if one.casefold() == name.casefold()]
        alike = alike or (["CLAUDE.md"] if name == AGENTS and "CLAUDE.md" in there else [])
        if alike:
            roots[there[alike[0]]] = name
    return roots


def _root_pieces(roots: Mapping[str, str], sizes: Mapping[str, int], cap: int) -> list[Piece]:
    pieces = []
    for path, name in roots.items():
        large = name == BRIEFING and sizes[path] > cap
        why = f"has {sizes[path]:,} bytes, more than the {cap:,} of a briefing" if large else ""
        pieces.append(Piece(LARGE_BRIEFING if large else name, (path,), why))
    return pieces


def _day_of(found: Found, kind: Kind, vault: Vault) -> str:
    if not found.is_note:
        return ""
    if kind is Kind.OPENCLAW and found.path.startswith("memory/"):
        return begun_day(found.path)
    return vault.day_of(found.path) if vault.pattern else named_day(found.path)


def _in_order(day: str, paths: Sequence[str]) -> list[str]:
    """Return the notes of a day, the one that is named after the day alone in front."""
    return sorted(paths, key=lambda path: (path.rpartition("/")[2] != f"{day}.md", path))


def _stripped(kind: Kind, base: str) -> str:
    return "memory/" if kind is Kind.OPENCLAW else base


def _place(path: str) -> str:
    """Return where a note or an attachment belongs: the folder of its own kind where it stands in one."""
    top, slash, rest = path.partition("/")
    if slash and (found := _PARA.fullmatch(top)):
        return f"{_FOLDER_OF[found[1].casefold()]}/{standing(rest)}"
    return f"Resources/{standing(path)}"


_FOLDER_OF: Final = {folder.casefold().removesuffix("s"): folder for folder in FOLDERS}


def _settled(wishes: Sequence[tuple[str, str]]) -> list[Piece]:
    pieces = []
    targets = settle([LARGE_BRIEFING, *(wish for _, wish in wishes)])[1:]
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


def without(plan: Plan, lost: Sequence[LeftOut]) -> Plan:
    """Return the plan as it was carried out where files could not be read any more when it came to copying."""
    gone = {path for path, _ in lost}
    pieces = [replace(one, sources=tuple(path for path in one.sources if path not in gone)) for one in plan.pieces]
    left = sorted((*plan.left_out, *lost))
    return replace(plan, pieces=tuple(piece for piece in pieces if piece.sources), left_out=tuple(left))


# ---------------------------------------- several notes of one day become one log
# a single one keeps its bytes.


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
        text = _below(data.decode().removeprefix("\ufeff"))
        out += f"{_gap(out)}## {shown(path).removesuffix('.md')}\n\n{text}"
    return out.encode()


def _gap(text: str) -> str:
    return "" if text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"


def _below(text: str) -> str:
    """Return a note as it can stand further down: front matter is that only at a file's top, elsewhere a comment."""
    lines = split_lines(text)
    front = read_front_matter(lines)
    if not front.lines:
        return text
    end = line_end(lines)
    kept = "".join(lines[1 : front.lines - 1]).replace("-->", "--&gt;")
    return "".join([f"<!--{end}", kept, f"-->{end}", *lines[front.lines :]])
