"""Promote: apply the review's rulings to documents. Items are added, confirmed, replaced and closed.

An item that replaces another takes its place in the document; the old one moves to the History.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pipelines.review.existing_items import KnownItems
from pipelines.review.outcomes import history_of, with_link, with_successor
from pipelines.review.questions import Question
from pipelines.review.rulings import carried_out
from pipelines.store.change_set import items_by_id, moved, with_item_changed
from pipelines.store.document import Block, Document, block_of, document_at, edited
from pipelines.store.item import CLOSED, Item, Status
from pipelines.store.layout import GENERAL, REVIEW, kind_of
from pipelines.templating import render
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pipelines.review.questions import DoubtfulClaim
    from pipelines.review.rulings import Ruling


@dataclass(frozen=True, slots=True)
class Promoted:
    """The memory with rulings carried out.

    Args:
        documents: every document by path.
        added: id → path and item, of each new item.
        confirmed: the ids of the items that gained evidence.
        superseded: those of the items that others replaced.
        closed: those of the items that ended otherwise.
        questions: new items for Review.md to ask about, contradictions first; they are in none of the others.
        claims: log lines about items on which a person decides.
    """

    documents: dict[str, Document]
    added: Mapping[str, tuple[str, Item]]
    confirmed: Collection[str]
    superseded: Collection[str]
    closed: Collection[str]
    questions: Sequence[Question]
    claims: Sequence[DoubtfulClaim]


def promote(
    rulings: Sequence[Ruling], documents: Mapping[str, Document], seen: Mapping[str, str] = MappingProxyType({})
) -> Promoted:
    """Apply the rulings to the documents, each once; a project that is named but missing is created.

    What a person must decide changes no document: it becomes a question or a claim.

    Args:
        rulings: in the order they were made.
        documents: every document by path.
        seen: id of an item → the last day that says it again, of which it notes the day and nothing else.
    """
    places = items_by_id(documents)
    known = KnownItems(places.values())
    carried_out(rulings, known)
    for ident, day in seen.items():
        one = known.get(ident)
        if one and one.item.active and day > max(one.item.confirmed, one.learnt):
            one.item = replace(one.item, confirmed=day, perhaps="")
    for one in known.all:
        for kind, target in one.links:
            if named := known.get(target):
                one.item = with_link(one.item, kind, named.item.id)
    new = [one for one in known.all if one.was is None and one.item.status is not Status.WAITING]
    questions = [
        Question(mine.item, why, last.item if rival and (last := known.find(rival.name)) else None)
        for mine, why, rival in known.questions
    ]
    changed = [one for one in known.all if one.was and one.item is not one.was]
    added = [(one.document, one.item) for one in new]
    after = with_items(documents, {one.item.id: one.item for one in changed}, added, known.titles)
    for one in changed:
        if one.document != places[one.item.id][0]:  # it was archived
            if one.document not in after:
                after[one.document] = new_document(one.document, known.titles.get(one.document, ""))
            after = moved(after, one.item.id, one.document)
    return Promoted(
        after,
        {one.item.id: (one.document, one.item) for one in new},
        known.confirmed,
        [one.item.id for one in known.all if one.successor],
        known.closed,
        sorted(questions, key=lambda one: one.rival is None),
        known.claims,
    )


def with_items(
    documents: Mapping[str, Document],
    items: Mapping[str, Item],
    new: Iterable[tuple[str, Item]] = (),
    titles: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Document]:
    """Return the documents with items as they are now; what is over goes to the History of its page.

    Args:
        documents: every document by path.
        items: the changed ones by id.
        new: the path and item of each new one.
        titles: those of pages that begin with it.
    """
    after, blocks = dict(documents), defaultdict[str, list[Block]](list)
    for path, document in sorted(documents.items()):
        if here := {ident: items[ident] for ident in document.held.keys() & items.keys()}:
            over = {ident: item for ident, item in here.items() if item.status in CLOSED}
            ended = [block_of(document, one) for one in document.items if one.item.id in over]
            blocks[history_of(path)] += [Block(over[one.item.id], one.notes) for one in ended]
            live = {ident: item for ident, item in here.items() if ident not in over}
            after[path] = edited(document, replace=live, remove=over)
    for path, item in new:
        blocks[history_of(path) if item.status in CLOSED else path].append(Block(item))
    for path, some in sorted(blocks.items()):
        if some:
            after[path] = edited(after.get(path) or new_document(path, titles.get(path, "")), add=some)
    return after


def new_document(path: str, title: str) -> Document:
    """Return a document from the template of its kind; what is about no one thing takes no project's title."""
    title = (document_title(title) if path != GENERAL else "") or path.rpartition("/")[2].removesuffix(".md").replace(
        "-", " "
    ).capitalize()
    return document_at(path, render("document.md", title=title, kind=kind_of(path)))


_MARKUP = re.compile(r"""[<>"`\\]|(?<!\w)#|(?<!\w)'|'(?!\w)""")
"""What could mean structure; `#` and `'` may be part of a word: `C#`, `Mara's`."""


def document_title(name: str) -> str:
    """Return a name as one line without characters that mean structure in front matter or a heading."""
    plain = _MARKUP.sub("", fold(name)).strip(" -:|[]{}&*!%@")
    return plain[:80].strip()


# ---------------------------------------- superseding
# One item takes another's place; the old one moves to its document's History.


SUPERSEDABLE: Final = frozenset({Status.LIVE, Status.OPEN, Status.ARCHIVED})
"""Items that are still believed, in a document or an archive. A closed item keeps the end it has."""


def with_superseded(documents: Mapping[str, Document], old_id: str, new_item: Item, day: str) -> dict[str, Document]:
    """Return the documents after one item has taken another's place.

    The old item is struck out, gets `until` and `superseded-by`, and moves with its notes to `## History` of its
    document, or of Areas/general if every session loads its document. The new item is linked `supersedes`. Links of
    other items keep what was true when they were made. Nothing changes if either item is missing, both are the same, or
    the old one is closed: an item is superseded once.

    Args:
        documents: every document by path; one of them holds the new item.
        old_id: the item that no longer holds.
        new_item: the item that replaces it.
        day: the day of the change, `YYYY-MM-DD`.
    """
    places = items_by_id(documents)
    path, old = places.get(old_id, (REVIEW, new_item))
    if path == REVIEW or old_id == new_item.id or new_item.id not in places or old.status not in SUPERSEDABLE:
        return dict(documents)
    after = with_items(documents, {old_id: with_successor(old, new_item, day)})
    return with_item_changed(after, new_item.id, lambda item: with_link(item, "supersedes", old_id))
