"""Everything that the agent believes about a topic, now or on a day, and how well it is supported.

A topic is a document, which stands for all its items, or words, for the items that contain them or that search finds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pipelines.errors import UsageFault
from pipelines.queries.as_of import days_updated, holds_on
from pipelines.queries.item_graph import Beliefs, Holding, outdated
from pipelines.search.chunks import UNTOLD
from pipelines.store.document import newest_day
from pipelines.store.evidence import Quotes
from pipelines.store.item import STRUCK, UNSURE, Status
from pipelines.store.layout import REVIEW
from pipelines.store.priority import priority
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.text import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pipelines.store.git import Git


_CLOSED = STRUCK | {Status.DONE}
_HALF = 0.5
_SHARE = 0.7
"""The least share of the best hit's score: search by meaning finds something for every question, and on real meeting
minutes few hits below this are about the topic."""
_NEAR = 0.35
"""The least cosine of a hit without a word of the topic: on real meeting minutes unrelated topics (`garden furniture`,
random letters) reach at most 0.3, and paraphrases 0.4 or more."""
_MOST_HITS = 100


@dataclass(frozen=True, slots=True)
class Audit:
    """What is believed about a topic.

    Args:
        topic: words, or the name of a document.
        as_of: the day on which the items held, or empty.
        current: what holds.
        past: what no longer holds: superseded, retracted, merged, done.
        archived: what was archived for lack of room or with its project, and may still hold.
        waiting: what waits in Review.md for a person.
        weak: id → why a current item is poorly supported, a few words each: it is unsure, has no evidence, was not
            confirmed for long, or rests on what no longer holds.
        notes: sentences on the limits of the answer.
        review: what people call Review.md.
    """

    topic: str
    as_of: str
    current: list[Holding]
    past: list[Holding]
    archived: list[Holding]
    waiting: list[Holding]
    weak: dict[str, list[str]]
    notes: list[str]
    review: str

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """All items in it, each once."""
        return (*self.current, *self.past, *self.archived, *self.waiting)

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "topic": self.topic,
            "as_of": self.as_of or None,
            "current": [one.to_json() | {"weak": self.weak.get(one.place, [])} for one in self.current],
            "superseded": [one.to_json() for one in self.past],
            "archived": [one.to_json() for one in self.archived],
            "waiting": [one.to_json() for one in self.waiting],
            "notes": self.notes,
        }


def audit(root: Path, git: Git, topic: str, as_of: str = "") -> Audit:
    """Return what is believed about a topic. Only the search index is written.

    Args:
        root: the memory.
        git: its repository.
        topic: words, or the name of a document.
        as_of: only what held on this day, or empty.

    Raises:
        CurateError: the search failed.
    """
    shown = git.layout.real
    beliefs = Beliefs.of(read_documents(root), shown)
    documents = beliefs.documents
    chosen, notes = _chosen(root, beliefs, topic, shown)
    updated = days_updated(documents)
    current = [one for one in chosen if (holds_on(one, as_of, updated) if as_of else one.item.active)]
    held = {one.place for one in current}
    rest = [one for one in chosen if one.place not in held]
    over, quotes, newest = outdated(beliefs, as_of), Quotes(root), as_of or newest_day(documents.values())
    weak = {one.place: [*_weaknesses(one, quotes, newest), *map(str, over.get(one.item.id, ()))] for one in current}
    return Audit(
        topic=topic,
        as_of=as_of,
        current=current,
        past=[one for one in rest if _held_before(one, as_of, updated)],
        archived=[one for one in rest if one.item.status is Status.ARCHIVED and not as_of],
        waiting=[one for one in chosen if one.item.status is Status.WAITING],
        weak=weak,
        notes=[*notes],
        review=shown(REVIEW),
    )


def _chosen(
    root: Path, beliefs: Beliefs, topic: str, shown: Callable[[str], str]
) -> tuple[list[Holding], tuple[str, ...]]:
    """Return the items that a topic is about, and notes on the answer.

    If the topic names a document, these are its items and those that wait to be filed there; otherwise the items with
    its words and those that a search finds.
    """
    try:
        paths = frozenset(named_documents(beliefs.documents, topic, shown))
    except UsageFault:
        ids, notes = _by_search(root, topic)
        wanted = content_words(topic)
        return [
            one for one in beliefs.holdings if one.item.id in ids or (wanted and wanted <= content_words(one.item.text))
        ], notes
    return [one for one in beliefs.holdings if paths & {one.path, _home(one)}], ()


def _home(one: Holding) -> str:
    """Return the document of an item; for one that waits in Review.md, the one where it would be filed."""
    return dict(one.item.extra).get("home", one.path) if one.item.status is Status.WAITING else one.path


def _by_search(root: Path, topic: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the ids of the items that search finds for a topic, best first, and notes on the answer."""
    from pipelines.queries.search_settings import searched  # noqa: PLC0415  only where there is an index to ask
    from pipelines.search.filters import Filters  # noqa: PLC0415  as above
    from pipelines.search.found import LITTLE  # noqa: PLC0415  as above
    from pipelines.search.query import SearchRequest  # noqa: PLC0415  as above

    found, notes, how_much = searched(
        root, topic, _MOST_HITS, SearchRequest(filters=Filters(sources=("document",)), explain=True)
    )
    # Some hit is always the nearest: count those with a word or the id of the topic, or near it in meaning.
    hits = [
        hit
        for hit in found
        if "named" in hit.factors or hit.factors.get("words", 0) > 0 or hit.factors.get("meaning", 0) >= _NEAR
    ]
    best = max((hit.score for hit in hits), default=0.0)
    ids = [hit.item for hit in hits if hit.item and hit.score >= _SHARE * best]
    if found and not ids:
        notes = (*notes, "No item is close to the topic; `curate search` shows what is nearest.")
    return ids, (*notes, LITTLE) if ids and how_much == "little" else notes


def _held_before(one: Holding, day: str, updated: Mapping[str, str]) -> bool:
    """Whether an item held once but no longer does; for a day, whether it had begun and been closed by then."""
    if not day:
        return one.item.status in _CLOSED
    began = one.item.since or updated.get(one.path, "")
    return one.item.status not in UNTOLD and bool(began) and began <= day


def _weaknesses(one: Holding, quotes: Quotes, newest: str) -> Iterator[str]:
    """Yield why a current item is poorly supported, in a few words each."""
    item, places = one.item, one.item.evidence
    if item.confidence in UNSURE:
        yield f"{item.confidence} confidence"
    lost = [found.path for found in map(quotes.found, places) if found.quote is None]
    if not places:
        yield "no evidence" if item.by else "no evidence; a person wrote it"
    elif len(lost) == len(places):
        yield f"its quote is no longer in {', '.join(dict.fromkeys(lost))}"
    last, fresh = item.confirmed or item.since, replace(item, since=newest, confirmed=newest)
    if last and last < newest and priority(item, newest) <= _HALF * priority(fresh, newest):
        yield f"last confirmed on {last}"
