"""Close, correct and reopen items at somebody's word, and settle pairs that may conflict.

The owner's word is applied. An agent's word changes only items that are trusted no more than the agent; for the others,
Review.md asks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import UsageFault
from pipelines.extract.rules.label_reader import due_after, due_of
from pipelines.night.file_items import with_items, with_superseded
from pipelines.review.outcomes import (
    DOUBT,
    REOPENABLE,
    DoubtfulClaim,
    Question,
    as_queue_text,
    asked,
    claimed,
    with_confirmation,
    with_end,
    with_link,
    with_present_pairs,
    with_reopened,
    without_conflict,
    without_questions,
)
from pipelines.store.change_set import items_by_id, placed_item, with_item_changed
from pipelines.store.document import Block, Document, Documents, edited
from pipelines.store.item import (
    MAY_CONFLICT,
    OUTCOMES,
    Confidence,
    Evidence,
    Item,
    ItemType,
    Status,
    Trust,
    new_id,
    with_metadata,
)
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import waiting
from pipelines.store.wording import words_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Authority(NamedTuple):
    """Whose word it is that changes items.

    Args:
        today: the memory's day.
        trust: owner, or that of an agent's session.
        place: the log line that says so; None for the owner, who needs none.
        by: the author recorded in a new item; empty for the owner.
        quote: the words of that line; of a change without one, what it would say.
        asks: why a person must decide on any change, as a clause; or empty.
    """

    today: str
    trust: Trust = Trust.OWNER
    place: Evidence | None = None
    by: str = ""
    quote: str = ""
    asks: str = ""

    def quoted(self, evidence: Evidence) -> str:
        """Return the text to show in a question of Review.md."""
        return self.quote if evidence == self.place else ""

    def why_not(self, item: Item, how: str = "") -> str:
        """Return why this word may not change an item, or end it in a way, as a clause; empty if it may."""
        return self.asks or ("" if self.trust.may_end(item, how) else "the item is trusted more than an agent's word")


class Outcome(NamedTuple):
    """What became of one item.

    Args:
        id: its id.
        was: the item before.
        asked: why nothing changed, and Review.md asks a person, as a clause; or empty.
        new: the id of its successor, if any, or of what waits to be it; else empty.
        is_new: whether the successor is new.
    """

    id: str
    was: Item
    asked: str = ""
    new: str = ""
    is_new: bool = False


Changed = tuple[dict[str, "Document"], list[Outcome]]


def close_items(
    documents: Documents, idents: Iterable[str], how_of: Callable[[ItemType], Status], voice: Authority
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
    after, outcomes, claims = dict(documents), list[Outcome](), list[DoubtfulClaim]()
    for ident in idents:
        path, placed = placed_item(after, ident)
        item, how = placed.item, how_of(placed.item.type)
        if how is not Status.NEVER_HELD and how not in OUTCOMES[item.type]:
            ways = " or ".join(OUTCOMES[item.type])
            why = f"{item.id} is a {item.type}, which can be {ways}, not {how}."
            raise UsageFault(why, "`curate close` ends it so.")
        if item.status is how:
            outcomes.append(Outcome(ident, item))
            continue
        _must_hold(item, path)
        ended, why = with_end(item, how, voice.today, voice.place), voice.why_not(item, how)
        if why:
            claims.append(DoubtfulClaim(ended, DOUBT if how is Status.NEVER_HELD else how.value, why))
        else:
            by_owner = voice.trust is Trust.OWNER
            after = with_items(after, {ident: replace(ended, closed_by="owner") if by_owner else ended})
        outcomes.append(Outcome(ident, item, asked=why))
    return _with_claims(after, outcomes, claims, voice)


def _with_claims(
    documents: Documents, outcomes: list[Outcome], claims: Sequence[DoubtfulClaim], voice: Authority
) -> Changed:
    """Return the documents without questions that are settled now, and with those about what a person must decide."""
    after = without_questions(documents, [one.id for one in outcomes if not one.asked])
    said = "" if voice.place else f"An agent's session says so (“{as_queue_text(voice.quote)}”)"
    return claimed(after, claims, voice.quoted, voice.today, said), outcomes


def correct_item(documents: Documents, ident: str, text: str, voice: Authority, *, never_held: bool = False) -> Changed:
    """Return the documents with a new sentence in an item's place, and the outcome.

    The new item has the old one's type, section, pin, and due day if the sentence gives none, as in `by Friday`;
    the same sentence with another due day changes only that. If another item has the sentence already, it becomes
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
    _must_hold(old, path)
    text, due = due_of(text, voice.today) if old.type is ItemType.TODO else (text, "")
    text, due = text.rstrip(), due or due_after(old, text, voice.today)
    if words_key(text) == words_key(old.text):
        if voice.trust is Trust.OWNER and due != old.due:
            changed = edited(documents[path], replace={ident: replace(old, due=due)})
            return {**documents, path: changed}, [Outcome(ident, old)]
        raise UsageFault(f"{ident} says that already.", "To change only its spelling, edit the line in its document.")
    others = [one for page, one in items_by_id(documents).values() if page != REVIEW and one.id != ident]
    alike = (one for one in others if one.active and one.type is old.type and words_key(one.text) == words_key(text))
    if (same := next(alike, None)) and (why := voice.why_not(old)):
        claim = DoubtfulClaim(with_end(old, Status.NEVER_HELD, voice.today, voice.place), DOUBT, why)
        return _with_claims(documents, [Outcome(ident, old, asked=why)], [claim], voice)
    since = old.since if never_held else voice.today
    named = (*dict(old.links).get(MAY_CONFLICT, ()), *(one.id for one in others if _may_conflict(one, ident)))
    links = ((MAY_CONFLICT, named),) if named else ()
    new = same or replace(_successor(documents, old, path, text, voice, since), due=due, links=links)
    if why := voice.why_not(old):
        question = Question(waiting(new, path), why, old)
        return asked(documents, [question], voice.quoted, voice.today), [Outcome(ident, old, asked=why, new=new.id)]
    after = dict(documents)
    if not same:
        after[path] = edited(after[path], add=[Block(new)])
    after = with_superseded(after, ident, new, voice.today)
    if never_held:
        home, gone = placed_item(after, ident)
        after[home] = edited(after[home], replace={ident: replace(gone.item, status=Status.NEVER_HELD)})
    return with_present_pairs(without_questions(after, [ident])), [Outcome(ident, old, new=new.id, is_new=not same)]


def _successor(documents: Documents, old: Item, path: str, text: str, voice: Authority, since: str) -> Item:
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
        person=old.person if old.person in text or old.person not in old.text else "",
    )
    item = with_metadata(item, old.metadata)
    return replace(item, id=new_id(item, path, items_by_id(documents)))


def reopen_items(documents: Documents, idents: Iterable[str], voice: Authority) -> Changed:
    """Return the documents with closed items as they were before; an active item is unchanged.

    A successor stays, and the outcome names it.

    Args:
        documents: every document by path.
        idents: their ids.
        voice: whose word it is.

    Raises:
        UsageFault: an item waits for review, is archived, or cannot be reopened; or it is an agent's word, and a person
            closed the item, or its successor is trusted more.
    """
    after, outcomes = dict(documents), list[Outcome]()
    known = items_by_id(documents)
    for ident in idents:
        path, placed = placed_item(after, ident)
        item = placed.item
        if item.active:
            outcomes.append(Outcome(ident, item))
            continue
        if item.status not in REOPENABLE:
            _must_hold(item, path)
        successor = known.get(item.superseded_by or item.merged_into)
        changed = [item, successor[1]] if successor else [item]
        if any(map(voice.why_not, changed)) or (voice.trust is not Trust.OWNER and item.closed_by_person):
            raise UsageFault(f"Only a person can reopen {ident}.", f"Ask them to run `curate reopen {ident}`.")
        after = with_reopened(after, ident)
        outcomes.append(Outcome(ident, item, new=successor[1].id if successor else ""))
    return without_questions(after, [one.id for one in outcomes]), outcomes


def _must_hold(item: Item, path: str) -> None:
    """Check that an item is live or open.

    Raises:
        UsageFault: it is neither; the advice says what to do first.
    """
    if path == REVIEW or item.status is Status.WAITING:
        raise UsageFault(f"{item.id} waits in {REVIEW}.", f"Decide on it first: `curate review {item.id}`.")
    if item.status is Status.ARCHIVED:
        raise UsageFault(f"{item.id} is archived.", f"Bring it back first: `curate move {item.id} DOCUMENT`.")
    if not item.active:
        since = f" since {item.until}" if item.until else ""
        raise UsageFault(f"{item.id} is {item.status}{since}.", f"`curate reopen {item.id}` takes that back.")


# ---------------------------------------- pairs that may conflict


def settle_pair(documents: Documents, ident: str, other: str, how: str, voice: Authority) -> Changed:
    """Return the documents with two items settled that may conflict, and the outcome for the second one.

    Args:
        documents: every document by path.
        ident: the id of an item that holds.
        other: the id of the other one.
        how: `replaces`, if the first one takes the other's place, or `both`, if both hold.
        voice: whose word it is.

    Raises:
        UsageFault: both are one item, or one of them is no longer active.
    """
    if ident == other:
        raise UsageFault(f"{ident} is one item.", "Name the other one, too.")
    after = dict(documents)
    for one, its in ((ident, other), (other, ident)):
        path, placed = placed_item(after, one)
        _must_hold(placed.item, path)
        if _may_conflict(placed.item, its):
            after = with_item_changed(after, one, without_conflict)
    (_, placed), (_, old) = placed_item(after, ident), placed_item(after, other)
    if how == "both":
        linked = with_item_changed(after, ident, lambda item: with_link(item, "related", other))
        return linked, [Outcome(other, old.item)]
    source = placed.item.source if voice.trust is not Trust.OWNER else ""
    if source and source != old.item.source:
        voice = voice._replace(asks=f"{source} says otherwise")
    if voice.why_not(old.item):
        return close_items(after, [other], ending_of, voice)
    day = placed.item.since if placed.item.since > old.item.since else voice.today
    if (place := voice.place) and placed.item.evidence:  # the line says what holds: this item speaks for it
        after = with_item_changed(after, ident, lambda item: with_confirmation(item, place, voice.today))
    after = with_superseded(after, other, placed.item, day)
    return without_questions(after, [other]), [Outcome(other, old.item, new=ident)]


def _may_conflict(item: Item, other: str) -> bool:
    return other in dict(item.links).get(MAY_CONFLICT, ())


def ending_of(kind: ItemType) -> Status:
    """Return how an item of a type ends that another one replaces."""
    return Status.DROPPED if kind is ItemType.TODO else OUTCOMES[kind][0]
