"""The verbs between programs and machines: `curate export`, `curate import` for chats, and `curate sync`."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import click

from pipelines.cli.options import ANY_PATH, OpenMemory, with_memory, with_root
from pipelines.cli.output import days_shown, put_out, say, say_json, warn
from pipelines.errors import EXPECTED, BadFile, CurateError
from pipelines.store.bundle import write_bundle
from pipelines.store.document import document_at
from pipelines.store.files import read_bytes
from pipelines.store.trees import ledger_on_disk
from pipelines.text import count


@click.command()
@click.argument("file")
@with_root
def curate_export(*, file: str, root: Path) -> None:
    """Write the whole memory to FILE, which `curate init --from` restores; `-` is standard output.

    That is its history in git, and all files as they stand, transcripts too. It is read by whoever has the file.

    Of a page of the memory, such as Projects/tide.md, print its text and what the ledger knows of its lines, as JSON.
    """
    page = str(PurePosixPath(file))
    if page.endswith(".md") and (data := read_bytes(root, page)) is not None:
        text = data.decode(errors="replace")
        rows = document_at(page, text, ledger_on_disk(root)).rows
        say_json({"path": page, "text": text, "rows": [json.loads(row) for _, row in sorted(rows.items())]})
        return
    target = Path(file).expanduser().absolute()
    if file != "-" and (target.exists() or root.resolve() in target.resolve().parents):
        why = "is there already" if target.exists() else "would be part of the memory"
        raise BadFile(target, why, "Name another file, outside of the memory.")
    with put_out(file) as out:
        files = write_bundle(root, out)
    shown = "standard output" if file == "-" else str(target)
    warn(f"Wrote {files:,} files and their history to {shown}. `curate init DIR --from FILE` restores them.")


@click.command()
@click.argument("export", type=ANY_PATH)
@with_memory
def curate_import(export: Path, opened: OpenMemory) -> None:
    """Take in the conversations of ChatGPT or claude.ai. EXPORT is conversations.json, or the zip file.

    What you and the assistant said goes to the logs of its days, as `curate capture` does it, and the next run reads
    them. Your words are yours; what was uploaded or found by a tool is left out. Nothing is sent anywhere. A newer
    export adds only what is new.
    """
    from pipelines.agents.chat_exports import TITLES, capture_chats, read_chats  # noqa: PLC0415  few imports are of chats

    chats = read_chats(export)
    found = capture_chats(*opened, export, chats)
    new = [one for one in found if one.turns]
    names = " and ".join(TITLES[one] for one in sorted({chat.program for chat in chats}))
    if not new:
        say(f"Nothing new in {count(len(chats), 'conversation')} of {names}.")
        return
    messages, yours = sum(one.turns for one in new), sum(one.owners for one in new)
    span = days_shown({day for one in new for day in one.days})
    what = f"{count(messages, 'message')} of {count(len(new), 'conversation')} with {names}, {span}; {yours:,} yours"
    say(f"Imported {what}. The next run reads them.")
    if redacted := sum(one.redacted for one in found):
        warn(f"Secrets in {count(redacted, 'message')} are redacted.")


# ---------------------------------------- sync


@click.command()
@with_memory
def curate_sync(opened: OpenMemory) -> int:
    """Capture new sessions, push logs and edits to the memory's remote, and fetch what nights elsewhere made of them.

    The remote is the one in your settings ([push]). It is quiet if there is nothing to do. With a remote set, it also
    runs whenever a session of Claude Code or Codex ends.
    """
    from pipelines.cli.capture_command import sweep_sessions  # noqa: PLC0415  help needs no git
    from pipelines.night.sync import Sharing, sync  # noqa: PLC0415  as above
    from pipelines.provider_settings import user_file  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    root, settings, when = opened
    if not (remote := load_user_settings().file.push.remote_of(root)):
        raise CurateError(
            "Your settings name no remote for this memory.",
            f'Add it to {user_file() or "config.toml"}: remote = "origin" under [push].',
        )
    sweep_sessions(root, settings, when, quiet=True)
    sharing = Sharing(settings, remote, when)
    held = sync(root, sharing)
    if done := [word for word, was in (("Fetched", sharing.has_received), ("pushed", sharing.has_sent)) if was]:
        say(f"{' and '.join(done).capitalize()}: {remote}.")
    warn(*sharing.notes, *held)
    return EXPECTED if sharing.state != "pushed" or held else 0
