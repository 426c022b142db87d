"""What an agent's session changes at once: it closes, corrects and reopens items by the word of its own log.

Each change has a line in the day's log, in the form that a journal is taught, which is its evidence. What is trusted
more than an agent's word is not changed: Review.md asks a person.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.clock import moment
from pipelines.errors import UsageFault
from pipelines.night.manual import Deed, change_by_hand
from pipelines.night.name_items import named_items
from pipelines.night.outcome_changes import Voice, close_items, correct_item, reopen_items
from pipelines.review.outcomes import REOPENABLE
from pipelines.review.trust.attacks import made_inert
from pipelines.settings import load_settings
from pipelines.store.append_log import append_line, log_line
from pipelines.store.change_set import placed_item
from pipelines.store.files import read_bytes
from pipelines.store.git_history import BY_SESSION
from pipelines.store.item import OUTCOMES, Evidence, ItemType, Status, Trust, fold, quote_digest
from pipelines.store.log import last_place
from pipelines.store.secrets import load_redactor
from pipelines.text import without_unseen
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from pipelines.night.manual import Held
    from pipelines.night.name_items import Sought
    from pipelines.night.outcome_changes import Changed, Outcome
    from pipelines.store.item import Item


BY: Final = "session@1"
"""What stands for who wrote it in an item that a session corrected."""
_FORMS: Final = {
    Status.DONE: "Done",
    Status.DROPPED: "Dropped",
    Status.RESOLVED: "Resolved",
    Status.OCCURRED: "Occurred",
    Status.ANSWERED: "Answered",
    Status.ENDED: "No longer",
    Status.NEVER_HELD: "Never held",
}


def close_by_session(root: Path, name: str, how: Status, reason: str = "", now: datetime | None = None) -> Outcome:
    """End an item by an agent's word, or ask a person.

    Args:
        root: the memory.
        name: the beginning of its id, or words that mean one open item alone.
        how: how it ends.
        reason: why, for the log; may be empty.
        now: the moment, with a zone; None for the clock's.

    Raises:
        UnknownItem: no item, or more than one, has an id that begins so.
        UsageFault: words mean none, or more than one; or an item of its type does not end so.
        LockHeld: a run works on the memory.
    """
    kinds = {kind for kind, ways in OUTCOMES.items() if how in ways} or set(ItemType)
    sought = (lambda one: one.active and one.type in kinds, f"open item that can be {how}")

    def line(item: Item) -> str:
        return f"{_FORMS[how]}: {item.id} ({item.text}){f', because {reason}' if reason else ''}"

    def change(held: Held, ident: str, voice: Voice) -> Changed:
        return close_items(held.documents, [ident], lambda _: how, voice)

    return _changed(root, name, sought, change, line, now)


def correct_by_session(root: Path, name: str, sentence: str, now: datetime | None = None) -> Outcome:
    """Put a new sentence in an item's place by an agent's word, or ask a person.

    Args:
        root: the memory.
        name: the beginning of the item's id, or words that mean one alone.
        sentence: what holds; secrets in it are redacted.
        now: the moment, with a zone; None for the clock's.

    Raises:
        UnknownItem: no item, or more than one, has an id that begins so.
        UsageFault: words mean none, or more than one; or there is no sentence.
        LockHeld: a run works on the memory.
    """
    text = made_inert(without_unseen(load_redactor(root).redact(fold(sentence)).text))
    if not text:
        raise UsageFault("There is no new sentence.", "Give one, or close the item.")
    sought = (lambda one: one.active, "live or open item")

    def change(held: Held, ident: str, voice: Voice) -> Changed:
        is_rule = placed_item(held.documents, ident)[1].item.type is ItemType.RULE
        if is_rule and load_user_settings(os.environ).rules_from == "owner":
            voice = replace(voice, asks="your settings take rules from you alone")
        return correct_item(held.documents, ident, text, voice)

    return _changed(root, name, sought, change, lambda _: f"Correction: {text}", now)


def reopen_by_session(root: Path, name: str, reason: str = "", now: datetime | None = None) -> Outcome:
    """Take the end of an item back by an agent's word, or ask a person.

    Args:
        root: the memory.
        name: the beginning of its id, or words that mean one closed item alone.
        reason: why, for the log; may be empty.
        now: the moment, with a zone; None for the clock's.

    Raises:
        UnknownItem: no item, or more than one, has an id that begins so.
        UsageFault: words mean none, or more than one; or it cannot be reopened.
        LockHeld: a run works on the memory.
    """
    sought = (lambda one: one.status in REOPENABLE, "closed item")

    def line(item: Item) -> str:
        return f"Reopened: {item.id} ({item.text}){f', because {reason}' if reason else ''}"

    def change(held: Held, ident: str, voice: Voice) -> Changed:
        return reopen_items(held.documents, [ident], voice)

    return _changed(root, name, sought, change, line, now)


def _changed(
    root: Path,
    name: str,
    sought: Sought,
    change: Callable[[Held, str, Voice], Changed],
    line: Callable[[Item], str],
    now: datetime | None,
) -> Outcome:
    """Carry a change out in one commit, with its line in the log; nothing is logged for a change that cannot be."""
    settings = load_settings(root)
    when = moment(now.isoformat() if now else None, settings)
    with change_by_hand(root, settings, when, "an agent's session") as held:
        [ident] = named_items(held.documents, [name], sought, held.snapshot.shown)[:1]
        voice = Voice(held.today, Trust.SELF, by=BY, shown=held.snapshot.shown)
        would, [outcome] = change(held, ident, voice)
        if would == held.documents:
            return outcome
        said = log_line(f"{when:%H:%M}", fold(line(placed_item(held.documents, ident)[1].item)), "")
        said = load_redactor(root).redact(said.replace("<!--", "<! --")).text
        place = _logged(root, held.today, said)
        documents, [outcome] = change(held, ident, replace(voice, place=place, quote=said))
        added = [outcome.new] if outcome.is_new else []
        what = f"Ask about {ident}" if outcome.asked else f"Change {ident}"
        held.write(Deed(documents, f"{what}, as an agent's session said", added=added, changed=1), by=BY_SESSION)
    return outcome


def _logged(root: Path, day: str, said: str) -> Evidence:
    """Append a line to the log of a day, and return it as evidence."""
    path = append_line(root, day, said)
    number = last_place((read_bytes(root, path) or b"").decode(errors="replace"), said)
    return Evidence(path, number, number, quote_digest(said))
