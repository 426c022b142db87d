"""`curate forget`: an item goes from everything but git's history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.clock import moment
from pipelines.commands.handing import confirm, item_named
from pipelines.commands.options import memory_option, memory_root, now_option
from pipelines.commands.output import say
from pipelines.night.forget import forget
from pipelines.settings import load_settings
from pipelines.store.change_set import placed_item
from pipelines.store.snapshot import read_documents
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.night.forget import Forgotten

_SHOWN = 5


@click.command()
@click.argument("ident", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--from-history", is_flag=True, help="Print the commands that take its words out of git's history; run none."
)
@memory_option
@now_option
def command(*, ident: str, yes: bool, from_history: bool, memory: Path | None, now: str | None) -> None:
    """Forget an item for good: it goes from documents, logs, Review.md, the index and kept replies.

    A hash of its wording stays, so that no run proposes it again. Git's history holds it until you rewrite that.
    """
    root = memory_root(memory)
    if from_history:
        from pipelines.commands.rewriting import tell_rewriting  # noqa: PLC0415  few ask

        tell_rewriting(root, ident)
        return
    settings = load_settings(root)
    documents = read_documents(root)
    name = item_named(documents, ident)
    path, placed = placed_item(documents, name)
    if not yes:
        say(f"{name} in {real_path(root, path)}: {placed.item.type}: {placed.item.text}")
    confirm("Forget it? It cannot be taken back with `curate undo`.", yes=yes)
    _tell(forget(root, settings, moment(now, settings), name))


def _tell(done: Forgotten) -> None:
    told = [f"{done.lines} {'line' if done.lines == 1 else 'lines'} of logs blotted out"] if done.lines else []
    told += [f"{done.replies} kept {'reply' if done.replies == 1 else 'replies'} deleted"] if done.replies else []
    told += [f"links of {', '.join(done.unlinked)} to it taken out"] if done.unlinked else []
    say(f"{done.id} of {done.path} is forgotten{': ' + ', '.join(told) if told else ''}.")
    for place in done.left[:_SHOWN]:
        say(f"Note: {place} still holds its words, and is not a run's to change.")
    if len(done.left) > _SHOWN:
        say(f"Note: so do {len(done.left) - _SHOWN} more places.")
    say(f"Note: git's history holds it still; `curate forget {done.id} --from-history` prints how to rewrite that.")
