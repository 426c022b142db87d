"""What held on a day, by since and until."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.search.chunks import UNTOLD
from pipelines.store.item import STRUCK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.queries.item_graph import Holding
    from pipelines.store.document import Document


def holds_on(holding: Holding, day: str, updated: Mapping[str, str]) -> bool:
    """Return whether an item held on a day: from its `since` on, and before its `until`.

    An item that was closed on an unknown day counts for no day, and neither does one that waits for a person or never
    held. The search index follows the same rule.

    Args:
        holding: the item.
        day: the day.
        updated: path → the day on which a document was last updated, for items without a day.
    """
    item = holding.item
    if item.status in UNTOLD or (item.status in STRUCK and not item.until):
        return False
    began = item.since or updated.get(holding.path, "")
    return bool(began) and began <= day and (not item.until or item.until > day)


def days_updated(documents: Mapping[str, Document]) -> dict[str, str]:
    """Return path → the day on which each document was last updated, as its front matter says."""
    return {path: document.front.get("updated") for path, document in documents.items()}
