"""What people say by command: naming items by an id or a few words, `curate add`, and decisions on what waits."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import UsageFault
from pipelines.extract.rules.label_reader import due_of
from pipelines.night.answers import ITEM_CHOICES, LETTING_IN, answer, chosen, named_question
from pipelines.night.file_items import Catalog, home_of, new_document
from pipelines.night.manual import HeldMemory, ManualChange, change_by_hand, put_back
from pipelines.night.reconcile import Reconciled
from pipelines.review.match_forms import are_rivals, likeness, replaced_in, words_in
from pipelines.review.rulings import alike, speaks_for
from pipelines.store.change_set import items_by_id, with_item_changed
from pipelines.store.document import Block, Documents, edited, numbered
from pipelines.store.item import Confidence, HeldItem, Item, ItemType, Status, Trust, new_id
from pipelines.store.layout import USER
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.template import named_item
from pipelines.store.wording import folded, words_key
from pipelines.text import clipped, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.night.manual import OpenMemory

    Sought = tuple[Callable[[Item], bool], str]


_OFFERED = 5
_LONGEST = 100
_ID = re.compile(r"\s*k(?:[0-9a-f]{0,64}|(?=[a-z]*\d)[0-9a-z]{6,64})\s*", re.IGNORECASE)


def named_items(documents: Documents, arguments: Sequence[str], sought: Sought) -> list[str]:
    """Return the ids of the items that a person or an agent named, each once.

    An argument is the start of an id, or a few quoted words; unquoted words together are one name.

    Args:
        documents: every document by path.
        arguments: what was typed.
        sought: which items words can match, and what to call them, such as `open todo`; an id can match any item, so
            that the caller can say why it will not do.

    Raises:
        UnknownItem: no item's id starts so, or more than one does.
        UsageFault: words match no item, or more than one; the message offers the nearest.
    """
    fits, what = sought
    held = [(document.path, placed.item) for document, placed in numbered(documents.values())]
    fitting = [pair for pair in held if fits(pair[1])]
    groups = [item.id for _, item in fitting], [item.id for _, item in held]

    def is_id(text: str) -> bool:
        low = text.strip().casefold()
        return looks_like_id(low, 4) or (looks_like_id(low, 1) and any(ident.startswith(low) for ident in groups[1]))

    each = all(is_id(one) or " " in one.strip() for one in arguments)
    names = arguments if each else [" ".join(arguments)]
    found = [named_item(one, *groups) if is_id(one) else _meant(one, fitting, what) for one in names]
    return list(dict.fromkeys(found))


def looks_like_id(text: str, digits: int = 0) -> bool:
    """Whether a text could be an id or the start of one, with at least so many digits, or a mistyped one."""
    return bool(_ID.fullmatch(text)) and len(text.strip()) > digits


def _meant(words: str, fitting: Sequence[HeldItem], what: str) -> str:
    """Return the id of the one item that words match: the same words first, then all but days, then a subset.

    An item that is over is meant only where none that is live or open matches as well.

    Raises:
        UsageFault: none or more than one matches.
    """
    wanted = words_in(words)
    ranked = [
        (likeness(words, path, item) or int(bool(wanted) and wanted <= words_in(item.text)), path, item)
        for path, item in fitting
    ]
    most = max((rank for rank, *_ in ranked), default=0)
    meant = [(path, item) for rank, path, item in ranked if rank == most and most]
    meant = [pair for pair in meant if pair[1].active] or meant
    if len(meant) == 1:
        return meant[0][1].id
    many = len(meant) > 1
    sentence = f"“{words}” matches {len(meant)} {what}s" if many else f"No {what} matches “{words}”"
    offered = sorted(meant if many else fitting, key=lambda pair: -len(wanted & words_in(pair[1].text)))[:_OFFERED]
    if not offered:
        raise UsageFault(f"{sentence}.", f"There is no {what}.")
    shown = ((path, one, escape_terminal_line(clipped(without_secrets(one.text), _LONGEST))) for path, one in offered)
    rows = "".join(f"\n  {one.id} {one.type}: {text} ({path})" for path, one, text in shown)
    hint = "Name one by its id:" if many else "Name one by its id, such as:"
    raise UsageFault(f"{sentence}.", f"{hint}{rows}")


# ---------------------------------------- adding and deciding


class FiledByHand(NamedTuple):
    """The result of filing an owner's item.

    Args:
        item: the new item, or the existing one that says the same.
        path: its document.
        is_new: whether the item is new.
        near: the items beside a new one that its sentence may replace or repeat, with their documents, nearest first.
    """

    item: Item
    path: str
    is_new: bool = False
    near: Sequence[tuple[Item, str]] = ()


_ALIKE = 0.6
"""The share of common words from which two sentences are shown as near. It decides nothing: a person sees them."""
_MOST_NEAR = 3


def file_own_item(kind: ItemType, text: str, path: str, held: HeldMemory, title: str, folder: str) -> FiledByHand:
    """File an owner's item in one commit; an existing item with the same words is confirmed instead, as by a night.

    Args:
        kind: its type.
        text: its sentence.
        path: the document's path, or empty to choose one.
        held: the memory as it is.
        title: that of a new document, or empty.
        folder: the page of the project at work, where it goes if it is not about the owner; or empty.
    """
    text, due = due_of(text, held.today) if kind is ItemType.TODO else (text, "")
    catalog = Catalog(held.documents, held.snapshot.unreadable())
    chosen = home_of(kind, text, Confidence.HIGH, catalog)
    # In a project's folder, “we” and “the user” may be others.
    own = "i ", "my ", f"{catalog.person.partition(' ')[0]} "
    is_of_owner = chosen == USER and kind is ItemType.FACT and folded(text).startswith(own)
    home = path or (chosen if is_of_owner else folder or chosen)
    items = [(item, path) for path, item in catalog.items if item.id and item.active and item.type is kind]
    if same := next((pair for pair in items if words_key(pair[0].text) == words_key(text)), None):
        day, mine = max(same[0].confirmed, held.today), replace(same[0], trust=Trust.OWNER, doubted="")
        mine = replace(mine, confidence=Confidence.HIGH, confirmed=mine.confirmed if mine.since == day else day)
        if mine != same[0]:
            said = with_item_changed(held.documents, mine.id, lambda _: mine)
            held.write(ManualChange(said, f"Confirm {mine.id}: its owner says so", changed=1))
        return FiledByHand(mine, same[1])
    there = [
        (one, page)
        for one, page in items
        if speaks_for(page, home)
        and (alike(text, one.text) >= _ALIKE or are_rivals(text, one.text) or replaced_in(text, [one]))
    ]
    there.sort(key=lambda pair: -alike(text, pair[0].text))
    status = Status.OPEN if kind is ItemType.TODO else Status.LIVE
    item = Item(kind, text, status=status, since=held.today, trust=Trust.OWNER, due=due)
    item = replace(item, id=new_id(item, home, items_by_id(held.documents)))
    document = held.documents.get(home) or new_document(home, title)
    after = {**held.documents, home: edited(document, add=[Block(item)])}
    held.write(ManualChange(after, f"Add {item.id}: one {kind.lower()} by its owner", added=[item.id]))
    return FiledByHand(item, home, is_new=True, near=there[:_MOST_NEAR])


def decide(opened: OpenMemory, idents: Sequence[str], word: str, text: str = "") -> tuple[str, list[str]]:
    """Apply one decision to some questions and commit it; return `ID: CHOICE` and notes for the person.

    Args:
        opened: the memory, its settings, and the time of the decision.
        idents: the questions' ids, or the starts of them.
        word: a choice, or `accept` or `reject`.
        text: new words for the one waiting item; empty to keep its own.

    Raises:
        UnknownItem: no question has such an id.
        UsageFault: the word is not a choice, or `text` was given with a choice that accepts no item.
        CurateError: any error of a manual change.
    """
    with change_by_hand(opened, "curate review") as held:
        asked = [named_question(held.documents, ident) for ident in idents]
        answers = [(one.entry, chosen(one, word), one.items) for one in asked]
        entry, choice, items = answers[0]
        if text and (asked[1:] or len(items) != 1 or ITEM_CHOICES.get(entry.kind, {}).get(choice) not in LETTING_IN):
            raise UsageFault(f"“{choice}” does not accept an item, so it takes no text.", "Leave the text out.")
        if text:
            answers = [(entry, choice, (replace(items[0], text=text, by=""),))]
        work = Reconciled(dict(held.documents), held.today)
        answer(work, answers)
        decided = f"{asked[0].id}{f' and {len(asked) - 1} more' if asked[1:] else ''}: {choice}"
        changed = sum(max(1, len(one.items)) for one in asked)
        back = put_back(work.back, work.documents, held.snapshot.documents)
        held.write(ManualChange(work.documents, f"Review {decided}", (), changed, work.retracted, back))
    return decided, work.notes
