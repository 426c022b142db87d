"""`curate review`: what waits for a person, decided on a terminal, item by item, or by a script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pipelines.clock import moment
from pipelines.commands.options import memory_option, memory_root, now_option
from pipelines.commands.output import on_terminal, say, say_json, say_table
from pipelines.errors import UsageFault
from pipelines.night.manual_review import decide, named_question, questions
from pipelines.settings import load_settings
from pipelines.store.snapshot import read_documents
from pipelines.store.user_layout import told as shown_names

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from pipelines.night.manual_review import Question
    from pipelines.settings import Settings


@click.command()
@click.argument("ident", metavar="[ID]", required=False, default="")
@click.option("--accept", "word", flag_value="accept", help="Yes: restore, keep new, keep, archive, or close.")
@click.option("--reject", "word", flag_value="reject", help="No: retract, drop, drop, keep, or keep.")
@click.option("--choose", metavar="CHOICE", default="", help="One of the choices by its word, as “keep both”.")
@click.option("--json", "as_json", is_flag=True, help="Print what waits as a JSON array.")
@memory_option
@now_option
def command(*, ident: str, word: str | None, choose: str, as_json: bool, memory: Path | None, now: str | None) -> None:
    """Decide what waits in Review.md: on a terminal one after the other, or the one that ID names.

    ID is the id of an item that waits, or of a whole entry, or its beginning. Without a terminal, and without ID, what
    waits is listed. Every decision is committed at once, and `curate undo` takes it back.
    """
    root = memory_root(memory)
    settings = load_settings(root)
    when = moment(now, settings)
    told = choose or word
    if told and not ident:
        raise UsageFault("It takes an ID to decide by a flag.", "`curate review` lists what waits.")
    if told and choose and word:
        raise UsageFault("Two decisions cannot both be meant.", "Give --choose alone.")
    if told:
        _decide(root, settings, when, ident, told)
        return
    waiting = _named(root, ident)
    if as_json:
        from pipelines.commands.review_told import question_json  # noqa: PLC0415  only scripts ask
        from pipelines.store.evidence import Quotes  # noqa: PLC0415  as above

        quotes = Quotes(root)
        say_json([question_json(root, one, quotes) for one in waiting])
    elif not waiting:
        say("Nothing waits for you.")
    elif on_terminal() and sys.stdin.isatty():
        from pipelines.commands.review_told import go_through  # noqa: PLC0415  only a terminal asks

        go_through(root, waiting, lambda one, choice: _decide(root, settings, when, one, choice))
    else:
        rows = [(one.id, one.entry.kind, one.entry.day, one.entry.title, ", ".join(one.choices)) for one in waiting]
        say_table(("id", "kind", "since", "what", "choices"), rows)


def _named(root: Path, ident: str) -> list[Question]:
    documents = read_documents(root)
    if not ident:
        return questions(documents)
    return [named_question(documents, ident)]


def _decide(root: Path, settings: Settings, when: datetime, ident: str, word: str) -> None:
    choice, deed = decide(root, settings, when, ident, word)
    say(f"{deed.summary.removeprefix('Review ')}." if deed.summary else f"{ident}: {choice}.")
    for note in deed.notes:
        say(f"Note: {shown_names(root, note)}")
