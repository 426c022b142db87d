"""The State of a page: two to five sentences at its top that say where things stand, each with the items it rests on.

A page with more than ten items that hold, or with something that has ended, has one; a small page speaks for itself.
What a model wrote stays while the items that it cites say what they said; code writes what is missing of the last
decision, the next steps and the open risks, in the items' own words. So State is right after every change by hand, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pipelines.store.document import HISTORY, ORDER, STATE_TITLE, block_of, edited
from pipelines.store.generated import Sentence, digest, may_be_told, sentences_under, with_sentences
from pipelines.store.item import ACTIVE, CLOSED, ItemType, Status
from pipelines.store.layout import Kind
from pipelines.text import clipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.store.document import Document
    from pipelines.store.item import Item


MOST_SENTENCES: Final = 5
_LEAST: Final = 2
SPEAKS_FOR_ITSELF: Final = 10
"""A page with so many items that hold, and none that has ended, needs no State."""
HISTORY_DAYS: Final = 14
"""After so many days what was done, dropped, resolved, answered or occurred moves to the History."""
_LENGTH: Final = 160
_MOST_NAMED: Final = 3
_KINDS: Final = frozenset({Kind.PROJECT, Kind.AREA})
_OVER: Final = frozenset({Status.DONE, Status.DROPPED, Status.RESOLVED, Status.OCCURRED, Status.ANSWERED})


def has_state(document: Document) -> bool:
    """Return whether a page is to say where things stand."""
    if document.kind not in _KINDS:
        return False
    items = [placed.item for placed in document.items if placed.item.id]
    return sum(one.active for one in items) > SPEAKS_FOR_ITSELF or any(one.status in CLOSED | _OVER for one in items)


@lru_cache(maxsize=256)
def told_items(document: Document) -> tuple[Item, ...]:
    """Return the items of a page on which its State may rest, those that weigh most first.

    The last decision, the next step and the first risk are followed by what else holds, and by what ended last.
    """
    items = [placed.item for placed in document.items if placed.item.id and may_be_told(placed.item)]
    holding = [one for one in items if one.status in ACTIVE and not one.doubted]
    first = [item for part in _parts(holding) if part.is_needed for item in part.items[:1]]
    rest = [one for one in holding if one not in first]
    over = sorted((one for one in items if one.status in _OVER), key=lambda one: one.until, reverse=True)
    return (*first, *rest, *over[:SPEAKS_FOR_ITSELF])


def with_states(documents: Mapping[str, Document]) -> dict[str, Document]:
    """Return the documents, each page with a State that is true of its items, or with none."""
    return {path: _with_state(document) for path, document in documents.items()}


@lru_cache(maxsize=256)
def _with_state(document: Document) -> Document:
    """Return the document with its State; one run asks this of a page several times, and most have not changed."""
    if has_state(document):
        return with_sentences(document, {STATE_TITLE: state_of(document)}, ORDER)
    if "<!-- s:" in document.text and document.kind in _KINDS:
        return with_sentences(document, {STATE_TITLE: []}, ORDER)
    return document


def state_of(document: Document) -> list[Sentence]:
    """Return the sentences of a page's State: what a model wrote and still holds, and code's for what is missing."""
    told = {one.id: one for one in told_items(document)}
    found = sentences_under(document, STATE_TITLE)
    covered = {ident for _, one, is_changed in found if is_changed for ident in one.ids}
    kept = [one for _, one, is_changed in found if one.of and not is_changed and _holds(one, told)]
    parts = [part for part in _parts([one for one in told.values() if one.status in ACTIVE]) if part.items]
    for room in range(MOST_SENTENCES, -1, -1):  # as many of the model's as leave room for what must be told
        cited = covered | {ident for one in kept[:room] for ident in one.ids}
        missing = [part for part in parts if part.is_needed and part.items[0].id not in cited]
        if len(kept[:room]) + len(missing) <= MOST_SENTENCES:
            break
    if not kept:
        spare = [part for part in parts if not part.is_needed and part.items[0].id not in cited]
        goal = [part for part in spare if part.title == _GOAL]
        more = goal if len(missing) + len(goal) >= _LEAST else spare
        missing = [part for part in parts if part in missing or part in more]
    return [*kept[:room], *(part.sentence() for part in missing)][:MOST_SENTENCES]


def _holds(sentence: Sentence, told: Mapping[str, Item]) -> bool:
    """Whether the items that a sentence of a model cites say and are what they said and were."""
    cited = [told[ident] for ident in sentence.ids if ident in told]
    return len(cited) == len(sentence.ids) > 0 and digest(cited, with_status=True) == sentence.of


_GOAL: Final = "Goal"


@dataclass(frozen=True, slots=True)
class _Part:
    """One thing that a State says in the words of items, the weightiest first."""

    title: str
    items: Sequence[Item]
    is_needed: bool

    def sentence(self) -> Sentence:
        named = self.items[:_MOST_NAMED]
        title = "" if named[0].text.casefold().startswith(self.title.casefold()) else f"{self.title}: "
        more = f" And {len(self.items) - len(named)} more." if len(self.items) > len(named) else ""
        return Sentence(f"{title}{joined(map(_worded, named))}{more}", tuple(one.id for one in named))


def _parts(items: Sequence[Item]) -> list[_Part]:
    def latest(kind: ItemType, section: str = "") -> list[Item]:
        fitting = [one for one in items if one.type is kind and one.page_section == section]
        return sorted(fitting, key=lambda one: (one.learnt, one.confirmed), reverse=True)

    decided = [one for kind in ("", "goals") for one in latest(ItemType.DECISION, kind)]
    goals = [one for one in items if one.page_section == "goals" and one.type is not ItemType.DECISION]
    steps = sorted((one for one in items if one.type is ItemType.TODO), key=lambda one: (not one.due, one.due))
    last = f"Decided last, on {decided[0].learnt}" if decided else ""
    return [
        _Part(_GOAL, goals[-1:], is_needed=False),
        _Part(last, decided[:1], is_needed=True),
        _Part("Next", steps, is_needed=True),
        _Part("At risk", latest(ItemType.RISK), is_needed=True),
        _Part("Open", latest(ItemType.FACT, "questions")[:1], is_needed=False),
        _Part("Known last", latest(ItemType.FACT)[:1], is_needed=False),
    ]


def _worded(item: Item) -> str:
    due = f" (due {item.due})" if item.due and item.due not in item.text else ""
    return f"{clipped(item.text, _LENGTH).rstrip('.')}{due}"


def joined(texts: Iterable[str]) -> str:
    """Return sentences as one, that ends as they do."""
    whole = "; ".join(texts)
    return whole if whole.endswith(("?", "!", "…")) else f"{whole}."


def with_history(documents: Mapping[str, Document], newest: str) -> dict[str, Document]:
    """Return the documents with what ended two weeks before the newest day in the History of its page.

    Days of the logs decide, not the clock, so that a day without news changes nothing.

    Args:
        documents: every document by path.
        newest: the latest day that any item speaks of.
    """
    after = dict(documents)
    before = (date.fromisoformat(newest) - timedelta(days=HISTORY_DAYS)).isoformat() if newest else ""
    for path, document in documents.items():
        old = [
            placed
            for placed in (document.items if document.kind in _KINDS else ())
            if placed.item.id and placed.item.status in _OVER and placed.section != HISTORY
            and "" < (placed.item.until or placed.item.since) <= before
        ]  # fmt: skip
        if old:
            blocks = [replace(block_of(document, placed), section=HISTORY) for placed in old]
            after[path] = edited(document, add=blocks, remove=[one.item.id for one in old])
    return after
