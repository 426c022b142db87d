"""Quality: the front matter of a changed document says how far its items can be relied on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pipelines.memory.documents import with_front_matter
from pipelines.memory.items import Confidence, Trust
from pipelines.stages.pointers import newest_day

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.memory.documents import Document
    from pipelines.memory.items import Item


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
        items = [placed.item for placed in document.items if placed.item.active]
        if document.text != (before[path].text if path in before else None) and document.front.lines:
            told[path] = with_front_matter(document, _fields(items, newest_day([document])))
    return told


def _fields(items: list[Item], newest: str) -> dict[str, str]:
    if not items:
        return {"updated": newest} if newest else {}
    counts = Counter(item.confidence for item in items)
    middle = sorted(list(Confidence).index(item.confidence) for item in items)[len(items) // 2]
    told = ", ".join(f"{counts[level]} {level}" for level in Confidence if counts[level])
    lowest = max(items, key=lambda item: list(Trust).index(item.trust)).trust
    count = "1 item" if len(items) == 1 else f"{len(items)} items"
    return {
        "updated": newest,
        "trust": lowest,
        "confidence": list(Confidence)[middle],
        "confidence_reason": f"{count}: {told}",
    }
