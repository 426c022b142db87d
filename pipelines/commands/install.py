"""`curate install`: tell an agent, or what starts programs at night, of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.agents.install_plan import NIGHTLY, this_program
from pipelines.commands.installing import asked_for, carry_out_or_show, target_options
from pipelines.commands.options import memory_option, memory_root
from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option("--list", "listing", is_flag=True, help="Say what is installed, and change nothing.")
@click.option("--time", default="", metavar="HH:MM", help="When the nights begin (else 02:00, or as installed).")
@target_options
@memory_option
def command(  # noqa: PLR0913  one a flag of the verb
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
        from pipelines.commands.installed import say_installed  # noqa: PLC0415  few ask

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
