"""`curate install`: tell an agent, or what starts programs at night, of the memory."""

from __future__ import annotations

import functools
import os
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.agents.edit_files import carry_out, changes
from pipelines.agents.install_plan import NIGHTLY, TARGETS, Asked, this_program
from pipelines.agents.targets import PLANS, installed_agents
from pipelines.agents.timers_cron import crontab_change, found_nights, run_in_order
from pipelines.cli.options import memory_option, memory_root
from pipelines.cli.output import say, warn
from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.agents.edit_files import Change
    from pipelines.agents.install_plan import Plan, Program
    from pipelines.agents.timers import Found


# ---------------------------------------- what `curate install` and `curate uninstall` share
# their options, and how they tell what they do.


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `TARGET --project-dir --agents-md --print`."""
    folder = click.Path(path_type=Path, file_okay=False, exists=True)

    @functools.wraps(command)
    def checked(*, target: str | None, **others: Any) -> Any:  # noqa: ANN401  what other options give
        if others.get("listing"):
            return command(target="", **others)
        told = target or ("agents" if others["agents_md"] else None)
        if told is None:
            known = "\n".join(f"  {name:<12} {what}" for name, what in TARGETS.items())
            raise UsageFault(f"Which target? Name one:\n{known}")
        return command(target=told, **others)

    for option in reversed(
        (
            click.argument("target", type=click.Choice(list(TARGETS)), required=False, metavar="TARGET"),
            click.option("--project-dir", "folder", type=folder, metavar="DIR", help="Only for the project in DIR."),
            click.option(
                "--agents-md",
                type=click.Path(path_type=Path, dir_okay=False),
                metavar="FILE",
                help="The AGENTS.md to write into, for the target agents.",
            ),
            click.option("--print", "only_print", is_flag=True, help="Show what would change, and change nothing."),
        )
    ):
        checked = option(checked)
    return checked


def asked_for(program: Program, places: tuple[Path | None, Path | None], time: str = "", zone: str = "") -> Asked:
    """Return what a person asked for.

    Raises:
        UsageFault: the environment names no home.
    """
    if not os.environ.get("HOME"):
        raise UsageFault("HOME is not set, so nobody knows whose settings to change.", "Set it to your home directory.")
    folder, agents_md = (place.expanduser().absolute() if place else None for place in places)
    return Asked(program, Path.home(), folder, agents_md, servers=find_spec("mcp") is not None, time=time, zone=zone)


def carry_out_or_show(target: str, asked: Asked, *, adding: bool, only_print: bool) -> None:
    """Do what a target plans, or show it, and say which files changed."""
    if asked.agents_md and target != "agents":
        raise UsageFault(f"--agents-md is for the target agents, not for {target}.")
    if asked.folder and target in NIGHTLY:
        raise UsageFault(f"--project-dir is for agents, not for {target}.")
    plan = PLANS[target](asked, adding=adding)
    done = show(plan) if only_print else do(plan)
    if not done:
        say(f"Nothing to do for {target}.")
    for note in plan.notes if done or adding else ():
        (warn if only_print else say)(note)


def show(plan: Plan) -> bool:
    """Print what a plan would change and run; return whether that is anything."""
    found = changes(plan)
    table = crontab_change(plan)
    for told in [*(change.diff() for change in found), *([table.diff()] if table else [])]:
        say(told.removesuffix("\n"))
    for words in (*plan.before, *plan.after) if found else ():
        say(f"Would run: {shlex.join(words)}")
    return bool(found or table)


def do(plan: Plan) -> bool:
    """Carry a plan out and say what was done; return whether that is anything."""
    found = changes(plan)
    left = run_in_order(plan.before) if found else []
    done = carry_out(plan)
    for change in done:
        kept = f" What it held before is in {change.backup.name}." if change.backup else ""
        say(f"{_verb(change)} {change.name}.{kept}")
    table = crontab_change(plan)
    if table:
        table.write()
        say("Changed your crontab.")
    left += run_in_order(plan.after) if found else []
    if left:
        say("These did not work here; run them where your own session is:")
        for line in left:
            say(f"  {line}")
    return bool(done or table)


def _verb(change: Change) -> str:
    return "Removed" if change.after is None else "Changed" if change.before is not None else "Made"


@click.command()
@click.option("--list", "listing", is_flag=True, help="Say what is installed, and change nothing.")
@click.option("--time", default="", metavar="HH:MM", help="When the nights begin (else 02:00, or as installed).")
@target_options
@memory_option
def curate_install(  # noqa: PLR0913  one a flag of the verb
    *,
    target: str,
    folder: Path | None,
    agents_md: Path | None,
    only_print: bool,
    listing: bool,
    time: str,
    memory: Path | None,
) -> None:
    """Tell TARGET of the memory: claude-code, codex, openclaw, or agents (any that reads AGENTS.md).

    Or have it curated every night: by cron, systemd or launchd. What else stands in their settings stays;
    installing again renews what was installed, for example after the memory was moved. `curate uninstall`
    takes it back.
    """
    root = memory_root(memory)
    program = this_program(root)
    if listing:
        say_installed(asked_for(program, (folder, agents_md)))
        return
    if time and target not in NIGHTLY:
        raise UsageFault(f"--time is for {', '.join(NIGHTLY)}, not for {target}.")
    zone = _other_zone(root) if target in NIGHTLY else ""
    carry_out_or_show(target, asked_for(program, (folder, agents_md), time, zone), adding=True, only_print=only_print)


def _other_zone(root: Path) -> str:
    """Return the memory's time zone where it is not the machine's.

    Raises:
        BadSettings: curate.toml has faults; a zone that does not exist is one.
    """
    from pipelines.clock import system_zone  # noqa: PLC0415  agents need no zone
    from pipelines.settings import load_settings  # noqa: PLC0415  as above

    zone = load_settings(root).timezone
    return "" if zone == system_zone() else zone


# ---------------------------------------- what `curate install --list` says
# which agents are told of a memory, and what runs every night.


def say_installed(asked: Asked) -> None:
    """Print a line for each target of which something is installed."""
    lines = [f"{name:<12} {target_line(name)}" for name in installed_agents(asked)]
    lines += [f"{one.target:<12} {night_line(one)}" for one in found_nights(asked)]
    for line in lines or ["Nothing is installed. `curate install TARGET` does it: `curate install --help`."]:
        say(line)


def target_line(name: str) -> str:
    """Return what is installed of an agent, in a few words."""
    return TARGETS[name].partition(": ")[2] or TARGETS[name]


def night_line(found: Found) -> str:
    """Return what is installed of a scheduler, in a sentence."""
    when = (
        f"every night at {found.time}{f' {found.zone}' if found.zone else ''}" if found.time else "at a time of its own"
    )
    whose = "" if found.ours else ", for another memory or by other words than `curate install` writes"
    rest = "" if found.enabled is not False else "; it is not in force: `systemctl --user enable --now memcurate.timer`"
    return f"{when}{whose} ({found.place}){rest}."


# ---------------------------------------- `curate uninstall`
# take back what `curate install` wrote.


@click.command()
@target_options
def curate_uninstall(*, target: str, folder: Path | None, agents_md: Path | None, only_print: bool) -> None:
    """Take back what `curate install TARGET` wrote, for whichever memory; all else stays.

    The memory itself is not touched.
    """
    program = this_program(Path())
    carry_out_or_show(target, asked_for(program, (folder, agents_md)), adding=False, only_print=only_print)
