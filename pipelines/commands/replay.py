"""`curate replay`: repeat a run from its kept replies, and say whether it comes to the same bytes."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import click

from pipelines.commands.diff import diff_of
from pipelines.commands.options import memory_option, memory_root
from pipelines.commands.output import say, say_json
from pipelines.errors import EXPECTED, FINE
from pipelines.night.run_history import all_runs, named
from pipelines.store.git import Git
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.night.replay import Replayed


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@memory_option
def command(*, run: str, as_json: bool, memory: Path | None) -> int:
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
    if as_json:
        say_json(_as_json(root, replayed))
    else:
        _tell(root, replayed)
    return FINE if replayed.same else EXPECTED


def _as_json(root: Path, replayed: Replayed) -> dict[str, object]:
    return {
        "run": replayed.run,
        "same": replayed.same,
        "commit": replayed.commit,
        "replayed": replayed.replayed,
        "different": [real_path(root, change.path) for change in replayed.changes],
        "without_reply": replayed.without_reply,
        "diff": _diff(root, replayed),
    }


def _diff(root: Path, replayed: Replayed) -> str:
    if not replayed.messages:
        return diff_of(root, replayed.changes)
    before, after = (text.splitlines(keepends=True) for text in replayed.messages)
    return "".join(difflib.unified_diff(before, after, "a/commit", "b/commit"))


def _tell(root: Path, replayed: Replayed) -> None:
    if replayed.same:
        say(f"Same: run {replayed.run} comes to commit {replayed.commit[:10]} again.")
        return
    say(_diff(root, replayed).rstrip("\n"))
    say(f"\nDifferent: run {replayed.run} made {replayed.commit[:10]}, its replay {replayed.replayed[:10]}.")
    if replayed.without_reply:
        count = f"{replayed.without_reply} call" + ("" if replayed.without_reply == 1 else "s")
        say(f"No reply is kept to {count}: replies age out, and another version of a prompt asks in other words.")
