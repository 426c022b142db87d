"""Rulings: what a night decides, and how it is carried out on the items as it leaves them so far.

The review carries them out one after the other, so that later rulings see the effect of earlier ones; and once more,
from the memory as it was, whoever files what a second reader left of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.extract.extraction import (
    Candidate,
    Links,
    Operation,
    OperationKind,
    Place,
    is_pending,
    matter_words,
    shown_text,
)
from pipelines.review.match_forms import parts_at, seen
from pipelines.review.outcomes import DOUBT, DoubtfulClaim, with_confirmation, with_end, with_link, with_successor
from pipelines.store.item import (
    OUTCOMES,
    Evidence,
    HeldItem,
    Item,
    ItemType,
    Status,
    Trust,
    brought_back,
    new_id,
    quote_digest,
)
from pipelines.store.layout import BRIEFING, GENERAL, REVIEW, USER, Kind, is_archive_of, kind_of
from pipelines.store.review_queue import waiting
from pipelines.store.wording import without_tags, words_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_MOST_SAID = 160
REMOVING = frozenset({
    OperationKind.SUPERSEDE, OperationKind.UPDATE, OperationKind.CLOSE, OperationKind.RETRACT,
})  # fmt: skip
"""Operations that end an active item."""
ASKED = "questions"
"""The section of open questions. A question contradicts and repeats nothing but another question."""


class Ruling(NamedTuple):
    """One operation of a night, ready to apply.

    Args:
        operation: what to do; its ids are those of items, or temporary ones of this run's candidates. Its places are in
            the log of the candidate, if there is one.
        candidate: the candidate it is about, which becomes an item if it is added, supersedes or updates; None if a log
            line only speaks of existing items.
        trust: whose word it is.
        asks: why a person decides instead of the run, or empty. If set, the run only asks.
    """

    operation: Operation
    candidate: Candidate | None
    trust: Trust = Trust.SELF
    asks: str = ""

    @property
    def kind(self) -> OperationKind:
        """The kind of operation."""
        return self.operation.kind


def carried_out(rulings: Sequence[Ruling], known: KnownItems) -> Sequence[Ruling]:
    """Apply rulings to the items; what a person must decide becomes a question or a claim, and changes none.

    A new item is added to its document, or in place of the items that it supersedes there or in one for all.
    """
    for ruling in rulings:
        one, kind = ruling.candidate, ruling.kind
        old = [belief for ident in ruling.operation.ids if (belief := known.ids.get(ident))]
        makes = kind in {OperationKind.ADD, OperationKind.SUPERSEDE, OperationKind.UPDATE}
        # What repeats an item that was dropped is new, too: it may be right.
        if one is None or not (makes or (kind is OperationKind.CONFIRM and not old)):
            for belief in old:
                _change(ruling, belief, known)
            continue
        path, place = one.home, old[0].document if old and not ruling.asks else ""
        path = place if place and speaks_for(place, path) and kind_of(place) is not Kind.ARCHIVE else path
        # The line that a person has to judge is its last evidence.
        judged = [at for at in one.places if one.decider and one.decider.meets(at)]
        places = [*(at for at in one.places if at not in judged), *judged]
        item = Item(
            type=one.type,
            text=one.text,
            status=one.closed or (Status.OPEN if one.type is ItemType.TODO else Status.LIVE),
            since=one.day,
            until=one.entry.day if one.closed else "",
            trust=one.trust,
            confidence=one.confidence,
            evidence=tuple(dict.fromkeys(map(evidence_of, places))),
            by=one.by,
            page_section=one.page_section,
            due=one.due,
            reason="" if one.by_rules else one.reason,
            source=one.source,
            person=one.name,
            on=one.on,
        )
        item = replace(item, id=new_id(item, path, known.ids))
        mine = Belief(waiting(item, path) if ruling.asks else item, path, one.id, links=one.links)
        known.add(mine)
        if ruling.asks:
            known.questions.append((mine, ruling.asks, old[0] if old else None))
            continue
        known.titles.setdefault(path, one.entry.project or one.new_project or one.new_area)
        told = ruling.operation.day if kind is OperationKind.SUPERSEDE else ""
        for belief in old:
            mine.item = with_link(mine.item, "supersedes", belief.item.id)
            known.take_out(belief, with_successor(belief.item, mine.item, one.day), told, mine)
    return rulings


def _change(ruling: Ruling, belief: Belief, known: KnownItems) -> None:
    """Apply a ruling to an existing item."""
    operation, kind, item, how = ruling.operation, ruling.kind, belief.item, Status.NEVER_HELD
    if kind in {OperationKind.CLOSE, OperationKind.CONFIRM}:
        how = operation.how or OUTCOMES[item.type][0]
    day = ruling.candidate.day if ruling.candidate else operation.day
    ended = with_end(item, how, day, evidence_of(operation.places[-1]))
    if ruling.asks or kind is OperationKind.QUESTION:
        claimed = how.value if kind is OperationKind.CLOSE else DOUBT
        known.claims.append(DoubtfulClaim(ended, claimed, ruling.asks or "nothing says what is true instead"))
    if ruling.asks:
        return
    if kind is OperationKind.CONFIRM and operation.how:
        said = shown_text(" ".join(operation.places[-1].lines), _MOST_SAID)
        belief.item = replace(item, perhaps=f"{how} {day}: {said}")
    elif kind is OperationKind.CONFIRM:
        _confirm(ruling, belief, known)
    elif kind is OperationKind.QUESTION:
        belief.item = replace(item, doubted=day)
    elif kind in {OperationKind.CLOSE, OperationKind.RETRACT}:
        known.take_out(belief, ended, operation.day)
        known.closed[item.id] = None


def _confirm(ruling: Ruling, belief: Belief, known: KnownItems) -> None:
    item, candidate = belief.item, ruling.candidate
    after = replace(item, perhaps="")
    for place in map(evidence_of, ruling.operation.places):
        after = after if place in after.evidence else with_confirmation(after, place, ruling.operation.day)
    if candidate:
        known.ids[candidate.id] = belief  # its temporary id means the item that it repeats
        after = replace(after, trust=Trust.OWNER, source="") if candidate.trust is Trust.OWNER else after
    if after != item:
        belief.item = after
        if candidate and belief.is_archived:
            known.bring_back(belief, candidate.home)
            known.titles.setdefault(candidate.home, candidate.entry.project or candidate.new_project)
        known.confirmed |= {item.id: None} if belief.was else {}


def evidence_of(place: Place) -> Evidence:
    """Return a place in a log as an item's evidence."""
    return Evidence(place.path, place.start_line, place.end_line, quote_digest("\n".join(place.lines)))


# ---------------------------------------- the items as a night leaves them so far


MOST_NEAR = 40
"""How many of a document's items are neighbours of what is filed there: the most alike first, then the newest. A belief
may change in words, or in a language, that nothing near has."""
_SHARED = 2
"""The fewest words in common of sentences that are alike."""
_TWINS, _MOST_TWINS = 0.5, 2
"""How alike sentences are that say the same, and how many of them count."""
_SHARED_PAGES = GENERAL, BRIEFING, USER
RECURRING = frozenset({ItemType.TODO, ItemType.RISK})
"""Types that may come again after they ended, whoever ended them. The others may replace each other: a decision becomes
a fact once it is carried out."""


@dataclass(slots=True, eq=False)
class Belief:
    """An item, existing or added by this run, as the rulings so far leave it.

    Args:
        item: the item.
        document: its document; empty if none was named.
        name: the id by which rulings name it: its own, or the temporary one of a candidate.
        was: the item as the run found it; None if the run adds it.
        links: kind and id of what a new one is to be linked to.
        successor: the item in its place.
        at: its position in the order in which items were added.
    """

    item: Item
    document: str
    name: str
    was: Item | None = None
    links: Links = ()
    successor: Belief | None = None
    at: int = 0

    @property
    def learnt(self) -> str:
        """The day of the log that it was learnt from."""
        return self.item.learnt

    @property
    def current(self) -> bool:
        """Whether it is active or waits for a decision, and is not closed."""
        return self.item.active or self.item.status is Status.WAITING

    @property
    def is_archived(self) -> bool:
        """Whether it only made room for others, and would be active if it were said again."""
        return self.item.status is Status.ARCHIVED


class KnownItems:
    """All items with indexes for look-ups, and what became of them in a night.

    `ids` has each item by its id, and by the temporary one of a candidate. `added` are the new items, without those
    that wait for a person. `confirmed` are the ids of existing items
    that gained evidence, `closed` of those that ended without a successor. `questions` are new items that wait for a
    person, each with the reason and the item that it contradicts, and `claims` log lines about items on which a person
    decides. `titles` are those of pages that a run begins.

    Args:
        items: document path and item.
    """

    def __init__(self, items: Iterable[HeldItem]) -> None:
        self.all, self.added = list[Belief](), list[Belief]()
        self.confirmed, self.closed = dict[str, None](), dict[str, None]()
        self.questions: list[tuple[Belief, str, Belief | None]] = []
        self.claims: list[DoubtfulClaim] = []
        self.titles: dict[str, str] = {}
        self.ids: dict[str, Belief] = {}
        self._there = defaultdict[str, dict[Belief, None]](dict)  # active ones by document, the newest last
        self._same = defaultdict[str, list[Belief]](list)  # by their words; those of `all` up to the one
        self._looked_up = 0  # with this number, since many nights look for none
        self._removed: Counter[tuple[str, str]] = Counter()
        for path, item in items:
            self.add(Belief(item, path, item.id, item))

    def add(self, one: Belief) -> None:
        """Add an item."""
        one.at = len(self.all)
        self.all.append(one)
        self.added += [one] if one.was is None and one.item.status is not Status.WAITING else []
        for ident in filter(None, (one.name, one.item.id)):
            self.ids.setdefault(ident, one)
        if one.item.active:
            self._there[one.document][one] = None

    def find(self, ident: str, day: str = "") -> Belief | None:
        """Return the belief at the end of an id's chain of successors, or None.

        Args:
            ident: an item's id, or a temporary one.
            day: the day of a log that changes the item. What the same log has put in its place is then no successor:
                one belief may be replaced by two.
        """
        own = found = self.ids.get(ident)
        while found and found.successor:
            found = found.successor
        is_of_log = own is not found and found and found.was is None and found.learnt == day
        return own if is_of_log else found

    def held(self) -> list[HeldItem]:
        """Return document path and item of all active items."""
        return [(one.document, one.item) for one in self.all if one.item.active]

    def take_out(self, one: Belief, ended: Item, day: str, successor: Belief | None = None) -> None:
        """End an item. `day`, the day of the log that ends it, counts for the bound; it may be empty."""
        self._removed[one.document, day] += one.item.active and self._is_bound(one, day)
        self._there[one.document].pop(one, None)
        one.item, one.successor = ended, successor

    def bring_back(self, one: Belief, document: str) -> None:
        """Make an archived item active again, in a document."""
        one.item, one.document = brought_back(one.item), document
        self._there[document][one] = None

    def may_take_out(self, one: Belief, day: str) -> bool:
        """Whether a day's log may end one more item of the document: at most a quarter of them, but at least three.

        Todos do not count, nor does what the same log brought.
        """
        ended = self._removed[one.document, day]
        return not self._is_bound(one, day) or ended < max(3, (len(self._there[one.document]) + ended) // 4)

    def _is_bound(self, one: Belief, day: str) -> bool:
        return one.item.type is not ItemType.TODO and not (one.was is None and one.learnt == day)

    def same(self, kind: ItemType, text: str, document: str, trust: Trust = Trust.EXTERNAL) -> Belief | None:
        """Return the item with the same words in a place that counts, the most current one; or None.

        Words of the owner or the agent never match an external item: they carry their own `trust`. The `#tags` at the
        end of two sentences differ only if both have some.
        """
        for one in self.all[self._looked_up :]:
            self._same[_said(one.item.text)].append(one)
        self._looked_up = len(self.all)
        tags, is_ours = without_tags(text)[1], trust.reaches(Trust.SELF)
        matching = (one for one in self._same.get(_said(text), ()) if one.item.type is kind)
        found = [
            one
            for one in matching
            if repeats_there(one.document, document)
            and (one.item.is_ours or not is_ours)
            and not (tags and (others := without_tags(one.item.text)[1]) and tags != others)
        ]
        return max(found, key=lambda one: (one.current, one.is_archived, one.item.until), default=None)

    def near(self, one: Candidate) -> list[Belief]:
        """Return the active items that a candidate may change: the most alike first, then a document's own, the newest.

        They are the document's, and those that speak for all: a project's first lines are older than its page. Only
        external words match an external item.
        """
        pages, is_ours = dict.fromkeys((one.home, *_SHARED_PAGES)), one.trust.reaches(Trust.SELF)
        there = (belief for page in pages for belief in reversed(self._there[page]) if belief.name != one.id)
        others = (belief for belief in there if belief.item.is_ours or not is_ours)
        return sorted(others, key=lambda belief: -alike(one.text, belief.item.text))[:MOST_NEAR]

    def twins(self, ending: Sequence[Belief], day: str) -> list[Belief]:
        """Return the items that say of old what others on their pages do which end on a day, most alike first.

        Of a row of like sentences, each has another value: they are no twins.
        """
        found = {
            other: alike(one.item.text, other.item.text)
            for one in ending
            for other in self._there[one.document]
            if other.learnt < day and other not in ending and is_pending(one.item) == is_pending(other.item)
            if parts_at(one.item.text, other.item.text) is None
        }
        return sorted((one for one in found if found[one] >= _TWINS), key=lambda one: -found[one])[:_MOST_TWINS]


def _said(text: str) -> str:
    return words_key(without_tags(text)[0])


def alike(one: str, other: str) -> float:
    """Return which share of the shorter sentence's words two have in common; 0 if it is a single one of several."""
    mine, theirs = matter_words(seen(one)), matter_words(seen(other))
    both, least = len(mine & theirs), min(len(mine), len(theirs))
    return both / least if both >= min(_SHARED, least) > 0 else 0.0


def shared(one: str, other: str) -> float:
    """Return which share of all their words two sentences have in common."""
    mine, theirs = matter_words(seen(one)), matter_words(seen(other))
    return len(mine & theirs) / max(1, len(mine | theirs))


def repeats_there(place: str, document: str) -> bool:
    """Whether a text in `document` repeats one in `place`: it is of the same page, or `place` speaks for all.

    Items that wait speak for all, too.
    """
    pages = (document, GENERAL)
    return not document or place in {"", REVIEW, *_SHARED_PAGES, *pages} or any(is_archive_of(place, p) for p in pages)


def speaks_for(place: str, home: str) -> bool:
    """Whether an item filed in `home` can change one in `place`: the same page, or either speaks for all."""
    return home in _SHARED_PAGES or repeats_there(place, home)
