"""Near pairs: which earlier item a new one may conflict with.

What the rules found has no second reader: the next session's agent judges its pairs. The newer item has a link to the
older one, and the start of a session shows both. If no session asks for its start, a question in Review.md takes the
link's place. At most three pairs wait at once.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import Candidate, OperationKind, is_pending
from pipelines.review.existing_items import alike, shared
from pipelines.review.match_forms import are_rivals, parts_at, replaced_in
from pipelines.review.outcomes import without_conflict
from pipelines.review.questions import PAIR, ids_asked, with_pair
from pipelines.review.rulings import ASKED
from pipelines.store.document import edited
from pipelines.store.item import MAY_CONFLICT, UNSURE, ItemType, Trust
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import read_queue, without_answered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipelines.review.existing_items import Belief, KnownItems
    from pipelines.review.rulings import Ruling
    from pipelines.store.document import Document


_ALIKE = 0.4
"""How alike a pair is at least. On two public journals, twenty nights, all 135 pairs below it were two beliefs."""
_ALIKE_OPEN = 0.3
"""The same for two open items: a Todo and a question of one matter are worded apart."""
_SHARED = 0.25
"""The share of all their words that a pair has in common, too, if somebody is asked about it: many a long sentence has
half of a short one's words."""
_A_LIST = 2
"""How many like sentences make a list with a new one: they say no more than where else its value stands."""
_REFERENCE = re.compile(r"#\d+|\b\w{1,12}://[^\s)]+")
UNSETTLED_DAYS: Final = 7
"""The days of work after which nobody is asked about a pair any more."""


def near_ones(ruling: Ruling, named: frozenset[str], known: KnownItems) -> Iterator[tuple[float, Belief]]:
    """Yield the earlier items of its page that an added one is near to, but for those that a ruling names."""
    one = ruling.candidate
    mine = known.get(one.id) if one else None
    if one is None or mine is None or ruling.kind is not OperationKind.ADD or ruling.asks:
        return
    linked = {ident for _, ident in one.links} | named
    for belief in known.near(one, ruling.document):
        least = _ALIKE_OPEN if is_pending(mine.item) and is_pending(belief.item) else _ALIKE
        share = alike(one.text, belief.item.text)
        if belief.at < mine.at and belief.name not in linked and share >= least:
            yield share, belief


def with_unsettled(rulings: Sequence[Ruling], known: KnownItems) -> list[Ruling]:
    """Return the rulings, each item that the rules found linked to the earlier one that it may conflict with, if any.

    Only the last days of work count: nobody is asked about what is older. Who says two near things on one day means
    both, unless they differ in one place alone, and no third one is like them.

    Args:
        rulings: in order.
        known: the items that the rulings name, as the rulings leave them.
    """
    days = set(sorted({one.told for one in rulings})[-UNSETTLED_DAYS:])
    after, named = list(rulings), frozenset(ident for one in rulings for ident in one.operation.ids)
    for at, ruling in enumerate(rulings):
        one = ruling.candidate
        if one is None or ruling.told not in days or not one.by_rules:
            continue
        mine = known.get(one.id) if ruling.kind is OperationKind.ADD and not ruling.asks else None
        there = known.near(one, ruling.document) if mine else []
        rows = {old.name: parts_at(one.text, old.item.text) for old in there if old.item.type is one.type}
        lists = Counter(rows.values())
        lists[None] = 0  # no list
        alone = [old for old in there if may_conflict(one, old) and lists[rows.get(old.name)] < _A_LIST]
        near = [
            (shared(one.text, belief.item.text), belief.name)
            for _, belief in near_ones(ruling, named, known)
            if belief in alone and belief.learnt < one.entry.day
        ]
        is_own = one.trust.reaches(Trust.SELF) and one.page_section != ASKED
        alike_ones = [old for old in there if is_own and old.item.type is one.type and old.learnt <= ruling.told]
        held = {old.item.id: old for old in alike_ones if mine and old.at < mine.at}
        other = replaced_in(one.text, [old.item for old in held.values()])
        other = held[other].name if other else ""
        if len(rivals := [old for old in alike_ones if are_rivals(one.text, old.item.text)]) == 1:
            near += [(1, old.name) for old in rivals if old in alone and old.item.id in held]
        if not other and near and max(near)[0] >= _SHARED:
            other = max(near)[1]
        if other and other not in named:
            after[at] = replace(ruling, candidate=replace(one, links=(*one.links, (MAY_CONFLICT, other))))
    return after


def may_conflict(one: Candidate, old: Belief) -> bool:
    """Whether an item may conflict with an older one.

    Questions are no beliefs, of what rules are unsure of nobody is asked, words from outside wait for nobody's agent,
    and what names other issues or addresses than the older one speaks of other things.
    """
    item = old.item
    named, others = (set(_REFERENCE.findall(text)) for text in (one.text, item.text))
    return (
        one.type is not ItemType.TODO
        and one.trust.reaches(Trust.SELF)
        and item.trust.reaches(Trust.SELF)
        and ASKED not in {one.page_section, item.page_section}
        and not (one.by_rules and {one.confidence, item.confidence} & UNSURE)
        and not (named and others and named.isdisjoint(others))
    )


# ---------------------------------------- the pairs that wait


MOST_UNSETTLED: Final = 3


def with_unsettled_pairs(
    documents: Mapping[str, Document], days: Sequence[str], today: str, *, to_person: bool, rules_from: str = ""
) -> dict[str, Document]:
    """Return the documents with at most three pairs that may conflict, none of which has waited for a week of work.

    Pairs of which one names the other's value beside a new one are never too many.

    Args:
        documents: every document by path.
        days: the days with logs, in order.
        today: the memory's day.
        to_person: whether Review.md asks about all, since no agent sees the start of a session. About those that no
            agent's word can settle it asks anyway.
        rules_from: whose rules are filed; the owner's alone are no agent's to settle.
    """
    after, first = dict(documents), (days[-UNSETTLED_DAYS:] or [""])[0]
    held = {p.item.id: (path, p.item) for path, one in after.items() for p in one.items if p.item.active}
    waiting = [entry for entry in read_queue(after.get(REVIEW)) if entry.kind == PAIR]
    moot = [(entry, ()) for entry in waiting if not held.keys() >= set(ids_asked(entry.why))]
    if moot:
        after[REVIEW] = without_answered(after[REVIEW], moot)
    rooms = {True: MOST_UNSETTLED - len(waiting) + len(moot), False: MOST_UNSETTLED}
    linked = [(path, one) for path, one in held.values() if one.links and MAY_CONFLICT in dict(one.links)]
    for path, one in sorted(linked, key=lambda pair: (pair[1].learnt, pair[1].id), reverse=True):
        _, old = held.get(dict(one.links)[MAY_CONFLICT][0], ("", None))
        asks = to_person or old is None or not (old.yields_to(one) or one.yields_to(old))
        asks = asks or (rules_from == "owner" and one.type is ItemType.RULE)
        waits = old is not None and one.learnt >= first and (rooms[asks] > 0 or bool(replaced_in(one.text, [old])))
        rooms[asks] -= waits
        if not waits or asks:
            after[path] = edited(after[path], replace={one.id: without_conflict(one)})
        if waits and asks:
            why = "These may conflict. Nobody has said which of them holds."
            after = with_pair(after, [each for each in (one, old) if each], why, today)
    return after
