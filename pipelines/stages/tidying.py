"""Tidying: documents under their caps, with the front matter that follows from what is left in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.stages.prune import Pruned, prune
from pipelines.stages.quality import with_quality

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.settings import Settings
    from pipelines.stages.prune import Moved
    from pipelines.store.document import Document
    from pipelines.store.snapshot import Snapshot

_ROUNDS: Final = 4
"""How often documents are brought under their caps; the second time is nearly always the last."""


def tidied(documents: Mapping[str, Document], snapshot: Snapshot, settings: Settings, closed: frozenset[str]) -> Pruned:
    """Return the documents under their caps, their quality fields written, and what was moved.

    What a document says of its quality takes room, too, and changes with what leaves it: so a document that was brought
    under its cap is looked at again, and the next run finds nothing left to move.

    Args:
        documents: all documents by path, as they are to be written.
        snapshot: the memory as it was read.
        settings: the caps, in bytes, and what the priority is made of.
        closed: files that are there and cannot be read; nothing is moved into them.
    """
    before, theirs = snapshot.documents, snapshot.theirs()
    moved: tuple[Moved, ...] = ()
    for _ in range(_ROUNDS):
        pruned = prune(with_quality(before, documents, theirs), settings, closed, snapshot.link)
        documents, moved = pruned.documents, (*moved, *pruned.moved)
        if not pruned.moved:
            break
    return Pruned(with_quality(before, documents, theirs), moved)
