"""`curate undo`: take a run back, or what the last run did to one item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.clock import moment
from pipelines.commands.diff import diff_of
from pipelines.commands.options import memory_option, memory_root, now_option
from pipelines.commands.output import say
from pipelines.errors import UsageFault
from pipelines.night.undo import Wish, plan_undo, take_back
from pipelines.settings import load_settings
from pipelines.store.git import Git

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.night.undo import UndoPlan


@click.command()
@click.argument("run", required=False, default="")
@click.option("--item", default="", metavar="ID", help="Take back only what the last run did to this item.")
@click.option("--dry-run", is_flag=True, help="Show what would change, as a diff, and write nothing.")
@memory_option
@now_option
def command(*, run: str, item: str, dry_run: bool, memory: Path | None, now: str | None) -> None:
    """Take RUN back as a commit of its own: a run's id or commit, or the start of one.

    Without RUN: the newest run that changed something and still stands. What it added goes and is not proposed again,
    what it changed or moved is as before, and what was changed since stays. An undo is a run: undoing it brings back
    what it took away.
    """
    if run and item:
        raise UsageFault("A RUN and --item cannot both be meant.", "Name one of them.")
    root = memory_root(memory)
    settings = load_settings(root)
    git, wish = Git(root), Wish(root, settings, moment(now, settings), run, item)
    if dry_run:
        git.check()
        plan = plan_undo(wish, git)
        if diff := diff_of(root, plan.changes).rstrip("\n"):
            say(f"{diff}\n")
        say(f"{plan.summary()} (dry run: nothing was written)")
    else:
        plan, commit = take_back(wish, git)
        say(f"{plan.summary()}{f' (commit {commit[:10]})' if commit else ''}.")
    _tell_kept(plan)


def _tell_kept(plan: UndoPlan) -> None:
    for ident, why in sorted(plan.undone.kept.items()):
        say(f"Note: {ident} {why}.")
