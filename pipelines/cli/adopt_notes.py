"""What `curate init --adopt` shows and asks before anything is written."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from pipelines.agents.adopt_copy import Making, carry_out, check_places
from pipelines.agents.adopt_in_place import move_in, plan_in_place, repository_of
from pipelines.agents.adopt_plan import plan_adoption
from pipelines.agents.adopt_source import Kind, base_of, detect, read_source, shown
from pipelines.cli.output import on_terminal, say, say_json, say_table, warn
from pipelines.clock import moment, system_zone
from pipelines.errors import BadFile, UsageFault
from pipelines.settings import Settings
from pipelines.store.layout import SETTINGS, is_matched
from pipelines.store.user_layout import SOUL
from pipelines.templating import resource
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pipelines.agents.adopt_in_place import InPlace
    from pipelines.agents.adopt_plan import Piece, Plan
    from pipelines.agents.adopt_source import LeftOut


_MOST_ROWS: Final = 40
_ALONE: Final = 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line says.

    Args:
        notes: the folder that is to be adopted.
        target: the new memory, or None where none was named.
        kind: what the notes are, or None to see for itself.
        now: what `--now` says.
        sure: whether nobody is to be asked.
        only_print: whether nothing is to be written in any case.
        as_json: whether a program reads the answer.
    """

    notes: Path
    target: Path | None
    kind: str | None
    now: str | None
    sure: bool
    only_print: bool
    as_json: bool


def adopt_or_show(wanted: Wanted) -> None:
    """Show what would go where, ask where somebody can be asked, and copy."""
    source = notes_folder(wanted.notes)
    target = wanted.target.expanduser().absolute() if wanted.target else None
    if target:
        check_places(source, target)
    elif wanted.sure:
        raise UsageFault("Nothing says where the new memory shall be.", f"curate init DIR --adopt {wanted.notes} --yes")
    settings = Settings(timezone=system_zone())
    found = read_source(source)
    if not found.files:
        raise UsageFault(f"There is nothing to adopt in {source}.", "It holds no note, no PDF file and no image.")
    plan = plan_adoption(found, Kind(wanted.kind) if wanted.kind else detect(found), settings.caps.briefing)
    if not wanted.as_json:
        _show(plan, source)
    going = target is not None and not wanted.only_print and (wanted.sure or _agreed(wanted, target))
    if target is not None and going:
        making = Making(resource("memory_template"), settings.timezone, moment(wanted.now, settings), settings.author)
        before = set(plan.left_out)
        plan = carry_out(plan, source, target, making)
        _tell_lost([one for one in plan.left_out if one not in before])
    if wanted.as_json:
        say_json(_as_json(plan, source, target if going else None))
    else:
        _end(plan, target, going=going)


def notes_folder(notes: Path) -> Path:
    """Return the folder to be adopted, absolute.

    Raises:
        BadFile: there is none.
        UsageFault: it is a memory already.
    """
    source = notes.expanduser().absolute()
    try:
        mode, ours = source.stat().st_mode, os.path.lexists(source / SETTINGS)
    except FileNotFoundError:
        raise BadFile(source, "does not exist", "Name the folder that holds the notes.") from None
    except OSError as error:
        why = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise BadFile(source, why, "Name the folder that holds the notes.") from None
    if not stat.S_ISDIR(mode):
        raise BadFile(source, "is no folder", "Name the folder that holds the notes.")
    if ours:
        raise UsageFault(f"{source} is a memory already.", f"`curate init {source}` adds what it lacks.")
    return source.resolve()


def _agreed(wanted: Wanted, target: Path) -> bool:
    if wanted.as_json or not (sys.stdin.isatty() and on_terminal()):
        return False
    return click.confirm(escape_terminal_line(f"Copy this to {target}?"), default=False)


# ------------------------------------------------------------ what is shown


def _show(plan: Plan, source: Path) -> None:
    say(f"{source} is {plan.kind.called}.")
    rows = _rows(plan.pieces)
    say_table(("from", "to", "files", ""), rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        say(f"and {len(rows) - _MOST_ROWS:,} more; --json lists every file.")
    if plan.left_out:
        say()
        say_table(("left out", "because it", "files"), left_rows(plan.left_out)[:_MOST_ROWS])
    for note in plan.notes:
        say(note)


def _rows(pieces: Sequence[Piece]) -> list[tuple[str, str, str, str]]:
    """Return a row for each folder with many files, and one for each file that is odd or has few beside it."""
    crowds: dict[tuple[str, str], list[Piece]] = {}
    for piece in pieces:
        crowds.setdefault((_parent(piece.sources[0]), _parent(piece.target)), []).append(piece)
    rows = []
    for (old, new), crowd in crowds.items():
        plain = [piece for piece in crowd if not piece.why]
        alone = crowd
        if len(plain) > _ALONE and new:
            count = sum(len(piece.sources) for piece in plain)
            rows.append((shown(old or "."), f"{new}/", f"{count:,}", f"{len(plain):,} days" if new == "Logs" else ""))
            alone = [piece for piece in crowd if piece.why]
        rows += [(_sources(piece), piece.target, f"{len(piece.sources)}", piece.why) for piece in alone]
    return rows


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _sources(piece: Piece) -> str:
    return ", ".join(map(shown, piece.sources))


def left_rows(left: Sequence[LeftOut]) -> list[tuple[str, str, str]]:
    """Return a row for each reason: what is left out for it, the first few by name."""
    paths: dict[str, list[str]] = {}
    for one in left:
        paths.setdefault(one.why, []).append(shown(one.path))
    rows = []
    for why, names in paths.items():
        more = f" and {len(names) - _ALONE:,} more" if len(names) > _ALONE else ""
        rows.append((", ".join(names[:_ALONE]) + more, why, f"{len(names):,}"))
    return rows


def _tell_lost(lost: Sequence[LeftOut]) -> None:
    for one in lost:
        warn(f"{shown(one.path)} {one.why}, so it was left out.")


def _end(plan: Plan, target: Path | None, *, going: bool) -> None:
    if not going:
        where = "" if target else " Name the new memory: curate init DIR --adopt NOTES."
        say(f"Nothing was written; --yes does it.{where}")
        return
    files = sum(len(piece.sources) for piece in plan.pieces)
    say(f"Made a memory in {target} of {files:,} files: {plan.days:,} days, {len(plan.pieces) - plan.days:,} others.")
    say(
        "`curate run` reads the days; with a model that costs money, `curate run --provider rules` reads them for none."
    )


def _as_json(plan: Plan, source: Path, written: Path | None) -> dict[str, Any]:
    folders = Counter(piece.target.partition("/")[0] for piece in plan.pieces)
    return {
        "kind": plan.kind.value,
        "source": shown(str(source)),
        "written": shown(str(written)) if written else None,
        "files": [{"from": [*map(shown, one.sources)], "to": one.target, "why": one.why} for one in plan.pieces],
        "left_out": [{"path": shown(one.path), "why": one.why} for one in plan.left_out],
        "places": dict(sorted(folders.items())),
        "notes": list(plan.notes),
    }


# ---------------------------------------- adopting in place
# What `curate init --adopt --in-place` shows and asks before anything is written.


_ADOPTING_IN_PLACE_MOST_ROWS: Final = 40


@dataclass(frozen=True, slots=True)
class WantedHere:
    """What the command line says.

    Args:
        notes: the folder that is to be adopted.
        kind: what the notes are, or None to see for itself.
        home: the folder for what runs make.
        opted_in: globs of the files into which ids and items may be written.
        now: what `--now` says.
        sure: whether nobody is to be asked.
        only_print: whether nothing is to be written in any case.
        as_json: whether a program reads the answer.
    """

    notes: Path
    kind: str | None
    home: str
    opted_in: tuple[str, ...]
    now: str | None
    sure: bool
    only_print: bool
    as_json: bool


def adopt_here_or_show(wanted: WantedHere) -> None:
    """Show which files would play which part, ask where somebody can be asked, and make the memory."""
    source = notes_folder(wanted.notes)
    found = read_source(source)
    kind = Kind(wanted.kind) if wanted.kind else detect(found)
    if base := base_of(kind, found):
        source = notes_folder(source / base.rstrip("/"))
        found = read_source(source)
    if not found.files:
        raise UsageFault(f"There is nothing to adopt in {source}.", "It holds no note, no PDF file and no image.")
    plan = plan_in_place(found, kind, wanted.home, wanted.opted_in)
    top = repository_of(source, plan)
    if not wanted.as_json:
        _adopting_in_place_show(plan, source, top)
    going = not wanted.only_print and (wanted.sure or _adopting_in_place_agreed(wanted, source))
    held: tuple[str, ...] = ()
    if going:
        settings = Settings(timezone=system_zone())
        making = Making(resource("memory_template"), settings.timezone, moment(wanted.now, settings), settings.author)
        held = move_in(plan, source, making)
    if wanted.as_json:
        say_json(_adopting_in_place_as_json(plan, source, held, written=going))
    else:
        _adopting_in_place_end(source, held, going=going)


def _adopting_in_place_agreed(wanted: WantedHere, source: Path) -> bool:
    if wanted.as_json or not (sys.stdin.isatty() and on_terminal()):
        return False
    return click.confirm(escape_terminal_line(f"Make {source} a memory, where it lies?"), default=False)


def _adopting_in_place_show(plan: InPlace, source: Path, top: Path | None) -> None:
    say(f"{source} is {plan.kind.called}. It would be adopted where it lies.")
    say_table(("what", "files", "part"), list(_adopting_in_place_rows(plan, top)))
    if plan.left_out:
        say()
        say_table(("left out", "because it", "files"), left_rows(plan.left_out)[:_ADOPTING_IN_PLACE_MOST_ROWS])
    for sentence in plan.told:
        say(sentence)


def _adopting_in_place_rows(plan: InPlace, top: Path | None) -> Iterator[tuple[str, str, str]]:
    names, layout = plan.names, plan.layout
    yield layout["logs"], f"{len(plan.logs):,}", "a log a day: read and appended to, never rewritten"
    for own, real in names.theirs.items():
        part = "shown to every session" if own == SOUL else f"shown to every session beside {names.home}/{own}"
        if real in plan.opted_in:
            part = "shown to every session; runs write items and ids into it"
        yield real, "1", part
    for glob in layout["notes"]:
        count = sum(is_matched(path, [glob]) for path in plan.notes)
        if count:
            yield glob, f"{count:,}", "searched, never written"
    for glob in layout["opted_in"]:
        count = sum(is_matched(path, [glob.removeprefix("!")]) for path in plan.opted_in)
        yield glob, f"{count:,}", "searched; runs write items and ids into it"
    yield f"{names.home}/", "new", "what runs make"
    yield SETTINGS, "new", "the settings, and where what lies"
    yield str(top or ".git"), "there" if top else "new", _commits(plan)


def _commits(plan: InPlace) -> str:
    more = ", and what is opted in" if plan.opted_in else ""
    return f"the repository for commits of {SETTINGS}, {plan.names.home}/, the daily notes{more}"


def _adopting_in_place_end(source: Path, held: tuple[str, ...], *, going: bool) -> None:
    if not going:
        say("Nothing was written; --yes does it.")
        return
    for path in held:
        warn(f"{shown(path)} holds a secret or something private, so it was not committed.")
    say(f"{source} is a memory now.")
    say(
        "`curate run` reads the days; with a model that costs money, `curate run --provider rules` reads them for none."
    )


def _adopting_in_place_as_json(plan: InPlace, source: Path, held: tuple[str, ...], *, written: bool) -> dict[str, Any]:
    return {
        "kind": plan.kind.value,
        "source": shown(str(source)),
        "in_place": True,
        "written": shown(str(source)) if written else None,
        "layout": plan.layout,
        "logs": list(map(shown, plan.logs)),
        "notes": list(map(shown, plan.notes)),
        "opted_in": list(map(shown, plan.opted_in)),
        "left_out": [{"path": shown(one.path), "why": one.why} for one in plan.left_out],
        "held": list(map(shown, held)),
        "told": list(plan.told),
    }
