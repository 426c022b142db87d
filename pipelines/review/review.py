"""Review: what becomes of each candidate, and of what the log says of items that are held, in order of the days.

The rules do little, and that little right: what says the same words, or means the same, confirms; what differs in one
value is asked about; all else stands side by side. Where there is a model, it has the last word on what is not certain,
as far as code can check it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import MOST_LINKS, Candidate, Operation, OperationKind
from pipelines.review.compare import conflict, same_statement
from pipelines.review.existing_items import Belief, repeats_there, speaks_as, speaks_for
from pipelines.review.match_forms import corrected_by, corrected_text, target_of
from pipelines.store.evidence import act_in
from pipelines.store.item import OUTCOMES, Confidence, Item, ItemType, Status, Trust, folded
from pipelines.store.transcripts.acts import ARROW, Act

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.extract.rules.closing_forms import Form
    from pipelines.review.existing_items import Known
    from pipelines.review.meaning import SameMeaning
    from pipelines.store.log import Entry

    Second = Callable[[Sequence["Filed"], Known], dict[str, tuple[Operation, ...]]]


@dataclass(frozen=True, slots=True)
class Filed:
    """A candidate on its way into a document.

    Args:
        candidate: what was proposed.
        document: the document that it names, or empty.
        home: the one where it would be filed.
        doubt: why a person is asked before it is believed, as the end of a sentence that begins with *it*; or empty.
        echo: whether it is the memory's own words come back.
        recited: whether an agent said it with the memory before its eyes: that it repeats something proves nothing.
    """

    candidate: Candidate
    document: str = ""
    home: str = ""
    doubt: str = ""
    echo: bool = False
    recited: bool = False

    @property
    def place(self) -> str:
        """Where it would stand."""
        return self.document or self.home


@dataclass(frozen=True, slots=True)
class Ruling:
    """One operation of a night, as it is to be carried out.

    Args:
        operation: what is done; its ids are those of items of the memory, or temporary ones of this run's candidates.
        candidate: the candidate that it is about, which becomes an item where it is added, supersedes or updates;
            None where a line of the log only says something of items that are held.
        document: the document that the candidate is meant for, or empty.
        trust: whose word it is.
        asks: why a person decides instead of the run, or empty; nothing but asking is done then.
    """

    operation: Operation
    candidate: Candidate | None = None
    document: str = ""
    trust: Trust = Trust.SELF
    asks: str = ""

    @property
    def kind(self) -> OperationKind:
        """What is done."""
        return self.operation.kind

    @property
    def day(self) -> str:
        """The day from which it holds."""
        return self.candidate.day if self.candidate else self.operation.day

    @property
    def told(self) -> str:
        """The day of the log that says it."""
        return self.candidate.entry.day if self.candidate else self.operation.day

    @property
    def makes_item(self) -> bool:
        """Whether its candidate becomes an item."""
        return self.candidate is not None and self.kind in MAKING


MAKING: Final = frozenset({OperationKind.ADD, OperationKind.SUPERSEDE, OperationKind.UPDATE})
REMOVING: Final = frozenset({
    OperationKind.SUPERSEDE, OperationKind.UPDATE, OperationKind.CLOSE, OperationKind.RETRACT,
})  # fmt: skip
"""What takes something out of the memory that is believed."""
_ASKED: Final = "questions"
"""Who asks denies nothing, and says nothing again: to a question only another one is the same."""
FORMS: Final = "rules@forms"
"""Who reads the forms that people are taught."""
ASKED_ABOUT: Final = frozenset({Confidence.HIGH, Confidence.MEDIUM})
"""What is barely believed replaces nothing, and no person is asked about it."""


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """What a night's review goes by.

    Args:
        known: the items of the memory.
        buried: whether a person deleted or undid an item that said the same as a candidate; it is never proposed again.
        file: where a candidate belongs.
        word_of: whose word a line of an entry is, for what it does to items that are held.
        same_meaning: who tells that two sentences with other words mean the same.
        second: who has the last word on candidates that are not certain: temporary id → operations; None for nobody.
    """

    known: Known
    buried: Callable[[Candidate], bool]
    file: Callable[[Candidate], Filed]
    word_of: Callable[[Entry, str], Trust]
    same_meaning: SameMeaning
    second: Second | None = None


def review(
    filed: Sequence[Filed], said: Sequence[Operation], forms: Sequence[Form], context: ReviewContext
) -> list[Ruling]:
    """Rule on the candidates, and on what the log says of items that are held, in order of the days.

    What a day did counts for the days after it, so that one run over many days comes to what one night a day would.

    Args:
        filed: the candidates, each with its temporary id, in order of their days.
        said: what a model finds that the log says of items that are held, with places; in any order.
        forms: what the log says of them in the forms that people are taught.
        context: what is held, and who is asked.
    """
    rulings: list[Ruling] = []
    days = {one.candidate.entry.day for one in filed} | {one.day for one in said}
    numbers = count(len(filed) + 1)
    for day in sorted(days | {form.place.entry.day for form in forms}):
        rulings += _review_day([one for one in filed if one.candidate.entry.day == day], context)
        for form in (one for one in forms if one.place.entry.day == day):
            rulings += _carried_out(_by_form(form, context, f"n{next(numbers)}"), context)
        for operation in (one for one in said if one.day == day):
            rulings += _carried_out(ruled(operation, None, context, f"n{next(numbers)}"), context)
    return rulings


def _carried_out(rulings: list[Ruling], context: ReviewContext) -> list[Ruling]:
    for ruling in rulings:
        carry_out(ruling, context.known)
    return rulings


def _by_form(form: Form, context: ReviewContext, fresh: str) -> list[Ruling]:
    """Return what a form comes to: it closes, or corrects, the one item that it means; else nothing is done."""
    places, held = (form.place,), context.known.held()
    if form.kind != "correct":
        ident = target_of(form, held)
        operation = Operation(OperationKind.CLOSE, (ident or "",), how=Status(form.how), places=places, by=FORMS)
        return ruled(operation, None, context, fresh) if ident else []
    proposed = Candidate(
        ItemType.FACT, form.target, places, Confidence.HIGH, "a correction", FORMS, id=fresh,
        trust=context.word_of(form.place.entry, "\n".join(form.place.lines)),
    )  # fmt: skip
    one = context.file(proposed)
    found = (context.known.same(kind, form.target, one.document) for kind in ItemType)
    if any(same.current for same in found if same):
        return []  # whoever read the day found it, too
    if ident := corrected_by(form, [pair for pair in held if pair[0] == one.place]):
        held_text = next(item.text for _, item in held if item.id == ident)
        text = corrected_text(form, held_text)
        operation = Operation(OperationKind.UPDATE, (ident,), text, places=places, by=FORMS)
        return ruled(operation, None, context, fresh)
    return [_ruling(one, OperationKind.ADD, asks="corrects something, and no one item was found that it corrects")]


def _review_day(filed: Sequence[Filed], context: ReviewContext) -> list[Ruling]:
    """Rule on a day's candidates in their order."""
    unsure = [one for one in filed if not certain(one, context)]
    answers = context.second(unsure, context.known) if context.second and unsure else {}
    rulings: list[Ruling] = []
    for one in filed:
        ident = one.candidate.id
        if found := certain(one, context):  # what this day did so far counts by now
            mine = [found]
        elif ident in answers:
            operations = answers[ident] or (Operation(OperationKind.ADD),)
            mine = [each for operation in operations for each in ruled(operation, one, context, f"{ident}u")]
        else:
            mine = [_by_rules(one, context)]
        rulings += _carried_out(mine, context)
    return rulings


def certain(one: Filed, context: ReviewContext) -> Ruling | None:
    """Return the ruling that no other reading could change, or None.

    It is certain where there are no words, the same words stand, a person took out what said them, or the owner answers
    a question anew.
    """
    candidate = one.candidate
    if one.echo or not folded(candidate.text):
        return _ignored(one, "it is the memory's own words" if one.echo else "it has no words")
    if one.doubt:
        return _doubted(one, context)
    same = context.known.same(candidate.type, candidate.text, one.document, candidate.trust)
    if same and same.current:
        return _confirming(one, same, "it says the same words", context)
    if same is None and context.buried(candidate):
        return _ignored(one, "a person took it out")
    if same is None or (same.item.status is Status.SUPERSEDED and same.item.until < candidate.entry.day):
        return _answered_again(one, context)
    return None


def _answered_again(one: Filed, context: ReviewContext) -> Ruling | None:
    """Return the ruling on the owner's answer to a question whose earlier answer the page holds; of others, None."""
    candidate, act = one.candidate, act_in(one.candidate.entry.text)
    question, arrow, _ = candidate.text.partition(ARROW)
    if not (arrow and act and act[0] is Act.ANSWERED and candidate.trust is Trust.OWNER):
        return None
    held = [
        belief
        for belief in context.known.near(candidate, one.place)
        if belief.item.text.startswith(f"{question}{arrow}")
        and (belief.item.active, belief.item.type, belief.item.trust) == (True, candidate.type, Trust.OWNER)
        and belief.document == one.place
    ]
    if any(belief.learnt > candidate.entry.day for belief in held):
        return _ignored(one, "a later entry corrected it already")
    return _ruling(one, OperationKind.SUPERSEDE, *held, reason="the question was answered again") if held else None


def _doubted(one: Filed, context: ReviewContext) -> Ruling:
    """Rule on what a person is asked about before it is believed: never twice, whatever its type the second time.

    What stands already in the same words gains nothing by words that are not believed.
    """
    for kind in ItemType:
        if context.known.same(kind, one.candidate.text, one.document):
            return _ignored(one, "it says what is known")
        if context.buried(replace(one.candidate, type=kind)):
            return _ignored(one, "a person took it out")
    return _ruling(one, OperationKind.ADD, asks=one.doubt)


def _by_rules(one: Filed, context: ReviewContext) -> Ruling:
    """Rule on a candidate that is not certain, without a model."""
    candidate, known = one.candidate, context.known
    near = [
        belief
        for belief in known.near(candidate, one.place)
        if belief.item.type is candidate.type
        and speaks_as(belief.item, candidate.trust)
        and (belief.item.page_section == _ASKED) is (candidate.page_section == _ASKED)
    ]
    mine = [belief for belief in near if repeats_there(belief.document, one.document)]
    said = [belief for belief in mine if same_statement(candidate.text, belief.item.text)]
    if repeated := min(said, key=lambda belief: not belief.current, default=None):
        if repeated.current:
            return _confirming(one, repeated, "it says the same in other words", context)
        return _ignored(one, "it says what was closed")
    if _was_closed(one, context):
        return _ignored(one, "it says what was closed")
    there = [belief for belief in near if belief.item.active and speaks_for(belief.document, one.place)]
    may_conflict = candidate.type is not ItemType.TODO and candidate.page_section != _ASKED
    is_asked = candidate.confidence in ASKED_ABOUT and may_conflict
    for belief in there if is_asked else ():
        if why := conflict(candidate.text, belief.item.text):
            return _ruling(one, OperationKind.SUPERSEDE, belief, reason=why, asks=why)
    repeats = context.same_meaning.repeated(candidate.text, [belief.item.text for belief in mine])
    meant = [belief for belief, is_same in zip(mine, repeats, strict=True) if is_same and belief.current]
    if meant:
        return _confirming(one, meant[0], "it means the same, by the local model", context)
    return _ruling(one, OperationKind.ADD)


def _was_closed(one: Filed, context: ReviewContext) -> bool:
    """Whether a candidate says what is over. A Todo that is set again after it was done is another one."""
    candidate = one.candidate
    same = context.known.same(candidate.type, candidate.text, one.document, candidate.trust)
    return same is not None and not (candidate.type is ItemType.TODO and same.item.until < candidate.entry.day)


def ruled(operation: Operation, one: Filed | None, context: ReviewContext, fresh: str) -> list[Ruling]:
    """Return what an operation comes to, as things stand: nothing for what ended meanwhile, a question where it must.

    Args:
        operation: a checked one, of a model or of a form that people are taught.
        one: the candidate that it is about, or None.
        context: what is held.
        fresh: a temporary id for the item that an update makes.
    """
    kind, known = operation.kind, context.known
    if one and (operation.document or operation.links):
        one = _placed(one, operation, context)
    if kind is OperationKind.IGNORE and one:
        return [
            _ruling(one, kind, operation=replace(operation, reason=operation.reason or "a model takes it for noise"))
        ]
    if kind is OperationKind.ADD and one:
        return [_ignored(one, "it says what was closed") if _was_closed(one, context) else _ruling(one, _ADD)]
    found = dict.fromkeys(belief for ident in operation.ids if (belief := known.find(ident)))
    targets = [belief for belief in found if one is None or belief.item.id != one.candidate.id]
    if kind is OperationKind.CONFIRM:
        mine = one.candidate.trust if one else Trust.EXTERNAL
        held = [belief for belief in targets if belief.current and speaks_as(belief.item, mine)]
        if one and held:
            return [_confirming(one, belief, operation.reason, context, operation) for belief in held]
        return [_on(operation, [belief], one) for belief in held] or _left(one)
    return _changes(operation, targets, one, context, fresh)


def _changes(
    operation: Operation, found: Sequence[Belief], one: Filed | None, context: ReviewContext, fresh: str
) -> list[Ruling]:
    """Return what becomes of items that an operation changes, as far as they are believed still."""
    kind, day = operation.kind, one.candidate.entry.day if one else operation.day
    held = [belief for belief in found if belief.item.active]
    targets = [belief for belief in held if belief.learnt <= day]
    trust = _word(operation, one, context)
    if one and held and not targets:
        return [_ignored(one, "a later entry corrected it already")]
    if not targets or trust is Trust.UNTRUSTED:
        return _left(one)
    asks = _guarded(kind, targets, trust, day, context.known)
    if kind is OperationKind.SUPERSEDE and one:
        is_sure = one.candidate.confidence in ASKED_ABOUT
        return [_ruling(one, kind, *targets, operation=operation, asks=asks) if is_sure else _ruling(one, _ADD)]
    if kind is OperationKind.UPDATE:
        return [_updating(operation, targets[0], trust, asks, fresh)]
    if kind is OperationKind.CLOSE:
        return [_closing(operation, belief, one, trust, asks) for belief in targets]
    return [replace(_on(operation, targets, one), trust=trust, asks=asks)]


def carry_out(ruling: Ruling, known: Known) -> None:
    """Let what follows see what a ruling does."""
    candidate, kind = ruling.candidate, ruling.kind
    targets = [belief for ident in ruling.operation.ids if (belief := known.find(ident))]
    mine: Belief | None = None
    if candidate and (ruling.makes_item or (kind is OperationKind.CONFIRM and targets)):
        item = Item(
            candidate.type, candidate.text, candidate.id, Status.WAITING if ruling.asks else born_status(candidate),
            candidate.day, trust=candidate.trust, page_section=candidate.page_section, due=candidate.due,
        )  # fmt: skip
        mine = Belief(item, ruling.document, candidate.entry.day, is_new=True)
        if kind is OperationKind.CONFIRM:
            mine.stands_in = targets[0]
        elif targets and not ruling.asks:
            mine.document = targets[0].document
        known.add(mine)
    if ruling.asks:
        return
    for belief in targets:
        if kind in {OperationKind.SUPERSEDE, OperationKind.UPDATE}:
            known.take_out(belief, Status.SUPERSEDED, ruling.day, ruling.told, mine)
        elif kind is OperationKind.CLOSE:
            known.take_out(belief, ruling.operation.how or OUTCOMES[belief.item.type][0], ruling.day, ruling.told)
        elif kind is OperationKind.RETRACT:
            known.take_out(belief, Status.NEVER_HELD, ruling.day, ruling.told)
        elif kind is OperationKind.QUESTION:
            belief.item = replace(belief.item, doubted=ruling.day)


def born_status(candidate: Candidate) -> Status:
    """Return how an item stands when it is made of a candidate."""
    return candidate.closed or (Status.OPEN if candidate.type is ItemType.TODO else Status.LIVE)


_ADD: Final = OperationKind.ADD


def _ruling(
    one: Filed,
    kind: OperationKind,
    *targets: Belief,
    reason: str = "",
    asks: str = "",
    operation: Operation | None = None,
) -> Ruling:
    """Return the ruling on a candidate; the operation is the one that a model gave, or None where the rules rule."""
    given = operation or Operation(kind, reason=reason, places=one.candidate.places)
    operation = replace(given, ids=tuple(belief.item.id for belief in targets))
    return Ruling(operation, one.candidate, one.document or one.home, one.candidate.trust, asks)


def _ignored(one: Filed, why: str) -> Ruling:
    return _ruling(one, OperationKind.IGNORE, reason=why)


def _left(one: Filed | None) -> list[Ruling]:
    """Return what is left of an operation whose items ended meanwhile: the candidate may be worth keeping."""
    return [_ruling(one, OperationKind.ADD)] if one else []


def _on(operation: Operation, targets: Sequence[Belief], one: Filed | None) -> Ruling:
    """Return an operation on items as they stand, which adds nothing."""
    on = replace(operation, ids=tuple(belief.item.id for belief in targets))
    candidate = one.candidate if one and operation.kind is OperationKind.CONFIRM else None
    return Ruling(on, candidate, one.place if one else "")


def _confirming(one: Filed, belief: Belief, why: str, context: ReviewContext, given: Operation | None = None) -> Ruling:
    """Return the ruling on what says again what is held; an agent that repeats what it was given confirms nothing."""
    candidate = one.candidate
    if one.recited:
        return _ignored(one, "an agent repeats what it was given")
    if candidate.closed and belief.item.active and candidate.closed in OUTCOMES[belief.item.type]:
        operation = Operation(
            OperationKind.CLOSE,
            (belief.item.id,),
            how=candidate.closed,
            reason=why,
            places=candidate.places,
            by=candidate.by,
        )
        trust = _word(operation, one, context)
        return _closing(
            operation, belief, one, trust, _guarded(operation.kind, [belief], trust, candidate.entry.day, context.known)
        )
    return _ruling(one, OperationKind.CONFIRM, belief, reason=why, operation=given)


def _closing(operation: Operation, belief: Belief, one: Filed | None, trust: Trust, asks: str) -> Ruling:
    how = operation.how or (one.candidate.closed if one else None) or OUTCOMES[belief.item.type][0]
    how = how if how in OUTCOMES[belief.item.type] else OUTCOMES[belief.item.type][0]
    return replace(_on(replace(operation, how=how), [belief], one), trust=trust, asks=asks)


def _updating(operation: Operation, belief: Belief, trust: Trust, asks: str, fresh: str) -> Ruling:
    """Return the ruling by which a new item takes a part-changed one's place."""
    old = belief.item
    successor = Candidate(
        old.type, operation.text, operation.places, Confidence.HIGH, operation.reason, operation.by,
        page_section=old.page_section, name=old.person, due=old.due, links=operation.links, trust=trust, id=fresh,
    )  # fmt: skip
    return Ruling(replace(operation, ids=(old.id,)), successor, belief.document, trust, asks)


def _placed(one: Filed, operation: Operation, context: ReviewContext) -> Filed:
    """Return a candidate in the document, and with the links, that an operation gives it."""
    links = tuple(dict.fromkeys([*one.candidate.links, *operation.links]))[:MOST_LINKS]
    candidate = replace(one.candidate, links=links)
    if not operation.document:
        return replace(one, candidate=candidate)
    filed = context.file(replace(candidate, document=operation.document, new_project=""))
    return replace(one, candidate=filed.candidate, document=filed.document, home=filed.home)


def _word(operation: Operation, one: Filed | None, context: ReviewContext) -> Trust:
    """Return whose word an operation is: the least of the lines that it rests on."""
    places = operation.places or (one.candidate.places if one else ())
    words = [context.word_of(place.entry, "\n".join(place.lines)) for place in places]
    ranks = list(Trust)
    return max([*words, *([one.candidate.trust] if one else [])], key=ranks.index, default=Trust.SELF)


def _guarded(kind: OperationKind, targets: Sequence[Belief], trust: Trust, day: str, known: Known) -> str:
    """Return why a person decides whether items end, or an empty string."""
    if kind not in REMOVING:
        return ""
    if not all(trust.reaches(belief.item.trust) for belief in targets):
        return "what is held is trusted more than the line that says so"
    if not all(known.may_take_out(belief, day) for belief in targets):
        return "too much of the document would go in one night"
    return ""
