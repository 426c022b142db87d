"""What `curate init --adopt --in-place` shows and asks before anything is written."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from pipelines.agents.adopt_copy import Making
from pipelines.agents.adopt_in_place import move_in, plan_in_place, repository_of
from pipelines.agents.adopt_source import Kind, base_of, detect, read_source, shown
from pipelines.clock import moment, system_zone
from pipelines.commands.adopting import left_rows, notes_folder
from pipelines.commands.output import on_terminal, say, say_json, say_table, warn
from pipelines.errors import UsageFault
from pipelines.settings import Settings
from pipelines.store.layout import SETTINGS, is_matched
from pipelines.store.user_layout import SOUL
from pipelines.templating import resource
from pipelines.text import plain_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipelines.agents.adopt_in_place import InPlace

_MOST_ROWS: Final = 40


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
        _show(plan, source, top)
    going = not wanted.only_print and (wanted.sure or _agreed(wanted, source))
    held: tuple[str, ...] = ()
    if going:
        settings = Settings(timezone=system_zone())
        making = Making(resource("memory_template"), settings.timezone, moment(wanted.now, settings), settings.author)
        held = move_in(plan, source, making)
    if wanted.as_json:
        say_json(_as_json(plan, source, held, written=going))
    else:
        _end(source, held, going=going)


def _agreed(wanted: WantedHere, source: Path) -> bool:
    if wanted.as_json or not (sys.stdin.isatty() and on_terminal()):
        return False
    return click.confirm(plain_line(f"Make {source} a memory, where it lies?"), default=False)


def _show(plan: InPlace, source: Path, top: Path | None) -> None:
    say(f"{source} is {plan.kind.called}. It would be adopted where it lies.")
    say_table(("what", "files", "part"), list(_rows(plan, top)))
    if plan.left_out:
        say()
        say_table(("left out", "because it", "files"), left_rows(plan.left_out)[:_MOST_ROWS])
    for sentence in plan.told:
        say(sentence)


def _rows(plan: InPlace, top: Path | None) -> Iterator[tuple[str, str, str]]:
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


def _end(source: Path, held: tuple[str, ...], *, going: bool) -> None:
    if not going:
        say("Nothing was written; --yes does it.")
        return
    for path in held:
        warn(f"{shown(path)} holds a secret or something private, so it was not committed.")
    say(f"{source} is a memory now.")
    say(
        "`curate run` reads the days; with a model that costs money, `curate run --provider rules` reads them for none."
    )


def _as_json(plan: InPlace, source: Path, held: tuple[str, ...], *, written: bool) -> dict[str, Any]:
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
