"""`curate check`: is everything accounted for, and is nothing broken?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.clock import moment
from pipelines.commands.options import memory_option, memory_root, now_option
from pipelines.commands.output import say, say_json
from pipelines.errors import EXPECTED, FINE, UsageFault
from pipelines.settings import load_settings
from pipelines.store.conservation import check_memory
from pipelines.store.git import Git
from pipelines.store.snapshot import read_snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.store.conservation import Fault


@click.command()
@click.option("--fix", is_flag=True, help="Mend what has one right answer, and commit that.")
@click.option("--secrets", is_flag=True, help="Look for secrets instead: in the files as they are.")
@click.option("--history", is_flag=True, help="With --secrets: in every version that git holds, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the faults as JSON.")
@memory_option
@now_option
def command(*, fix: bool, secrets: bool, history: bool, as_json: bool, memory: Path | None, now: str | None) -> int:
    """Check that every item that ever was live is accounted for, and that no hand edit broke anything.

    Each fault is named with file, line and item. The exit code is 1 while there are any. With --secrets, files are
    looked through for secrets instead, and it is said how to get them out of git's history; nothing is changed.
    """
    root = memory_root(memory)
    settings = load_settings(root)
    git = Git(root)
    git.check()
    if secrets:
        from pipelines.commands.leaks import tell_secrets  # noqa: PLC0415  only --secrets needs it

        return tell_secrets(root, git if history else None, as_json=as_json)
    if history:
        raise UsageFault("--history goes with --secrets.", "Write `curate check --secrets --history`.")
    if fix:
        from pipelines.night.repair import mend  # noqa: PLC0415  only --fix writes

        mended = mend(root, settings, moment(now, settings))
        if not as_json:
            say(f"Mended: {mended}." if mended else "There was nothing to mend.")
    faults = check_memory(read_snapshot(root), git, settings.caps.briefing)
    if as_json:
        say_json([fault.to_json() for fault in faults])
    else:
        _tell(faults)
    return EXPECTED if faults else FINE


def _tell(faults: list[Fault]) -> None:
    for fault in faults:
        say(str(fault))
    if not faults:
        say("Everything is accounted for, and nothing is broken.")
    elif any(fault.mendable for fault in faults):
        say("`curate check --fix` mends what has one right answer.")
