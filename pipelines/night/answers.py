"""Answers: apply what a person decided in Review.md, each decision once.

    gone        restore · retract                      items that left their documents all at once
    missing     restore · retract                      a page that is gone with many items
    contradict  keep new · keep both · neither · keep old  a new item that cannot be true beside an old one
    quarantine  keep · drop                            instructions from text that is not trusted
    an outcome  close · keep                           a log line claims that an item is over: done, ended and so on
    doubt       end · retract · keep                   an item that was called into question
    quiet       keep · drop                            open items that nobody has mentioned of late, all together
    pair        keep new · keep old · neither · keep both  two items that may conflict, where no agent settles them
    version     first · second · third                 an item that two machines, or a person and an undo, changed
    merge       done                                   other lines that two machines changed in different ways

The first choice of a kind is what a yes means, and the last one a no. Accepted items move to a document, rejected ones
get a tombstone. Runs and commands begin with what was ticked.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import UsageFault
from pipelines.night.caps import archived
from pipelines.night.file_items import SUPERSEDABLE, new_document, with_items, with_superseded
from pipelines.night.outcome_changes import Authority, close_items, ending_of, settle_pair
from pipelines.review.outcomes import (
    AGAINST,
    ENDINGS,
    GONE,
    ORDINALS,
    PAIR,
    VERSION,
    ids_asked,
    named_in_title,
    version_of,
    with_link,
    with_reopened,
)
from pipelines.store.change_set import items_by_id, placed_item, with_item_changed
from pipelines.store.document import Block, Documents, edited
from pipelines.store.edits import asked_pages_in
from pipelines.store.item import OUTCOMES, QUIET, Confidence, Item, ItemType, Status, Trust, last_successor, with_extra
from pipelines.store.layout import GENERAL, REVIEW, Kind, kind_of
from pipelines.store.review_queue import QueueEntry, read_queue, released, without_answered
from pipelines.store.state import Reason, tombstone
from pipelines.store.template import named_item
from pipelines.store.trees import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pipelines.night.reconcile import Reconciled

    Answer = tuple[QueueEntry, str, tuple[Item, ...]]


def apply_answers(work: Reconciled) -> None:
    """Apply the ticked boxes of Review.md. An entry with no tick, or with two, stays.

    Args:
        work: the memory, with people's edits understood.
    """
    answers: list[Answer] = []
    for entry in read_queue(work.documents.get(REVIEW)):
        place = f"{REVIEW} line {entry.first + 1}"
        if len(entry.ticked) > 1:
            work.notes.append(f"{place} has two ticked boxes, so nothing was done. Untick one of them.")
        elif entry.ticked and entry.ticked[0] not in choices_of(entry):
            work.notes.append(f"{place}: “{entry.ticked[0]}” is not a choice here, so nothing was done.")
        elif entry.ticked:
            answers.append((entry, entry.ticked[0], entry.items))
    answer(work, answers)


def answer(work: Reconciled, answers: Iterable[Answer]) -> None:
    """Apply a person's decisions, in order.

    Args:
        work: the memory.
        answers: the decisions: an entry, one of its `choices_of`, and the items of the entry to apply it to; its other
            items stay in the queue.
    """
    done: list[Answer] = []
    for one in answers:
        if one[0].kind in _WHOLE and one[2]:  # they would be lost with the question
            work.notes.append(f"“{one[0].title}” has items below it, so nothing was done. Move the items elsewhere.")
        else:
            done.append(one)
    if done:  # first, since what follows may remove more questions
        ids = [(entry, [item.id for item in items]) for entry, _, items in done]
        work.documents[REVIEW] = without_answered(work.documents[REVIEW], ids)
    for entry, choice, items in done:
        if entry.kind in _WHOLE:
            try:
                _WHOLE[entry.kind][choice](work, entry)
            except (KeyError, UsageFault):
                work.notes.append(f"“{entry.title}”: it is no longer as it was when it was asked; nothing was changed.")
        for item in items:
            ITEM_CHOICES[entry.kind][choice](work, item)


def choices_of(entry: QueueEntry) -> tuple[str, ...]:
    """Return the choices of an entry, from yes to no; of a version, those that there are."""
    words = tuple(_WHOLE.get(entry.kind, ()) or ITEM_CHOICES.get(entry.kind, ()))
    return words[: len(entry.choices)] if entry.kind == VERSION else words


def _file(work: Reconciled, item: Item) -> Item:
    """Move a waiting item to its home, or to Areas/general if that cannot hold items; return the filed item."""
    home, was = released(item)
    can_hold = kind_of(home) not in {None, Kind.REVIEW, Kind.EPISODE} and ".." not in home.split("/")
    path = home if can_hold else GENERAL
    was = with_extra(was, AGAINST, "")
    filed = archived(was) if kind_of(path) is Kind.ARCHIVE else was
    document = work.documents.get(path) or new_document(path, "")
    work.documents[path] = edited(document, add=[Block(filed)])
    work.restored.append(filed.id)
    return filed


def _let_in(work: Reconciled, item: Item) -> Item:
    """File a waiting item that a person accepted, and so vouches for."""
    return _file(work, replace(item, trust=Trust.OWNER, source="", confidence=Confidence.HIGH))


def _bury(work: Reconciled, item: Item) -> None:
    """Drop a waiting item for good."""
    work.retracted.append(tombstone(item, work.today, Reason.DELETED))


def _update(work: Reconciled, ident: str, change: Callable[[Item], Item]) -> None:
    """Change an item's row, in whichever document it is."""
    work.documents = with_item_changed(work.documents, ident, change)


def _end(work: Reconciled, idents: Iterable[str], how_of: Callable[[ItemType], Status]) -> None:
    """Close items at the owner's word."""
    work.documents, _ = close_items(work.documents, idents, how_of, Authority(work.today))


def _opponent(work: Reconciled, item: Item) -> Item | None:
    """Return the item that a waiting one contradicts, or its latest successor; None if that is closed."""
    held = {ident: one for ident, (path, one) in items_by_id(work.documents).items() if path != REVIEW}
    ident = dict(item.extra).get(AGAINST, "")
    old = held[last_successor(ident, held)] if ident in held else None
    return old if old and old.status in SUPERSEDABLE else None


def _keep_new(work: Reconciled, item: Item) -> None:
    old, new = _opponent(work, item), _let_in(work, item)
    if old:
        work.documents = with_superseded(work.documents, old.id, new, new.since or work.today)
    else:
        work.notes.append(
            f"{new.id} was filed. The item it was to replace is no longer active, so nothing was superseded."
        )


def _keep_old(work: Reconciled, item: Item) -> None:
    _bury(work, item)
    if old := _opponent(work, item):
        own = replace(old, trust=Trust.OWNER, confidence=Confidence.HIGH, confirmed=work.today)
        _update(work, old.id, lambda _: own)


def _neither(work: Reconciled, item: Item) -> None:
    _bury(work, item)
    if (old := _opponent(work, item)) and old.active:
        _end(work, [old.id], lambda _: Status.NEVER_HELD)


def _keep_both(work: Reconciled, item: Item) -> None:
    old, new = _opponent(work, item), _let_in(work, item)
    if old:
        _update(work, new.id, lambda one: with_link(one, "related", old.id))
        _update(work, old.id, lambda one: with_link(one, "related", new.id))


# The answers to an entry as a whole raise a KeyError or UsageFault if what it names is gone, or over.


def _delete_page(work: Reconciled, entry: QueueEntry) -> None:
    for path in asked_pages_in([entry], work.documents):
        for _, item in work.documents.pop(path).held.values():
            _bury(work, item)


def _restore_page(work: Reconciled, entry: QueueEntry) -> None:
    for path in asked_pages_in([entry], work.documents):
        work.back.append(path)
        work.restored += work.documents[path].held


def _close(work: Reconciled, entry: QueueEntry, how: Status | None = None) -> None:
    _end(work, [named_in_title(entry.title)], lambda kind: how or OUTCOMES[kind][0])


def _drop_quiet(work: Reconciled, entry: QueueEntry) -> None:
    there = items_by_id(work.documents)
    found = [there[ident][1] for ident in ids_asked(entry) if ident in there]  # meanwhile some may have ended
    _end(work, [item.id for item in found if item.active and item.quiet], ending_of)


def _settle(work: Reconciled, entry: QueueEntry, choice: str) -> None:
    new, old = ids_asked(entry)
    if choice in _WAYS:
        work.documents, _ = settle_pair(work.documents, new, old, _WAYS[choice], Authority(work.today))
    else:
        _end(work, (new, old) if choice == "neither" else (new,), lambda _: Status.NEVER_HELD)


_WAYS = {"keep new": "replaces", "keep both": "both"}


def _believe(work: Reconciled, entry: QueueEntry) -> None:
    """Clear the doubt about an item: a person says it is true."""
    _update(work, named_in_title(entry.title), lambda item: replace(item, doubted="", confirmed=work.today))


def _take(work: Reconciled, entry: QueueEntry, choice: str) -> None:
    """Give an item the words and the status of a version that a person chose."""
    ident, version = named_in_title(entry.title), dict(entry.choices)[choice]
    path, placed = placed_item(work.documents, ident)
    if version == GONE:
        work.documents[path] = edited(work.documents[path], remove=[ident])
        _bury(work, placed.item)
        return
    if (chosen := version_of(version, placed.item)) is None:
        raise KeyError(version)
    if chosen.status is not placed.item.status:
        if not placed.item.active:
            work.documents = with_reopened(work.documents, ident)
        if not chosen.active:
            _end(work, [ident], lambda _: chosen.status)
    if (chosen.text, chosen.due) != (placed.item.text, placed.item.due):
        own = replace(placed_item(work.documents, ident)[1].item, text=chosen.text, due=chosen.due)
        own = replace(own, trust=Trust.OWNER, source="", confidence=Confidence.HIGH, by="")
        work.documents = with_items(work.documents, {ident: own})


ITEM_CHOICES: Mapping[str, Mapping[str, Callable[[Reconciled, Item], object]]] = {
    "gone": {"restore": _file, "retract": _bury},
    "contradict": {"keep new": _keep_new, "keep both": _keep_both, "neither": _neither, "keep old": _keep_old},
    "quarantine": {"keep": _let_in, "drop": _bury},
}
_WHOLE: Mapping[str, Mapping[str, Callable[[Reconciled, QueueEntry], object]]] = {
    MISSING: {"restore": _restore_page, "retract": _delete_page},
    VERSION: {word: partial(_take, choice=word) for word in ORDINALS},
    "merge": {"done": lambda *_: None},
    QUIET: {"keep": lambda *_: None, "drop": _drop_quiet},
    PAIR: {word: partial(_settle, choice=word) for word in ("keep new", "keep old", "neither", "keep both")},
    "doubt": {
        "end": _close,
        "retract": partial(_close, how=Status.NEVER_HELD),
        "keep": _believe,
    },
    # Keeping the item changes nothing: the line that claimed otherwise was read, and is not read again.
    **{str(how): {"close": partial(_close, how=how), "keep": lambda *_: None} for how in ENDINGS},
}
"""Kinds of entries without items of their own; their heading names the item or project.

In both tables the first choice of a kind is what a yes means, and the last one a no.
"""
LETTING_IN = (_keep_new, _keep_both, _let_in)
"""What files the waiting item as the person's own."""


class ReviewQuestion(NamedTuple):
    """One thing to decide: an entry of Review.md, or one item of an entry that has several.

    Args:
        entry: the entry.
        items: the items of it to decide on.
        id: the item's id, or the entry's if there is no item or several.
        against: the item that the new one contradicts, as it is now, or None.
    """

    entry: QueueEntry
    items: tuple[Item, ...]
    id: str
    against: Item | None

    @property
    def title(self) -> str:
        """What it is about, without its kind."""
        return self.entry.title.removeprefix(f"{self.entry.kind}: ")

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that answer it."""
        return choices_of(self.entry)

    def means(self, choice: str) -> str:
        """Return what a choice does, in the entry's words."""
        return dict(self.entry.choices).get(choice, "")


def choice_keys(choices: Sequence[str]) -> dict[str, str]:
    """Return key → choice: the digits, in order."""
    return {str(number): choice for number, choice in enumerate(choices, 1)}


def questions(documents: Documents) -> list[ReviewQuestion]:
    """Return the questions that wait for a person, one an entry, in the order of Review.md."""
    entries = read_queue(documents.get(REVIEW))
    return [_question(documents, entry, entry.items) for entry in entries if choices_of(entry)]


def named_question(documents: Documents, prefix: str) -> ReviewQuestion:
    """Return the question that the start of an id names: a waiting item, else a whole entry.

    Raises:
        UnknownItem: none or more than one matches.
    """
    found = questions(documents)
    items = {item.id: one for one in found for item in one.items}
    entries = {one.entry.id: one for one in found}
    ident = named_item(prefix, items, entries, advice="`curate review` lists what waits.")
    if ident in entries:
        return entries[ident]
    whole = items[ident]
    return _question(documents, whole.entry, tuple(item for item in whole.items if item.id == ident))


def _question(documents: Documents, entry: QueueEntry, items: tuple[Item, ...]) -> ReviewQuestion:
    rival = dict(items[0].extra).get(AGAINST, "") if len(items) == 1 else ""
    path, against = items_by_id(documents).get(rival, (REVIEW, None))
    ident = items[0].id if len(items) == 1 else entry.id
    return ReviewQuestion(entry, items, ident, against if path != REVIEW else None)


def chosen(question: ReviewQuestion, word: str) -> str:
    """Return the choice that a word names: the choice itself, `accept` or `reject`.

    Raises:
        UsageFault: it names none.
    """
    typed, choices = " ".join(word.split()).lower(), question.choices
    found = {"accept": choices[0], "reject": choices[-1]}.get(typed, typed)
    if found not in choices:
        raise UsageFault(f"“{word}” is not a choice here.", f"Choose one of: {', '.join(choices)}.")
    return found
