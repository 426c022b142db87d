"""`curate undo`, which takes a run back, and `curate replay`, which repeats one from its kept replies."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import click

from pipelines.cli.changes import diff_of
from pipelines.cli.options import json_option, memory_option, memory_root, now_option, open_memory
from pipelines.cli.output import say, say_json, say_lines
from pipelines.errors import EXPECTED, FINE, UsageFault
from pipelines.night.run_history import all_runs, named
from pipelines.night.undo import Wish, plan_undo, take_back
from pipelines.store.git import Git
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("run", required=False, default="")
@click.option("--item", default="", metavar="ID", help="Take back only what the last run did to this item.")
@click.option("--dry-run", is_flag=True, help="Show what would change, as a diff, and write nothing.")
@memory_option
@now_option
def curate_undo(*, run: str, item: str, dry_run: bool, memory: Path | None, now: str | None) -> None:
    """Take RUN back as a commit of its own: a run's id or commit, or the start of one.

    Without RUN: the newest run that changed something and still stands. What it added goes and is not proposed again,
    what it changed or moved is as before, and what was changed since stays. An undo is a run: undoing it brings back
    what it took away.
    """
    if run and item:
        raise UsageFault("A RUN and --item cannot both be meant.", "Name one of them.")
    root, settings, when = open_memory(memory, now)
    git, wish = Git(root), Wish(root, settings, when, run, item)
    if dry_run:
        git.check()
        plan = plan_undo(wish, git)
        if diff := diff_of(root, plan.changes).rstrip("\n"):
            say(f"{diff}\n")
        say(f"{plan.summary()} (dry run: nothing was written)")
    else:
        plan, commit = take_back(wish, git)
        say(f"{plan.summary()}{f' (commit {commit[:10]})' if commit else ''}.")
    say_lines(f"Note: {ident} {why}." for ident, why in sorted(plan.undone.kept.items()))


@click.command()
@click.argument("run")
@json_option("Print JSON.")
@memory_option
def curate_replay(*, run: str, as_json: bool, memory: Path | None) -> int:
    """Repeat RUN (an id or a commit, or the start of one) aside, without a network, and compare.

    It begins with the commit that the run began with and takes the replies that the run rests on; where one is not kept
    any more, its day stays unread. Exit code 0: the same commit; 1: another, and the difference is shown. The memory is
    left as it is.
    """
    from pipelines.night.replay import replay  # noqa: PLC0415  help needs none of it

    root = memory_root(memory)
    git = Git(root)
    git.check()
    replayed = replay(root, git, named(all_runs(root, git), run))
    diff = diff_of(root, replayed.changes)
    if replayed.messages:
        before, after = (text.splitlines(keepends=True) for text in replayed.messages)
        diff = "".join(difflib.unified_diff(before, after, "a/commit", "b/commit"))
    if as_json:
        say_json(
            {
                "run": replayed.run,
                "same": replayed.same,
                "commit": replayed.commit,
                "replayed": replayed.replayed,
                "different": [real_path(root, change.path) for change in replayed.changes],
                "without_reply": replayed.without_reply,
                "diff": diff,
            }
        )
    elif replayed.same:
        say(f"Same: run {replayed.run} comes to commit {replayed.commit[:10]} again.")
    else:
        say(diff.rstrip("\n"))
        say(f"\nDifferent: run {replayed.run} made {replayed.commit[:10]}, its replay {replayed.replayed[:10]}.")
        if replayed.without_reply:
            count = f"{replayed.without_reply} call{'' if replayed.without_reply == 1 else 's'}"
            say(f"No reply is kept to {count}: replies age out, and another version of a prompt asks in other words.")
    return FINE if replayed.same else EXPECTED
