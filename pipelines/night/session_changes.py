"""Changes that an agent makes in a session: it closes, corrects, settles and reopens items by its own log.

Each change adds a line to the day's log, in the form that the rules read, as its evidence. Items that are trusted more
than an agent's word are not changed: Review.md asks a person, and no line says that they are over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.clock import moment
from pipelines.errors import UsageFault
from pipelines.night.manual import HeldMemory, ManualChange, change_by_hand
from pipelines.night.outcome_changes import (
    Authority,
    Changed,
    Outcome,
    close_items,
    correct_item,
    ending_of,
    reopen_items,
    settle_pair,
)
from pipelines.night.own_items import named_items
from pipelines.night.sentences import ENDED
from pipelines.review.outcomes import REOPENABLE
from pipelines.review.trust import made_inert
from pipelines.settings import load_settings
from pipelines.store.append_log import append_line, log_line
from pipelines.store.change_set import placed_item
from pipelines.store.files import read_bytes
from pipelines.store.git_history import BY_SESSION
from pipelines.store.item import OUTCOMES, Evidence, Item, ItemType, Status, Trust, quote_digest
from pipelines.store.log import last_place
from pipelines.store.secrets.redact import load_redactor, without_private
from pipelines.text import fold, without_unseen
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from pipelines.night.own_items import Sought


BY = "session@1"
"""The author recorded in an item that a session corrected."""
HOLDS: Sought = (lambda one: one.active, "live or open item")
IS_OVER: Sought = (lambda one: one.status in REOPENABLE, "closed item")
"""What people and agents name to change it, or to open it again."""
_FORMS = ENDED | {Status.NEVER_HELD: "Never held"}


def close_by_session(root: Path, name: str, how: Status, reason: str) -> Outcome:
    """Close an item by an agent's word, or ask a person.

    Args:
        root: the memory.
        name: the start of its id, or words that match exactly one open item.
        how: the status to close it with.
        reason: why, for the log; may be empty.

    Raises:
        UnknownItem: no item's id starts so, or more than one does.
        UsageFault: words match no item, or several; or an item of this type cannot end so.
        LockHeld: a run is working on the memory.
    """
    kinds = {kind for kind, ways in OUTCOMES.items() if how in ways} or set(ItemType)
    sought = (lambda one: one.active and one.type in kinds, f"open item that can be {how}")

    return _changed(
        root,
        name,
        sought,
        lambda held, ident, voice: close_items(held.documents, [ident], lambda _: how, voice),
        lambda item: f"{_FORMS[how]}: {item.id} ({item.text}){f', because {reason}' if reason else ''}",
    )


def correct_by_session(root: Path, name: str, sentence: str) -> Outcome:
    """Replace an item's sentence by an agent's word, or ask a person.

    Args:
        root: the memory.
        name: the start of the item's id, or words that match exactly one.
        sentence: the new sentence; secrets in it are redacted.

    Raises:
        UnknownItem: no item's id starts so, or more than one does.
        UsageFault: words match no item, or several; or the sentence is empty.
        LockHeld: a run is working on the memory.
    """
    text = made_inert(without_unseen(load_redactor(root).redact(fold(without_private(sentence))).text))
    if not text:
        raise UsageFault("The new sentence is empty.", "Give one, or close the item.")
    return _changed(
        root,
        name,
        HOLDS,
        lambda held, ident, voice: correct_item(held.documents, ident, text, _on_rules(held, ident, voice)),
        lambda _: f"Correction: {text}",
    )


def settle_by_session(root: Path, name: str, how: str, other: str, now: datetime | None = None) -> Outcome:
    """Settle two items that may conflict by an agent's word, or ask a person.

    Args:
        root: the memory.
        name: the start of an item's id, or words that match exactly one that holds.
        how: `replaces`, if it takes the other's place, or `both`, if both hold.
        other: the other item, named in the same way.
        now: the time, with a zone; None for the current time.

    Raises:
        UnknownItem: no item's id starts so, or more than one does.
        UsageFault: words match no item, or several; or the two cannot be settled.
        LockHeld: a run is working on the memory.
    """

    def line(item: Item) -> str:
        return f"{_FORMS[ending_of(item.type)]}: {item.id} ({item.text}), because of {name}" if how != "both" else ""

    def change(held: HeldMemory, ident: str, voice: Authority) -> Changed:
        [one] = named_items(held.documents, [name], HOLDS)[:1]
        return settle_pair(held.documents, one, ident, how, _on_rules(held, ident, voice))

    return _changed(root, other, HOLDS, change, line, now)


def reopen_by_session(root: Path, name: str, reason: str) -> Outcome:
    """Reopen an item by an agent's word, or ask a person.

    Args:
        root: the memory.
        name: the start of its id, or words that match exactly one closed item.
        reason: why, for the log; may be empty.

    Raises:
        UnknownItem: no item's id starts so, or more than one does.
        UsageFault: words match no item, or several; or it cannot be reopened.
        LockHeld: a run is working on the memory.
    """
    return _changed(
        root,
        name,
        IS_OVER,
        lambda held, ident, voice: reopen_items(held.documents, [ident], voice),
        lambda item: f"Reopened: {item.id} ({item.text}){f', because {reason}' if reason else ''}",
    )


def _on_rules(held: HeldMemory, ident: str, voice: Authority) -> Authority:
    """Return a voice that must ask if the item is a rule, and the settings accept rules from the owner alone."""
    is_rule = placed_item(held.documents, ident)[1].item.type is ItemType.RULE
    if is_rule and load_user_settings().file.rules_from == "owner":
        return voice._replace(asks="your settings accept rules only from you")
    return voice


def _changed(
    root: Path,
    name: str,
    sought: Sought,
    change: Callable[[HeldMemory, str, Authority], Changed],
    line: Callable[[Item], str],
    now: datetime | None = None,
) -> Outcome:
    """Make a change in one commit, with its log line if there is one; a change that fails logs nothing."""
    settings = load_settings(root)
    when = moment(now.isoformat() if now else None, settings)
    with change_by_hand((root, settings, when), "an agent's session") as held:
        [ident] = named_items(held.documents, [name], sought)[:1]
        voice = Authority(held.today, Trust.SELF, by=BY)
        would, [outcome] = change(held, ident, voice)
        if would == held.documents:
            return outcome
        documents, said = would, fold(line(placed_item(held.documents, ident)[1].item))
        if outcome.asked and not outcome.new:
            documents, [outcome] = change(held, ident, voice._replace(quote=said))
        elif said:
            text = log_line(f"{when:%H:%M}", said, "")
            text = load_redactor(root).redact(text.replace("<!--", "<! --")).text
            path = append_line(root, held.today, text)
            number = last_place((read_bytes(root, path) or b"").decode(errors="replace"), text)
            place = Evidence(path, number, number, quote_digest(text))
            documents, [outcome] = change(held, ident, voice._replace(place=place, quote=text))
        added = [outcome.new] if outcome.is_new else []
        what = f"Ask about {ident}" if outcome.asked else f"Change {ident}"
        held.write(
            ManualChange(documents, f"{what}, as an agent's session said", added=added, changed=1), by=BY_SESSION
        )
    return outcome
