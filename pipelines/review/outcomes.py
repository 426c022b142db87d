"""Outcomes: how items end or are called into question, and how a person is asked about it.

A todo is done or dropped, a risk resolved or occurred, a question answered; a decision, fact or rule ends without a
successor; and an item that was a mistake never held.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.review.questions import as_queue_text, grounds
from pipelines.store.change_set import items_by_id, placed_item
from pipelines.store.document import HISTORY, Document, block_of, document_at, edited
from pipelines.store.item import (
    STRUCK,
    Evidence,
    Item,
    ItemType,
    Status,
)
from pipelines.store.item_line import ID_PATTERN
from pipelines.store.layout import GENERAL, REVIEW, Kind, kind_of
from pipelines.store.review_queue import read_queue, with_entry, without_answered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


DOUBT: Final = "doubt"
REOPENABLE: Final = STRUCK | {Status.DONE}
"""Statuses of closed items that can be reopened."""
ENDINGS: Final = {
    Status.DONE: "it is done",
    Status.DROPPED: "it is dropped",
    Status.RESOLVED: "it is resolved",
    Status.OCCURRED: "it has occurred",
    Status.ANSWERED: "it is answered",
    Status.ENDED: "it is no longer true",
}
"""What a log line claims of an item; also the kinds of entries of Review.md that ask about it."""
_DOUBTS = (
    "keep: it is true",
    "end: it was true, and no longer is",
    "retract: it was a mistake and was never true",
)
_NAMED = re.compile(rf"\(({ID_PATTERN})\)$")
_TITLE = 60


@dataclass(frozen=True, slots=True)
class DoubtfulClaim:
    """A log line's claim about an item, which a person decides on.

    Args:
        item: as it would be, with the line as its last evidence.
        kind: how it would end, or `doubt`.
        why: why a person decides, as a clause.
    """

    item: Item
    kind: str
    why: str

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers."""
        keep = "keep: it stays as it is"
        return _DOUBTS if self.kind == DOUBT else (f"close: {ENDINGS[Status(self.kind)]}", keep)


def with_end(item: Item, how: Status, day: str, place: Evidence | None = None) -> Item:
    """Return an item after it has ended.

    Args:
        item: the item.
        how: its outcome.
        day: the day of the line that says so.
        place: that line, which becomes evidence; None if a person says so.
    """
    is_new = place is not None and place not in item.evidence
    evidence = (*item.evidence, place) if is_new and place else item.evidence
    seen = max(item.seen, len(item.evidence)) + 1 if is_new else item.seen
    until = max(day, item.since) if day else day
    return replace(item, status=how, until=until, evidence=evidence, seen=seen, doubted="", perhaps="")


def claimed(
    documents: Mapping[str, Document], claims: Iterable[DoubtfulClaim], quote: Callable[[Evidence], str], today: str
) -> dict[str, Document]:
    """Return the documents with an entry in Review.md for each claim about an item that holds.

    A question that is already there is not repeated.

    Args:
        documents: every document by path.
        claims: the claims.
        quote: returns the log text of some evidence, or an empty string if it is gone.
        today: the memory's day.
    """
    after = dict(documents)
    for claim in claims:
        item, held = claim.item, items_by_id(after)
        asked = {(entry.kind, named_in_title(entry.title)) for entry in read_queue(after.get(REVIEW))}
        if item.id in held and held[item.id][1].active and (claim.kind, item.id) not in asked:
            title = f"{claim.kind}: {as_queue_text(item.text, _TITLE)} ({item.id})"
            why = f"A log line says so{grounds(item, quote)}, and {claim.why}."
            after = with_entry(after, claim.kind, today, title, why, claim.choices)
    return after


def named_in_title(title: str) -> str:
    """Return the item id at the end of a heading of Review.md, or an empty string."""
    found = _NAMED.search(title)
    return found[1] if found else ""


def with_reopened(documents: Mapping[str, Document], ident: str) -> dict[str, Document]:
    """Return the documents with a closed item as it was before: live, or an open todo.

    An item in the History or in an archive returns to its document, or to Areas/general. Its successor stays as it is,
    and keeps its `supersedes` link.

    Args:
        documents: every document by path.
        ident: its id.

    Raises:
        KeyError: it does not exist, or is not closed.
    """
    path, placed = placed_item(documents, ident)
    if placed.item.status not in REOPENABLE:
        raise KeyError(ident)
    status = Status.OPEN if placed.item.type is ItemType.TODO else Status.LIVE
    item = replace(placed.item, status=status, until="", superseded_by="", merged_into="", doubted="", closed_by="")
    after = dict(documents)
    if placed.section != HISTORY and kind_of(path) is not Kind.ARCHIVE:
        after[path] = edited(after[path], replace={ident: item})
        return after
    block = replace(block_of(after[path], placed), item=item)
    after[path] = edited(after[path], remove=[ident])
    home = _home_of(path, after)
    after[home] = edited(after.get(home) or document_at(home, "# General\n"), add=[block])
    return after


def _home_of(path: str, documents: Mapping[str, Document]) -> str:
    """Return the document that an item returns to: its own, that of its archive, or Areas/general."""
    if kind_of(path) is not Kind.ARCHIVE:
        return path
    name = re.sub(r"-\d{4}$", "", path.rpartition("/")[2].removesuffix(".md"))
    homes = [one for one in documents if one.endswith(f"/{name}.md") and kind_of(one) in {Kind.PROJECT, Kind.AREA}]
    return homes[0] if homes else GENERAL


_OVER = frozenset({*map(str, ENDINGS), DOUBT})
"""The kinds of questions whether an item is over."""


def without_questions(documents: Mapping[str, Document], idents: Iterable[str]) -> dict[str, Document]:
    """Return the documents without the questions of Review.md whether these items are over."""
    named, asks = set(idents), [one for one in read_queue(documents.get(REVIEW)) if one.kind in _OVER and not one.items]
    moot = [(one, ()) for one in asks if named_in_title(one.title) in named]
    return {**documents, REVIEW: without_answered(documents[REVIEW], moot)} if moot else dict(documents)


def without_moot(documents: Mapping[str, Document]) -> dict[str, Document]:
    """Return the documents without the questions of Review.md whether an item is over that is over already."""
    return without_questions(documents, [i for i, (_, item) in items_by_id(documents).items() if not item.active])
