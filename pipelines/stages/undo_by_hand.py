"""Undo of what a person did by a verb: all that its commit changed is its doing, Review.md's entries included.

Where nothing changed its documents since, they get the bytes again that they had. Where something did, the items are
turned back one by one, as those of a night are, if that is all that the verb changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.stages.pointers import without_pointers
from pipelines.stages.undo import Undone
from pipelines.store.change_set import standings
from pipelines.store.layout import BRIEFING, REVIEW
from pipelines.store.state import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.stages.undo import RunSides
    from pipelines.store.document import Document
    from pipelines.store.state import Tombstone


def put_back(sides: RunSides, found: Mapping[str, Document], now: Mapping[str, Document]) -> Undone | None:
    """Return the memory with the verb's documents as they were, or None where one of them changed since.

    Args:
        sides: the documents that it changed.
        found: every document as it is.
        now: the same, with what people edited since understood.
    """
    if changed_since(sides, found):
        return None
    paths = sides.before.keys() | sides.after.keys()
    documents = dict(now)
    for path in paths:
        if path in sides.before:
            documents[path] = sides.before[path]
        else:
            documents.pop(path, None)
    there, then = standings(now.values()), standings(documents.values())
    return Undone(
        documents,
        frozenset(sides.before),
        tuple(one.item for ident, one in there.items() if ident not in then),
        tuple(ident for ident in then if ident not in there),
        tuple(i for i, one in then.items() if i in there and (there[i].place, there[i].line) != (one.place, one.line)),
    )


def changed_since(sides: RunSides, found: Mapping[str, Document]) -> list[str]:
    """Return the documents that are no longer as the verb left them."""
    paths = sorted(sides.before.keys() | sides.after.keys())
    return [path for path in paths if _bare(found.get(path)) != _bare(sides.after.get(path))]


def why_not(sides: RunSides, found: Mapping[str, Document], stones: frozenset[Tombstone]) -> str:
    """Return why a verb cannot be taken back item by item, the end of a sentence, or an empty string.

    Args:
        sides: the documents that it changed.
        found: every document as it is.
        stones: the tombstones that it left.
    """
    if any(stone.reason is Reason.FORGOTTEN for stone in stones):
        return "had something forgotten, and that is for good"
    changed = changed_since(sides, found)
    whole = REVIEW in {*sides.before, *sides.after} or sides.before.keys() != sides.after.keys()
    return f"cannot be taken back: {' and '.join(changed)} changed since" if changed and whole else ""


def _bare(document: Document | None) -> str | None:
    """Return a document's text, the briefing's without its pointers: every night writes them anew."""
    if document is None:
        return None
    return (without_pointers(document) if document.path == BRIEFING else document).text
