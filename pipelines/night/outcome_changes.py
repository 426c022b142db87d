"""Close, correct and reopen items at somebody's word.

The owner's word is applied. An agent's word changes only items that are trusted no more than the agent; for the others,
Review.md asks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.errors import UsageFault
from pipelines.night.file_items import with_superseded
from pipelines.review.outcomes import (
    DOUBT,
    REOPEN,
    REOPENABLE,
    DoubtfulClaim,
    claimed,
    replaced,
    with_end,
    with_outcome,
    with_reopened,
    without_questions,
)
from pipelines.review.questions import Question, Sources, asked
from pipelines.store.change_set import items_by_id, placed_item
from pipelines.store.document import Block, Document, edited, numbered
from pipelines.store.item import OUTCOMES, PERSON, Confidence, Evidence, Item, ItemType, Status, Trust, new_id
from pipelines.store.layout import REVIEW, document_id
from pipelines.store.wording import words_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


_AGENT_ONLY: Final = "the item is trusted more than an agent's word"


@dataclass(frozen=True, slots=True)
class Authority:
    """Whose word it is that changes items.

    Args:
        today: the memory's day.
        trust: owner, or that of an agent's session.
        place: the log line that says so; None for the owner, who needs none.
        by: the author recorded in a new item; empty for the owner.
        shown: turns a path into the file name that people know.
        quote: the words of that line.
        asks: why a person must decide on any change, as a clause; or empty.
    """

    today: str
    trust: Trust = Trust.OWNER
    place: Evidence | None = None
    by: str = ""
    shown: Callable[[str], str] = str
    quote: str = ""
    asks: str = ""

    @property
    def sources(self) -> Sources:
        """The source to show in a question of Review.md."""
        return Sources(lambda evidence: self.quote if evidence == self.place else "", self.shown)

    def may_change(self, item: Item) -> bool:
        """Whether this word may change an item."""
        return not self.why_not(item)

    def why_not(self, item: Item) -> str:
        """Return why this word may not change an item, as a clause; empty if it may."""
        return self.asks or ("" if self.trust.reaches(item.trust) else _AGENT_ONLY)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one item.

    Args:
        id: its id.
        was: the item before.
        asked: whether nothing changed, and Review.md asks a person.
        new: the id of its successor, if any, else empty.
        is_new: whether the successor is new.
    """

    id: str
    was: Item
    asked: bool = False
    new: str = ""
    is_new: bool = False


Changed = tuple[dict[str, "Document"], list[Outcome]]


def close_items(
    documents: Mapping[str, Document], idents: Iterable[str], how_of: Callable[[ItemType], Status], voice: Authority
) -> Changed:
    """Return the documents with items closed, and each outcome; an item that ended so already is unchanged.

    Args:
        documents: every document by path.
        idents: their ids.
        how_of: the status that closes a type of item.
        voice: whose word it is.

    Raises:
        UsageFault: an item cannot end so, or is no longer active.
    """
    after, outcomes, claims = dict(documents), [], list[DoubtfulClaim]()
    for ident in idents:
        path, placed = placed_item(after, ident)
        item, how = placed.item, how_of(placed.item.type)
        check_ending(item, how)
        if item.status is how:
            outcomes.append(Outcome(ident, item))
            continue
        _must_hold(item, path, voice)
        if not voice.may_change(item):
            kind = DOUBT if how is Status.NEVER_HELD else how.value
            claims.append(DoubtfulClaim(with_end(item, how, voice.today, voice.place), kind, voice.why_not(item)))
        elif voice.trust is Trust.OWNER:
            after = with_outcome(after, ident, how, voice.today)
        else:
            after = replaced(after, path, with_end(item, how, voice.today, voice.place))
        outcomes.append(Outcome(ident, item, asked=not voice.may_change(item)))
    after = without_questions(after, [one.id for one in outcomes if not one.asked])
    return dict(claimed(after, claims, voice.sources, voice.today)[0]), outcomes


def check_ending(item: Item, how: Status, advice: str = "") -> None:
    """Check that an item's type allows an outcome.

    Args:
        item: the item.
        how: its outcome.
        advice: what to do if it does not.

    Raises:
        UsageFault: it does not; the sentence lists the outcomes it allows.
    """
    if how is not Status.NEVER_HELD and how not in OUTCOMES[item.type]:
        ways = " or ".join(OUTCOMES[item.type])
        raise UsageFault(f"{item.id} is a {item.type}, which can be {ways}, not {how}.", advice)


def correct_item(
    documents: Mapping[str, Document], ident: str, text: str, voice: Authority, *, never_held: bool = False
) -> Changed:
    """Return the documents with a new sentence in an item's place, and the outcome.

    The new item has the old one's type, section, due day and pin. If another item has the sentence already, it becomes
    the successor. If the old one was wrong all along, the new one holds from the old one's first day.

    Args:
        documents: every document by path.
        ident: the old one's id.
        text: the new sentence.
        voice: whose word it is.
        never_held: whether the old one was a mistake from the beginning.

    Raises:
        UsageFault: the old item is no longer active, or has the same text.
    """
    path, placed = placed_item(documents, ident)
    old = placed.item
    _must_hold(old, path, voice)
    if words_key(text) == words_key(old.text):
        raise UsageFault(f"{ident} says that already.", "To change only its spelling, edit the line in its document.")
    same = _same_text(documents, old, text)
    if same and not voice.may_change(old):
        claim = DoubtfulClaim(with_end(old, Status.NEVER_HELD, voice.today, voice.place), DOUBT, voice.why_not(old))
        return dict(claimed(documents, [claim], voice.sources, voice.today)[0]), [Outcome(ident, old, asked=True)]
    new = same or _successor(documents, old, path, text, voice, since=old.since if never_held else voice.today)
    if not voice.may_change(old):
        question = Question(new, path, voice.why_not(old), old)
        return dict(asked(documents, [question], voice.sources, voice.today)), [Outcome(ident, old, asked=True)]
    after = dict(documents)
    if not same:
        after[path] = edited(after[path], add=[Block(new)])
    after = with_superseded(after, ident, new, voice.today)
    if never_held:
        home, gone = placed_item(after, ident)
        after[home] = edited(after[home], replace={ident: replace(gone.item, status=Status.NEVER_HELD)})
    return without_questions(after, [ident]), [Outcome(ident, old, new=new.id, is_new=not same)]


def _same_text(documents: Mapping[str, Document], old: Item, text: str) -> Item | None:
    items = (placed.item for document, placed in numbered(documents.values()) if document.path != REVIEW)
    found = (one for one in items if one.active and one.type is old.type and one.id != old.id)
    return next((one for one in found if words_key(one.text) == words_key(text)), None)


def _successor(
    documents: Mapping[str, Document], old: Item, path: str, text: str, voice: Authority, *, since: str
) -> Item:
    item = Item(
        old.type,
        text,
        status=old.status,
        since=since or voice.today,
        trust=voice.trust,
        confidence=Confidence.HIGH,
        evidence=(voice.place,) if voice.place else (),
        seen=1 if voice.place else 0,
        by=voice.by,
        pinned=old.pinned,
        page_section=old.page_section,
        due=old.due,
        extra=tuple((k, name) for k, name in old.extra if k == PERSON and (name in text or name not in old.text)),
    )
    return replace(item, id=new_id(item, document_id(path), items_by_id(documents)))


def reopen_items(documents: Mapping[str, Document], idents: Iterable[str], voice: Authority) -> Changed:
    """Return the documents with closed items as they were before; an active item is unchanged.

    A successor stays, and the outcome names it. An agent may not reopen an item that a person closed, or whose
    successor is trusted more: Review.md asks.

    Args:
        documents: every document by path.
        idents: their ids.
        voice: whose word it is.

    Raises:
        UsageFault: an item waits for review, is archived, or cannot be reopened.
    """
    after, outcomes, claims = dict(documents), [], list[DoubtfulClaim]()
    known = items_by_id(documents)
    for ident in idents:
        path, placed = placed_item(after, ident)
        item = placed.item
        if item.active:
            outcomes.append(Outcome(ident, item))
            continue
        if item.status not in REOPENABLE:
            _must_hold(item, path, voice)
        successor = known.get(item.superseded_by or item.merged_into)
        by_owner = voice.trust is not Trust.OWNER and item.closed_by_person
        may = not by_owner and all(map(voice.may_change, (item, successor[1]) if successor else (item,)))
        if may:
            after = with_reopened(after, ident)
        else:
            evidence = (*item.evidence, voice.place) if voice.place else item.evidence
            why = "a person ended it" if by_owner else _AGENT_ONLY
            claims.append(
                DoubtfulClaim(replace(item, evidence=evidence), REOPEN, why, "An agent says that it is true again")
            )
        outcomes.append(Outcome(ident, item, asked=not may, new=successor[1].id if successor else ""))
    after = without_questions(after, [one.id for one in outcomes if not one.asked])
    return dict(claimed(after, claims, voice.sources, voice.today)[0]), outcomes


def _must_hold(item: Item, path: str, voice: Authority) -> None:
    """Check that an item is live or open.

    Raises:
        UsageFault: it is neither; the advice says what to do first.
    """
    if path == REVIEW or item.status is Status.WAITING:
        raise UsageFault(
            f"{item.id} waits in {voice.shown(REVIEW)}.", f"Decide on it first: `curate review {item.id}`."
        )
    if item.status is Status.ARCHIVED:
        raise UsageFault(f"{item.id} is archived.", f"Bring it back first: `curate move {item.id} DOCUMENT`.")
    if not item.active:
        since = f" since {item.until}" if item.until else ""
        raise UsageFault(f"{item.id} is {item.status}{since}.", f"`curate reopen {item.id}` takes that back.")
