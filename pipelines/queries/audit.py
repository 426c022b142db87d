"""Everything that the agent believes about a topic, now or on a day, sorted by how well it is supported.

A topic is a document, which stands for all its items, or words, for the items that contain them or that search finds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from pipelines.errors import UsageFault
from pipelines.queries.as_of import days_updated, first_day_note, holds_on
from pipelines.queries.item_graph import PREDECESSORS, Beliefs, Edge, Holding, outdated
from pipelines.search.chunks import UNTOLD
from pipelines.store.document import newest_day
from pipelines.store.evidence import Quotes
from pipelines.store.item import STRUCK, UNSURE, Status, folded
from pipelines.store.layout import REVIEW
from pipelines.store.priority import priority
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.text import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pipelines.store.git import Git

    Dispute = tuple[Holding, Holding, bool]
    """Two items that contradict each other, and whether a person is still to decide."""


_CLOSED = STRUCK | {Status.DONE}
_HALF = 0.5
_SHARE = 0.7
"""The least share of the best hit's score: search by meaning finds something for every question, and on real meeting
minutes few hits below this are about the topic."""
_NEAR = 0.35
"""The least cosine of a hit without a word of the topic: on real meeting minutes unrelated topics (`garden furniture`,
random letters) reach at most 0.3, and paraphrases 0.4 or more."""
_MOST_HITS = 100
_SHORT = 3
_ENDINGS = re.compile(r"(?:ies|es|s|ed|ing)$")


@dataclass(frozen=True, slots=True)
class Audit:
    """What is believed about a topic; a poorly supported item is also among the current ones.

    Args:
        topic: words, or the name of a document.
        as_of: the day on which the items held, or empty.
        current: what holds.
        past: what no longer holds: superseded, retracted, merged, done.
        archived: what was archived for lack of room or with its project, and may still hold.
        disputes: pairs that contradict each other, and whether a person is still to decide between them.
        waiting: what waits in Review.md for a person.
        unsure: current items of low or speculative confidence, each with the reason in a few words.
        unproven: current items without evidence, or whose quotes are gone, likewise.
        faded: current items not confirmed for so long that they lost half their weight, likewise.
        outdated: current items that rest on one that was superseded, ended or never held, likewise.
        edges: the links between all of these.
        newest: the last day that the memory covers.
        notes: sentences on the limits of the answer.
        review: what people call Review.md.
    """

    topic: str
    as_of: str
    current: list[Holding]
    past: list[Holding]
    archived: list[Holding]
    disputes: list[Dispute]
    waiting: list[Holding]
    unsure: list[tuple[Holding, str]]
    unproven: list[tuple[Holding, str]]
    faded: list[tuple[Holding, str]]
    outdated: list[tuple[Holding, str]]
    edges: list[Edge]
    newest: str
    notes: list[str]
    review: str

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """All items in it, each once."""
        return (*self.current, *self.past, *self.archived, *self.waiting)

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        weak = {"low_confidence": self.unsure, "without_evidence": self.unproven, "not_confirmed": self.faded}
        weak |= {"outdated_grounds": self.outdated}
        return {
            "topic": self.topic,
            "as_of": self.as_of or None,
            "current": [one.to_json() for one in self.current],
            "superseded": [one.to_json() for one in self.past],
            "archived": [one.to_json() for one in self.archived],
            "contradicting": [
                {"one": one.to_json(), "other": other.to_json(), "open": is_open}
                for one, other, is_open in self.disputes
            ],
            "waiting": [one.to_json() for one in self.waiting],
            **{name: [one.to_json() | {"why": why} for one, why in found] for name, found in weak.items()},
            "links": list(map(asdict, self.edges)),
            "notes": self.notes,
        }


def audit(root: Path, git: Git, topic: str, as_of: str = "", beliefs: Beliefs | None = None) -> Audit:
    """Return what is believed about a topic, sorted by how well it is supported. Only the search index is written.

    Args:
        root: the memory.
        git: its repository.
        topic: words, or the name of a document.
        as_of: only what held on this day, or empty.
        beliefs: the items of the memory today, if they have been read already.

    Raises:
        CurateError: the search failed.
    """
    shown = git.layout.real
    beliefs = beliefs or Beliefs.of(read_documents(root), shown)
    documents = beliefs.documents
    disputes = _disputes(beliefs)
    chosen, notes = _chosen(root, beliefs, topic, shown)
    chosen = _with_relatives(beliefs, chosen, disputes)
    updated = days_updated(documents)
    newest = as_of or newest_day(documents.values())
    current = [one for one in chosen if (holds_on(one, as_of, updated) if as_of else one.item.active)]
    held = {one.place for one in current}
    rest = [one for one in chosen if one.place not in held]
    past = [one for one in rest if _held_before(one, as_of, updated)]
    archived = [one for one in rest if one.item.status is Status.ARCHIVED]
    waiting = [one for one in chosen if one.item.status is Status.WAITING]
    first = first_day_note(documents, as_of) if as_of and not current else ""
    over = outdated(beliefs, as_of)
    shown_ids = {one.item.id for one in (*current, *past, *archived, *waiting)}
    return Audit(
        topic=topic,
        as_of=as_of,
        current=current,
        past=past,
        archived=[] if as_of else archived,
        disputes=[one for one in disputes if {one[0].item.id, one[1].item.id} <= shown_ids],
        waiting=waiting,
        unsure=[(one, f"{one.item.confidence} confidence") for one in current if one.item.confidence in UNSURE],
        unproven=list(_unproven(current, Quotes(root))),
        faded=list(_faded(current, newest)),
        outdated=[(one, str(ground)) for one in current for ground in over.get(one.item.id, ())],
        edges=[edge for edge in beliefs.edges if edge.source in shown_ids and edge.target in shown_ids],
        newest=newest,
        notes=[one for one in (*notes, first) if one],
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
        return [*_by_words(beliefs, topic), *(beliefs.by_id[ident] for ident in ids if ident in beliefs.by_id)], notes
    return [one for one in beliefs.holdings if paths & {one.path, _home(one)}], ()


def _home(one: Holding) -> str:
    """Return the document of an item; for one that waits in Review.md, the one where it would be filed."""
    return dict(one.item.extra).get("home", one.path) if one.item.status is Status.WAITING else one.path


def _by_words(beliefs: Beliefs, topic: str) -> list[Holding]:
    """Return the items, of any status, whose text and document's title together hold every word of a topic."""
    wanted = _stems(topic)
    titles = {path: _stems(document.title) for path, document in beliefs.documents.items()}
    found = []
    for one in beliefs.holdings:
        said = _stems(one.item.text)
        if said & wanted and wanted <= said | titles.get(one.path, set()):
            found.append(one)
    return found


def _stems(text: str) -> set[str]:
    """Return the words of a text without the commonest English endings, so that `invoices` finds `invoice`."""
    bare = {word: _ENDINGS.sub("", word) for word in content_words(text) or folded(text).split()}
    return {stem if len(stem) > _SHORT else word for word, stem in bare.items()}


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


def _with_relatives(beliefs: Beliefs, chosen: Iterable[Holding], disputes: Iterable[Dispute]) -> list[Holding]:
    """Return items with all that they replaced, that replaced them and that contradicts them, in order of lines."""
    pairs = [(edge.source, edge.target) for edge in beliefs.edges if edge.kind in PREDECESSORS]
    pairs += [(one.item.id, other.item.id) for one, other, _ in disputes]
    near: dict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        near[one].add(other)
        near[other].add(one)
    places = {one.place for one in chosen}
    reached = {one.item.id for one in chosen} - {""}
    waiting = list(reached)
    while waiting:
        further = {other for other in near[waiting.pop()] if other in beliefs.by_id} - reached
        reached |= further
        waiting += further
    found = [one for one in beliefs.holdings if one.place in places or one.item.id in reached]
    return sorted(found, key=lambda one: (one.path, one.line))


def _held_before(one: Holding, day: str, updated: Mapping[str, str]) -> bool:
    """Whether an item held once but no longer does; for a day, whether it had begun and been closed by then."""
    if not day:
        return one.item.status in _CLOSED
    began = one.item.since or updated.get(one.path, "")
    return one.item.status not in UNTOLD and bool(began) and began <= day


def _disputes(beliefs: Beliefs) -> list[Dispute]:
    """Return the items that contradict each other, each pair once."""
    pairs = [(edge.source, edge.target, False) for edge in beliefs.edges if edge.kind == "contradicts"]
    waiting = (one.item for one in beliefs.holdings if one.item.status is Status.WAITING)
    pairs += [(item.id, dict(item.extra).get("against", ""), True) for item in waiting]
    known = beliefs.by_id
    first: dict[frozenset[str], Dispute] = {}
    for near, far, is_open in pairs:
        if near in known and far in known and near != far:
            first.setdefault(frozenset({near, far}), (known[near], known[far], is_open))
    return list(first.values())


def _unproven(current: Iterable[Holding], quotes: Quotes) -> Iterator[tuple[Holding, str]]:
    for one in current:
        places = one.item.evidence
        lost = [found.path for found in map(quotes.found, places) if found.quote is None]
        if not places:
            yield one, "no evidence" if one.item.by else "no evidence; a person wrote it"
        elif len(lost) == len(places):
            yield one, f"its quote is no longer in {', '.join(dict.fromkeys(lost))}"


def _faded(current: Iterable[Holding], newest: str) -> Iterator[tuple[Holding, str]]:
    for one in current:
        item, last = one.item, one.item.confirmed or one.item.since
        fresh = replace(item, since=newest, confirmed=newest)
        if last and last < newest and priority(item, newest) <= _HALF * priority(fresh, newest):
            yield one, f"last confirmed on {last}"
