"""Links: what the words of a candidate name by its id, and what stands in an item's place.

A link that is not there costs nothing, a wrong one misleads whoever asks why: only ids are read out of words.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import MOST_LINKS
from pipelines.store.document import Block, block_of, edited
from pipelines.store.item import ID_PATTERN, Status
from pipelines.store.layout import BRIEFING, GENERAL, REVIEW, USER, Kind, kind_of
from pipelines.store.secrets.redact import is_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.review.review import Ruling
    from pipelines.store.document import Document
    from pipelines.store.item import Evidence, Item


_NAMED: Final = re.compile(rf"(?<![\w/#~=-]){ID_PATTERN}(?![\w/])")
_DIGITS: Final = 8
"""An id is named by so many of its digits at least; fewer may be a word."""
_BEFORE: Final = re.compile(r"\b(?:because(?: of)?|due to|on the ground of|as decided in)[\s(\[\"'`“]*$", re.IGNORECASE)


def linkable(items: Iterable[tuple[str, Item]]) -> list[tuple[str, Item]]:
    """Return the items that are believed and stand in a curated document; what is marked as private is left out."""
    return [
        (path, item)
        for path, item in items
        if item.id
        and item.active
        and path != REVIEW
        and kind_of(path) is not Kind.ARCHIVE
        and not is_private(item.text)
    ]


def with_named_links(rulings: Sequence[Ruling], items: Iterable[tuple[str, Item]]) -> list[Ruling]:
    """Return the rulings with links to the ids that the lines of a new item name, or its entry where that has no other.

    The link is `because` where that is the word before the id, else `related`.

    Args:
        rulings: those of the night, as they are to be carried out.
        items: document path and item, of every item of the memory.
    """
    ids = frozenset(item.id for _, item in items if item.id)
    alone = Counter((one.entry.path, one.entry.key) for each in rulings if (one := each.candidate) and each.makes_item)
    linked = []
    for ruling in rulings:
        one = ruling.candidate if ruling.makes_item else None
        if one:
            text = one.entry.text if alone[one.entry.path, one.entry.key] == 1 else "\n".join(one.lines)
            mine: dict[tuple[str, str], None] = {}
            for found in _NAMED.finditer(text):
                if len(found[0]) > _DIGITS and (ident := _meant(found[0], ids)):
                    mine["because" if _BEFORE.search(text, 0, found.start()) else "related", ident] = None
            links = (*list(mine)[: max(0, MOST_LINKS - len(one.links))], *one.links)
            linked.append(replace(ruling, candidate=replace(one, links=links)))
        else:
            linked.append(ruling)
    return linked


def _meant(named: str, ids: frozenset[str]) -> str:
    if named in ids:
        return named
    meant = [ident for ident in ids if ident.startswith(named)]
    return meant[0] if len(meant) == 1 else ""


# ---------------------------------------- succession
# an item that holds no longer names what holds in its place; links of others keep what was true when they were made.


AGAINST: Final = "against"
"""The key of a waiting item that names the one that it contradicts."""
_LOADED: Final = frozenset({BRIEFING, USER})


def succeeded(old: Item, new: str, day: str) -> Item:
    """Return an item as it stands once another took its place: held until that day, and not before it began."""
    return replace(old, status=Status.SUPERSEDED, until=max(day, old.since), superseded_by=new)


def confirmed(item: Item, place: Evidence, day: str) -> Item:
    """Return an item that was said again: where it was said first, and last, are kept, and a count.

    Args:
        item: what is said again.
        place: where.
        day: the day on which it is.
    """
    first = item.evidence[:-1] if item.confirmed and len(item.evidence) > 1 else item.evidence
    return replace(
        item,
        confirmed=max(item.confirmed, day),
        evidence=(*first, place),
        seen=max(item.seen, len(item.evidence)) + 1,
    )


def with_link(item: Item, kind: str, ident: str) -> Item:
    """Return an item with one more link, unless it has it or it would name itself; its links keep their order."""
    links = dict(item.links)
    if ident == item.id or ident in links.get(kind, ()):
        return item
    links[kind] = (*links.get(kind, ()), ident)
    return replace(item, links=tuple(links.items()))


def last_of(ident: str, followed: Mapping[str, str]) -> str:
    """Return what stands in an item's place now: the end of its chain, however often it was replaced tonight.

    A chain that leads back into itself ends where it began.
    """
    seen = {ident}
    at = ident
    while (after := followed.get(at)) and after not in seen:
        seen.add(after)
        at = after
    return ident if followed.get(at) else at


def history_of(path: str) -> str:
    """Return the document that keeps what no longer holds: its own, but for those that every session loads."""
    return GENERAL if path in _LOADED else path


def leaving(document: Document, items: Mapping[str, Item]) -> tuple[Document, list[Block]]:
    """Return a document without the items that ended, and those, with their notes, on their way into a History.

    Args:
        document: where they stood.
        items: by id, each as it stands now.
    """
    blocks: Iterable[Block] = (block_of(document, p) for p in document.items if p.item.id in items)
    moved = [Block(items[block.item.id], block.notes) for block in blocks]
    return edited(document, remove=items), moved
