"""Answers: apply what a person decided in Review.md, each decision once.

    gone        retract · restore                      items that left their documents all at once
    missing     retract · restore                      a page that is gone with many items
    contradict  keep new · keep both · neither · keep old  a new item that cannot be true beside an old one
    quarantine  keep · drop                            instructions from text that is not trusted
    an outcome  close · keep                           a log line claims that an item is over: done, ended and so on
    doubt       keep · end · retract                   an item that was called into question
    quiet       keep · drop                            open items that nobody has mentioned of late, all together
    pair        keep new · keep old · neither · keep both  two items that may conflict, where no agent settles them
    version     first · second · third                 an item that two machines, or a person and an undo, changed
    merge       done                                   other lines that two machines changed in different ways

Accepted items move to a document, rejected ones get a tombstone. Runs and commands begin with what was ticked.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pipelines.errors import UsageFault
from pipelines.night.caps import archived
from pipelines.night.file_items import SUPERSEDABLE, new_document, with_items, with_superseded
from pipelines.night.outcome_changes import Authority, close_items, ending_of, settle_pair
from pipelines.night.reconcile import Reconciled
from pipelines.review.outcomes import with_link, with_reopened
from pipelines.review.questions import (
    AGAINST,
    ENDINGS,
    GONE,
    ORDINALS,
    PAIR,
    VERSION,
    ids_asked,
    named_in_title,
    version_of,
)
from pipelines.store.change_set import items_by_id, placed_item, with_item_changed
from pipelines.store.document import Block, Document, edited
from pipelines.store.edits import asked_pages_in
from pipelines.store.item import OUTCOMES, QUIET, Confidence, Item, Status, Trust, with_extra
from pipelines.store.layout import GENERAL, REVIEW, Kind, kind_of
from pipelines.store.review_queue import QueueEntry, read_queue, released, without_answered
from pipelines.store.state import Reason, Tombstone, tombstone
from pipelines.store.template import named_item
from pipelines.store.trees import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pipelines.store.item import ItemType

    Answer = tuple[QueueEntry, str, tuple[Item, ...]]


ACCEPTED: Final = "accepted"
"""The key, with the day, of an item that a person accepted. It is theirs from then on, whoever said it first."""


def apply_answers(documents: Mapping[str, Document], today: str) -> Answered:
    """Apply the ticked boxes of Review.md. An entry with no tick, or with two, stays.

    Args:
        documents: every document by path.
        today: the memory's day.
    """
    answers: list[Answer] = []
    notes: list[str] = []
    for entry in read_queue(documents.get(REVIEW)):
        place = f"{REVIEW} line {entry.first + 1}"
        if len(entry.ticked) > 1:
            notes.append(f"{place} has two ticked boxes, so nothing was done. Untick one of them.")
        elif entry.ticked and entry.ticked[0] not in choices_of(entry):
            notes.append(f"{place}: “{entry.ticked[0]}” is not a choice here, so nothing was done.")
        elif entry.ticked:
            answers.append((entry, entry.ticked[0], entry.items))
    answered = answer(documents, answers, today)
    answered.notes[:0] = notes
    return answered


def understand_answers(documents: Mapping[str, Document], people: Reconciled | None, today: str) -> Reconciled:
    """Return what was understood of people's edits with the ticked boxes of Review.md applied.

    Args:
        documents: every document by path.
        people: what was understood so far; None if nobody edited anything.
        today: the memory's day.
    """
    found, answered = people or Reconciled(dict(documents)), apply_answers(documents, today)
    found.documents, found.restored = answered.documents, answered.restored
    found.retracted += answered.retracted
    found.back, found.notes = answered.back, answered.notes
    return found


def answer(documents: Mapping[str, Document], answers: Iterable[Answer], today: str) -> Answered:
    """Apply a person's decisions, in order.

    Args:
        documents: every document by path.
        answers: the decisions: an entry, one of its `choices_of`, and the items of the entry to apply it to; its other
            items stay in the queue.
        today: the memory's day.
    """
    work = Answered(dict(documents), today)
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
            _ITEM[entry.kind][choice](work, item)
    return work


def choices_of(entry: QueueEntry) -> tuple[str, ...]:
    """Return the choices of an entry, from yes to no; of a version, those that there are."""
    words = tuple(_WHOLE.get(entry.kind, ()) or _ITEM.get(entry.kind, ()))
    return words[: len(entry.choices)] if entry.kind == VERSION else words


@dataclass(slots=True)
class Answered:
    """The memory while answers are applied, and after.

    `documents` holds every document by path, `retracted` the tombstones of rejected items, `restored` the ids of items
    that were put back or accepted, `back` the pages to put back on the disk, and `notes` a sentence for each answer
    that could not be applied.
    """

    documents: dict[str, Document]
    today: str
    retracted: list[Tombstone] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def file(self, item: Item) -> Item:
        """Move a waiting item to its home, or to Areas/general if that cannot hold items; return the filed item."""
        home, was = released(item)
        can_hold = kind_of(home) not in {None, Kind.REVIEW, Kind.EPISODE} and ".." not in home.split("/")
        path = home if can_hold else GENERAL
        was = with_extra(was, AGAINST, "")
        filed = archived(was) if kind_of(path) is Kind.ARCHIVE else was
        document = self.documents.get(path) or new_document(path, "")
        self.documents[path] = edited(document, add=[Block(filed)])
        self.restored.append(filed.id)
        return filed

    def let_in(self, item: Item) -> Item:
        """File a waiting item that a person accepted, and so vouches for."""
        own = replace(item, trust=Trust.OWNER, source="", confidence=Confidence.HIGH)
        return self.file(with_extra(own, ACCEPTED, self.today))

    def bury(self, item: Item) -> None:
        """Drop a waiting item for good."""
        self.retracted.append(tombstone(item, self.today, Reason.DELETED))

    def update(self, ident: str, change: Callable[[Item], Item]) -> None:
        """Change an item's row, in whichever document it is."""
        self.documents = with_item_changed(self.documents, ident, change)

    def close(self, idents: Sequence[str], how_of: Callable[[ItemType], Status]) -> None:
        """Close items at the owner's word."""
        self.documents, _ = close_items(self.documents, idents, how_of, Authority(self.today))

    def opponent(self, item: Item) -> Item | None:
        """Return the item that a waiting one contradicts, or its latest successor; None if that is closed."""
        places, ident, seen = items_by_id(self.documents), dict(item.extra).get(AGAINST, ""), set[str]()
        while ident not in seen and ident in places:
            path, old = places[ident]
            if old.status in SUPERSEDABLE and path != REVIEW:
                return old
            seen.add(ident)
            ident = old.superseded_by or old.merged_into
        return None


def _keep_new(work: Answered, item: Item) -> None:
    old, new = work.opponent(item), work.let_in(item)
    if old:
        work.documents = with_superseded(work.documents, old.id, new, new.since or work.today)
    else:
        work.notes.append(
            f"{new.id} was filed. The item it was to replace is no longer active, so nothing was superseded."
        )


def _keep_old(work: Answered, item: Item) -> None:
    work.bury(item)
    if old := work.opponent(item):
        own = replace(old, trust=Trust.OWNER, confidence=Confidence.HIGH, confirmed=work.today)
        work.update(old.id, lambda _: own)


def _neither(work: Answered, item: Item) -> None:
    work.bury(item)
    if (old := work.opponent(item)) and old.active:
        work.close([old.id], lambda _: Status.NEVER_HELD)


def _keep_both(work: Answered, item: Item) -> None:
    old, new = work.opponent(item), work.let_in(item)
    if old:
        work.update(new.id, lambda one: with_link(one, "related", old.id))
        work.update(old.id, lambda one: with_link(one, "related", new.id))


# The answers to an entry as a whole raise a KeyError or UsageFault if what it names is gone, or over.


def _delete_page(work: Answered, entry: QueueEntry) -> None:
    for path in asked_pages_in([entry], work.documents):
        for _, item in work.documents.pop(path).held.values():
            work.bury(item)


def _restore_page(work: Answered, entry: QueueEntry) -> None:
    for path in asked_pages_in([entry], work.documents):
        work.back.append(path)
        work.restored += work.documents[path].held


def _close(work: Answered, entry: QueueEntry, how: Status | None = None) -> None:
    work.close([named_in_title(entry.title)], lambda kind: how or OUTCOMES[kind][0])


def _drop_quiet(work: Answered, entry: QueueEntry) -> None:
    there = items_by_id(work.documents)
    found = [there[ident][1] for ident in ids_asked(entry.why) if ident in there]  # meanwhile some may have ended
    work.close([item.id for item in found if item.active and item.quiet], ending_of)


def _settle(work: Answered, entry: QueueEntry, choice: str) -> None:
    new, old = ids_asked(entry.why)
    if choice in _WAYS:
        work.documents, _ = settle_pair(work.documents, new, old, _WAYS[choice], Authority(work.today))
    else:
        work.close((new, old) if choice == "neither" else (new,), lambda _: Status.NEVER_HELD)


_WAYS = {"keep new": "replaces", "keep both": "both"}


def _believe(work: Answered, entry: QueueEntry) -> None:
    """Clear the doubt about an item: a person says it is true."""
    work.update(named_in_title(entry.title), lambda item: replace(item, doubted="", confirmed=work.today))


def _take(work: Answered, entry: QueueEntry, choice: str) -> None:
    """Give an item the words and the status of a version that a person chose."""
    ident, version = named_in_title(entry.title), dict(entry.choices)[choice]
    path, placed = placed_item(work.documents, ident)
    if version == GONE:
        work.documents[path] = edited(work.documents[path], remove=[ident])
        work.bury(placed.item)
        return
    if (chosen := version_of(version, placed.item)) is None:
        raise KeyError(version)
    if chosen.status is not placed.item.status and not placed.item.active:
        work.documents = with_reopened(work.documents, ident)
    if chosen.status is not placed.item.status and not chosen.active:
        work.close([ident], lambda _: chosen.status)
    if (chosen.text, chosen.due) != (placed.item.text, placed.item.due):
        own = replace(placed_item(work.documents, ident)[1].item, text=chosen.text, due=chosen.due)
        own = replace(own, trust=Trust.OWNER, source="", confidence=Confidence.HIGH, by="")
        work.documents = with_items(work.documents, {ident: own})


_ITEM: Final[Mapping[str, Mapping[str, Callable[[Answered, Item], object]]]] = {
    "gone": {"restore": Answered.file, "retract": Answered.bury},
    "contradict": {"keep new": _keep_new, "keep both": _keep_both, "neither": _neither, "keep old": _keep_old},
    "quarantine": {"keep": Answered.let_in, "drop": Answered.bury},
}
_WHOLE: Final[Mapping[str, Mapping[str, Callable[[Answered, QueueEntry], object]]]] = {
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
_LETTING_IN: Final = (_keep_new, _keep_both, Answered.let_in)
"""What files the waiting item as the person's own."""


@dataclass(frozen=True, slots=True)
class ReviewQuestion:
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
    against: Item | None = None

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

    @property
    def letting_in(self) -> tuple[str, ...]:
        """The choices that file the waiting item as the person's own."""
        acts = _ITEM.get(self.entry.kind, {})
        return tuple(one for one in self.choices if acts.get(one) in _LETTING_IN)


def choice_keys(choices: Sequence[str]) -> dict[str, str]:
    """Return key → choice: the digits, in order."""
    return {str(number): choice for number, choice in enumerate(choices, 1)}


def questions(documents: Mapping[str, Document]) -> list[ReviewQuestion]:
    """Return the questions that wait for a person, one an entry, in the order of Review.md."""
    entries = read_queue(documents.get(REVIEW))
    return [_question(documents, entry, entry.items) for entry in entries if choices_of(entry)]


def named_question(documents: Mapping[str, Document], prefix: str) -> ReviewQuestion:
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


def _question(documents: Mapping[str, Document], entry: QueueEntry, items: tuple[Item, ...]) -> ReviewQuestion:
    rival = dict(items[0].extra).get(AGAINST, "") if len(items) == 1 else ""
    path, against = (items_by_id(documents).get(rival) if rival else None) or (REVIEW, None)
    against = against if path != REVIEW else None
    return ReviewQuestion(entry, items, items[0].id if len(items) == 1 else entry.id, against)


def chosen(question: ReviewQuestion, word: str) -> str:
    """Return the choice that a word names: the choice itself, `accept` or `reject`.

    Raises:
        UsageFault: it names none.
    """
    typed, choices = " ".join(word.split()).lower(), question.choices
    if typed == "accept":
        found = choices[:1]
    elif typed == "reject":
        found = choices[-1:]
    else:
        found = tuple(one for one in choices if one == typed)
    if not found:
        raise UsageFault(f"“{word}” is not a choice here.", f"Choose one of: {', '.join(choices)}.")
    return found[0]
