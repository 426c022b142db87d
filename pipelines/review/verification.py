"""Verification: a second reader compares what the first one said with the log, and judges near pairs.

One call holds every claim of a day. What is unsupported is dropped. Of what is unsure, an item is filed as barely
believed, one that would close is noted as perhaps over, one that would replace stands beside the old one, and the next
session's agent judges the pair; all else is dropped: being unsure asks nobody. If the reader fails, the day stays
pending.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.claims import PAIR, Claim, Verdict, needs_verifying, operation_text, quotes_of, said_under
from pipelines.extract.extraction import Candidate, Operation, OperationKind
from pipelines.extract.nearby import with_weekday
from pipelines.review.near_pairs import may_conflict, near_ones
from pipelines.review.outcomes import with_successor
from pipelines.review.review import guarded
from pipelines.review.rulings import REMOVING
from pipelines.store.item import MAY_CONFLICT, OUTCOMES, Confidence, Trust
from pipelines.store.spoken_lines import parse_spoken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.review.existing_items import Belief, KnownItems
    from pipelines.review.rulings import Ruling


MOST_PAIRS: Final = 2
"""How many of the nearest items of its page a new item is paired with."""
MOST_PAIRS_A_DAY: Final = 8
_KINDS = {OperationKind.SUPERSEDE: "replace", OperationKind.QUESTION: "doubt"}
_CLAIMING = REMOVING | {OperationKind.QUESTION}
CONFLICT: Final = "it contradicts the existing item, and nothing in the log shows which of them holds"


@dataclass(frozen=True, slots=True)
class Posed:
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
        found += [Posed(number, claim) for claim in _operation_claims(ruling, known)]
        near = [(alike, Posed(number, claim, ident)) for alike, ident, claim in _pairs(ruling, named, known)]
        found += [one for _, one in near]
        pairs += near
    pairs.sort(key=lambda pair: -pair[0])
    left = [one for _, one in pairs[MOST_PAIRS_A_DAY:]]
    return [one for one in found if one not in left]


def _with_days(one: Candidate) -> str:
    told = {"from": one.since, "due": one.due, "on": one.on, "over": str(one.closed or "")}
    days = ", ".join(f"{key} {value}" for key, value in told.items() if value)
    return f"{one.text} ({days})" if days else one.text


def _operation_claims(ruling: Ruling, known: KnownItems) -> Iterator[Claim]:
    """Yield a claim for each item that a model's ruling ends, changes or doubts."""
    operation, candidate = ruling.operation, ruling.candidate
    if operation.by.startswith("rules@") or not operation.by or ruling.kind not in _CLAIMING:
        return
    # The days of what takes a place are a claim of their own; what changes an item has none.
    is_update = ruling.kind is OperationKind.UPDATE
    new, how = (_with_days(candidate) if is_update else candidate.text) if candidate else "", str(operation.how or "")
    for ident in operation.ids:
        if belief := known.get(ident):
            text = operation_text(ruling.kind, belief.item.type, belief.item.text, how=how, new=new)
            kind, before = _KINDS.get(ruling.kind, str(ruling.kind)), (belief.was or belief.item).perhaps
            context = (*_context(operation), *([f"said earlier: perhaps {before}"] if before else []))
            yield Claim(kind, text, quotes_of(operation.places), context)


def _pairs(ruling: Ruling, named: frozenset[str], known: KnownItems) -> Iterator[tuple[float, str, Claim]]:
    """Yield the pairs of a new item with near ones of its page that the first reader did not link, and how alike.

    Those of earlier days come first: whoever says two things on one day mostly means both. Before them comes what says
    the same as an item that the new one replaces.
    """
    one = ruling.candidate
    if one is None or one.by_rules:
        return
    ended = [belief for ident in ruling.operation.ids if not ruling.asks and (belief := known.get(ident))]
    near = [(1.0, twin) for twin in known.twins(ended, one.entry.day) if twin.name not in named]
    near += [(share - (belief.learnt == one.entry.day), belief) for share, belief in near_ones(ruling, named, known)]
    for share, belief in sorted(near, key=lambda pair: -pair[0])[:MOST_PAIRS]:
        other = belief.item
        context = (f"the new one is of {one.entry.day}", f"the old one of {other.since or belief.learnt}")
        yield share, belief.name, Claim(PAIR, f"{one.type}: {one.text}", (f"{other.type}: {other.text}",), context)


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
        ruling = replace(ruling, candidate=replace(one, confidence=Confidence.LOW))
    if ruling.kind in {OperationKind.SUPERSEDE, OperationKind.UPDATE} and does:
        # An old item ends if the reader is sure of that, and of what takes its place.
        sure = zip(ruling.operation.ids, does, strict=False) if says is Verdict.SUPPORTED else ()
        held = [ident for ident, verdict in sure if verdict is Verdict.SUPPORTED]
        if not held and ruling.kind is OperationKind.UPDATE:
            return None
        also = [ident for ident, verdict in pairs if held and verdict is Verdict.REPLACES]
        held += [ident for ident in also if _replaced(ruling, ident, known) == ""]
        if held:
            return replace(ruling, operation=replace(ruling.operation, ids=tuple(held)))
        left = [ident for ident, one in zip(ruling.operation.ids, does, strict=False) if one is not Verdict.UNSUPPORTED]
        return _beside(ruling, left, known)
    if any(verdict is not Verdict.SUPPORTED for verdict in does):
        return _perhaps(ruling) if set(does) == {Verdict.UNSURE} else None
    return _paired(ruling, pairs, known) if says is Verdict.SUPPORTED else ruling


def _beside(ruling: Ruling, others: Sequence[str], known: KnownItems) -> Ruling:
    """Return the ruling that adds an item beside what it may replace, linked to the first that it may conflict with."""
    one, old = ruling.candidate, [belief for ident in others if (belief := known.get(ident))]
    linked = [(MAY_CONFLICT, belief.name) for belief in old if one and may_conflict(one, belief)][:1]
    candidate = replace(one, links=(*one.links, *linked)) if one else None
    operation = replace(ruling.operation, kind=OperationKind.ADD, ids=())
    return replace(ruling, operation=operation, candidate=candidate, asks="")


def _perhaps(ruling: Ruling) -> Ruling | None:
    """Return the ruling on what may be over: it stays, with the line that says so, until a line is sure of it."""
    is_ours = ruling.kind is OperationKind.CLOSE and not ruling.asks and ruling.trust.reaches(Trust.SELF)
    return replace(ruling, operation=replace(ruling.operation, kind=OperationKind.CONFIRM)) if is_ours else None


def _paired(ruling: Ruling, pairs: Sequence[tuple[str, Verdict]], known: KnownItems) -> Ruling:
    """Return a ruling that adds an item, as its pairs with existing ones have it."""
    candidate = ruling.candidate
    for ident, verdict in pairs:
        belief = known.get(ident)
        if belief is None or candidate is None or verdict is Verdict.BOTH:
            continue
        if verdict is Verdict.SAME:
            return _same(ruling, belief, candidate, known)
        asks = CONFLICT if verdict is Verdict.CONFLICT else _replaced(ruling, ident, known) or ""
        return replace(_on(ruling, OperationKind.SUPERSEDE, [belief], candidate), asks=asks)
    return ruling


def _replaced(ruling: Ruling, ident: str, known: KnownItems) -> str | None:
    """End an item that a ruling's new one replaces; return why a person must decide instead, or None if it is over."""
    belief, one = known.get(ident), ruling.candidate
    if belief is None or one is None or not belief.item.active:
        return None
    asks = guarded(Operation(OperationKind.SUPERSEDE), [belief], one.trust, one.entry.day, known, one.source)
    if not asks and (mine := known.get(one.id)):  # it counts for the bound on how much a day may end
        known.take_out(belief, with_successor(belief.item, mine.item, one.day), one.entry.day, mine)
    return asks


def _same(ruling: Ruling, belief: Belief, candidate: Candidate, known: KnownItems) -> Ruling:
    """Return the ruling on a new item that repeats another: it confirms that one, or closes it if it is over."""
    if candidate.closed not in OUTCOMES[belief.item.type]:
        return _on(ruling, OperationKind.CONFIRM, [belief], candidate)
    closing, day = _on(ruling, OperationKind.CLOSE, [belief], candidate), candidate.entry.day
    operation = replace(closing.operation, how=candidate.closed)
    asks = guarded(operation, [belief], candidate.trust, day, known, candidate.source)
    return replace(closing, operation=operation, candidate=None, asks=asks)


def _on(ruling: Ruling, kind: OperationKind, beliefs: Sequence[Belief], candidate: Candidate) -> Ruling:
    ids = tuple(one.name for one in beliefs)
    operation = replace(ruling.operation, kind=kind, ids=ids, places=candidate.places, by=candidate.by)
    return replace(ruling, operation=operation)
