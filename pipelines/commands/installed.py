"""What `curate install --list` says: which agents are told of a memory, and what runs every night."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.agents.install_plan import TARGETS
from pipelines.agents.targets import installed_agents
from pipelines.agents.timers_cron import found_nights
from pipelines.commands.output import say

if TYPE_CHECKING:
    from pipelines.agents.install_plan import Asked
    from pipelines.agents.timers import Found


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
