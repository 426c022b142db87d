"""`curate sync`: exchange logs, edits and nights with the remote, on the machine of an agent."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, with_memory
from pipelines.cli.output import say, say_json, warn
from pipelines.errors import EXPECTED, CurateError
from pipelines.queries.startup.cache import load_cached

if TYPE_CHECKING:
    from pipelines.cli.options import OpenMemory


@click.command()
@json_option()
@with_memory
def curate_sync(*, as_json: bool, opened: OpenMemory) -> int:
    """Push logs and edits to the memory's remote, and fetch what nights elsewhere made of them. No log is read.

    The remote is the one in your settings ([push]). It is quiet if there is nothing to do. With a remote set, it also
    runs whenever a session of Claude Code or Codex ends.
    """
    from pipelines.night.sync import Sharing, sync  # noqa: PLC0415  help needs no git
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    root, settings, when = opened
    push = load_user_settings(os.environ).push
    if not (remote := push.remote_of(root)):
        raise CurateError(
            "Your settings name no remote for this memory.",
            'Add it to ~/.config/memcurate/config.toml: remote = "origin" under [push].',
        )
    sharing = Sharing(settings, push.model_copy(update={"tries": 1}), remote, when)  # the next sync is the next try
    held = sync(root, sharing)
    if sharing.has_received:
        load_cached(str(root), time.time())  # for the next session's start
    if as_json:
        say_json({
            "state": sharing.state, "sent": sharing.has_sent, "received": sharing.has_received,
            "notes": [*sharing.notes, *held],
        })  # fmt: skip
    else:
        done = [word for word, was in (("Fetched", sharing.has_received), ("pushed", sharing.has_sent)) if was]
        if done:
            say(f"{' and '.join(done).capitalize()}: {remote}.")
        for note in (*sharing.notes, *held):
            warn(note)
    return EXPECTED if sharing.state != "pushed" or held else 0
