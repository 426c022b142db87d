"""The verbs between programs and machines: `curate export`, `curate import` for chats, and `curate sync`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, with_memory, with_root
from pipelines.cli.output import count, put_out, say, say_json, warn, write_out
from pipelines.errors import EXPECTED, BadFile, CurateError, UsageFault
from pipelines.queries.item_graph import json_lines
from pipelines.store.bundle import write_bundle

if TYPE_CHECKING:
    from pipelines.cli.options import OpenMemory


@click.command()
@click.option("--jsonl", metavar="FILE", help="Write JSON lines; - is standard output.")
@click.option(
    "--bundle", metavar="FILE", help="Write the whole memory, which `curate init --from` restores; - as above."
)
@with_root
def curate_export(*, jsonl: str | None, bundle: str | None, root: Path) -> None:
    """Write all items, whatever their status, with their evidence and links, for other programs.

    With --bundle, write the memory itself: its history in git, and all files as they stand, transcripts too. It is read
    by whoever has the file.
    """
    if (jsonl is None) == (bundle is None):
        raise UsageFault("Nobody said what to write.", "Name one of --jsonl FILE and --bundle FILE.")
    if bundle is not None:
        _write_bundle(root, bundle)
    elif jsonl is not None:
        write_out(jsonl, json_lines(root))


def _write_bundle(root: Path, name: str) -> None:
    target = Path(name).expanduser().absolute()
    if name != "-" and (target.exists() or root.resolve() in target.resolve().parents):
        why = "is there already" if target.exists() else "would be part of the memory"
        raise BadFile(target, why, "Name another file, outside of the memory.")
    with put_out(name) as out:
        files = write_bundle(root, out)
    shown = "standard output" if name == "-" else str(target)
    warn(f"Wrote {files:,} files and their history to {shown}. `curate init DIR --from FILE` restores them.")


@click.command()
@click.argument("export", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be new, and change nothing.")
@json_option("Print one JSON object.")
@with_memory
def curate_import(*, export: Path, dry_run: bool, as_json: bool, opened: OpenMemory) -> None:
    """Take in the conversations of ChatGPT or claude.ai. EXPORT is conversations.json, or the zip file.

    What you and the assistant said goes to the logs of its days, as `curate capture` does it, and the next run reads
    them. Your words are yours; what was uploaded or found by a tool is left out. Nothing is sent anywhere. A newer
    export adds only what is new.
    """
    from pipelines.agents.chat_exports import (  # noqa: PLC0415  few imports are of chats
        TITLES,
        capture_chats,
        read_chats,
    )

    chats, empty = read_chats(export)
    found = capture_chats(*opened, export, chats, dry=dry_run)
    programs = sorted({chat.program for chat in chats})
    new = [one for one in found if one.turns]
    days = sorted({day for one in new for day in one.days})
    told = {
        "programs": programs,
        "conversations": len(chats),
        "empty": empty,
        "new": len(new),
        "messages": sum(one.turns for one in new),
        "yours": sum(one.owners for one in new),
        "redacted": sum(one.redacted for one in found),
        "days": days,
        "dry_run": dry_run,
    }
    if as_json:
        say_json(told)
        return
    names = " and ".join(TITLES[one] for one in programs)
    if not new:
        say(f"Nothing new in {count(len(chats), 'conversation')} of {names}.")
        return
    span = days[0] if len(days) == 1 else f"{len(days):,} days from {days[0]} to {days[-1]}"
    messages, yours, redacted = (sum(getattr(one, name) for one in new) for name in ("turns", "owners", "redacted"))
    what = f"{count(messages, 'message')} of {count(len(new), 'conversation')} with {names}, {span}; {yours:,} yours"
    if dry_run:
        say(f"Would import {what}. Nothing was changed.")
        return
    say(f"Imported {what}. The next run reads them.")
    if redacted:
        warn(f"Secrets in {count(redacted, 'message')} are redacted.")


# ---------------------------------------- sync


@click.command()
@json_option()
@with_memory
def curate_sync(*, as_json: bool, opened: OpenMemory) -> int:
    """Capture new sessions, push logs and edits to the memory's remote, and fetch what nights elsewhere made of them.

    The remote is the one in your settings ([push]). It is quiet if there is nothing to do. With a remote set, it also
    runs whenever a session of Claude Code or Codex ends.
    """
    from pipelines.cli.capture_command import sweep_sessions  # noqa: PLC0415  help needs no git
    from pipelines.night.sync import Sharing, sync  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    root, settings, when = opened
    push = load_user_settings(os.environ).push
    if not (remote := push.remote_of(root)):
        raise CurateError(
            "Your settings name no remote for this memory.",
            'Add it to ~/.config/memcurate/config.toml: remote = "origin" under [push].',
        )
    sweep_sessions(root, settings, when, quiet=True)
    sharing = Sharing(settings, push.model_copy(update={"tries": 1}), remote, when)  # the next sync is the next try
    held = sync(root, sharing)
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
    return EXPECTED if sharing.state != "pushed" or sharing.needs_person or held else 0
