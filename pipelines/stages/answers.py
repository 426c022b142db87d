"""Answers: the boxes that a person ticked in Review.md are applied, each once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.memory.documents import Block, edited
from pipelines.memory.layout import GENERAL, REVIEW, kind_of
from pipelines.memory.queue import read_queue, released, without_entries
from pipelines.memory.tombstones import Reason, tombstone
from pipelines.stages.promote import new_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.memory.documents import Document
    from pipelines.memory.items import Item
    from pipelines.memory.tombstones import Tombstone


@dataclass(frozen=True, slots=True)
class Answered:
    """The documents after the answers.

    Args:
        documents: every document by path.
        retracted: tombstones of what was retracted.
        restored: ids of what was put back.
        notes: a sentence for each entry whose boxes cannot both be meant.
    """

    documents: dict[str, Document]
    retracted: tuple[Tombstone, ...] = ()
    restored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def apply_answers(documents: Mapping[str, Document], today: str) -> Answered:
    """Apply the ticked boxes of Review.md; an entry without one, or with two, stays."""
    after = dict(documents)
    queue = after.get(REVIEW)
    if queue is None:
        return Answered(after)
    stones: list[Tombstone] = []
    restored: list[str] = []
    done, notes = [], []
    for entry in read_queue(queue):
        if len(entry.ticked) > 1:
            notes.append(f"{REVIEW} line {entry.first + 1} has two boxes ticked; untick one of them.")
        elif entry.kind == "gone" and entry.ticked == ("retract",):
            stones += [tombstone(item, today, Reason.DELETED) for item in entry.items]
            done.append(entry)
        elif entry.kind == "gone" and entry.ticked == ("restore",):
            for item in entry.items:
                _restore(after, item)
                restored.append(item.id)
            done.append(entry)
    after[REVIEW] = without_entries(queue, done)
    return Answered(after, tuple(stones), tuple(restored), tuple(notes))


def _restore(documents: dict[str, Document], item: Item) -> None:
    """Put a waiting item back where it stood; where that is no place for an item, into Areas/general."""
    home, was = released(item)
    path = home if kind_of(home) and ".." not in home.split("/") else GENERAL
    document = documents.get(path) or new_document(path, "", was.since)
    documents[path] = edited(document, add=[Block(was)])
