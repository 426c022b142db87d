"""Verification: a second reader checks whether the quotes support the rulings of a night.

Unsupported rulings are dropped, unsure ones wait for a person, and those that no reader could check are filed as
unverified, for a later night to check.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.claims import Claim, Verdict, Verifier, around, needs_verifying, operation_text, verify_twice
from pipelines.extract.extraction import Candidate, Operation, OperationKind, with_weekday
from pipelines.review.review import REMOVING, Ruling
from pipelines.store.item import Confidence, Evidence, Item, Status
from pipelines.store.wording import words_key
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.review.existing_items import KnownItems


_UNSURE: Final = "a second reader is not sure that the log supports it"
_UNASKED: Final = "no second reader was available to check it"
_RULES: Final = "rules@"
_SAYING: Final = frozenset({OperationKind.ADD, OperationKind.SUPERSEDE})
"""Operations that make an item from the candidate's own sentence."""
_CLAIMING: Final = REMOVING | {OperationKind.CONFIRM, OperationKind.QUESTION}
"""Operations that claim something about existing items."""


def _is_loss(ruling: Ruling) -> bool:
    """Whether a model ignores a candidate that it read as certain."""
    candidate, by = ruling.candidate, ruling.operation.by
    is_certain = candidate is not None and candidate.confidence is Confidence.HIGH
    return ruling.kind is OperationKind.IGNORE and is_certain and by != "" and not by.startswith(_RULES)


@dataclass(frozen=True, slots=True)
class Checked:
    """A night's rulings after the second reader.

    Args:
        rulings: the rulings to apply or ask about.
        items: unverified items of earlier nights, as they are now.
        counts: how many `claims` there were, and how many were `unsupported`, `unsure` or `unverified`.
        tally: the cost of the calls.
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
    known: KnownItems,
    quote: Callable[[Evidence], str],
    verifier: Verifier | None,
    day: str,
) -> Checked:
    """Return the rulings that a second reader supports.

    Verbatim text of the log, and results of the rules and of forms, need no check.

    Args:
        rulings: the rulings of a night, in order.
        unverified: items of earlier nights that no reader could check.
        known: the items that the rulings name.
        quote: returns the text of some evidence, or an empty string if it is gone.
        verifier: the second reader; None if no model reads.
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
        """Return its most doubtful verdict."""
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
"""Verdicts, most doubtful first."""


def _item_claim(ruling: Ruling) -> Claim | None:
    """Return the claim of a new item, unless it is verbatim text of the log and no more."""
    candidate = ruling.candidate
    if candidate is None or ruling.asks or not (ruling.kind in _SAYING or _is_loss(ruling)):
        return None
    told = candidate.closed or candidate.due or candidate.since
    says_more = told or _is_loss(ruling) or needs_verifying(candidate.text, candidate.places)
    if candidate.by.startswith(_RULES) or not says_more:
        return None
    days = {"closed": candidate.closed, "due": candidate.due, "holds from": candidate.since}
    more = [f"{key}: {value}" for key, value in days.items() if value]
    return Claim("item", candidate.text, tuple(candidate.quotes), (*_context(candidate), *more))


def _operation_claims(ruling: Ruling, known: KnownItems) -> list[Claim]:
    """Return a claim for each item that a ruling ends, doubts, or confirms in other words."""
    operation, candidate = ruling.operation, ruling.candidate
    if candidate and _is_loss(ruling):
        text = operation_text(ruling.kind, candidate.type, candidate.text)
        return [Claim(ruling.kind, text, tuple(candidate.quotes), _context(candidate))]
    if ruling.asks or operation.by.startswith(_RULES) or not operation.by or ruling.kind not in _CLAIMING:
        return []
    old = [belief.item for ident in operation.ids if (belief := known.get(ident))]
    if ruling.kind is OperationKind.CONFIRM and candidate:
        old = [one for one in old if words_key(candidate.text) != words_key(one.text)]
    quotes = tuple(place.quote for place in operation.places)
    context = _context(candidate if candidate and candidate.places == operation.places else operation)
    new, how = candidate.text if candidate else "", str(operation.how or "")
    return [
        Claim(ruling.kind, operation_text(ruling.kind, one.type, one.text, how=how, new=new), quotes, context)
        for one in old
    ]


def _context(one: Candidate | Operation) -> tuple[str, ...]:
    entry, day = one.places[0].entry, with_weekday(one.places[0].entry.day)
    known = (" > ".join(entry.headings), f"project {entry.project}" if entry.project else "", f"day {day}")
    beside = dict.fromkeys(filter(None, map(around, one.places)))
    return (*filter(None, known), *(f"around the quote: {words}" for words in beside), *one.beside)


def _kept(ruling: Ruling, says: Verdict | None, ignores: Verdict | None) -> Ruling:
    """Return the ruling that ignores a candidate, or adds it if the second reader finds it useful."""
    is_useful = says is Verdict.SUPPORTED and ignores is Verdict.UNSUPPORTED
    return replace(ruling, operation=replace(ruling.operation, kind=OperationKind.ADD)) if is_useful else ruling


def _judged(ruling: Ruling, says: Verdict | None, removes: Verdict | None) -> Ruling | None:
    """Return a ruling after its verdicts: the same, a question to a person, or None.

    Args:
        ruling: the ruling.
        says: whether the quotes support its new item.
        removes: whether the quotes support what it does to existing items.
    """
    candidate = ruling.candidate
    if says is Verdict.UNSUPPORTED:
        if not candidate or candidate.closed or needs_verifying(candidate.text, candidate.places):
            return None
        # The line's own words stay, without the day that it does not say.
        ruling, says = replace(ruling, candidate=replace(candidate, due="", since="")), Verdict.SUPPORTED
    if ruling.kind is OperationKind.CONFIRM and removes is not Verdict.SUPPORTED:
        removes, says = Verdict.UNSUPPORTED, None  # it may say something new, which nobody has checked yet
    if removes is Verdict.UNSUPPORTED:  # the new item may exist beside the one it was to replace or confirm
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
    """Return an item of an earlier night after its verdict; an unsupported one never held."""
    if verdict is Verdict.SUPPORTED:
        return replace(item, unverified=False)
    if verdict is Verdict.UNSUPPORTED:
        return replace(item, unverified=False, status=Status.NEVER_HELD, until=day)
    return item
