"""Verification: a second reader says whether the quotes say what the rulings of a night claim.

What is unsupported is dropped, what is unsure waits for a person, and what nobody could be asked about is filed as
unverified: a later night asks again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.claims import Claim, Verdict, around, needs_verifying, operation_text, verify_twice
from pipelines.extract.extraction import Operation, OperationKind
from pipelines.review.compare import same_statement
from pipelines.review.review import REMOVING
from pipelines.store.item import Confidence, Status
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.extract.claims import Verifier
    from pipelines.extract.extraction import Place
    from pipelines.review.existing_items import Known
    from pipelines.review.review import Ruling
    from pipelines.store.item import Evidence, Item


_UNSURE: Final = "a second reader is not sure that the line says so"
_UNASKED: Final = "no second reader could be asked whether the line says so"
_RULES: Final = "rules@"
_SAYING: Final = frozenset({OperationKind.ADD, OperationKind.SUPERSEDE})
"""What makes an item of the candidate's own sentence."""
_CLAIMING: Final = REMOVING | {OperationKind.CONFIRM, OperationKind.QUESTION}
"""What claims something of items that are held."""


def _is_loss(ruling: Ruling) -> bool:
    """Whether a model takes for noise what it read as certain."""
    candidate, by = ruling.candidate, ruling.operation.by
    is_certain = candidate is not None and candidate.confidence is Confidence.HIGH
    return ruling.kind is OperationKind.IGNORE and is_certain and by != "" and not by.startswith(_RULES)


@dataclass(frozen=True, slots=True)
class Checked:
    """What the second reader left of a night.

    Args:
        rulings: those that are carried out or asked about.
        items: items of earlier nights that nobody had verified, as they stand now.
        counts: how many `claims` there were, and how many were `unsupported`, `unsure` or `unverified`.
        tally: what the calls came to.
        failure: why claims have no verdict, or empty.
    """

    rulings: list[Ruling]
    items: list[Item] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


def verified(
    rulings: list[Ruling],
    unverified: Sequence[Item],
    known: Known,
    quote: Callable[[Evidence], str],
    verifier: Verifier | None,
    day: str,
) -> Checked:
    """Return the rulings that a second reader supports.

    The words of the log, and what the rules and a person's own forms say, need none.

    Args:
        rulings: those of a night, in order.
        unverified: items of earlier nights that nobody could be asked about.
        known: the items that the rulings name.
        quote: the words that evidence names, or an empty string where they are nowhere.
        verifier: who is asked; None where no model reads.
        day: the memory's day.
    """
    if verifier is None:
        return Checked(rulings)
    asked: list[tuple[Ruling | Item, bool, Claim]] = []
    for ruling in rulings:
        own = _item_claim(ruling)
        asked += [(ruling, False, own)] if own else []
        asked += [(ruling, True, claim) for claim in _operation_claims(ruling, known)]
    for item in unverified:
        asked.append((item, False, Claim("item", item.text, tuple(filter(None, map(quote, item.evidence))))))
    if not asked:
        return Checked(rulings)
    found = verify_twice(verifier, [claim for *_, claim in asked])
    counts = Counter(claims=len(asked))
    counts.update(str(verdict or "unverified") for verdict in found.verdicts if verdict is not Verdict.SUPPORTED)
    verdicts = defaultdict[tuple[int, bool], list[Verdict | None]](list)
    for (one, removes, _), verdict in zip(asked, found.verdicts, strict=True):
        verdicts[id(one), removes].append(verdict)

    def least(one: Ruling | Item, *, removes: bool) -> Verdict | None:
        """Return the verdict on it that is the most in doubt."""
        return min(verdicts.get((id(one), removes), [Verdict.SUPPORTED]), key=_ORDER.index)

    judged = [
        (_kept if one.kind is OperationKind.IGNORE else _judged)(
            one, least(one, removes=False), least(one, removes=True)
        )
        for one in rulings
    ]
    settled = [_settled(one, least(one, removes=False), day) for one in unverified]
    return Checked([one for one in judged if one], settled, counts, found.tally, found.failure)


_ORDER: Final = (Verdict.UNSUPPORTED, None, Verdict.UNSURE, Verdict.SUPPORTED)
"""Verdicts, those that are the most in doubt first."""


def _item_claim(ruling: Ruling) -> Claim | None:
    """Return what is claimed of a new item, where it is not in the words of the log."""
    candidate = ruling.candidate
    if candidate is None or ruling.asks or not (ruling.kind in _SAYING or _is_loss(ruling)):
        return None
    says_more = candidate.closed or _is_loss(ruling) or needs_verifying(candidate.text, candidate.places)
    if candidate.by.startswith(_RULES) or not says_more:
        return None
    closed = (f"closed: {candidate.closed}",) if candidate.closed else ()
    return Claim("item", candidate.text, tuple(candidate.quotes), (*_context(candidate.places), *closed))


def _operation_claims(ruling: Ruling, known: Known) -> list[Claim]:
    """Return what is claimed of each item that a ruling takes out of the memory, doubts, or confirms in other words."""
    operation, candidate = ruling.operation, ruling.candidate
    if candidate and _is_loss(ruling):
        text = operation_text(ruling.kind, candidate.type, candidate.text)
        return [Claim(ruling.kind, text, tuple(candidate.quotes), _context(candidate.places))]
    if ruling.asks or operation.by.startswith(_RULES) or not operation.by or ruling.kind not in _CLAIMING:
        return []
    old = [belief.item for ident in operation.ids if (belief := known.get(ident))]
    if ruling.kind is OperationKind.CONFIRM and candidate:
        old = [one for one in old if not same_statement(candidate.text, one.text)]
    quotes, context = tuple(place.quote for place in operation.places), _context(operation.places)
    new, how = candidate.text if candidate else "", str(operation.how or "")
    return [
        Claim(ruling.kind, operation_text(ruling.kind, one.type, one.text, how=how, new=new), quotes, context)
        for one in old
    ]


def _context(places: Sequence[Place]) -> tuple[str, ...]:
    entry = places[0].entry
    told = (" > ".join(entry.headings), f"project {entry.project}" if entry.project else "", f"day {entry.day}")
    beside = dict.fromkeys(filter(None, map(around, places)))
    return (*filter(None, told), *(f"around the quote: {words}" for words in beside))


def _kept(ruling: Ruling, says: Verdict | None, ignores: Verdict | None) -> Ruling:
    """Return what is left of taking a candidate for noise: it is added where the second reader finds it of use."""
    is_of_use = says is Verdict.SUPPORTED and ignores is Verdict.UNSUPPORTED
    return replace(ruling, operation=replace(ruling.operation, kind=OperationKind.ADD)) if is_of_use else ruling


def _judged(ruling: Ruling, says: Verdict | None, removes: Verdict | None) -> Ruling | None:
    """Return what is left of a ruling: all of it, a question to a person, or nothing.

    Args:
        ruling: the ruling.
        says: whether the quotes say what its new item says.
        removes: whether they say that what it takes out is over, or that what it doubts or confirms is so.
    """
    if says is Verdict.UNSUPPORTED:
        return None
    if ruling.kind is OperationKind.CONFIRM and removes is not Verdict.SUPPORTED:
        removes, says = Verdict.UNSUPPORTED, None  # it may say something of its own, which nobody has compared yet
    if removes is Verdict.UNSUPPORTED:  # the new item may stand beside what it was to replace, or to repeat
        is_new = ruling.candidate and ruling.kind in {OperationKind.SUPERSEDE, OperationKind.CONFIRM}
        ruling = replace(ruling, operation=Operation(OperationKind.ADD, places=ruling.operation.places))
        return _judged(ruling, says, Verdict.SUPPORTED) if is_new else None
    if Verdict.UNSURE in {says, removes}:
        return replace(ruling, asks=_UNSURE)
    if removes is None:
        return replace(ruling, asks=_UNASKED)
    if says is None and (candidate := ruling.candidate):
        sure = candidate.confidence is Confidence.HIGH
        confidence = Confidence.MEDIUM if sure else candidate.confidence
        return replace(ruling, candidate=replace(candidate, confidence=confidence, unverified=True))
    return ruling


def _settled(item: Item, verdict: Verdict | None, day: str) -> Item:
    """Return an item of an earlier night as a second reader leaves it; what it does not support never held."""
    if verdict is Verdict.SUPPORTED:
        return replace(item, unverified=False)
    if verdict is Verdict.UNSUPPORTED:
        return replace(item, unverified=False, status=Status.NEVER_HELD, until=day)
    return item
