"""All that the agent believes about a topic, now or on a day, sorted by how well it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import UsageFault
from pipelines.queries.as_of import days_updated, documents_on, first_day_note, holds_on
from pipelines.queries.drawing import LABELS, WIDTH, drawing, timeline
from pipelines.queries.item_graph import Beliefs, all_edges, predecessors, successors
from pipelines.settings import load_settings
from pipelines.store.evidence import Quotes
from pipelines.store.item import Confidence, Status, content_words, folded, priority
from pipelines.store.layout import REVIEW
from pipelines.store.template import named_documents
from pipelines.store.user_layout import real_path
from pipelines.templating import render_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pipelines.queries.item_graph import Edge, Holding, Steps
    from pipelines.store.document import Document
    from pipelines.store.git import Git
    from pipelines.store.item import Weights


_UNSURE: Final = frozenset({Confidence.LOW, Confidence.SPECULATIVE})
_CLOSED: Final = frozenset({Status.SUPERSEDED, Status.RETRACTED, Status.MERGED, Status.DONE})
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """What an audit asks.

    Args:
        topic: words, or the name of a document.
        as_of: only what held on this day, or empty.
        known_on: as the memory held it by the end of this day, or empty.
    """

    topic: str
    as_of: str = ""
    known_on: str = ""


@dataclass(frozen=True, slots=True)
class Weak:
    """An item that stands on weak ground, and why, in a few words."""

    holding: Holding
    why: str


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two items of which one says otherwise than the other; `open` while a person is still asked which holds."""

    one: Holding
    other: Holding
    open: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """What is believed about a topic; an item that is weak stands among the current ones, too.

    Args:
        question: what was asked.
        current: what holds.
        past: what held once: superseded, retracted, merged, done.
        archived: what was moved out for lack of room, or with its project; nothing says that it holds no more.
        disputes: pairs that contradict each other.
        waiting: what waits in Review.md for a person.
        unsure: of the current ones those of low or speculative confidence.
        unproven: those whose words stand nowhere any more, or that rest on none.
        faded: those that nothing has confirmed for longer than it takes their type to lose half its weight.
        edges: the links between all of these.
        newest: the day up to which the memory tells.
        notes: sentences on what limits the answer.
        review: what people call Review.md.
    """

    question: Question
    current: tuple[Holding, ...]
    past: tuple[Holding, ...]
    archived: tuple[Holding, ...]
    disputes: tuple[Dispute, ...]
    waiting: tuple[Holding, ...]
    unsure: tuple[Weak, ...]
    unproven: tuple[Weak, ...]
    faded: tuple[Weak, ...]
    edges: tuple[Edge, ...]
    newest: str
    notes: tuple[str, ...] = ()
    review: str = REVIEW

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """All items in it, each once."""
        return (*self.current, *self.past, *self.archived, *self.waiting)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        weak = {"low_confidence": self.unsure, "without_evidence": self.unproven, "not_confirmed": self.faded}
        return {
            "topic": self.question.topic,
            "as_of": self.question.as_of or None,
            "known_on": self.question.known_on or None,
            "current": [one.to_json() for one in self.current],
            "superseded": [one.to_json() for one in self.past],
            "archived": [one.to_json() for one in self.archived],
            "contradicting": [
                {"one": pair.one.to_json(), "other": pair.other.to_json(), "open": pair.open} for pair in self.disputes
            ],
            "waiting": [one.to_json() for one in self.waiting],
            **{name: [one.holding.to_json() | {"why": one.why} for one in found] for name, found in weak.items()},
            "links": [edge.to_json() for edge in self.edges],
            "notes": list(self.notes),
        }


def audit(root: Path, git: Git, question: Question) -> Audit:
    """Return what is believed about a topic, sorted by how well it stands. Nothing is written but the search index.

    Raises:
        CurateError: what a search raises.
    """
    documents, note = documents_on(root, git, question.known_on)
    beliefs = Beliefs.of(documents, partial(real_path, root))
    chosen, notes = _chosen(root, documents, beliefs, question)
    updated = days_updated(documents)
    newest = question.as_of or question.known_on or beliefs.newest_day
    current = [one for one in chosen if _holds(one, question.as_of, updated)]
    held = {one.place for one in current}
    past = [one for one in chosen if one.place not in held and _held_before(one, question.as_of, updated)]
    archived = [one for one in chosen if one.place not in held and one.item.status is Status.ARCHIVED]
    waiting = [one for one in chosen if one.item.status is Status.WAITING]
    first = first_day_note(documents, question.as_of) if question.as_of and not (note or current) else ""
    told = {one.item.id for one in (*current, *past, *archived, *waiting)}
    return Audit(
        question=question,
        current=tuple(current),
        past=tuple(past),
        archived=() if question.as_of else tuple(archived),
        disputes=tuple(_disputes(beliefs, told)),
        waiting=tuple(waiting),
        unsure=tuple(Weak(one, f"{one.item.confidence} confidence") for one in current if _is_unsure(one)),
        unproven=tuple(_unproven(current, Quotes(root))),
        faded=tuple(_faded(current, newest, load_settings(root).priority)),
        edges=tuple(edge for edge in all_edges(beliefs.holdings) if edge.source in told and edge.target in told),
        newest=newest,
        notes=tuple(one for one in (note, *notes, first) if one),
        review=real_path(root, REVIEW),
    )


def _chosen(
    root: Path, documents: Mapping[str, Document], beliefs: Beliefs, question: Question
) -> tuple[list[Holding], tuple[str, ...]]:
    steps = (predecessors(beliefs), successors(beliefs), _rivals(beliefs))
    named = of_document(documents, beliefs, question.topic, partial(real_path, root))
    if named is not None:
        return with_relatives(beliefs, named, steps), ()
    chosen, notes = by_words(beliefs, documents, question.topic), tuple[str, ...]()
    if not question.known_on:
        ids, notes = by_search(root, question.topic)
        chosen += [beliefs.by_id[ident] for ident in ids if ident in beliefs.by_id]
    return with_relatives(beliefs, chosen, steps), notes


def _holds(one: Holding, day: str, updated: Mapping[str, str]) -> bool:
    return holds_on(one, day, updated) if day else one.item.active


def _held_before(one: Holding, day: str, updated: Mapping[str, str]) -> bool:
    """Whether an item that does not hold held once: for a day, what began by then and was closed by then."""
    if not day:
        return one.item.status in _CLOSED
    began = one.item.since or updated.get(one.path, "")
    return one.item.status is not Status.WAITING and bool(began) and began <= day


def _rivals(beliefs: Beliefs) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for one, other, _ in _pairs(beliefs):
        found.setdefault(one, []).append(("contradicts", other))
        found.setdefault(other, []).append(("contradicts", one))
    return found


def _pairs(beliefs: Beliefs) -> Iterator[tuple[str, str, bool]]:
    """Yield the ids of each two items that contradict each other, and whether a person is still asked about it."""
    for edge in all_edges(beliefs.holdings):
        if edge.kind == "contradicts":
            yield edge.source, edge.target, False
    for one in beliefs.holdings:
        against = dict(one.item.extra).get("against", "")
        if one.item.status is Status.WAITING and against:
            yield one.item.id, against, True


def _disputes(beliefs: Beliefs, told: set[str]) -> Iterator[Dispute]:
    seen: set[frozenset[str]] = set()
    for one, other, asked in _pairs(beliefs):
        if {one, other} <= told and one != other and frozenset({one, other}) not in seen:
            seen.add(frozenset({one, other}))
            yield Dispute(beliefs.by_id[one], beliefs.by_id[other], asked)


def _is_unsure(one: Holding) -> bool:
    return one.item.confidence in _UNSURE


def _unproven(current: Iterable[Holding], quotes: Quotes) -> Iterator[Weak]:
    for one in current:
        places = one.item.evidence
        lost = [found.path for found in map(quotes.found, places) if found.quote is None]
        if not places:
            yield Weak(one, "it names no evidence" if one.item.by else "a person wrote it, and it names no evidence")
        elif len(lost) == len(places):
            yield Weak(one, f"its words stand no longer in {', '.join(dict.fromkeys(lost))}")


def _faded(current: Sequence[Holding], newest: str, weights: Weights) -> Iterator[Weak]:
    for one in current:
        item, last = one.item, one.item.confirmed or one.item.since
        fresh = replace(item, since=newest, confirmed=newest)
        if last and last < newest and priority(item, newest, weights) <= _HALF * priority(fresh, newest, weights):
            yield Weak(one, f"last said on {last}")


# ---------------------------------------- which items a topic is about
# all of a document that it names, else what says its words, and what search finds.


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
    from pipelines.queries.search_settings import searched  # noqa: PLC0415  only where there is an index to ask
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


# ---------------------------------------- an audit as one page of HTML
# no script, nothing loaded, and nothing in it that a memory could forge.


_GROUPS: Final = (
    ("unsure", "Low confidence"),
    ("unproven", "Without evidence"),
    ("faded", "Not confirmed for long"),
)


def page_of(audit: Audit) -> str:
    """Return the page of an audit, whole.

    A policy in it forbids a browser to load or run anything, also where an escape were missing; texts are cut in the
    drawings alone.
    """
    groups = [(title, getattr(audit, name)) for name, title in _GROUPS]
    weak = {one.holding.place for _, found in groups for one in found}
    weak |= {side.place for pair in audit.disputes for side in (pair.one, pair.other)}
    return render_page(
        "audit.html",
        audit=audit,
        question=audit.question,
        gone={one.place for one in audit.past},
        groups=groups,
        weak=len(weak | {one.place for one in audit.waiting}),
        timeline=timeline((*audit.current, *audit.past, *audit.archived), audit.newest, weak),
        links=drawing(audit.holdings, audit.edges),
        kinds=sorted({edge.kind for edge in audit.edges}),
        width=WIDTH,
        labels=LABELS,
    )
