"""Verification and near pairs: what a second reader is asked, and which earlier item a new one may conflict with.

One call holds every claim of a day. What is unsupported is dropped. Of what is unsure, an item is filed as barely
believed, one that would close is noted as perhaps over, one that would replace stands beside the old one, and the next
session's agent judges the pair; all else is dropped: being unsure asks nobody. If the reader fails, the day stays
pending.

What the rules found has no second reader: the next session's agent judges its pairs. The newer item has a link to the
older one, and the start of a session shows both. If no session asks for its start, a question in Review.md takes the
link's place. At most three pairs wait at once.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.extract.claims import PAIR as JUDGED
from pipelines.extract.claims import Claim, Verdict, needs_verifying, operation_text, quotes_of, said_under
from pipelines.extract.extraction import Candidate, Operation, OperationKind, is_pending
from pipelines.extract.nearby import with_weekday
from pipelines.review.match_forms import are_rivals, parts_at, replaced_in
from pipelines.review.outcomes import PAIR, with_pair, with_present_pairs, with_successor, without_conflict
from pipelines.review.review import guarded
from pipelines.review.rulings import ASKED, REMOVING, Belief, KnownItems, Ruling, alike, shared
from pipelines.store.document import Documents, edited
from pipelines.store.item import MAY_CONFLICT, OUTCOMES, UNSURE, Confidence, ItemType, Trust
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import read_queue
from pipelines.store.spoken_lines import parse_spoken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


MOST_PAIRS = 2
"""How many of the nearest items of its page a new item is paired with."""
MOST_PAIRS_A_DAY = 8
_KINDS = {OperationKind.SUPERSEDE: "replace", OperationKind.QUESTION: "doubt"}
_CLAIMING = REMOVING | {OperationKind.QUESTION}
CONFLICT = "it contradicts the existing item, and nothing in the log shows which of them holds"


class Posed(NamedTuple):
    """A claim about a ruling: on its new item, on what it does to existing ones, or on the pair with another item.

    Args:
        ruling: the number of the ruling.
        claim: the claim.
        other: for a pair, the id of the existing item.
    """

    ruling: int
    claim: Claim
    other: str = ""


def posed(rulings: Sequence[Ruling], known: KnownItems) -> list[Posed]:
    """Return what a second reader must say of the rulings of a day.

    A line's own words need no second reader, nor does what the rules found.

    Args:
        rulings: in order.
        known: the items that the rulings name, as the rulings leave them.
    """
    found: list[Posed] = []
    pairs: list[tuple[float, Posed]] = []
    named = frozenset(ident for one in rulings for ident in one.operation.ids)
    for number, ruling in enumerate(rulings):
        one = ruling.candidate
        if one and not one.by_rules and ruling.kind in {OperationKind.ADD, OperationKind.SUPERSEDE}:
            text = _with_days(one)
            if text != one.text or needs_verifying(text, one.places):
                found.append(Posed(number, Claim("item", text, quotes_of(one.places), _context(one))))
        operation = ruling.operation
        is_models = operation.by and not operation.by.startswith("rules@") and ruling.kind in _CLAIMING
        # The days of what takes a place are a claim of their own; what changes an item has none.
        new = "" if one is None else _with_days(one) if ruling.kind is OperationKind.UPDATE else one.text
        for belief in filter(None, map(known.ids.get, operation.ids if is_models else ())):
            how, before = str(operation.how or ""), (belief.was or belief.item).perhaps
            text = operation_text(ruling.kind, belief.item, how, new)
            context = (*_context(operation), *([f"said earlier: perhaps {before}"] if before else []))
            kind = _KINDS.get(ruling.kind, str(ruling.kind))
            found.append(Posed(number, Claim(kind, text, quotes_of(operation.places), context)))
        near = [*_pairs(number, ruling, named, known)]
        found += [one for _, one in near]
        pairs += near
    pairs.sort(key=lambda pair: -pair[0])
    left = [one for _, one in pairs[MOST_PAIRS_A_DAY:]]
    return [one for one in found if one not in left]


def _with_days(one: Candidate) -> str:
    told = {"from": one.since, "due": one.due, "on": one.on, "over": str(one.closed or "")}
    days = ", ".join(f"{key} {value}" for key, value in told.items() if value)
    return f"{one.text} ({days})" if days else one.text


def _pairs(number: int, ruling: Ruling, named: frozenset[str], known: KnownItems) -> Iterator[tuple[float, Posed]]:
    """Yield how alike, and the pairs of a new item with near ones of its page that the first reader did not link.

    Those of earlier days come first: whoever says two things on one day mostly means both. Before them comes what says
    the same as an item that the new one replaces.
    """
    one = ruling.candidate
    if one is None or one.by_rules:
        return
    ended = [belief for ident in ruling.operation.ids if not ruling.asks and (belief := known.ids.get(ident))]
    near = [(1.0, twin) for twin in known.twins(ended, one.entry.day) if twin.name not in named]
    near += [(share - (belief.learnt == one.entry.day), belief) for share, belief in near_ones(ruling, named, known)]
    for share, belief in sorted(near, key=lambda pair: -pair[0])[:MOST_PAIRS]:
        other = belief.item
        context = (f"the new one is of {one.entry.day}", f"the old one of {other.since or belief.learnt}")
        claim = Claim(JUDGED, f"{one.type}: {one.text}", (f"{other.type}: {other.text}",), context)
        yield share, Posed(number, claim, belief.name)


def _context(one: Candidate | Operation) -> tuple[str, ...]:
    entry = one.places[0].entry
    speaker = parse_spoken(entry.head).speaker
    told = (*said_under(one.places), speaker, with_weekday(entry.day), *one.beside)
    return tuple(filter(None, told))


# ---------------------------------------- what becomes of the rulings


def judged(
    rulings: Sequence[Ruling], claims: Sequence[Posed], verdicts: Sequence[Verdict], known: KnownItems
) -> list[Ruling]:
    """Return the rulings after their verdicts.

    Args:
        rulings: in order.
        claims: those of `posed`.
        verdicts: one per claim.
        known: the items that the rulings name; what a pair replaces is taken out.
    """
    said: dict[int, list[tuple[Posed, Verdict]]] = {}
    for one, verdict in zip(claims, verdicts, strict=True):
        said.setdefault(one.ruling, []).append((one, verdict))
    kept = (_judged(ruling, said.get(number, ()), known) for number, ruling in enumerate(rulings))
    return [one for one in kept if one]


def _judged(ruling: Ruling, said: Sequence[tuple[Posed, Verdict]], known: KnownItems) -> Ruling | None:
    """Return a ruling after its verdicts, or None."""
    pairs = [(one.other, verdict) for one, verdict in said if one.other]
    of_item = [verdict for one, verdict in said if one.claim.kind == "item"]
    does = [verdict for one, verdict in said if not one.other and one.claim.kind != "item"]
    says = of_item[0] if of_item else Verdict.SUPPORTED
    if says is Verdict.UNSUPPORTED:
        return None
    if says is Verdict.UNSURE and (one := ruling.candidate):
        ruling = ruling._replace(candidate=replace(one, confidence=Confidence.LOW))
    if ruling.kind in {OperationKind.SUPERSEDE, OperationKind.UPDATE} and does:
        # An old item ends if the reader is sure of that, and of what takes its place.
        sure = zip(ruling.operation.ids, does, strict=False) if says is Verdict.SUPPORTED else ()
        held = [ident for ident, verdict in sure if verdict is Verdict.SUPPORTED]
        if not held and ruling.kind is OperationKind.UPDATE:
            return None
        also = [ident for ident, verdict in pairs if held and verdict is Verdict.REPLACES]
        held += [ident for ident in also if _replaced(ruling, ident, known) == ""]
        if held:
            return ruling._replace(operation=ruling.operation._replace(ids=tuple(held)))
        left = [ident for ident, one in zip(ruling.operation.ids, does, strict=False) if one is not Verdict.UNSUPPORTED]
        return _beside(ruling, left, known)
    if any(verdict is not Verdict.SUPPORTED for verdict in does):
        # What may be over stays, with the line that says so, until a line is sure of it.
        is_ours = ruling.kind is OperationKind.CLOSE and not ruling.asks and ruling.trust.reaches(Trust.SELF)
        confirms = ruling._replace(operation=ruling.operation._replace(kind=OperationKind.CONFIRM))
        return confirms if is_ours and set(does) == {Verdict.UNSURE} else None
    return _paired(ruling, pairs, known) if says is Verdict.SUPPORTED else ruling


def _beside(ruling: Ruling, others: Sequence[str], known: KnownItems) -> Ruling:
    """Return the ruling that adds an item beside what it may replace, linked to the first that it may conflict with."""
    one, old = ruling.candidate, [belief for ident in others if (belief := known.ids.get(ident))]
    linked = [(MAY_CONFLICT, belief.name) for belief in old if one and may_conflict(one, belief)][:1]
    candidate = replace(one, links=(*one.links, *linked)) if one else None
    operation = ruling.operation._replace(kind=OperationKind.ADD, ids=())
    return ruling._replace(operation=operation, candidate=candidate, asks="")


def _paired(ruling: Ruling, pairs: Sequence[tuple[str, Verdict]], known: KnownItems) -> Ruling:
    """Return a ruling that adds an item, as its pairs with existing ones have it."""
    candidate = ruling.candidate
    for ident, verdict in pairs:
        belief = known.ids.get(ident)
        if belief is None or candidate is None or verdict is Verdict.BOTH:
            continue
        if verdict is Verdict.SAME:
            return _same(ruling, belief, candidate, known)
        asks = CONFLICT if verdict is Verdict.CONFLICT else _replaced(ruling, ident, known) or ""
        return _on(ruling, OperationKind.SUPERSEDE, belief, candidate)._replace(asks=asks)
    return ruling


def _replaced(ruling: Ruling, ident: str, known: KnownItems) -> str | None:
    """End an item that a ruling's new one replaces; return why a person must decide instead, or None if it is over."""
    belief, one = known.ids.get(ident), ruling.candidate
    if belief is None or one is None or not belief.item.active:
        return None
    asks = guarded(Operation(OperationKind.SUPERSEDE), [belief], one.trust, one.entry.day, known, one.source)
    if not asks and (mine := known.ids.get(one.id)):  # it counts for the bound on how much a day may end
        known.take_out(belief, with_successor(belief.item, mine.item, one.day), one.entry.day, mine)
    return asks


def _same(ruling: Ruling, belief: Belief, candidate: Candidate, known: KnownItems) -> Ruling:
    """Return the ruling on a new item that repeats another: it confirms that one, or closes it if it is over."""
    if candidate.closed not in OUTCOMES[belief.item.type]:
        return _on(ruling, OperationKind.CONFIRM, belief, candidate)
    closing, day = _on(ruling, OperationKind.CLOSE, belief, candidate), candidate.entry.day
    operation = closing.operation._replace(how=candidate.closed)
    asks = guarded(operation, [belief], candidate.trust, day, known, candidate.source)
    return closing._replace(operation=operation, candidate=None, asks=asks)


def _on(ruling: Ruling, kind: OperationKind, belief: Belief, candidate: Candidate) -> Ruling:
    operation = ruling.operation._replace(kind=kind, ids=(belief.name,), places=candidate.places, by=candidate.by)
    return ruling._replace(operation=operation)


# ---------------------------------------- near pairs


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
UNSETTLED_DAYS = 7
"""The days of work after which nobody is asked about a pair any more."""


def near_ones(ruling: Ruling, named: frozenset[str], known: KnownItems) -> Iterator[tuple[float, Belief]]:
    """Yield the earlier items of its page that an added one is near to, but for those that a ruling names."""
    one = ruling.candidate
    mine = known.ids.get(one.id) if one else None
    if one is None or mine is None or ruling.kind is not OperationKind.ADD or ruling.asks:
        return
    linked = {ident for _, ident in one.links} | named
    for belief in known.near(one):
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
    days = set(sorted({one.operation.day for one in rulings})[-UNSETTLED_DAYS:])
    after, named = list(rulings), frozenset(ident for one in rulings for ident in one.operation.ids)
    for at, ruling in enumerate(rulings):
        one = ruling.candidate
        mine = known.ids.get(one.id) if one and ruling.kind is OperationKind.ADD and not ruling.asks else None
        if one is None or mine is None or ruling.operation.day not in days or not one.by_rules:
            continue
        there = known.near(one)
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
        alike_ones = [old for old in there if is_own and old.item.type is one.type and old.learnt <= one.entry.day]
        held = {old.item.id: old for old in alike_ones if old.at < mine.at}
        other = replaced_in(one.text, [old.item for old in held.values()])
        other = held[other].name if other else ""
        if len(rivals := [old for old in alike_ones if are_rivals(one.text, old.item.text)]) == 1:
            near += [(1, old.name) for old in rivals if old in alone and old.item.id in held]
        if not other and near and max(near)[0] >= _SHARED:
            other = max(near)[1]
        if other and other not in named:
            after[at] = ruling._replace(candidate=replace(one, links=(*one.links, (MAY_CONFLICT, other))))
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


MOST_UNSETTLED = 3


def with_unsettled_pairs(
    documents: Documents, days: Sequence[str], today: str, *, to_person: bool, rules_from: str
) -> Documents:
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
    after, first = with_present_pairs(documents), (days[-UNSETTLED_DAYS:] or [""])[0]
    held = {p.item.id: (path, p.item) for path, one in after.items() for p in one.items if p.item.active}
    waiting = sum(entry.kind == PAIR for entry in read_queue(after.get(REVIEW)))
    rooms = {True: MOST_UNSETTLED - waiting, False: MOST_UNSETTLED}
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
