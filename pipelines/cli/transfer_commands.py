"""`curate export`, the items for other programs, and `curate import`, which reads those, or the chats of others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, with_memory, with_root
from pipelines.cli.output import count, put_out, say, say_json, warn, write_out
from pipelines.errors import BadFile, UsageFault, reason_of
from pipelines.night.import_items import MAX_LINE, import_items, read_export
from pipelines.queries.item_graph import json_lines
from pipelines.store.bundle import write_bundle
from pipelines.store.transcripts.reader import read_lines

if TYPE_CHECKING:
    from pipelines.cli.options import OpenMemory
    from pipelines.night.import_items import Export


@click.command()
@click.option(
    "--jsonl", metavar="FILE", help="Write JSON lines, which `curate import` reads back; - is standard output."
)
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
@click.argument("file", metavar="[FILE.jsonl]", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--replace", is_flag=True, help="Where an id is there already and says something else, take the file's words."
)
@click.option(
    "--from",
    "chats",
    metavar="EXPORT",
    type=click.Path(path_type=Path),
    help="Take in the conversations of ChatGPT or claude.ai: conversations.json, or the zip file.",
)
@click.option("--dry-run", is_flag=True, help="With --from: say what would be new, and change nothing.")
@json_option("With --from: print one JSON object.")
@with_memory
def curate_import(
    *, file: Path | None, replace: bool, chats: Path | None, dry_run: bool, as_json: bool, opened: OpenMemory
) -> None:
    """Read items from FILE.jsonl, or the conversations of another program with --from.

    FILE.jsonl is what `curate export --jsonl` wrote; - is standard input. Each item goes where it was, with its id,
    evidence and links; missing documents are made. What is there already is passed over. All of it is imported, in one
    commit, or nothing.

    With --from, what you and the assistant said goes to the logs of its days, as `curate capture` does it, and the next
    run reads them. Your words are yours; what was uploaded or found by a tool is left out. Nothing is sent anywhere. A
    newer export adds only what is new.
    """
    if (file is None) == (chats is None):
        raise UsageFault("Nothing says what to import.", "Name a FILE.jsonl, or an export with --from, and not both.")
    if chats is not None:
        if replace:
            raise UsageFault("--replace is for items, not for conversations.")
        _import_chats(chats, opened, dry_run=dry_run, as_json=as_json)
        return
    if dry_run or as_json or file is None:
        raise UsageFault("--dry-run and --json go with --from.")
    done = import_items(*opened, _read(file), replace=replace)
    if not (done.added or done.replaced or done.made):
        say(f"Nothing to import: {count(done.skipped, 'item is', 'items are')} there already.")
        return
    parts = [f"{count(len(done.added), 'item')} imported"]
    parts += [f"{len(done.replaced)} replaced"] if done.replaced else []
    parts += [f"{done.skipped} there already"] if done.skipped else []
    parts += [f"{count(len(done.made), 'document')} made"] if done.made else []
    say(f"{', '.join(parts)}.")


def _import_chats(path: Path, opened: OpenMemory, *, dry_run: bool, as_json: bool) -> None:
    """Take the conversations of an export in, or say what would be new, and print what became of them."""
    from pipelines.agents.chat_exports import (  # noqa: PLC0415  few imports are of chats
        TITLES,
        capture_chats,
        read_chats,
    )

    with read_chats(path) as export:
        found = capture_chats(*opened, path, export, dry=dry_run)
    new = [one for one in found if one.turns]
    days = sorted({day for one in new for day in one.days})
    told = {
        "programs": sorted(export.programs),
        "conversations": len(export),
        "empty": export.empty,
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
    names = " and ".join(TITLES[one] for one in sorted(export.programs))
    if not new:
        say(f"Nothing new in {count(len(export), 'conversation')} of {names}.")
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


def _read(file: Path) -> Export:
    if str(file) == "-":
        return read_export("Standard input", read_lines(sys.stdin.buffer, MAX_LINE))
    try:
        with file.open("rb") as lines:
            return read_export(str(file), read_lines(lines, MAX_LINE))
    except OSError as error:
        raise BadFile(file, f"cannot be read: {reason_of(error)}", "Name another file.") from None
