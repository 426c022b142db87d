"""`curate init`: lay down a memory and put it under git; run again, it adds what is missing and overwrites nothing."""

from __future__ import annotations

from pathlib import Path

import click

from pipelines.clock import moment, system_zone
from pipelines.commands.options import now_option
from pipelines.commands.output import say
from pipelines.errors import BadFile
from pipelines.memory.edits import commit_edits
from pipelines.memory.git import Author, Git
from pipelines.memory.lock import run_lock
from pipelines.memory.template import lay_down
from pipelines.resources import resource
from pipelines.settings import load_settings


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), default=Path(), metavar="[DIR]")
@now_option
def command(directory: Path, now: str | None) -> None:
    """Make a memory in DIR (default: here), or add what an existing one lacks.

    What is there is never overwritten. The memory is a git repository of its own.
    """
    root = directory.expanduser().absolute()
    if root.exists() and not root.is_dir():
        raise BadFile(root, "is no folder", "Name a folder, or one to be made.")
    added = lay_down(root, resource("memory_template"), system_zone())
    settings = load_settings(root)
    git = Git(root)
    fresh = not (root / ".git").exists()
    if fresh:
        git.init()
    git.check()
    when = moment(now, settings)
    with run_lock(root, "curate init"):
        if added or fresh:
            name, mail = git.identity() or settings.author
            commit_edits(root, git, "Lay down the memory\n", Author(name, mail, when))
    if fresh:
        say(f"Made a memory in {root}.")
        say('Write to it with `curate log "TEXT"`, curate it with `curate run`.')
    else:
        say(f"Added to {root}: {', '.join(added)}." if added else f"Nothing is missing in {root}.")
