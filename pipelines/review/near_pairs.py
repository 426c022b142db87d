"""Near pairs: which earlier item a new one may conflict with.

What the rules found has no second reader: the next session's agent judges its pairs.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import Candidate, OperationKind, is_pending
from pipelines.review.existing_items import alike, shared
from pipelines.review.match_forms import are_rivals, parts_at, replaced_in
from pipelines.review.rulings import ASKED
from pipelines.store.item import MAY_CONFLICT, ItemType, Trust

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.review.existing_items import Belief, KnownItems
    from pipelines.review.rulings import Ruling


RULES: Final = "rules@"
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


def named_in(rulings: Sequence[Ruling]) -> frozenset[str]:
    """Return the ids that rulings name."""
    return frozenset(ident for one in rulings for ident in one.operation.ids)


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
    after, named = list(rulings), named_in(rulings)
    for at, ruling in enumerate(rulings):
        one = ruling.candidate
        if one is None or ruling.told not in days or not one.by.startswith(RULES):
            continue
        there = known.near(one, ruling.document)
        rows = Counter(_row(one, belief) for belief in there)
        rows[None] = 0  # no list
        alone = [old for old in there if may_conflict(one, old) and rows[_row(one, old)] < _A_LIST]
        near = [
            (shared(one.text, belief.item.text), belief.name)
            for _, belief in near_ones(ruling, named, known)
            if belief in alone and belief.learnt < one.entry.day
        ]
        mine = known.get(one.id) if ruling.kind is OperationKind.ADD and not ruling.asks else None
        is_own = mine and one.trust.reaches(Trust.SELF) and one.page_section != ASKED
        alike_ones = [old for old in there if is_own and old.item.type is one.type and old.learnt <= ruling.told]
        held = [old for old in alike_ones if mine and old.at < mine.at]
        ids = {old.item.id: old.name for old in held}
        other = ids.get(replaced_in(one.text, [old.item for old in held]), "")
        if len(rivals := [old for old in alike_ones if are_rivals(one.text, old.item.text)]) == 1:
            near += [(1, old.name) for old in rivals if old in alone and old in held]
        if not other and near and max(near)[0] >= _SHARED:
            other = max(near)[1]
        if other and other not in named:
            after[at] = replace(ruling, candidate=replace(one, links=(*one.links, (MAY_CONFLICT, other))))
    return after


def _row(one: Candidate, old: Belief) -> int | None:
    """Return where an item parts from another one of its type that has another value there, or None."""
    return parts_at(one.text, old.item.text) if old.item.type is one.type and old.name != one.id else None


def may_conflict(one: Candidate, old: Belief) -> bool:
    """Whether an item may conflict with an older one.

    Questions are no beliefs, words from outside wait for nobody's agent, and what
    names other issues or addresses than the older one speaks of other things.
    """
    item = old.item
    named, others = (set(_REFERENCE.findall(text)) for text in (one.text, item.text))
    return (
        one.type is not ItemType.TODO
        and one.trust.reaches(Trust.SELF)
        and item.trust.reaches(Trust.SELF)
        and ASKED not in {one.page_section, item.page_section}
        and not (named and others and named.isdisjoint(others))
    )
