"""`curate init`: lay down a memory and put it under git; run again, it adds what is missing and overwrites nothing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

import click

from pipelines.cli.options import json_option, now_option
from pipelines.cli.output import say
from pipelines.clock import moment, system_zone
from pipelines.errors import BadFile, UsageFault
from pipelines.settings import load_settings
from pipelines.store.edits import commit_edits
from pipelines.store.git import Author, Git
from pipelines.store.lock import run_lock
from pipelines.store.template import lay_down
from pipelines.templating import resource

_KINDS: Final = ("openclaw", "claude-code", "obsidian", "basic-memory")


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), required=False, metavar="[DIR]")
@click.option("--adopt", type=click.Path(path_type=Path), metavar="NOTES", help="Begin with these notes.")
@click.option("--in-place", is_flag=True, help="Work on NOTES where they lie; rewrite nothing that is there.")
@click.option("--opt-in", "opted_in", metavar="GLOB", multiple=True, help="Let runs write items and ids into these.")
@click.option("--home", default="Curated", show_default=True, help="In place: the new folder for what runs make.")
@click.option("--as", "kind", type=click.Choice(_KINDS), help="What NOTES is, where that is not seen by itself.")
@click.option("--yes", is_flag=True, help="Adopt without asking.")
@click.option("--print", "only_print", is_flag=True, help="Show what adopting would do, and do nothing.")
@click.option(
    "--from",
    "bundle",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Restore what `curate export --bundle` wrote.",
)
@json_option("Print what goes where as JSON.")
@now_option
def curate_init(  # noqa: PLR0913  click hands over each option by name
    *,
    directory: Path | None,
    adopt: Path | None,
    in_place: bool,
    opted_in: tuple[str, ...],
    home: str,
    kind: str | None,
    yes: bool,
    only_print: bool,
    bundle: Path | None,
    as_json: bool,
    now: str | None,
) -> None:
    """Make a memory in DIR (default: here), or add what an existing one lacks.

    What is there is never overwritten. The memory is a git repository of its own.

    With --adopt, the new memory begins with what NOTES holds: an OpenClaw workspace, a project memory of Claude Code,
    an Obsidian vault, or a folder of basic-memory. It is copied, never changed, and what goes where is shown first;
    without --yes, or where nobody can be asked, nothing is written. With --in-place NOTES become a memory where they
    lie: daily notes are read and appended to, the others searched, and only what --opt-in names is ever written.

    With --from, DIR becomes the memory that a bundle holds, history and all; it must be new or empty.
    """
    if bundle and adopt:
        raise UsageFault("--from and --adopt contradict each other.", "Give one of them.")
    if adopt is None:
        if kind or yes or only_print or as_json or in_place or opted_in:
            sentence = "--as, --yes, --print, --json, --in-place and --opt-in belong to --adopt."
            raise UsageFault(sentence, "Name the notes: --adopt NOTES.")
        root = (directory or Path()).expanduser().absolute()
        _restore(bundle.expanduser(), root) if bundle else _make(root, now)
        return
    if yes and only_print:
        raise UsageFault("--yes and --print contradict each other.", "Give one of them.")
    if in_place and directory:
        raise UsageFault(f"With --in-place the memory is NOTES, not {directory}.", "Leave DIR out.")
    if opted_in and not in_place:
        raise UsageFault("--opt-in belongs to --in-place.", "What is copied is the memory's own, and needs none.")
    from pipelines.cli.adopt_notes import Wanted, adopt_by_copy, adopt_in_place  # noqa: PLC0415  most begin empty

    wanted = Wanted(adopt, kind, now, sure=yes, only_print=only_print, as_json=as_json)
    if in_place:
        adopt_in_place(wanted, home, opted_in)
    else:
        adopt_by_copy(wanted, directory)


def _restore(bundle: Path, root: Path) -> None:
    from pipelines.store.bundle import restore_bundle  # noqa: PLC0415  seldom asked for

    files = restore_bundle(bundle, root)
    then = f"`curate index --memory {shlex.quote(str(root))}` makes search by meaning; set up remotes and nights anew."
    say(f"Restored {files:,} files and their history to {root}. {then}")


def _make(root: Path, now: str | None) -> None:
    if root.exists() and not root.is_dir():
        raise BadFile(root, "is no folder", "Name a folder, or one to be made.")
    added = lay_down(root, resource("memory_template"), system_zone())
    settings = load_settings(root)
    git = Git(root)
    fresh = not (git.is_repository() if git.layout.in_place else (root / ".git").exists())
    if fresh:
        git.init()
    git.check()
    when = moment(now, settings)
    with run_lock(root, "curate init"):
        if added or fresh:
            commit_edits(root, git, "Lay down the memory\n", Author(*settings.author, when))
    if fresh:
        say(f"Made a memory in {root}.")
        say('Write to it with `curate log "TEXT"`, curate it with `curate run`.')
    else:
        say(f"Added to {root}: {', '.join(added)}." if added else f"Nothing is missing in {root}.")
