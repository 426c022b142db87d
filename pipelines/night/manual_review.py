"""`curate review`: the queue as a person goes through it: each decision is applied and committed at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import UsageFault
from pipelines.night.answers import AGAINST, Answer, answer, choices_of
from pipelines.night.manual import Deed, by_hand
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import read_queue
from pipelines.store.template import named_item

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.night.manual import Held
    from pipelines.settings import Settings
    from pipelines.store.document import Document
    from pipelines.store.item import Item
    from pipelines.store.review_queue import QueueEntry


ACCEPT: Final = {
    "gone": "restore",
    "contradict": "keep new",
    "quarantine": "keep",
    "archive": "archive",
    "done": "close",
}
REJECT: Final = {"gone": "retract", "contradict": "drop", "quarantine": "drop", "archive": "keep", "done": "keep"}
"""What a yes and a no mean. A no to what contradicts says nothing about the old item; `keep old` confirms that one."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to decide: an entry of Review.md, or one item of an entry that has several.

    Args:
        entry: the entry.
        items: those of its items that it is about.
        id: by which it is named: the item's id, or the entry's where it has none or several.
        against: the item that the new one contradicts, as it stands, or None.
    """

    entry: QueueEntry
    items: tuple[Item, ...]
    id: str
    against: Item | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that decide it."""
        return choices_of(self.entry.kind)

    def means(self, choice: str) -> str:
        """Return what a choice does, as the entry says it."""
        return dict(self.entry.choices).get(choice, "")


def questions(documents: Mapping[str, Document]) -> list[Question]:
    """Return what waits for a person, in the order of Review.md, an entry a question."""
    queue = documents.get(REVIEW)
    entries = [entry for entry in read_queue(queue) if choices_of(entry.kind)] if queue else []
    return [_question(documents, entry, entry.items) for entry in entries]


def named_question(documents: Mapping[str, Document], prefix: str) -> Question:
    """Return the one question that an id's beginning means: an item that waits, else a whole entry.

    Raises:
        UnknownItem: there is none, or more than one.
    """
    found = questions(documents)
    items = {item.id: one for one in found for item in one.items}
    entries = {one.entry.id: one for one in found}
    ident = named_item(prefix, items, entries)
    if ident in entries:
        return entries[ident]
    whole = items[ident]
    return _question(documents, whole.entry, tuple(item for item in whole.items if item.id == ident))


def _question(documents: Mapping[str, Document], entry: QueueEntry, items: tuple[Item, ...]) -> Question:
    told = dict(items[0].extra).get(AGAINST, "") if len(items) == 1 else ""
    standing = (p.item for path, one in documents.items() if path != REVIEW for p in one.items)
    against = next((item for item in standing if told and item.id == told), None)
    return Question(entry, items, items[0].id if len(items) == 1 else entry.id, against)


def chosen(question: Question, word: str) -> str:
    """Return the choice that a word means: the choice itself, `accept` or `reject`.

    Raises:
        UsageFault: it means none.
    """
    kind = question.entry.kind
    choice = {"accept": ACCEPT.get(kind, ""), "reject": REJECT.get(kind, "")}.get(word, " ".join(word.split()).lower())
    if choice not in question.choices:
        raise UsageFault(f"“{word}” is no choice here.", f"There are: {', '.join(question.choices)}.")
    return choice


def decide(root: Path, settings: Settings, when: datetime, ident: str, word: str) -> tuple[str, Deed]:
    """Apply one decision and commit it; return the choice, and what was done.

    Args:
        root: the memory.
        settings: its settings.
        when: the moment at which it is decided.
        ident: the question's id or its beginning.
        word: a choice, or `accept` or `reject`.

    Raises:
        UnknownItem: nothing that waits has that id.
        UsageFault: the word means no choice.
        CurateError: what a verb by hand raises.
    """
    told: list[str] = []

    def apply(held: Held) -> Deed:
        question = named_question(held.documents, ident)
        choice = chosen(question, word)
        told[:] = [choice]
        done = answer(
            held.documents, [Answer(question.entry, choice, question.items)], held.today, held.snapshot.theirs()
        )
        return Deed(
            done.documents,
            f"Review {question.id}: {choice}",
            changed=max(1, len(question.items)),
            stones=done.retracted,
            notes=done.notes,
        )

    deed = by_hand(root, settings, when, "curate review", apply)
    return told[0], deed or Deed({}, "")
