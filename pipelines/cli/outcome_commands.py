"""The verbs with which an owner records what became of items.

`curate done` and `close` close items, `correct` replaces one, and `reopen` undoes any of that. Each makes one commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.cli.manual_changes import redacted_text
from pipelines.cli.options import OpenMemory, TextCommand, Words, flag_option, with_memory
from pipelines.cli.output import can_ask, day_shown, say, say_verbatim
from pipelines.errors import UsageFault
from pipelines.night.manual import ManualChange, change_by_hand
from pipelines.night.outcome_changes import Authority, Changed, close_items, correct_item, reopen_items, settle_pair
from pipelines.night.own_items import looks_like_id, named_items
from pipelines.night.session_changes import HOLDS, IS_OVER, settle_by_session
from pipelines.queries.item_graph import outcome_lines
from pipelines.queries.startup.context import unsettled_pairs
from pipelines.store.item import OUTCOMES, Item, ItemType, Status
from pipelines.store.snapshot import read_documents

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.night.own_items import Sought
    from pipelines.store.document import Documents


_IDS = click.argument("items", metavar="ID...", nargs=-1, required=True)
_MOST_NAMED = 3
_ANY = "live or open item"
_ENDINGS = {
    "done": "open todo",
    "dropped": "open todo or risk",
    "resolved": "open risk",
    "occurred": "open risk",
    "answered": "live belief",
    "ended": "live belief",
    "never-true": _ANY,
}
"""What can end so."""


@click.command(cls=TextCommand)
@_IDS
@with_memory
def curate_done(items: Words, opened: OpenMemory) -> None:
    """Mark todos as done.

    ID is the start of an item's id, or a few words of an open todo: `curate done call Anders`. If the words match none
    or several, nothing changes and the nearest todos are shown.
    """
    _close("done", "done", items, opened)


@click.command(cls=TextCommand)
@_IDS
@click.option(
    "--as",
    "how",
    type=click.Choice([*_ENDINGS]),
    help="How it ended; the default is done for todos, resolved for risks, and ended for all else.",
)
@with_memory
def curate_close(items: Words, how: str | None, opened: OpenMemory) -> None:
    """Close items: what will not be done, can no longer happen, came true, was answered, or held until today.

    ID is the start of an item's id, or a few words of it. What was a mistake from the start is closed as never-true:
    `--as-of` shows it for no day, while `curate why` still shows it. If something else holds now, use `curate correct`;
    to remove its words altogether, use `curate forget`.
    """
    _close("close", how, items, opened)


@click.command(cls=TextCommand)
@click.argument("words", metavar="ID SENTENCE", nargs=-1, required=True)
@flag_option("--never-true", "The old sentence was wrong from the start.", "never_held")
@with_memory
def curate_correct(*, words: Words, never_held: bool, opened: OpenMemory) -> None:
    """Replace an item with a new SENTENCE of yours; the old one is kept as history.

    ID is the start of an item's id, or a few words of it; after words, SENTENCE needs quotation marks. The old sentence
    held until today. With --never-true it was a mistake, and the new one counts from the day when the old one began.
    """
    at = 1 if looks_like_id(words[0]) else len(words) - 1
    item, text = " ".join(words[:at]), redacted_text(opened[0], " ".join(words[at:]), "correct")
    if not item:
        raise UsageFault("Which item does the sentence replace?", 'Write `curate correct ID "SENTENCE"`.')
    if not text:
        raise UsageFault("There is no new sentence.", "Give one, or close it: `curate close ID`.")
    _carry_out(
        "correct",
        HOLDS,
        lambda documents, found, by: correct_item(documents, found[0], text, by, never_held=never_held),
        (item,),
        opened,
    )


@click.command(cls=TextCommand)
@_IDS
@with_memory
def curate_reopen(items: Words, opened: OpenMemory) -> None:
    """Reopen closed items: todos and risks are open again, anything else holds again.

    ID is the start of an item's id, or a few words of a closed item. An item that replaced it stays as well.
    """
    _carry_out("reopen", IS_OVER, reopen_items, items, opened)


@click.command(cls=TextCommand)
@click.argument("words", metavar="[ID replaces|both ID]", nargs=-1)
@with_memory
def curate_settle(*, words: Words, opened: OpenMemory) -> None:
    """Settle two items that may conflict.

    With "replaces", the first item takes the place of the second one; with "both", both hold. Unless you say
    at a terminal that it is your own word, it counts as an agent's: what you said yourself stays until you decide in
    Review.md. Without IDs, this lists the
    pairs that wait.
    """
    root, _, when = opened
    if not words:
        say_verbatim(unsettled_pairs(root) or "No pair waits.")
        return
    if len(words) != 3 or words[1] not in {"replaces", "both"}:  # noqa: PLR2004  two ids, and what is true of them
        raise UsageFault("Name two items.", "Write `curate settle ID replaces ID` or `curate settle ID both ID`.")
    one, how, other = words
    if can_ask() and click.confirm("Is this your own word, not an agent's?"):
        _carry_out(
            "settle",
            HOLDS,
            lambda documents, found, by: settle_pair(documents, found[0], found[-1], how, by),
            (one, other),
            opened,
        )
        return
    outcome = settle_by_session(root, one, how, other, when)
    if how == "both" and not outcome.asked:
        say(f"{one} and {outcome.id} both hold.")
    else:
        say(*outcome_lines(outcome, read_documents(root), day_shown))


def _ending(how: str | None, kind: ItemType) -> Status:
    """Return the status that an item of a type gets which ends so; None is the usual end."""
    if how == "never-true":
        return Status.NEVER_HELD
    if how == "dropped" and kind is ItemType.RISK:
        return Status.RESOLVED
    return Status(how) if how else OUTCOMES[kind][0]


def _close(verb: str, how: str | None, items: Words, opened: OpenMemory) -> None:
    def can_end(item: Item) -> bool:
        return item.active and _ending(how, item.type) in {*OUTCOMES[item.type], Status.NEVER_HELD}

    _carry_out(
        verb,
        (can_end, _ENDINGS[how] if how else _ANY),
        lambda documents, found, by: close_items(documents, found, lambda kind: _ending(how, kind), by),
        items,
        opened,
    )


def _carry_out(
    verb: str,
    sought: Sought,
    change: Callable[[Documents, list[str], Authority], Changed],
    items: Words,
    opened: OpenMemory,
) -> None:
    """Look the items up, change them in one commit, and print the outcome of each."""
    with change_by_hand(opened, f"curate {verb}") as held:
        found = named_items(held.documents, items, sought)
        documents, outcomes = change(held.documents, found, Authority(held.today))
        after = held.documents
        added = [one.new for one in outcomes if one.is_new]
        if documents != after:
            named = ", ".join(found[:_MOST_NAMED])
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            summary = f"{verb.capitalize()} {named}{more}"
            after = held.write(ManualChange(documents, summary, added=added, changed=len(found)))
    for one in outcomes:
        say(*outcome_lines(one, after, day_shown))
