"""`curate install` and `curate uninstall`: tell an agent, or what starts programs at night, of the memory."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pipelines.agents.edit_files import bare_diff, carry_out, changes
from pipelines.agents.install_plan import NIGHTLY, TARGETS, Asked, this_program
from pipelines.agents.readers import reader_removal
from pipelines.agents.targets import PLANS, installed_agents
from pipelines.agents.timers_cron import crontab_change, found_nights, run_in_order, write_crontab
from pipelines.cli.models_commands import can_ask, choose, login_means
from pipelines.cli.options import with_root
from pipelines.cli.output import say, say_verbatim, warn
from pipelines.errors import UsageFault
from pipelines.provider_settings import LOGINS, user_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.agents.install_plan import Plan


_OPTIONS: Final = (
    click.argument("target", type=click.Choice(list(TARGETS)), required=False, metavar="TARGET"),
    click.option(
        "--project-dir",
        "folder",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        metavar="DIR",
        help="Only for the project in DIR.",
    ),
    click.option(
        "--agents-md",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="The AGENTS.md to write into, for the target agents.",
    ),
    click.option("--print", "only_print", is_flag=True, help="Show what would change, and change nothing."),
)


def _target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `TARGET --project-dir --agents-md --print`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.option("--list", "listing", is_flag=True, help="Say what is installed, and change nothing.")
@click.option("--time", default="", metavar="HH:MM", help="When the nights begin (else 02:00, or as installed).")
@click.option(
    "--read-with-login/--no-read-with-login",
    default=None,
    help="For claude-code and codex: let it read the logs at night with the login that it has, or do not ask.",
)
@_target_options
@with_root
def curate_install(  # noqa: PLR0913  one a flag of the verb
    *,
    target: str | None,
    folder: Path | None,
    agents_md: Path | None,
    only_print: bool,
    listing: bool,
    time: str,
    read_with_login: bool | None,
    root: Path,
) -> None:
    """Tell TARGET of the memory: claude-code, codex, openclaw, or agents (any that reads AGENTS.md).

    Or have it curated every night: by cron, systemd or launchd. What else stands in their settings stays;
    installing again renews what was installed, for example after the memory was moved. `curate uninstall`
    takes it back.
    """
    if listing:
        _say_installed(_asked_for(root, folder, agents_md))
        return
    name = _target(target, agents_md)
    zone = ""
    if name in NIGHTLY:
        from pipelines.clock import system_zone  # noqa: PLC0415  agents need no zone
        from pipelines.settings import load_settings  # noqa: PLC0415  as above

        own = load_settings(root).timezone
        zone = "" if own == system_zone() else own
    elif time:
        raise UsageFault(f"--time is for {', '.join(NIGHTLY)}, not for {name}.")
    asked = _asked_for(root, folder, agents_md, time, zone)
    if read_with_login and name not in LOGINS:
        raise UsageFault(f"--read-with-login is for {', '.join(LOGINS)}, not for {name}.")
    _carry_out_or_show(name, asked, adding=True, only_print=only_print)
    if name in LOGINS and read_with_login is not False and not folder:
        _offer_login(name, wanted=bool(read_with_login), only_print=only_print)


def _offer_login(name: str, *, wanted: bool, only_print: bool) -> None:
    """Let a program read with its login: where that is wanted, else where a person says yes and nobody else reads."""
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  few targets can read

    user, title = load_user_settings(os.environ), LOGINS[name].title
    if name in user.providers or (not wanted and (user.chosen or user.keys)):
        return
    if user.chosen:
        say(f"Your settings name who reads the logs already; `curate models use {name}` lets {title} do it.")
        return
    offer = f"{title} can read the logs at night: {login_means(name)}."
    if not wanted and (only_print or not can_ask()):
        say(f"{offer} `curate models use {name}` lets it.")
    elif wanted or click.confirm(f"{offer} Shall it?"):
        choose([name], _by(name), only_print=only_print)


def _by(name: str) -> str:
    """Return the comment by which it is known again in the user's settings what an installation wrote."""
    return f"by `curate install {name}`"


@click.command()
@_target_options
def curate_uninstall(*, target: str | None, folder: Path | None, agents_md: Path | None, only_print: bool) -> None:
    """Take back what `curate install TARGET` wrote, for whichever memory; all else stays.

    The memory itself is not touched.
    """
    name, asked = _target(target, agents_md), _asked_for(Path(), folder, agents_md)
    _carry_out_or_show(name, asked, adding=False, only_print=only_print)


def _target(name: str | None, agents_md: Path | None) -> str:
    """Return the target that is meant; a file to write into means the agents that read it.

    Raises:
        UsageFault: none was named.
    """
    if name or agents_md:
        return name or "agents"
    known = "\n".join(f"  {name:<12} {what}" for name, what in TARGETS.items())
    raise UsageFault(f"Which target? Name one:\n{known}")


def _asked_for(root: Path, folder: Path | None, agents_md: Path | None, time: str = "", zone: str = "") -> Asked:
    """Return what a person asked for.

    Raises:
        UsageFault: the environment names no home.
    """
    if not os.environ.get("HOME"):
        raise UsageFault("HOME is not set, so nobody knows whose settings to change.", "Set it to your home directory.")
    project, block = (place.expanduser().absolute() if place else None for place in (folder, agents_md))
    return Asked(this_program(root), Path.home(), project, block, time=time, zone=zone)


def _carry_out_or_show(target: str, asked: Asked, *, adding: bool, only_print: bool) -> None:
    """Do what a target plans, or show it, and say which files changed."""
    if asked.agents_md and target != "agents":
        raise UsageFault(f"--agents-md is for the target agents, not for {target}.")
    if asked.folder and target in NIGHTLY:
        raise UsageFault(f"--project-dir is for agents, not for {target}.")
    plan = PLANS[target](asked, adding=adding)
    if not adding and target in LOGINS and (file := user_file(os.environ)):
        plan = replace(plan, edits=(*plan.edits, reader_removal(file, target, _by(target))))
    done = _show(plan) if only_print else _carry_out(plan)
    if not done:
        say(f"Nothing to do for {target}.")
    for note in plan.notes if done or adding else ():
        (warn if only_print else say)(note)


def _show(plan: Plan) -> bool:
    """Print what a plan would change and run; return whether that is anything."""
    found, table = changes(plan), crontab_change(plan)
    diffs = [change.diff() for change in found] + ([bare_diff(*table, "crontab")] if table else [])
    say_verbatim("\n".join(diff.removesuffix("\n") for diff in diffs))
    if found:
        say(*(f"Would run: {shlex.join(words)}" for words in (*plan.before, *plan.after)))
    return bool(diffs)


def _carry_out(plan: Plan) -> bool:
    """Carry a plan out and say what was done; return whether that is anything."""
    found = changes(plan)
    failed = run_in_order(plan.before) if found else []
    done = carry_out(plan)
    for change in done:
        verb = "Removed" if change.after is None else "Changed" if change.before is not None else "Made"
        kept = f" What it held before is in {change.backup.name}." if change.backup else ""
        say(f"{verb} {change.name}.{kept}")
    table = crontab_change(plan)
    if table:
        write_crontab(table[1])
        say("Changed your crontab.")
    failed += run_in_order(plan.after) if found else []
    if failed:
        say("These did not work here; run them where your own session is:")
        say_verbatim("\n".join(f"  {line}" for line in failed))
    return bool(done or table)


def _say_installed(asked: Asked) -> None:
    """Print a line for each target of which something is installed."""
    lines = [f"{name:<12} {TARGETS[name].partition(': ')[2] or TARGETS[name]}" for name in installed_agents(asked)]
    for one in found_nights(asked):
        when = f"every night at {' '.join(filter(None, (one.time, one.zone)))}" if one.time else "at a time of its own"
        whose = "" if one.ours else ", for another memory or by other words than `curate install` writes"
        idle = "; it is not in force: `systemctl --user enable --now memcurate.timer`" if one.enabled is False else ""
        lines.append(f"{one.target:<12} {when}{whose} ({one.place}){idle}.")
    say(*(lines or ["Nothing is installed. `curate install TARGET` does it: `curate install --help`."]))
