"""Answers: what a person decided about the entries of Review.md is applied, each once.

    gone        retract · restore                      items that left their documents all at once
    contradict  keep new · keep old · keep both · drop  a new item that cannot hold beside an old one
    quarantine  keep · drop                            items that instruct, and rest on words that are not trusted
    archive     archive · keep                         a project of which nothing is left to do
    done, dropped, resolved, occurred, answered, ended
                close · keep                           what a line says of an item, and a person decides
    doubt       keep · end · retract                   an item that was called into question
    reopen      reopen · keep                          an item that had ended, and is said to hold again

What was let in stands in a document, and what was not has a tombstone, so that neither is asked about again. Boxes
ticked in the file are applied by the next run; what `curate review` is told is applied and committed at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pipelines.errors import UsageFault
from pipelines.night.caps import archived
from pipelines.night.file_items import SUPERSEDABLE, new_document, superseded
from pipelines.night.manual import Deed, change_by_hand
from pipelines.night.projects import archived_project, kept, named_in
from pipelines.review.item_links import AGAINST, with_link
from pipelines.review.outcomes import ENDINGS, REOPEN, named_in_title, with_outcome, with_reopened
from pipelines.store.document import Block, commented, edited, numbered
from pipelines.store.item import OUTCOMES, SOURCE, Confidence, Status, Trust
from pipelines.store.layout import GENERAL, NOTES, REVIEW, Kind, kind_of
from pipelines.store.review_queue import read_queue, released, with_remarks, without_answered
from pipelines.store.state import Reason, tombstone
from pipelines.store.template import named_item

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.document import Document, Placed
    from pipelines.store.item import Item
    from pipelines.store.review_queue import QueueEntry
    from pipelines.store.state import Tombstone

    Answer = tuple[QueueEntry, str, tuple[Item, ...]]


ACCEPTED: Final = "accepted"
"""The key of an item that a person let in, with the day. It is theirs from then on, whoever said it first."""
ACCEPT: Final = {
    "gone": "restore",
    "contradict": "keep new",
    "quarantine": "keep",
    "archive": "archive",
    "doubt": "end",
    "reopen": "reopen",
    **dict.fromkeys(map(str, ENDINGS), "close"),
}
REJECT: Final = {
    "gone": "retract",
    "contradict": "drop",
    "quarantine": "drop",
    "archive": "keep",
    "doubt": "keep",
    "reopen": "keep",
    **dict.fromkeys(map(str, ENDINGS), "keep"),
}
"""What a yes and a no mean. A no to what contradicts says nothing about the old item; `keep old` confirms that one."""


def apply_answers(
    documents: Mapping[str, Document], today: str, theirs: Collection[str] = (), shown: Callable[[str], str] = str
) -> Answered:
    """Apply the ticked boxes of Review.md; an entry without one, or with two, stays.

    Args:
        documents: every document by path.
        today: the memory's day.
        theirs: documents that are a person's own files.
        shown: what people call the file at a path.
    """
    answers: list[Answer] = []
    notes: list[str] = []
    for entry in read_queue(documents.get(REVIEW)):
        place = f"{shown(REVIEW)} line {entry.first + 1}"
        if len(entry.ticked) > 1:
            notes.append(f"{place} has two boxes ticked, so nothing was done; untick one of them.")
        elif entry.ticked and entry.ticked[0] not in choices_of(entry.kind):
            notes.append(f"{place}: there is nothing that “{entry.ticked[0]}” could mean here, so nothing was done.")
        elif entry.ticked:
            answers.append((entry, entry.ticked[0], entry.items))
    answered = answer(documents, answers, today, theirs)
    if REVIEW in documents:
        answered.documents[REVIEW] = with_remarks(answered.documents[REVIEW])
    answered.notes[:0] = notes
    return answered


def answer(
    documents: Mapping[str, Document], answers: Iterable[Answer], today: str, theirs: Collection[str] = ()
) -> Answered:
    """Apply what a person decided, in order.

    Args:
        documents: every document by path.
        answers: the decisions: an entry, one of `choices_of` its kind, and the items of it that it is about; the
            others go on waiting.
        today: the memory's day.
        theirs: documents that are a person's own files: only lines of items change in them.
    """
    work = Answered(dict(documents), today, theirs)
    done = []
    for entry, choice, items in answers:
        if entry.kind in _WHOLE and items:  # whoever put them there would lose them with the question
            work.notes.append(f"Items stand under “{entry.title}”, so nothing was done there; move them elsewhere.")
            continue
        done.append((entry, [item.id for item in items]))
        if entry.kind in _WHOLE:
            _WHOLE[entry.kind][choice](work, entry)
        for item in items:
            _ITEM[entry.kind][choice](work, item)
    if done:
        work.documents[REVIEW] = without_answered(work.documents[REVIEW], done)
    return work


def choices_of(kind: str) -> tuple[str, ...]:
    """Return the choices that entries of a kind have."""
    return tuple(_WHOLE.get(kind, ()) or _ITEM.get(kind, ()))


@dataclass(slots=True)
class Answered:
    """The memory while answers are applied to it, and after.

    `documents` holds every document by path, `retracted` the tombstones of what was retracted, `restored` the ids of
    what was put back, or let in, and `notes` a sentence for each entry whose boxes cannot be meant, and for each answer
    that came too late.
    """

    documents: dict[str, Document]
    today: str
    theirs: Collection[str]
    retracted: list[Tombstone] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def file(self, item: Item) -> Item:
        """Put a waiting item into its home, or into Areas/general where that is no place for one; return it so."""
        home, was = released(item)
        can_hold = kind_of(home) not in {None, Kind.REVIEW, Kind.EPISODE} and ".." not in home.split("/")
        is_theirs = home not in self.documents and home.startswith(f"{NOTES}/")  # no run makes a person's file
        path = home if can_hold and not is_theirs else GENERAL
        was = replace(was, extra=tuple(pair for pair in was.extra if pair[0] != AGAINST))
        filed = archived(was) if kind_of(path) is Kind.ARCHIVE else was
        document = self.documents.get(path) or new_document(path, "", filed.since)
        self.documents[path] = edited(document, add=[Block(filed)])
        self.restored.append(filed.id)
        return filed

    def let_in(self, item: Item) -> Item:
        """File a waiting item that a person accepted."""
        extra = tuple(pair for pair in item.extra if pair[0] not in {ACCEPTED, SOURCE})
        return self.file(replace(item, trust=Trust.OWNER, extra=(*extra, (ACCEPTED, self.today))))

    def bury(self, item: Item) -> None:
        """Let a waiting item go for good."""
        self.retracted.append(tombstone(item, self.today, Reason.DELETED))

    def update(self, ident: str, change: Callable[[Item], Item]) -> None:
        """Change what the comment of an item says, wherever it stands."""
        if found := self.placed(ident):
            path, placed = found
            self.documents[path] = commented(self.documents[path], {placed.line: change(placed.item)})

    def placed(self, ident: str) -> tuple[str, Placed] | None:
        """Return where an item stands, Review.md left out; None where it stands nowhere."""
        there = ((one.path, placed) for one, placed in numbered(self.documents.values()) if one.path != REVIEW)
        return next((found for found in there if found[1].item.id == ident), None)

    def opponent(self, item: Item) -> Item | None:
        """Return what a waiting item contradicts, or what stands in its place by now; None where that is closed."""
        ident, seen = dict(item.extra).get(AGAINST, ""), set[str]()
        while ident and ident not in seen and (found := self.placed(ident)):
            old = found[1].item
            if old.status in SUPERSEDABLE:
                return old
            seen.add(ident)
            ident = old.superseded_by or old.merged_into
        return None


def _keep_new(work: Answered, item: Item) -> None:
    old, new = work.opponent(item), work.let_in(item)
    if old:
        work.documents = superseded(work.documents, old.id, new, new.since or work.today)
    else:
        work.notes.append(f"{new.id} was filed, and there was nothing left for it to supersede.")


def _keep_old(work: Answered, item: Item) -> None:
    work.bury(item)
    if old := work.opponent(item):
        own = replace(old, trust=Trust.OWNER, confidence=Confidence.HIGH, confirmed=work.today)
        work.update(old.id, lambda _: own)
    else:
        work.notes.append(f"{item.id} was dropped; what it contradicted holds no longer, so nothing was confirmed.")


def _keep_both(work: Answered, item: Item) -> None:
    old, new = work.opponent(item), work.let_in(item)
    if old:
        work.update(new.id, lambda one: with_link(one, "related", old.id))
        work.update(old.id, lambda one: with_link(one, "related", new.id))


def _archive(work: Answered, entry: QueueEntry) -> None:
    path = named_in(entry.title, work.documents)
    if not path:
        work.notes.append(f"The project of “{entry.title}” is not there any more, so nothing was archived.")
        return
    work.documents = archived_project(work.documents, path, work.theirs)


def _keep(work: Answered, entry: QueueEntry) -> None:
    if path := named_in(entry.title, work.documents):
        work.documents[path] = kept(work.documents[path], work.today)


def _close(work: Answered, entry: QueueEntry, how: Status) -> None:
    ident = named_in_title(entry.title)
    try:
        work.documents = with_outcome(work.documents, ident, how, work.today)
    except (KeyError, ValueError):
        work.notes.append(f"The item of “{entry.title}” is believed no more, so nothing was closed.")


def _end(work: Answered, entry: QueueEntry) -> None:
    found = work.placed(named_in_title(entry.title))
    kinds = OUTCOMES[found[1].item.type] if found else (Status.ENDED,)
    _close(work, entry, Status.ENDED if Status.ENDED in kinds else kinds[0])


def _reopen(work: Answered, entry: QueueEntry) -> None:
    try:
        work.documents = with_reopened(work.documents, named_in_title(entry.title))
    except KeyError:
        work.notes.append(f"The item of “{entry.title}” is not closed any more, so nothing was reopened.")


def _believe(work: Answered, entry: QueueEntry) -> None:
    """Take the doubt from an item: a person says that it holds."""
    work.update(named_in_title(entry.title), lambda item: replace(item, doubted="", confirmed=work.today))


_ITEM: Final[Mapping[str, Mapping[str, Callable[[Answered, Item], object]]]] = {
    "gone": {"retract": Answered.bury, "restore": Answered.file},
    "contradict": {"keep new": _keep_new, "keep old": _keep_old, "keep both": _keep_both, "drop": Answered.bury},
    "quarantine": {"keep": Answered.let_in, "drop": Answered.bury},
}
_WHOLE: Final[Mapping[str, Mapping[str, Callable[[Answered, QueueEntry], object]]]] = {
    "archive": {"archive": _archive, "keep": _keep},
    REOPEN: {"reopen": _reopen, "keep": lambda *_: None},
    "doubt": {"keep": _believe, "end": _end, "retract": partial(_close, how=Status.NEVER_HELD)},
    # To keep it takes nothing: the line that claimed it was read, and is not read again.
    **{str(how): {"close": partial(_close, how=how), "keep": lambda *_: None} for how in ENDINGS},
}
"""Of what has no item of its own in the queue: the heading names what it is about."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to decide: an entry of Review.md, or one item of an entry that has several.

    Args:
        entry: the entry.
        items: those of its items that it is about.
        id: by which it is named: the item's id, or the entry's where it has none or several.
        against: the item that the new one contradicts, as it stands, or None.
    """

    entry: QueueEntry
    items: tuple[Item, ...]
    id: str
    against: Item | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that decide it."""
        return choices_of(self.entry.kind)

    def means(self, choice: str) -> str:
        """Return what a choice does, as the entry says it."""
        return dict(self.entry.choices).get(choice, "")

    @property
    def letting_in(self) -> tuple[str, ...]:
        """The choices that file an item that waits, as the person's own from then on."""
        acts = _ITEM.get(self.entry.kind, {})
        return tuple(word for word, act in acts.items() if act in {_keep_new, _keep_both, Answered.let_in})


def choice_keys(choices: Sequence[str]) -> dict[str, str]:
    """Return key → choice: the first letter of each that no other choice, nor skip and quit, has."""
    keys: dict[str, str] = {}
    for choice in choices:
        letters = "".join(word[0] for word in reversed(choice.split())) + choice.replace(" ", "")
        key = next(letter for letter in letters if letter not in keys and letter not in "sq")
        keys[key] = choice
    return keys


def questions(documents: Mapping[str, Document]) -> list[Question]:
    """Return what waits for a person, in the order of Review.md, an entry a question."""
    entries = read_queue(documents.get(REVIEW))
    return [_question(documents, entry, entry.items) for entry in entries if choices_of(entry.kind)]


def named_question(documents: Mapping[str, Document], prefix: str) -> Question:
    """Return the one question that an id's beginning means: an item that waits, else a whole entry.

    Raises:
        UnknownItem: there is none, or more than one.
    """
    found = questions(documents)
    items = {item.id: one for one in found for item in one.items}
    entries = {one.entry.id: one for one in found}
    ident = named_item(prefix, items, entries)
    if ident in entries:
        return entries[ident]
    whole = items[ident]
    return _question(documents, whole.entry, tuple(item for item in whole.items if item.id == ident))


def _question(documents: Mapping[str, Document], entry: QueueEntry, items: tuple[Item, ...]) -> Question:
    rival = dict(items[0].extra).get(AGAINST, "") if len(items) == 1 else ""
    elsewhere = (placed.item for one, placed in numbered(documents.values()) if one.path != REVIEW)
    against = next((item for item in elsewhere if rival and item.id == rival), None)
    return Question(entry, items, items[0].id if len(items) == 1 else entry.id, against)


def chosen(question: Question, word: str) -> str:
    """Return the choice that a word means: the choice itself, `accept` or `reject`.

    Raises:
        UsageFault: it means none.
    """
    kind = question.entry.kind
    choice = {"accept": ACCEPT.get(kind, ""), "reject": REJECT.get(kind, "")}.get(word, " ".join(word.split()).lower())
    if choice not in question.choices:
        raise UsageFault(f"“{word}” is no choice here.", f"There are: {', '.join(question.choices)}.")
    return choice


def decide(
    root: Path, settings: Settings, when: datetime, ident: str, word: str, text: str = ""
) -> tuple[str, list[str]]:
    """Apply one decision and commit it; return what was decided, as `ID: CHOICE`, and sentences for the person.

    Args:
        root: the memory.
        settings: its settings.
        when: the moment at which it is decided.
        ident: the question's id or its beginning.
        word: a choice, or `accept` or `reject`.
        text: in which words the waiting item is let in, where not in its own.

    Raises:
        UnknownItem: nothing that waits has that id.
        UsageFault: the word means no choice, or lets nothing in that could have other words.
        CurateError: what a verb by hand raises.
    """
    with change_by_hand(root, settings, when, "curate review") as held:
        question = named_question(held.documents, ident)
        choice = chosen(question, word)
        items = question.items
        if text and (len(items) != 1 or choice not in question.letting_in):
            raise UsageFault(f"“{choice}” lets nothing in that could have other words.", "Leave the text out.")
        if text:
            items = (replace(items[0], text=text, by=""),)
        done = answer(held.documents, [(question.entry, choice, items)], held.today, held.snapshot.theirs())
        decided, changed = f"{question.id}: {choice}", max(1, len(question.items))
        held.write(Deed(done.documents, f"Review {decided}", changed=changed, stones=done.retracted))
    return decided, done.notes
