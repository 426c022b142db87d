"""What an owner says by command: a new item (`curate add`), and decisions on what waits (`curate review`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

from pipelines.errors import UsageFault
from pipelines.extract.rules.label_reader import due_of
from pipelines.night.answers import answer, chosen, named_question
from pipelines.night.choose_document import Catalog, home_of
from pipelines.night.file_items import new_document
from pipelines.night.manual import HeldMemory, ManualChange, change_by_hand, put_back
from pipelines.review.existing_items import alike, speaks_for
from pipelines.store.change_set import items_by_id, with_item_changed
from pipelines.store.document import Block, Document, edited, numbered
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust, new_id
from pipelines.store.layout import USER, document_id
from pipelines.store.wording import folded, words_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings


@dataclass(frozen=True, slots=True)
class FiledByHand:
    """The result of filing an owner's item.

    Args:
        item: the new item, or the existing one that says the same.
        path: its document.
        documents: every document by path after the change; None if nothing changed.
        is_new: whether the item is new.
        near: the items beside a new one that its sentence may replace or repeat, with their documents, nearest first.
    """

    item: Item
    path: str
    documents: dict[str, Document] | None = None
    is_new: bool = False
    near: tuple[tuple[Item, str], ...] = ()


_ALIKE = 0.6
"""The share of common words from which two sentences are shown as near. It decides nothing: a person sees them."""
_MOST_NEAR = 3


def file_own_item(kind: ItemType, text: str, path: str, held: HeldMemory, title: str, folder: str = "") -> FiledByHand:
    """File an owner's item; an existing item with the same words is confirmed instead, as by a night.

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
    items = [
        (p.item, one.path) for one, p in numbered(held.documents.values()) if p.item.active and p.item.type is kind
    ]
    if same := [pair for pair in items if words_key(pair[0].text) == words_key(text)]:
        return _confirmed(*same[0], held)
    near = [
        (share, *pair) for pair in items if speaks_for(pair[1], home) and (share := alike(text, pair[0].text)) >= _ALIKE
    ]
    near = sorted(near, key=itemgetter(0), reverse=True)[:_MOST_NEAR]
    status = Status.OPEN if kind is ItemType.TODO else Status.LIVE
    item = Item(kind, text, status=status, since=held.today, trust=Trust.OWNER, due=due)
    item = replace(item, id=new_id(item, document_id(home), items_by_id(held.documents)))
    document = held.documents.get(home) or new_document(home, title)
    after = {**held.documents, home: edited(document, add=[Block(item)])}
    return FiledByHand(item, home, after, is_new=True, near=tuple((one, place) for _, one, place in near))


def _confirmed(item: Item, path: str, held: HeldMemory) -> FiledByHand:
    """Return an existing item as the owner's, confirmed today."""
    day = max(item.confirmed, held.today)
    own = replace(item, trust=Trust.OWNER, confidence=Confidence.HIGH, doubted="")
    own = own if own.since == day else replace(own, confirmed=day)
    if own == item:
        return FiledByHand(item, path)
    return FiledByHand(own, path, with_item_changed(held.documents, item.id, lambda _: own))


def decide(
    root: Path, settings: Settings, when: datetime, idents: Sequence[str], word: str, text: str = ""
) -> tuple[str, list[str]]:
    """Apply one decision to some questions and commit it; return `ID: CHOICE` and notes for the person.

    Args:
        root: the memory.
        settings: its settings.
        when: the time of the decision.
        idents: the questions' ids, or the starts of them.
        word: a choice, or `accept` or `reject`.
        text: new words for the one waiting item; empty to keep its own.

    Raises:
        UnknownItem: no question has such an id.
        UsageFault: the word is not a choice, or `text` was given with a choice that accepts no item.
        CurateError: any error of a manual change.
    """
    with change_by_hand(root, settings, when, "curate review") as held:
        asked = [named_question(held.documents, ident) for ident in idents]
        answers = [(one.entry, chosen(one, word), one.items) for one in asked]
        entry, choice, items = answers[0]
        if text and (asked[1:] or len(items) != 1 or choice not in asked[0].letting_in):
            raise UsageFault(f"“{choice}” does not accept an item, so it takes no text.", "Leave the text out.")
        if text:
            answers = [(entry, choice, (replace(items[0], text=text, by=""),))]
        done = answer(held.documents, answers, held.today)
        decided = f"{asked[0].id}{f' and {len(asked) - 1} more' if asked[1:] else ''}: {choice}"
        changed = sum(max(1, len(one.items)) for one in asked)
        back = put_back(done.back, done.documents, held.snapshot.documents)
        held.write(ManualChange(done.documents, f"Review {decided}", (), changed, done.retracted, back))
    return decided, done.notes
