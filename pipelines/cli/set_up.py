"""The three questions of `curate init`: which agents to connect, who reads the logs, when nights run."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

from pipelines.agents.install_plan import TARGETS
from pipelines.agents.targets import found_agents
from pipelines.agents.timers import clock
from pipelines.agents.timers_cron import scheduler_here
from pipelines.cli.install_commands import asked_for, carry_out_or_show, zone_of_nights
from pipelines.cli.models_commands import can_ask, choose
from pipelines.cli.output import say, warn
from pipelines.errors import CurateError, UsageFault
from pipelines.queries.readers import readers
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipelines.user_settings import UserSettings

Answer = TypeVar("Answer")
_NONE, _NEVER, _USUAL = "none", "never", "02:00"


@dataclass(frozen=True, slots=True)
class SetUp:
    """What a person said of the set-up; None for what they did not.

    Args:
        agents: the agents to connect, with commas between, or `none`.
        reader: who reads the logs.
        nights: when nights run, or `never`.
        yes: whether to take what is suggested, in place of asking. Who reads is never taken so.
    """

    agents: str | None
    reader: str | None
    nights: str | None
    yes: bool

    @property
    def is_said(self) -> bool:
        """Whether they said anything."""
        return self.yes or any(one is not None for one in (self.agents, self.reader, self.nights))


def never_asked() -> bool:
    """Whether somebody at a terminal has not said on this machine who reads the logs."""
    return can_ask() and not load_user_settings(os.environ).chosen


def set_up(root: Path, said: SetUp) -> None:
    """Ask what was not said, where somebody can answer; connect, choose and schedule; say what was left out.

    Raises:
        UsageFault: an agent, a reader or a time is none.
    """
    may_ask = can_ask() and not said.yes
    for name in (
        _named(said.agents) if said.agents else _asked_agents(root) if may_ask else _found(root) if said.yes else []
    ):
        _install(root, name)
    user = load_user_settings(os.environ)
    if said.reader:
        choose([said.reader])
    elif may_ask and not user.chosen:
        choose([_asked_reader(user)])
    _schedule(root, said.nights or (_asked_nights() if may_ask else _USUAL if said.yes else _NEVER))
    if not (may_ask or said.is_said):
        say(f"No agent is connected and no night is scheduled: `curate init --yes {shlex.quote(str(root))}` does both.")
    if not may_ask and not load_user_settings(os.environ).chosen:
        say("Who reads the logs is your choice: `curate models` shows who can.")


def _found(root: Path) -> list[str]:
    return found_agents(asked_for(root))


def _asked_agents(root: Path) -> list[str]:
    found = _found(root)
    say("", "Which agents shall use the memory? Those found here are ticked.")
    say(*(f"  [{'x' if name in found else ' '}] {name:<15}{TARGETS[name]}" for name in _agents()), hang=" " * 21)
    return _asked("Names, with commas between, or none", ",".join(found) or _NONE, _named)


def _asked(question: str, default: str, read: Callable[[str], Answer]) -> Answer:
    """Return what is made of an answer; one that cannot be read is asked for again."""

    def read_or_refuse(text: str) -> Answer:
        try:
            return read(text)
        except UsageFault as fault:
            raise click.BadParameter(str(fault)) from None

    answer: Answer = click.prompt(question, default=default, value_proc=read_or_refuse)
    return answer


def _agents() -> list[str]:
    return [name for name in TARGETS if name not in {"agents", "cron", "systemd", "launchd"}]


def _named(names: str) -> list[str]:
    wanted = [one.strip() for one in names.split(",") if one.strip() not in {"", _NONE}]
    if unknown := [name for name in wanted if name not in _agents()]:
        raise UsageFault(f"{unknown[0]} is no agent.", f"There are: {', '.join(_agents())}.")
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


def _asked_reader(user: UserSettings) -> str:
    rows = readers(user)
    say("", "Who reads the logs at night?")
    say(*(f"  {at}  {name:<12} {means}" for at, (name, means) in enumerate(rows, 1)), hang=" " * 18)
    at = click.prompt("Number", default=1, type=click.IntRange(1, len(rows)))
    return str(rows[at - 1][0])


def _asked_nights() -> str:
    say("", "When shall nights run? The computer is on then, or catches up later.")
    return _asked(f"HH:MM, or {_NEVER}", _USUAL, _time)


def _time(text: str) -> str:
    if text != _NEVER:
        clock(text)
    return text


def _schedule(root: Path, time: str) -> None:
    if _time(time) == _NEVER:
        return
    if not (name := scheduler_here()):
        warn("Neither systemd nor cron answers here. `curate schedule` runs the nights in the foreground.")
        return
    _install(root, name, time)
