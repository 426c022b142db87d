"""What `curate install` and `curate uninstall` share: their options, and how they tell what they do."""

from __future__ import annotations

import functools
import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from pipelines.commands.output import say
from pipelines.errors import UsageFault
from pipelines.install import TARGETS
from pipelines.install.files import carry_out, changes
from pipelines.install.plan import Asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.install.files import Change
    from pipelines.install.plan import Target
    from pipelines.install.program import Program


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `TARGET --project-dir --agents-md --print`."""
    folder = click.Path(path_type=Path, file_okay=False, exists=True)

    @functools.wraps(command)
    def checked(*, target: str | None, **others: Any) -> Any:  # noqa: ANN401  what other options give
        told = target or ("agents" if others["agents_md"] else None)
        if told is None:
            known = "\n".join(f"  {name:<12} {what}" for name, what in TARGETS.items())
            raise UsageFault(f"Which agent? Name one:\n{known}")
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


def carry_out_or_show(
    target: str, program: Program, places: tuple[Path | None, Path | None], *, adding: bool, only_print: bool
) -> None:
    """Do what a target plans, or show it, and say which files changed."""
    folder, agents_md = (place.expanduser().absolute() if place else None for place in places)
    if agents_md and target != "agents":
        raise UsageFault(f"--agents-md is for the target agents, not for {target}.")
    asked = Asked(program, Path.home(), folder, agents_md, servers=find_spec("mcp") is not None)
    module = cast("Target", importlib.import_module(f"pipelines.install.{target.replace('-', '_')}"))
    plan = module.plan(asked, adding=adding)
    done = changes(plan) if only_print else carry_out(plan)
    for change in done:
        if only_print:
            click.echo(change.diff(), nl=False)
        else:
            say(f"{_verb(change)} {change.name}.")
    if not done:
        say(f"Nothing to do for {target}.")
    for note in plan.notes if done or adding else ():
        click.echo(note, err=only_print)


def _verb(change: Change) -> str:
    return "Removed" if change.after is None else "Changed" if change.before is not None else "Made"
