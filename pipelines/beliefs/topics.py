"""Which items a topic is about: all of a document that it names, else what says its words, and what search finds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pipelines.errors import UsageFault
from pipelines.store.item import content_words, folded
from pipelines.store.template import named_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pipelines.beliefs.holdings import Beliefs, Holding
    from pipelines.beliefs.links import Steps
    from pipelines.store.document import Document

SHARE: Final = 0.7
"""Of the best hit's score a hit must have this much: search by meaning finds something for every question, and what is
about the topic thins out below this on real minutes."""
NEAR: Final = 0.35
"""The cosine that a hit without a word of the topic must have: on real minutes topics that nobody spoke of (`garden
furniture`, letters that are no word) come to 0.3 at most, and other words for what was said to 0.4 and more."""
_SHORT: Final = 3
_ENDINGS: Final = re.compile(r"(?:ies|es|s|ed|ing)$")


def of_document(
    documents: Mapping[str, Document], beliefs: Beliefs, topic: str, shown: Callable[[str], str] = str
) -> list[Holding] | None:
    """Return the items of the documents that a topic names, with those that wait to be filed there; None for none.

    Args:
        documents: every document by path.
        beliefs: what they hold.
        topic: what may be a document's name.
        shown: what people call the file at a path.
    """
    try:
        paths = frozenset(named_documents(documents, topic, shown))
    except UsageFault:
        return None
    return [one for one in beliefs.holdings if paths & {one.path, one.home}]


def by_words(beliefs: Beliefs, documents: Mapping[str, Document], topic: str) -> list[Holding]:
    """Return the items, whatever their status, whose text with their document's title holds every word of a topic."""
    wanted = {_stem(word) for word in _words(topic)}
    titles = {path: {_stem(word) for word in _words(document.title)} for path, document in documents.items()}
    found = []
    for one in beliefs.holdings:
        said = {_stem(word) for word in _words(one.item.text)}
        if said & wanted and wanted <= said | titles.get(one.path, set()):
            found.append(one)
    return found


def by_search(root: Path, topic: str, limit: int = 100) -> tuple[list[str], tuple[str, ...]]:
    """Return the ids of the items that search finds for a topic, best first, and what is to be said of the answer.

    Raises:
        CurateError: what a search raises.
    """
    from pipelines.asking import searched  # noqa: PLC0415  only where there is an index to ask
    from pipelines.search.filters import Filters  # noqa: PLC0415  as above

    found, notes = searched(root, topic, limit, Filters(sources=("document",)), explain=True)
    hits = [hit for hit in found if _is_near(hit.factors)]
    best = max((hit.score for hit in hits), default=0.0)
    return [hit.item for hit in hits if hit.item and hit.score >= SHARE * best], notes


def _is_near(factors: Mapping[str, float]) -> bool:
    """Whether a hit has a word of the topic, or its id, or is near it in meaning: something is always the nearest."""
    return "named" in factors or factors.get("words", 0.0) > 0 or factors.get("meaning", 0.0) >= NEAR


def with_relatives(beliefs: Beliefs, chosen: Iterable[Holding], steps: Sequence[Steps]) -> list[Holding]:
    """Return items with all that can be reached from them by these steps, in order of documents and lines."""
    found = list({one.place: one for one in chosen}.values())
    reached = {one.item.id for one in found} - {""}
    waiting = list(reached)
    while waiting:
        ident = waiting.pop()
        for taken in steps:
            near = [other for _, other in taken.get(ident, ()) if other in beliefs.by_id and other not in reached]
            reached.update(near)
            waiting += near
    places = {one.place for one in found}
    found += [one for one in beliefs.holdings if one.item.id in reached and one.place not in places]
    return sorted(found, key=lambda one: (one.path, one.line))


def _words(text: str) -> frozenset[str]:
    words = content_words(text)
    return words or frozenset(folded(text).split())


def _stem(word: str) -> str:
    """Return a word without the commonest English endings, so that `invoices` finds `invoice`."""
    bare = _ENDINGS.sub("", word)
    return bare if len(bare) > _SHORT else word
