"""`curate install` and `curate uninstall`: connect an agent to the memory, or schedule nights."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from pipelines.agents.install_plan import NIGHTLY, TARGETS, InstallPlan, InstallRequest, this_program
from pipelines.agents.session_places import note_installed
from pipelines.agents.settings_files import bare_diff, carry_out, changes
from pipelines.agents.targets import PLANS, installed_agents
from pipelines.agents.timers import crontab_change, found_nights, run_in_order, write_crontab
from pipelines.cli.models_commands import check_readers, choose
from pipelines.cli.options import flag_option, memory_option, named_memory, root_of
from pipelines.cli.output import on_terminal, say, say_table, say_verbatim, warn
from pipelines.errors import CurateError, NoMemory, UsageFault
from pipelines.provider_settings import LOGINS

_TARGET = click.argument("target", type=click.Choice(list(TARGETS)), required=False, metavar="TARGET")
_AGENTS_MD = click.option(
    "--agents-md",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="For the target agents: the AGENTS.md to change.",
)
_PRINT = flag_option("--print", "Show what would change, and change nothing.", "only_print")


@click.command()
@click.option("--time", default="", metavar="HH:MM", help="When nights begin (default: 02:00, or as installed).")
@click.option(
    "--read-with-login/--no-read-with-login",
    default=None,
    help="For claude-code and codex: let the program read the logs at night with its login.",
)
@_TARGET
@_AGENTS_MD
@_PRINT
@memory_option
def curate_install(
    *,
    target: str | None,
    agents_md: Path | None,
    only_print: bool,
    time: str,
    read_with_login: bool | None,
    memory: Path | None,
) -> None:
    """Connect TARGET to the memory: an agent or editor, or a scheduler that curates it every night.

    Without TARGET, this lists all and what is installed. Your other settings stay as they are. Install again to update,
    for example after you moved the memory. `curate uninstall TARGET` takes it back.
    """
    name = target or ("agents" if agents_md else "")
    if not name:
        _list_targets(memory)
        return
    root = root_of(memory)
    if time and name not in NIGHTLY:
        raise UsageFault(f"--time is for {', '.join(NIGHTLY)}, not for {name}.")
    if read_with_login and name not in LOGINS:
        raise UsageFault(f"--read-with-login is for {', '.join(LOGINS)}, not for {name}.")
    if read_with_login:
        check_readers([name])
    zone = zone_of_nights(root) if name in NIGHTLY else ""
    asked = asked_for(root, agents_md, time, zone)
    carry_out_or_show(name, asked, adding=True, only_print=only_print)
    if read_with_login and not only_print:
        choose([name])
    elif name in LOGINS and read_with_login is None:
        say("`curate models` shows who reads the logs at night, and who could.")


def zone_of_nights(root: Path) -> str:
    """Return the time zone of a memory's nights if it is not the machine's, else an empty text."""
    from pipelines.clock import system_zone  # noqa: PLC0415  agents need no zone
    from pipelines.settings import load_settings  # noqa: PLC0415  as above

    own = load_settings(root).timezone
    return "" if own == system_zone() else own


@click.command()
@_TARGET
@_AGENTS_MD
@_PRINT
def curate_uninstall(*, target: str | None, agents_md: Path | None, only_print: bool) -> None:
    """Remove what `curate install TARGET` wrote, for any memory. Everything else stays.

    The memory itself is not touched.
    """
    name, asked = target or "agents", asked_for(Path(), agents_md)
    if not (target or agents_md):
        raise UsageFault("Which target?", "`curate install` lists what is installed.")
    carry_out_or_show(name, asked, adding=False, only_print=only_print)


def asked_for(root: Path, agents_md: Path | None = None, time: str = "", zone: str = "") -> InstallRequest:
    """Return what a person asked for.

    Raises:
        UsageFault: the environment names no home.
    """
    if not os.environ.get("HOME"):
        raise UsageFault("HOME is not set, so it is unclear whose settings to change.", "Set it to your home folder.")
    block = agents_md.expanduser().absolute() if agents_md else None
    return InstallRequest(this_program(root), Path.home(), block, time, zone)


def carry_out_or_show(target: str, asked: InstallRequest, *, adding: bool, only_print: bool) -> None:
    """Carry out the plan of a target, or show it, and say which files changed."""
    if asked.agents_md and target != "agents":
        raise UsageFault(f"--agents-md is for the target agents, not for {target}.")
    plan = PLANS[target](asked, adding=adding)
    done = _show(plan) if only_print else _carry_out(plan, adding=adding)
    if adding and not only_print:
        note_installed(asked.program.root, target)
    if not done:
        say(f"Nothing to do for {target}.")
    for note in plan.notes if done or adding else ():
        (warn if only_print else say)(note)


def _show(plan: InstallPlan) -> bool:
    """Print what a plan would change and run; return whether it would do anything."""
    found, table = changes(plan), crontab_change(plan)
    diffs = [bare_diff(one.before or "", one.after or "", str(one.file)) for one in found]
    diffs += [bare_diff(*table, "crontab")] if table else []
    say_verbatim("\n".join(diff.removesuffix("\n") for diff in diffs))
    if found:
        say(*(f"Would run: {shlex.join(words)}" for words in (*plan.before, *plan.after)))
    return bool(diffs)


def _carry_out(plan: InstallPlan, *, adding: bool) -> bool:
    """Carry out a plan and say what was done; return whether it did anything."""
    if plan.needs and (refused := run_in_order([plan.needs])):
        raise CurateError(
            f"Your systemd does not answer here: {refused[0].partition('# ')[2]}.",
            "Log in as yourself, not by su or sudo, and install again; or use `curate install cron`, or"
            " `curate schedule`.",
        )
    found = changes(plan)
    failed = run_in_order(plan.before) if found else []
    done = carry_out(plan)
    for change in done:
        verb = "Removed" if change.after is None else "Changed" if change.before is not None else "Created"
        say(f"{verb} {change.name}.")
    table = crontab_change(plan)
    if table:
        write_crontab(table[1])
        say("Changed your crontab.")
    failed += run_in_order(plan.after) if found else []
    if failed:
        say("These commands failed here. Run them in your own session:")
        say_verbatim("\n".join(f"  {line}" for line in failed))
    if failed and adding:
        raise CurateError("The files are written, but no night is scheduled yet.", "Run those commands.")
    return bool(done or table)


def _list_targets(memory: Path | None) -> None:
    """Print the targets: whether something is installed, and where.

    Raises:
        NoMemory: the person named a memory that is none.
    """
    try:
        root = root_of(memory)
    except NoMemory:
        if named_memory(memory):
            raise
        root = Path()
    asked = asked_for(root)
    agents = installed_agents(asked)
    nights = {one.target: one for one in found_nights(asked)}
    rows = []
    for name in TARGETS:
        places, installed = agents.get(name, []), ""
        if night := nights.get(name):
            when = f"every night at {f'{night.time} {night.zone}'.strip()}" if night.time else "at its own time"
            other = ", for another memory or changed by hand" if root != Path() and not night.ours else ""
            places, installed = [f"{night.place}, {when}{other}"], "inactive" if night.enabled is False else ""
        where = ", ".join(place.replace(f"{asked.home}/", "~/") for place in places)
        rows.append((name, installed or ("yes" if places else "no"), where))
    say_table(("Target", "Installed", "Where"), rows)
    if on_terminal():
        say("", "`curate install TARGET` installs one, `curate uninstall TARGET` removes it.")
