"""Outcomes: how items end, are confirmed, linked, superseded and reopened.

A todo is done or dropped, a risk resolved or occurred, a question answered; a decision, fact or rule ends without a
successor; and an item that was a mistake never held. A superseded item names its successor; links of others keep what
was true when they were made.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import is_pending
from pipelines.store.change_set import placed_item
from pipelines.store.document import HISTORY, Document, block_of, document_at, edited
from pipelines.store.item import MAY_CONFLICT, STRUCK, Evidence, Item, ItemType, Status
from pipelines.store.layout import BRIEFING, GENERAL, REVIEW, USER, Kind, kind_of
from pipelines.store.secrets.redact import is_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


REOPENABLE: Final = STRUCK | {Status.DONE}
"""Statuses of closed items that can be reopened."""
_LOADED = frozenset({BRIEFING, USER})


def linkable(items: Iterable[tuple[str, Item]]) -> list[tuple[str, Item]]:
    """Return the active items of curated documents, without those marked as private."""
    return [
        (path, item)
        for path, item in items
        if item.id
        and item.active
        and path != REVIEW
        and kind_of(path) is not Kind.ARCHIVE
        and not is_private(item.text)
    ]


def with_successor(old: Item, new: Item, day: str) -> Item:
    """Return an item superseded by another one on a day, but not before its own start.

    A Todo whose place nothing takes that is open, but a decision, a fact or a rule, is done.
    """
    is_settled = old.type is ItemType.TODO and new.type is not ItemType.TODO and not is_pending(new)
    status = Status.DONE if is_settled else Status.SUPERSEDED
    return replace(old, status=status, until=max(day, old.since), superseded_by=new.id)


def with_confirmation(item: Item, place: Evidence, day: str) -> Item:
    """Return an item confirmed by new evidence: it keeps the first and the last place, and a count.

    Args:
        item: the item.
        place: the new evidence.
        day: the day of the new evidence.
    """
    first = item.evidence[:-1] if item.confirmed and len(item.evidence) > 1 else item.evidence
    return replace(
        item,
        confirmed=max(item.confirmed, day),
        doubted=item.doubted if item.doubted > day else "",
        evidence=(*first, place),
        seen=max(item.seen, len(item.evidence)) + 1,
    )


def with_link(item: Item, kind: str, ident: str) -> Item:
    """Return an item with a link added, unless it has the link or would link to itself."""
    links = dict(item.links)
    if ident == item.id or ident in links.get(kind, ()):
        return item
    links[kind] = (*links.get(kind, ()), ident)
    return replace(item, links=tuple(links.items()))


def without_conflict(item: Item) -> Item:
    """Return an item without its link to what it may conflict with."""
    return replace(item, links=tuple(pair for pair in item.links if pair[0] != MAY_CONFLICT))


def history_of(path: str) -> str:
    """Return the document that keeps closed items: their own, unless every session loads it."""
    return GENERAL if path in _LOADED else path


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
    block, home = replace(block_of(after[path], placed), item=item), path
    after[path] = edited(after[path], remove=[ident])
    if kind_of(path) is Kind.ARCHIVE:
        name = re.sub(r"-\d{4}$", "", path.rpartition("/")[2].removesuffix(".md"))
        there = (one for one in after if one.endswith(f"/{name}.md") and kind_of(one) in {Kind.PROJECT, Kind.AREA})
        home = next(there, GENERAL)
    after[home] = edited(after.get(home) or document_at(home, "# General\n"), add=[block])
    return after
