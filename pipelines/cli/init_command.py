"""`curate init`: create a memory under git; on an existing one, add what is missing and overwrite nothing."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from pipelines.agents.install_plan import NIGHTLY, TARGETS
from pipelines.agents.targets import found_agents
from pipelines.agents.timers import NO_SCHEDULER, clock, scheduler_here
from pipelines.cli.install_commands import asked_for, carry_out_or_show, zone_of_nights
from pipelines.cli.models_commands import check_readers, choose
from pipelines.cli.options import ANY_PATH, flag_option, now_option
from pipelines.cli.output import can_ask, say, say_verbatim, warn
from pipelines.clock import moment, system_zone
from pipelines.errors import BadFile, CurateError, GitFault, UsageFault
from pipelines.provider_settings import user_file
from pipelines.queries.readers import readers
from pipelines.settings import load_settings
from pipelines.store.edits import commit_edits, uncommitted
from pipelines.store.git import Author, Git
from pipelines.store.git_remote import memory_elsewhere
from pipelines.store.lock import run_lock
from pipelines.store.template import lay_down
from pipelines.store.user_layout import memory_at
from pipelines.text import is_utf8
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from collections.abc import Callable


_KINDS = ("openclaw", "claude-code", "obsidian", "basic-memory")


@click.command()
@click.argument("directory", type=ANY_PATH, required=False, metavar="[DIR]")
@click.option("--adopt", type=ANY_PATH, metavar="NOTES", help="Start with these notes.")
@flag_option("--in-place", "Read NOTES where they are, and change none of them.")
@click.option("--as", "kind", type=click.Choice(_KINDS), help="What kind of notes they are, if it is not detected.")
@click.option("--agents", metavar="NAMES", help="The agents to connect, with commas between, or none.")
@click.option("--reader", metavar="NAME", help="Who reads the logs, such as claude-code, anthropic, rules.")
@click.option("--nights", metavar="HH:MM", help="When nights run, or never.")
@flag_option("--yes", "Do not ask: adopt; or connect the agents found, and run nights at 02:00.")
@flag_option("--print", "Only show what adopting would do.", "only_print")
@click.option("--from", "bundle", type=ANY_PATH, metavar="FILE", help="Restore what `curate export` wrote.")
@now_option
def curate_init(  # noqa: PLR0913  click hands over each option by name
    *,
    directory: Path | None,
    adopt: Path | None,
    in_place: bool,
    kind: str | None,
    agents: str | None,
    reader: str | None,
    nights: str | None,
    yes: bool,
    only_print: bool,
    bundle: Path | None,
    now: str | None,
) -> None:
    """Create a memory in DIR (default: here), or add what an existing one lacks.

    On a terminal it asks which agents to connect, who reads the logs, and when nights run. --agents, --reader and
    --nights answer for a script. Existing files are never overwritten. The memory is a git repository of its own.

    With --adopt, the new memory starts with a copy of NOTES: an OpenClaw workspace, a Claude Code project memory, an
    Obsidian vault, or other notes. It shows first what goes where, and writes nothing until you agree or give
    --yes. With --in-place, the memory is NOTES/Curated: daily notes are read each night, other notes are
    searched, and none is ever changed.

    With --from, DIR becomes the memory in a bundle, with its history. DIR must be new or empty.
    """
    if not is_utf8(str(place := (directory or Path()).absolute())):
        raise BadFile(place, "is not UTF-8", "Rename the folder.")
    user_file()  # a missing one is named before anything is made
    said = SetUp(agents, reader, nights, yes=yes and not adopt)
    _named(agents or "")
    _time(nights or _NEVER)
    if reader:
        check_readers([reader])
    if bundle and adopt:
        raise UsageFault("--from and --adopt exclude each other.", "Give one of them.")
    if adopt is None:
        if kind or only_print or in_place:
            sentence = "--as, --print and --in-place need --adopt."
            raise UsageFault(sentence, "Name the notes: --adopt NOTES.")
        root = (directory or Path()).expanduser().absolute()
        if not bundle:
            _make(root, now, said)
            return
        from pipelines.store.bundle import restore_bundle  # noqa: PLC0415  seldom asked for

        files = restore_bundle(bundle.expanduser(), root)
        then = f"Run `curate index --memory {shlex.quote(str(root))}`, and set up remotes and nightly runs again."
        say(f"Restored {files:,} files and their history to {root}. {then}")
        return
    if yes and only_print:
        raise UsageFault("--yes and --print exclude each other.", "Give one of them.")
    if in_place and directory:
        raise UsageFault(f"With --in-place the memory is in NOTES, not {directory}.", "Leave out DIR.")
    from pipelines.cli.adopt_notes import Wanted, adopt_by_copy, adopt_in_place  # noqa: PLC0415  most begin empty

    kind = "obsidian" if kind == "basic-memory" else kind  # its notes know themselves by their permalinks
    wanted = Wanted(adopt, kind, now, sure=yes, only_print=only_print)
    if made := adopt_in_place(wanted) if in_place else adopt_by_copy(wanted, directory):
        set_up(made, said)


def make_memory(root: Path, now: str | None) -> tuple[bool, list[str]]:
    """Create a memory, or add what one lacks; return whether it is new, and the added files."""
    root = memory_at(root) or root
    if root.exists() and not root.is_dir():
        raise BadFile(root, "is not a folder", "Name a folder, or a new one.")
    if not memory_at(root) and os.path.realpath(root) == os.path.realpath(os.environ.get("HOME") or "/"):
        raise UsageFault("The home folder itself cannot be a memory.", "Name a folder in it: `curate init ~/memory`.")
    git = Git(root)
    if not (fresh := not (root / ".git").exists()):
        if found := memory_elsewhere(git):  # on another branch, as of a clone's remote: no second one is begun
            kind, _, name = found.removeprefix("refs/").partition("/")
            branch = name.partition("/")[2] if kind == "remotes" else name
            there = f"git -C {shlex.quote(str(git.root))} switch {branch}"
            here = git.repository.branch.removeprefix("refs/heads/")
            raise GitFault(
                f"The memory of this repository is on its branch {name}; the branch here is {here}.",
                f"To use it: `{there} && curate init {shlex.quote(str(git.root))}`.",
            )
        uncommitted(git)  # which sees what git leaves out
    added = lay_down(root, system_zone())
    settings = load_settings(root)
    if fresh:
        git.init()
    git.check()
    when = moment(now, settings)
    with run_lock(root, "curate init"):
        if added or fresh:
            commit_edits(git, "Create the memory\n", Author(*settings.author, when))
    return fresh, added


def _make(root: Path, now: str | None, said: SetUp) -> None:
    fresh, added = make_memory(root, now)
    if fresh:
        say(f"Created a memory in {root}.")
        if Path.cwd() != root:
            say("To use it from any folder, add this line to your shell's profile:")
            say_verbatim(f"  export CURATE_MEMORY={shlex.quote(str(root))}")
    else:
        say(f"Added to {root}: {', '.join(added)}." if added else f"Nothing is missing in {root}.")
    # On this machine, nobody at a terminal has said yet who reads the logs.
    if fresh or said.is_said or (can_ask() and not load_user_settings().chosen):
        set_up(root, said)
    if fresh:
        say('Log something with `curate log "TEXT"`, then curate it with `curate run`.')


# ---------------------------------------- the three questions


Answer = TypeVar("Answer")
_AGENTS = [name for name in TARGETS if name not in {"agents", *NIGHTLY}]
_NONE, _NEVER, _USUAL = "none", "never", "02:00"


class SetUp(NamedTuple):
    """What a person said of the set-up; None for what they did not.

    Args:
        agents: the agents to connect, with commas between, or `none`.
        reader: who reads the logs.
        nights: when nights run, or `never`.
        yes: whether to take what is suggested, in place of asking. Who reads is never taken so.
    """

    agents: str | None = None
    reader: str | None = None
    nights: str | None = None
    yes: bool = False

    @property
    def is_said(self) -> bool:
        """Whether they said anything."""
        return self != SetUp()


def set_up(root: Path, said: SetUp) -> None:
    """Ask what was not said, where somebody can answer; connect, choose and schedule; say what was left out.

    Raises:
        UsageFault: an agent, a reader or a time is none.
    """
    may_ask = can_ask() and not said.yes
    names = list[str]()
    if said.agents:
        names = _named(said.agents)
    elif may_ask or said.yes:
        names = found_agents(asked_for(root))
    if may_ask and not said.agents:
        say("", "Which agents should use the memory? Those found here are ticked.")
        say(*(f"  [{'x' if name in names else ' '}] {name:<15}{TARGETS[name]}" for name in _AGENTS), hang=" " * 21)
        names = _asked("Names, with commas between, or none", ",".join(names) or _NONE, _named)
    for name in names:
        _install(root, name)
    user = load_user_settings()
    if said.reader:
        choose([said.reader])
    elif may_ask and not user.chosen:
        rows = readers(user)
        say("", "Who reads the logs at night?")
        say(*(f"  {at}  {name:<12} {means}" for at, (name, means) in enumerate(rows, 1)), hang=" " * 18)
        at = click.prompt("Number", default=1, type=click.IntRange(1, len(rows)))
        choose([str(rows[at - 1][0])])
    nights = said.nights or (_USUAL if said.yes else _NEVER)
    if may_ask and not said.nights:
        say("", "When should nights run? The computer is on then, or catches up later.")
        nights = _asked(f"HH:MM, or {_NEVER}", _USUAL, _time)
    _schedule(root, nights)
    if not (may_ask or said.is_said):
        say(f"No agent is connected and no night is scheduled: `curate init --yes {shlex.quote(str(root))}` does both.")
    if not may_ask and not load_user_settings().chosen:
        say("Who reads the logs is your choice: `curate models` shows who can.")


def _asked(question: str, default: str, read: Callable[[str], Answer]) -> Answer:
    """Return what is made of an answer; one that cannot be read is asked for again."""

    def read_or_refuse(text: str) -> Answer:
        try:
            return read(text)
        except UsageFault as fault:
            raise click.BadParameter(str(fault)) from None

    answer: Answer = click.prompt(question, default=default, value_proc=read_or_refuse)
    return answer


def _named(names: str) -> list[str]:
    wanted = [one.strip() for one in names.split(",") if one.strip() not in {"", _NONE}]
    if unknown := [name for name in wanted if name not in _AGENTS]:
        raise UsageFault(f"There is no agent “{unknown[0]}”.", f"Known are {', '.join(_AGENTS)}.")
    return wanted


def _install(root: Path, name: str, time: str = "") -> None:
    """Install one target; what goes wrong with it is said, and the set-up goes on."""
    try:
        asked = asked_for(root, None, time, zone_of_nights(root) if time else "")
        carry_out_or_show(name, asked, adding=True, only_print=False)
    except UsageFault:
        raise
    except CurateError as fault:
        warn(f"{name}: {fault}")


def _time(text: str) -> str:
    if text != _NEVER:
        clock(text)
    return text


def _schedule(root: Path, time: str) -> None:
    if _time(time) == _NEVER:
        return
    if name := scheduler_here():
        _install(root, name, time)
    else:
        warn(NO_SCHEDULER)
