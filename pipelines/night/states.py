"""The State of a page: up to five sentences at its top that sum up where things are, each citing its items.

Only pages with more than ten active items, or with a closed one, have a State. A sentence by a model stays while the
items it cites are unchanged. Code adds what is missing of the last decision, the next steps and the open risks, in the
items' own words and with the day on which they were last said: what prose changed since, only a model reads. So State
is right after every change by hand, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pipelines.store.days import day_before
from pipelines.store.document import HISTORY, ORDER, STATE_TITLE, Document, block_of, edited, kept_with_document
from pipelines.store.generated import (
    Sentence,
    is_citable,
    is_vetoed,
    sentences_under,
    still_rests,
    with_sentences,
    words_of,
)
from pipelines.store.item import ACTIVE, CLOSED, Item, ItemType, Status
from pipelines.store.layout import Kind
from pipelines.text import clipped

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence


MOST_SENTENCES: Final = 5
SPEAKS_FOR_ITSELF: Final = 10
"""A page with at most this many active items, and no closed one, needs no State."""
HISTORY_DAYS: Final = 14
"""Items that were done, dropped, resolved, answered or occurred move to the History after this many days."""
_LENGTH = 160
MOST_NAMED: Final = 3
_KINDS = frozenset({Kind.PROJECT, Kind.AREA})
_OVER = frozenset({Status.DONE, Status.DROPPED, Status.RESOLVED, Status.OCCURRED, Status.ANSWERED})
_NO_LONGER = CLOSED | _OVER


def has_state(document: Document) -> bool:
    """Return whether a page should have a State."""
    if document.kind not in _KINDS:
        return False
    items = [placed.item for placed in document.items if placed.item.id]
    return sum(one.active for one in items) > SPEAKS_FOR_ITSELF or any(one.status in _NO_LONGER for one in items)


@kept_with_document
def citable_items(document: Document) -> tuple[Item, ...]:
    """Return the items that a page's State may cite, most important first.

    The last decision, the next step and the first risk come first, then all other active items, then the last to end.
    """
    items = [placed.item for placed in document.items if placed.item.id and is_citable(placed.item)]
    holding = [one for one in items if one.status in ACTIVE and not one.doubted]
    first = [item for part in _parts(holding) if part.title != _GOAL for item in part.items[:1]]
    rest = [one for one in holding if one not in first]
    over = sorted((one for one in items if one.status in _OVER), key=lambda one: one.until, reverse=True)
    return (*first, *rest, *over[:SPEAKS_FOR_ITSELF])


def with_states(documents: Mapping[str, Document], vetoed: frozenset[str] = frozenset()) -> dict[str, Document]:
    """Return the documents, each page's State brought up to date, without what a person vetoed."""
    return {path: _with_state(document, vetoed) for path, document in documents.items()}


@lru_cache(maxsize=256)
def _with_state(document: Document, vetoed: frozenset[str]) -> Document:
    """Return the document with its State: the model's sentences that still hold, and code's own for what is missing.

    Cached: one run asks several times, and most pages have not changed.
    """
    if not has_state(document):
        is_told = document.told and document.kind in _KINDS
        return with_sentences(document, {STATE_TITLE: []}, ORDER) if is_told else document
    items = {one.id: one for one in citable_items(document)}
    kept = [
        one
        for _, one in sentences_under(document, STATE_TITLE)
        if one.ids and still_rests(one, items, with_status=True)
    ]
    unwanted = {ident for ident, one in items.items() if is_vetoed(STATE_TITLE, "", [one], vetoed)}
    parts = _parts([p.item for p in document.items if p.item.id in items and p.item.status in ACTIVE], unwanted)
    parts = [part for part in parts if not (kept and part.title == _GOAL)]
    for room in range(MOST_SENTENCES, -1, -1):  # keep as many of the model's as leave room for the parts
        cited = {ident for one in kept[:room] for ident in one.ids}
        missing = [part for part in parts if part.items[0].id not in cited]
        if len(kept[:room]) + len(missing) <= MOST_SENTENCES:
            break
    told = kept[:room]
    for part in missing:
        named = part.items[:MOST_NAMED]
        days = sorted({day for one in named if (day := one.confirmed or one.learnt)})
        said = " to ".join(dict.fromkeys([*days[:1], *days[-1:]]))
        title = f"{part.title} ({said})" if said and part.title != _GOAL else part.title
        text = titled(title, joined(map(with_due, named)))
        told.append(Sentence(text, tuple(one.id for one in named)))
    told = told[:MOST_SENTENCES]
    return with_sentences(document, {STATE_TITLE: told}, ORDER)


_GOAL = "Goal"


@dataclass(frozen=True, slots=True)
class _Part:
    """One kind of sentence in a State, and its items, most important first."""

    title: str
    items: Sequence[Item]


def _parts(items: Sequence[Item], unwanted: Container[str] = ()) -> list[_Part]:
    """Return the parts of a State that have something to tell, without what a person vetoed."""

    def latest(kind: ItemType, section: str) -> list[Item]:
        fitting = [one for one in reversed(items) if one.type is kind and one.page_section == section]
        return sorted(fitting, key=lambda one: (one.learnt, one.confirmed), reverse=True)  # of a day, the last filed

    decided = [one for kind in ("", "goals") for one in latest(ItemType.DECISION, kind)]
    goals = [one for one in items if one.page_section == "goals" and one.type is not ItemType.DECISION]
    parts = (
        _Part(_GOAL, goals[-1:]),
        _Part("Last decision", decided[:1]),
        _Part("Next", next_steps(items)),
        _Part("At risk", latest(ItemType.RISK, "")),
    )
    wanted = (replace(part, items=[one for one in part.items if one.id not in unwanted]) for part in parts)
    return [part for part in wanted if part.items]


def next_steps(items: Iterable[Item]) -> list[Item]:
    """Return the open todos: those with a due date by it, then the others, the last one mentioned first."""
    todos = (one for one in items if one.type is ItemType.TODO and not (one.quiet or one.perhaps))
    latest = sorted(todos, key=lambda one: one.confirmed or one.learnt, reverse=True)
    return sorted(latest, key=lambda one: one.due or "9")


def has_passed(item: Item, today: str) -> bool:
    """Whether an item tells of an appointment whose day is over, and nobody has told how it went."""
    return item.active and "" < item.on < today


def with_due(item: Item) -> str:
    """Return a todo's text with its due date, without a full stop."""
    due = f" (due {item.due})" if item.due and item.due not in item.text else ""
    return f"{shortened(item)}{due}"


def shortened(item: Item) -> str:
    """Return an item's text for a generated sentence: cut to fit, without full stop, and whether it is unsure."""
    return clipped(words_of(item.text), _LENGTH).rstrip(".") + item.unsure


def titled(title: str, text: str) -> str:
    """Return a text after its title, unless it begins with those words."""
    return text if text.casefold().startswith(title.casefold()) else f"{title}: {text}"


def joined(texts: Iterable[str]) -> str:
    """Return texts as one sentence."""
    whole = "; ".join(texts)
    return whole if whole.endswith(("?", "!", "…")) else f"{whole}."


def with_history(documents: Mapping[str, Document], newest: str) -> dict[str, Document]:
    """Return the documents, with items that ended two weeks before the newest day moved to their page's History.

    Log dates decide, not the clock: a day without news changes nothing.

    Args:
        documents: every document by path.
        newest: the latest date of any item.
    """
    after = dict(documents)
    before = day_before(newest, HISTORY_DAYS) if newest else ""
    for path, document in documents.items():
        over = (one for one in (document.items if document.kind in _KINDS else ()) if one.item.status in _OVER)
        ended = (one for one in over if one.item.id and one.section != HISTORY)
        if old := [one for one in ended if "" < (one.item.until or one.item.since) <= before]:
            blocks = [replace(block_of(document, placed), section=HISTORY) for placed in old]
            after[path] = edited(document, add=blocks, remove=[one.item.id for one in old])
    return after
