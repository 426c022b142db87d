"""Quality: the front matter of a changed document says how far its items can be relied on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from pipelines.store.document import with_front_matter
from pipelines.store.item import Confidence, Status, Trust
from pipelines.store.layout import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.store.document import Document
    from pipelines.store.item import Item


def with_quality(
    before: Mapping[str, Document], after: Mapping[str, Document], theirs: frozenset[str] = frozenset()
) -> dict[str, Document]:
    """Return `after` with `updated` and the quality fields set in each document whose text changed.

    `updated` is the newest day that its items speak of. A document without front matter stays as it is, and so does the
    front matter of one in `theirs`, a person's own file into which items may be written.
    """
    told = dict(after)
    for path, document in after.items():
        if path in theirs:
            continue
        earlier = before.get(path)
        if document.text != (earlier.text if earlier else None) and document.front.lines:
            held = bool(document.items or (earlier and earlier.items))
            told[path] = with_front_matter(document, _fields(document, document.newest, held=held))
    return told


_SOURCES: Final = frozenset({"", "logs", "owner", "logs, owner"})
"""What runs write as a source; anything else is a person's, say the address that a resource was clipped from."""


def _fields(document: Document, newest: str, *, held: bool) -> dict[str, str]:
    items = [placed.item for placed in document.items if _counts(document, placed.item)]
    updated = {"updated": newest} if newest else {}
    if not items:
        none = {"trust": "self", "confidence": "medium", "confidence_reason": "no item holds"}
        return updated | (none if held else {})
    counts = Counter(item.confidence for item in items)
    middle = sorted(list(Confidence).index(item.confidence) for item in items)[len(items) // 2]
    told = ", ".join(f"{counts[level]} {level}" for level in Confidence if counts[level])
    lowest = max(items, key=lambda item: list(Trust).index(item.trust)).trust
    count = "1 item" if len(items) == 1 else f"{len(items)} items"
    own = document.front.get("source") not in _SOURCES
    source = {} if own else {"source": ", ".join(sorted({_source(item) for item in items}))}
    return {
        "updated": newest,
        **source,
        "trust": lowest,
        "confidence": list(Confidence)[middle],
        "confidence_reason": f"{count}: {told}",
    }


def _counts(document: Document, item: Item) -> bool:
    """Whether an item says what a document is worth: what holds; in an archive, what held when it came there."""
    return item.active or (document.kind is Kind.ARCHIVE and item.status is Status.ARCHIVED)


def _source(item: Item) -> str:
    """Return where an item comes from: a log, by its evidence, or its owner's own hand."""
    return "logs" if item.evidence else "owner"
