"""Verification: a second reader compares what the first one said with the log, and judges near pairs.

One call holds every claim of a day. What is unsupported is dropped. Of what is unsure, an item is filed as barely
believed, and all else is dropped: being unsure asks nobody. If the reader fails, the day stays pending.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.claims import PAIR, Claim, Verdict, needs_verifying, operation_text, quotes_of, said_under
from pipelines.extract.extraction import Candidate, Operation, OperationKind, with_weekday
from pipelines.review.existing_items import speaks_as
from pipelines.review.review import guarded, said_otherwise
from pipelines.store.item import OUTCOMES, Confidence, Status
from pipelines.store.spoken_lines import parse_spoken
from pipelines.text import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.review.existing_items import Belief, KnownItems
    from pipelines.review.review import Ruling


RULES: Final = "rules@"
MOST_PAIRS: Final = 2
"""How many of the nearest items of its page a new item is paired with."""
MOST_PAIRS_A_DAY: Final = 8
_SHARED: Final = 2
_ALIKE: Final = 0.4
"""The share of the shorter sentence's words that a pair has in common.

On two public journals, twenty nights, all 135 pairs below it were judged to be two beliefs.
"""
_KINDS: Final = {OperationKind.SUPERSEDE: "replace", OperationKind.QUESTION: "doubt"}
_CLAIMING: Final = frozenset({
    OperationKind.SUPERSEDE, OperationKind.UPDATE, OperationKind.CLOSE, OperationKind.RETRACT, OperationKind.QUESTION,
})  # fmt: skip
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
    for number, ruling in enumerate(rulings):
        if claim := _item_claim(ruling):
            found.append(Posed(number, claim))
        found += [Posed(number, claim) for claim in _operation_claims(ruling, known)]
        near = [(alike, Posed(number, claim, ident)) for alike, ident, claim in _pairs(ruling, rulings, known)]
        found += [one for _, one in near]
        pairs += near
    pairs.sort(key=lambda pair: -pair[0])
    left = [one for _, one in pairs[MOST_PAIRS_A_DAY:]]
    return [one for one in found if one not in left]


def _item_claim(ruling: Ruling) -> Claim | None:
    """Return the claim of a new item, unless it is verbatim text of the log and no more."""
    one = ruling.candidate
    if one is None or ruling.kind not in {OperationKind.ADD, OperationKind.SUPERSEDE} or one.by.startswith(RULES):
        return None
    told = {"from": one.since, "due": one.due, "on": one.on, "over": str(one.closed or "")}
    days = [f"{key} {value}" for key, value in told.items() if value]
    if not days and not needs_verifying(one.text, one.places):
        return None
    return Claim("item", f"{one.text} ({', '.join(days)})" if days else one.text, quotes_of(one.places), _context(one))


def _operation_claims(ruling: Ruling, known: KnownItems) -> Iterator[Claim]:
    """Yield a claim for each item that a model's ruling ends, changes or doubts."""
    operation, candidate = ruling.operation, ruling.candidate
    if operation.by.startswith(RULES) or not operation.by or ruling.kind not in _CLAIMING:
        return
    new, how = candidate.text if candidate else "", str(operation.how or "")
    for ident in operation.ids:
        if belief := known.get(ident):
            text = operation_text(ruling.kind, belief.item.type, belief.item.text, how=how, new=new)
            yield Claim(
                _KINDS.get(ruling.kind, str(ruling.kind)), text, quotes_of(operation.places), _context(operation)
            )


def _pairs(ruling: Ruling, rulings: Sequence[Ruling], known: KnownItems) -> Iterator[tuple[float, str, Claim]]:
    """Yield the pairs of a new item with near ones of its page that the first reader did not link, and how alike."""
    one = ruling.candidate
    if one is None or ruling.kind is not OperationKind.ADD or ruling.asks or one.by.startswith(RULES):
        return
    mine = known.get(one.id)
    linked = {ident for _, ident in one.links} | {ident for each in rulings for ident in each.operation.ids}
    words, found = content_words(one.text), 0
    for belief in known.near(one, ruling.document):
        other = belief.item
        is_later = mine is not None and belief.at >= mine.at
        if is_later or not (other.active and belief.document == ruling.document and speaks_as(other, one.trust)):
            continue
        theirs = content_words(other.text)
        shared, least = len(words & theirs), max(1, min(len(words), len(theirs)))
        if other.id in linked or shared < min(_SHARED, least) or shared < _ALIKE * least:
            continue
        context = (f"the new one is of {one.entry.day}", f"the old one of {other.since or belief.learnt}")
        yield (
            shared / least,
            other.id,
            Claim(PAIR, f"{one.type}: {one.text}", (f"{other.type}: {other.text}",), context),
        )
        found += 1
        if found == MOST_PAIRS:
            return


def _context(one: Candidate | Operation) -> tuple[str, ...]:
    entry = one.places[0].entry
    speaker = parse_spoken(entry.text.partition("\n")[0]).speaker
    told = (*said_under(one.places), speaker, with_weekday(entry.day), *one.beside)
    return tuple(filter(None, told))


# ---------------------------------------- what becomes of the rulings


def judged(
    rulings: Sequence[Ruling], claims: Sequence[Posed], verdicts: Sequence[Verdict], known: KnownItems
) -> tuple[list[Ruling], Counter[str]]:
    """Return the rulings after their verdicts, and how many claims there were and how many were not supported.

    Args:
        rulings: in order.
        claims: those of `posed`.
        verdicts: one per claim.
        known: the items that the rulings name; what a pair replaces is taken out.
    """
    counts = Counter(claims=len(claims))
    counts.update(str(verdict) for verdict in verdicts if verdict not in {Verdict.SUPPORTED, Verdict.BOTH})
    says: dict[int, Verdict] = {}
    does: dict[int, list[Verdict]] = {}
    pairs: dict[int, list[tuple[str, Verdict]]] = {}
    for one, verdict in zip(claims, verdicts, strict=True):
        if one.other:
            pairs.setdefault(one.ruling, []).append((one.other, verdict))
        elif one.claim.kind == "item":
            says[one.ruling] = verdict
        else:
            does.setdefault(one.ruling, []).append(verdict)
    kept = [
        _judged(ruling, says.get(number, Verdict.SUPPORTED), does.get(number, ()), pairs.get(number, ()), known)
        for number, ruling in enumerate(rulings)
    ]
    return [one for one in kept if one], counts


def _judged(
    ruling: Ruling,
    says: Verdict,
    does: Sequence[Verdict],
    pairs: Sequence[tuple[str, Verdict]],
    known: KnownItems,
) -> Ruling | None:
    """Return a ruling after its verdicts, or None."""
    if says is Verdict.UNSUPPORTED:
        return None
    if says is Verdict.UNSURE and (one := ruling.candidate):
        ruling = replace(ruling, candidate=replace(one, confidence=Confidence.LOW))
    if ruling.kind is OperationKind.SUPERSEDE and does:
        held = [ident for ident, verdict in zip(ruling.operation.ids, does, strict=False) if _is_sure(verdict, says)]
        kind = OperationKind.SUPERSEDE if held else OperationKind.ADD
        asks = ruling.asks if held else ""
        return replace(ruling, operation=replace(ruling.operation, kind=kind, ids=tuple(held)), asks=asks)
    if any(verdict is not Verdict.SUPPORTED for verdict in does):
        return None
    return _paired(ruling, pairs, known) if says is Verdict.SUPPORTED else ruling


def _is_sure(verdict: Verdict, says: Verdict) -> bool:
    """Whether an old item ends: the reader is sure of that, and of what takes its place."""
    return verdict is Verdict.SUPPORTED and says is Verdict.SUPPORTED


def _paired(ruling: Ruling, pairs: Sequence[tuple[str, Verdict]], known: KnownItems) -> Ruling:
    """Return a ruling that adds an item, as its pairs with existing ones have it."""
    candidate = ruling.candidate
    for ident, verdict in pairs:
        belief = known.get(ident)
        if belief is None or candidate is None or verdict is Verdict.BOTH:
            continue
        if verdict is Verdict.SAME:
            return _same(ruling, belief, candidate, known)
        asks = CONFLICT if verdict is Verdict.CONFLICT else ""
        asks = (
            asks
            or said_otherwise(candidate.source, [belief])
            or guarded(OperationKind.SUPERSEDE, [belief], candidate.trust, candidate.entry.day, known)
        )
        if not asks and belief.item.active:  # it counts for the bound on how much a day may end
            known.take_out(belief, Status.SUPERSEDED, candidate.day, candidate.entry.day, known.get(candidate.id))
        return replace(_on(ruling, OperationKind.SUPERSEDE, [belief], candidate), asks=asks)
    return ruling


def _same(ruling: Ruling, belief: Belief, candidate: Candidate, known: KnownItems) -> Ruling:
    """Return the ruling on a new item that repeats another: it confirms that one, or closes it if it is over."""
    if candidate.closed not in OUTCOMES[belief.item.type]:
        return _on(ruling, OperationKind.CONFIRM, [belief], candidate)
    closing, day = _on(ruling, OperationKind.CLOSE, [belief], candidate), candidate.entry.day
    asks = guarded(OperationKind.CLOSE, [belief], candidate.trust, day, known) or said_otherwise(
        candidate.source, [belief]
    )
    return replace(closing, operation=replace(closing.operation, how=candidate.closed), candidate=None, asks=asks)


def _on(ruling: Ruling, kind: OperationKind, beliefs: Sequence[Belief], candidate: Candidate) -> Ruling:
    ids = tuple(one.item.id for one in beliefs)
    operation = replace(ruling.operation, kind=kind, ids=ids, places=candidate.places, by=candidate.by)
    return replace(ruling, operation=operation)
