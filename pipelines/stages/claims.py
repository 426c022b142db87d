"""Claims: a line says that a Todo is done, and is trusted less than who set it: a person says whether it is."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.stages.questions import grounds, plain
from pipelines.store.change_set import placed_item
from pipelines.store.document import Document, edited
from pipelines.store.item import ID_PATTERN, Status
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import read_queue, with_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipelines.stages.questions import Telling
    from pipelines.store.item import Item

DONE: Final = "done"
CHOICES: Final = ("close: it is done", "keep: it stays open")
_NAMED: Final = re.compile(rf"\(({ID_PATTERN})\)$")
_TITLE: Final = 60


def claimed(
    documents: Mapping[str, Document], claims: Iterable[Item], telling: Telling, today: str
) -> tuple[Document | None, tuple[str, ...]]:
    """Return Review.md with an entry for each Todo that is open and said to be done, and their ids; None for none.

    Args:
        documents: every document by path.
        claims: the Todos as they would stand, each with the line that says so as its last evidence.
        telling: how questions tell of places.
        today: the memory's day.
    """
    queue = documents.get(REVIEW) or Document(REVIEW, "# Review\n")
    status = {placed.item.id: placed.item.status for one in documents.values() for placed in one.items}
    waiting = {named_todo(entry.title) for entry in read_queue(queue) if entry.kind == DONE}
    asked: dict[str, Item] = {}
    for item in claims:
        if status.get(item.id) is Status.OPEN and item.id not in waiting | asked.keys():
            asked[item.id] = item
            title = f"{DONE}: {plain(item.text, _TITLE)} ({item.id})"
            why = f"A line says so{grounds(item, telling)}, and it is trusted less than who set the todo."
            queue = with_entry(queue, DONE, today, title, why, CHOICES, [])
    return (queue if asked else None), tuple(asked)


def named_todo(title: str) -> str:
    """Return the id of the Todo that a heading of Review.md names at its end, or an empty string."""
    found = _NAMED.search(title)
    return found[1] if found else ""


def with_todo_done(documents: Mapping[str, Document], ident: str, day: str) -> dict[str, Document]:
    """Return the documents with a Todo done because a person says so.

    Args:
        documents: every document by path.
        ident: its id.
        day: the day on which the person said so.

    Raises:
        KeyError: it stands nowhere, or is not open.
    """
    path, placed = placed_item(documents, ident)
    if placed.item.status is not Status.OPEN:
        raise KeyError(ident)
    item = replace(placed.item, status=Status.DONE, until=day, confirmed=max(placed.item.confirmed, day))
    return {**documents, path: edited(documents[path], replace={ident: item})}
