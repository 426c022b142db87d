"""All that the agent believes about a topic, now or on a day, sorted by how well it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pipelines.beliefs.holdings import Beliefs
from pipelines.beliefs.links import all_edges, predecessors, successors
from pipelines.beliefs.moments import days_updated, documents_on, first_day_note, holds_on
from pipelines.beliefs.topics import by_search, by_words, of_document, with_relatives
from pipelines.settings import load_settings
from pipelines.store.evidence import Quotes
from pipelines.store.item import Confidence, Status, priority
from pipelines.store.layout import REVIEW
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pipelines.beliefs.holdings import Holding
    from pipelines.beliefs.links import Edge
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
