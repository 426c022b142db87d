"""What `curate init --adopt` shows and asks before it writes, for a copy and for notes in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from pipelines.agents.adopt_copy import CopyPlan, carry_out, check_places, plan_adoption
from pipelines.agents.adopt_in_place import HOME, OFTEN, InPlace, move_in, plan_in_place
from pipelines.agents.adopt_source import ATTACHMENTS, Source, notes_in
from pipelines.cli.output import can_ask, say, say_table
from pipelines.clock import moment, system_zone
from pipelines.errors import UsageFault
from pipelines.settings import Settings
from pipelines.store.layout import NOTES_FILE, is_matched
from pipelines.text import count, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


_ALONE = 3
_NEXT = "Run `curate run` to read the days. A model costs money; `curate run --provider rules` reads them for free."


class Wanted(NamedTuple):
    """The options of an adoption.

    Args:
        notes: the folder to adopt.
        kind: what the notes are, or None to detect it.
        now: the value of `--now`.
        sure: whether to adopt without asking.
        only_print: whether to write nothing in any case.
    """

    notes: Path
    kind: str | None
    now: str | None
    sure: bool
    only_print: bool


def adopt_by_copy(wanted: Wanted, directory: Path | None) -> Path | None:
    """Show what would go where in a new memory, ask on a terminal, and copy; return the memory if there is one."""
    if not directory:
        raise UsageFault("The new memory has no folder yet.", f"Name one: `curate init DIR --adopt {wanted.notes}`.")
    target = directory.expanduser().absolute()
    found, settings = notes_in(wanted.notes, wanted.kind), Settings(timezone=system_zone())
    check_places(found.root, target)
    plan = plan_adoption(found, settings.caps.briefing)
    _show(found, plan, ("files", "from → to"), _copy_rows(plan.pieces))
    say(*plan.sentences)
    if not _is_agreed(wanted, f"Copy this to {target}?"):
        return None
    taken_out = carry_out(plan, found.root, target, settings, moment(wanted.now, settings))
    files = count(sum(map(len, plan.pieces.values())), "file")
    others = count(len(plan.pieces) - plan.days, "other")
    say(f"Created a memory in {target} from {files}: {count(plan.days, 'day')} and {others}.")
    if taken_out:
        places = ", ".join(escape_terminal_line(path) for path in taken_out)
        secrets = count(sum(taken_out.values()), "secret was", "secrets were")
        say(f"{secrets} not copied from {places}; a mark stands for each.")
    say(_NEXT)
    return target


def adopt_in_place(wanted: Wanted) -> Path | None:
    """Show what of each file is read, ask on a terminal, and make a memory among the notes; return it if there is."""
    found, settings = notes_in(wanted.notes, wanted.kind), Settings(timezone=system_zone())
    plan = plan_in_place(found)
    _show(found, plan, ("what", "files", "read in place as"), _part_rows(plan))
    say("Your notes are never changed: `curate log` and `curate capture` write to logs of the memory's own.")
    memory = found.root / HOME
    if not _is_agreed(wanted, f"Make a memory in {memory}?"):
        return None
    move_in(plan, found.root, settings, moment(wanted.now, settings))
    say(f"Created a memory in {memory}.", _NEXT)
    return memory


def _is_agreed(wanted: Wanted, question: str) -> bool:
    """Whether the user agrees to write, on the command line or when asked; else this says that nothing was written."""
    may_ask = not wanted.only_print and can_ask()
    agrees = wanted.sure or (may_ask and click.confirm(escape_terminal_line(question), default=False))
    say(*[] if agrees else ["Nothing was written. Add --yes to do it."])
    return agrees


def _copy_rows(pieces: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield a row for the files of each folder that become those of another: of few their names, else the folders."""
    groups = dict[tuple[str, str], list[tuple[str, str]]]()
    for target, paths in pieces.items():
        for path in paths:
            groups.setdefault((path.rpartition("/")[0], target.rpartition("/")[0]), []).append(
                (escape_terminal_line(path), target)
            )
    for (old, new), names in groups.items():
        sides = (", ".join(dict.fromkeys(side)) for side in zip(*names, strict=True))
        begin, end = (
            sides if len(names) <= _ALONE or not new else (escape_terminal_line(old) or "the top folder", f"{new}/")
        )
        yield f"{len(names):,}", begin if begin == end else f"{begin} → {end}"


def _part_rows(plan: InPlace) -> Iterator[tuple[str, str, str]]:
    _, logs, notes, _ = plan.layout
    for glob in logs:  # one, or none
        files = sum(is_matched(path, [glob]) for path in plan.logs)
        yield glob, f"{files:,}", "a log a day, read each night"
    for glob in notes:
        if files := sum(is_matched(path, [glob]) for path in plan.notes):
            yield glob, f"{files:,}", "searched"
    for name in OFTEN:
        if name in plan.notes:
            yield name, "1", "shown to every session, too"
    yield f"{HOME}/", "new", "the memory, a git repository: whatever is written"
    yield NOTES_FILE, "new", "what of the notes it reads"


def _show(found: Source, plan: CopyPlan | InPlace, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a plan: what becomes of the files, and a row for each reason to leave some out, with the first names."""
    say(f"{found.root} is {found.kind.called}.")
    say_table(titles, list(rows))
    if any(path.lower().endswith(ATTACHMENTS) for path in found.files):
        say("PDF files and images are kept, but search does not cover them.")
    groups = dict[str, list[str]]()
    for path, why in plan.left_out:
        groups.setdefault(why, []).append(escape_terminal_line(path))
    if groups:
        say("")
        say_table(
            ("files", "left out"),
            [
                (f"{len(names):,}", f"{', '.join([*names[:_ALONE], *['…'] * (len(names) > _ALONE)])}: it {why}")
                for why, names in groups.items()
            ],
        )
