"""Review: decide on each candidate, and on what the log says about existing items, in order of the days.

Code does little, but does it right. A candidate with the same words confirms an item; one that names what it replaces
takes its place; all others are added, and nothing waits because of its words. Who reads with a model asks a second
reader about near pairs; of what the rules found, the next session's agent is asked (`review.verification`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from pipelines.extract.extraction import Candidate, Operation, OperationKind
from pipelines.extract.rules.label_reader import due_after
from pipelines.extract.rules.labels import LAID_DOWN, ClosingForm
from pipelines.review.match_forms import answer_in, corrected_by, corrected_text, replaced_in, target_of, words_in
from pipelines.review.outcomes import TOO_MANY
from pipelines.review.rulings import (
    ASKED,
    RECURRING,
    REMOVING,
    Belief,
    KnownItems,
    Ruling,
    alike,
    carried_out,
    repeats_there,
)
from pipelines.store.evidence import Act, act_in
from pipelines.store.item import OUTCOMES, UNSURE, Confidence, ItemType, Status, Trust
from pipelines.store.wording import folded, veto_key
from pipelines.text import ARROW, stated_due

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.store.log import Entry


FORMS = "rules@forms"
"""The extractor of the documented forms, such as `Done: …`."""


class ReviewContext(NamedTuple):
    """The context of a night's review.

    Args:
        known: the items of the memory.
        buried: whether a person deleted or undid an item with a candidate's words; it is never proposed again.
        file: files a candidate in a document.
        word_of: whose word a line of an entry is, when it speaks of existing items.
    """

    known: KnownItems
    buried: Callable[[Candidate], bool]
    file: Callable[[Candidate], Candidate]
    word_of: Callable[[Entry, str], Trust]


def review(
    filed: Sequence[Candidate], said: Sequence[Operation], forms: Sequence[ClosingForm], context: ReviewContext
) -> list[Ruling]:
    """Rule on the candidates, and on what the log says about existing items, in order of the days.

    A day's rulings count for the days after it, so that one run over many days gives the same result as a night a day.

    Args:
        filed: the candidates, each with its temporary id and its document, in order of their days.
        said: operations on existing items that a model found in the log, with places; in any order.
        forms: the documented forms in the log that close or correct items.
        context: the existing items, and who decides.
    """
    rulings, known = list[Ruling](), context.known
    days = {one.entry.day for one in filed} | {one.day for one in said} | {form.place.entry.day for form in forms}
    numbers = count(len(filed) + 1)
    places = [place for one in filed if not one.by_rules for place in one.places]
    places += [place for one in said for place in one.places]
    by_model = {(one.entry.path, line) for one in places for line in range(one.start_line, one.end_line + 1)}
    for day in sorted(days):
        for one in (one for one in filed if one.entry.day == day):
            if found := certain_ruling(one, context):
                ruled = [found]
            elif one.replaces:
                operation = Operation(OperationKind.SUPERSEDE, one.replaces, places=one.places, by=one.by)
                ruled = rulings_of_operation(operation, one, context, f"{one.id}u")
            else:
                ruled = [_by_rules(one, context)]
            rulings += carried_out(ruled, known)
        for form in (one for one in forms if one.place.entry.day == day):
            ruled = _by_form(form, context, f"n{next(numbers)}")
            # Where a model has read the line, a correction without its one item is no question, and an answer no fact.
            is_read = (form.place.path, form.place.start_line) in by_model
            rulings += carried_out([one for one in ruled if not (is_read and (one.asks or one.kind is _ADD))], known)
        for operation in (one for one in said if one.day == day):
            rulings += carried_out(rulings_of_operation(operation, None, context, f"n{next(numbers)}"), known)
    return rulings


def _by_form(form: ClosingForm, context: ReviewContext, fresh: str) -> list[Ruling]:
    """Return the rulings of a form: it closes, answers or corrects the one item that it matches, or nothing."""
    places, held = (form.place,), context.known.held()
    one = Candidate(
        ItemType.FACT, form.target, places, Confidence.HIGH, "a correction", FORMS, id=fresh,
        trust=context.word_of(form.place.entry, "\n".join(form.place.lines)),
    )  # fmt: skip
    one = context.file(one)
    if form.how:
        return _by_closing_form(form, one, context)
    found = (context.known.same(kind, form.target, one.page) for kind in ItemType)
    if any(same.current for same in found if same) or _is_vetoed(one, context):
        return []  # the extractor found it, too, or a person removed it
    if ident := corrected_by(form, [pair for pair in held if repeats_there(pair[0], one.home)], one.home):
        text = corrected_text(form, next(item.text for _, item in held if item.id == ident))
        operation = Operation(OperationKind.UPDATE, (ident,), text, places=places, by=FORMS)
        return rulings_of_operation(operation, None, context, fresh)
    asks, near = (
        "it corrects something, but no single matching item was found",
        context.known.near(one),
    )
    if not (near and alike(form.target, near[0].item.text)):
        return [_ruling(one, _ADD, asks=asks)]
    old = near[0].item
    like = replace(one, type=old.type, page_section=old.page_section, due=old.due)
    return [_ruling(like, OperationKind.SUPERSEDE, near[0], asks=asks)]


def _by_closing_form(form: ClosingForm, one: Candidate, context: ReviewContext) -> list[Ruling]:
    """Return the rulings of a form that ends or answers an item; `one` stands for its line."""
    if (ident := target_of(form, ((one.document, one.item) for one in context.known.all), one.home)) is None:
        return []
    page, item = next(pair for pair in context.known.held() if pair[1].id == ident)
    if any(said.path == form.place.path and said.start_line > form.place.start_line for said in item.evidence):
        return []  # further down the log says it again
    operation = Operation(OperationKind.CLOSE, (ident,), how=Status(form.how), places=(form.place,), by=FORMS)
    closed = rulings_of_operation(operation, None, context, one.id)
    text = answer_in(form, page, item) if one.trust.reaches(Trust.SELF) else ""
    told = replace(one, text=text, page=page, home=page)
    return [*closed, certain_ruling(told, context) or _ruling(told, _ADD)] if text else closed


def certain_ruling(one: Candidate, context: ReviewContext) -> Ruling | None:
    """Return the ruling that no model could change, or None.

    A ruling is certain if the candidate has no words, repeats an item word for word, with another due day or not, was
    removed by a person, or is the owner's new answer to an old question. One that needs a person's approval is asked
    about once, whatever its type later; its words confirm nothing: an item that says the same gains no evidence.
    """
    if one.echo or not folded(one.text):
        return _ruling(one, OperationKind.IGNORE)
    if one.doubt:
        is_known = any(context.known.same(kind, one.text, one.page) for kind in ItemType) or _is_vetoed(one, context)
        return _ruling(one, OperationKind.IGNORE) if is_known else _ruling(one, _ADD, asks=one.doubt)
    same = context.known.same(one.type, one.text, one.page, one.trust)
    if same and (same.current or same.is_archived):
        return _confirming(one, same, context)
    if same is None and _is_vetoed(one, context):
        return _ruling(one, OperationKind.IGNORE)
    is_new = same is None or (same.item.status is Status.SUPERSEDED and same.item.until < one.entry.day)
    act = act_in(one.entry.text)
    question, arrow, _ = one.text.partition(ARROW)
    is_answer = is_new and arrow and act and act[0] is Act.ANSWERED and one.trust is Trust.OWNER
    held = [  # what answers the question on the page already
        belief
        for belief in (context.known.near(one) if is_answer else ())
        if belief.item.text.startswith(f"{question}{arrow}")
        and (belief.item.type, belief.item.trust) == (one.type, Trust.OWNER)
    ]
    if any(belief.learnt > one.entry.day for belief in held):
        return _ruling(one, OperationKind.IGNORE)
    return _ruling(one, OperationKind.SUPERSEDE, *held) if held else None


def _is_vetoed(one: Candidate, context: ReviewContext) -> bool:
    """Whether a person deleted or closed an item that differs from a candidate in articles or punctuation at most.

    A todo or risk said again after it was closed is a new one.
    """
    day, key = one.entry.day, veto_key(one.text)
    return context.buried(one) or any(
        (RECURRING.isdisjoint({old.item.type, one.type}) or old.item.type is one.type)
        and repeats_there(old.document, one.page)
        and not (old.item.type in RECURRING and old.item.until < day and old.item.status is not Status.NEVER_HELD)
        and veto_key(old.item.text) == key
        for old in context.known.all
        if old.item.closed_by_person
    )


def _by_rules(one: Candidate, context: ReviewContext) -> Ruling:
    """Rule on an uncertain candidate without a model: the owner's own line replaces what it gives a new value.

    A sentence that they typed with all words of a rule, and more, may take it back (`Never … was nonsense`): they are
    asked. One that repeats a closed item is ignored; what is said again on a later day is new, unless it never held.
    What a model only repeats stays ended, unless something took its place, with which the second reader compares it.
    """
    same = context.known.same(one.type, one.text, one.page, one.trust)
    is_later = same and "" < same.item.until < one.entry.day and same.item.status is not Status.NEVER_HELD
    again = one.by_rules or one.type in RECURRING or (same and same.item.superseded_by)
    if same and not (is_later and again):
        return _ruling(one, OperationKind.IGNORE)
    if one.trust is Trust.OWNER and one.by_rules and one.page_section != ASKED:
        held = {
            belief.item.id: belief
            for belief in context.known.near(one)
            if belief.item.type is one.type and belief.item.page_section != ASKED and belief.learnt <= one.entry.day
        }
        old = held.get(replaced_in(one.text, [belief.item for belief in held.values()], is_whole=True))
        if old and not guarded(Operation(OperationKind.SUPERSEDE), [old], one.trust, one.entry.day, context.known):
            return _ruling(one, OperationKind.SUPERSEDE, old)
        if one.type is ItemType.RULE and one.reason == LAID_DOWN:
            said = words_in(one.text)
            less = ((belief, said - words) for belief in held.values() if (words := words_in(belief.item.text)) < said)
            if meant := next((belief for belief, more in less if len(more) > _REFINES), None):
                asks = "it has all words of a rule, and more: it may change the rule, or take it back"
                return _ruling(one, OperationKind.SUPERSEDE, meant, asks=asks)
    return _ruling(one, _ADD)


def rulings_of_operation(
    operation: Operation, one: Candidate | None, context: ReviewContext, fresh: str
) -> list[Ruling]:
    """Return the rulings of an operation as items are now: none for items that ended meanwhile, a question if needed.

    Args:
        operation: a checked operation, from a model or a documented form.
        one: the candidate that takes the place of its items, or None.
        context: the existing items.
        fresh: a temporary id for the item that an update makes.
    """
    kind, day = operation.kind, operation.day
    named = dict.fromkeys(belief for ident in operation.ids if (belief := context.known.find(ident, day)))
    found = [belief for belief in named if one is None or belief.name != one.id]
    held = [belief for belief in found if belief.item.active or (kind is OperationKind.UPDATE and belief.successor)]
    held += [belief for belief in found if kind is OperationKind.SUPERSEDE and belief.is_archived]
    targets = [belief for belief in held if belief.learnt <= day]
    # What somebody told the agent is the agent's word for it, as the gate decided; else the lowest of its lines counts.
    words = [] if one and one.source else operation.places
    told = [context.word_of(place.entry, "\n".join(place.lines)) for place in words]
    trust = max([*told, *([one.trust] if one else [])], key=list(Trust).index)
    alone = [_ruling(one, _ADD)] if one else []
    if one and held and not targets:
        return [_ruling(one, OperationKind.IGNORE)]
    if not targets or trust is Trust.UNTRUSTED:
        return alone
    asks = guarded(operation, targets, trust, day, context.known, one.source if one else "")
    if kind is OperationKind.SUPERSEDE and one:
        # What is unsure replaces nothing, and no person is asked about it.
        return alone if one.confidence in UNSURE else [_ruling(one, kind, *targets, given=operation, asks=asks)]
    if kind is OperationKind.UPDATE:
        ruling = _updating(operation, targets[0], trust, asks, fresh)
        return alone if ruling.candidate and _is_vetoed(ruling.candidate, context) else [ruling]
    ended = [operation._replace(ids=tuple(belief.name for belief in targets))]
    if kind is OperationKind.CLOSE:
        how = operation.how or (one.closed if one else None)
        ways = [(belief, OUTCOMES[belief.item.type]) for belief in targets]
        ended = [operation._replace(ids=(old.name,), how=how if how in some else some[0]) for old, some in ways]
    return [Ruling(each, None, trust, asks) for each in ended]


_ADD = OperationKind.ADD
_REFINES = 2
"""So many more words than a rule has may say it anew or refine it."""


def _ruling(
    one: Candidate, kind: OperationKind, *targets: Belief, asks: str = "", given: Operation | None = None
) -> Ruling:
    """Return the ruling on a candidate; `given` is the model's operation, or None if the rules decided."""
    operation = given or Operation(kind, places=one.places)
    operation = operation._replace(ids=tuple(belief.name for belief in targets))
    return Ruling(operation, one, one.trust, asks)


def _confirming(one: Candidate, belief: Belief, context: ReviewContext) -> Ruling:
    """Return the ruling on a candidate that repeats an item, or says it with another due day.

    An agent repeating its context confirms nothing.
    """
    is_late = one.closed or one.entry.day <= max(belief.learnt, belief.item.confirmed)
    if one.recited or (belief.is_archived and is_late):
        return _ruling(one, OperationKind.IGNORE)
    if one.closed and belief.item.active and one.closed in OUTCOMES[belief.item.type]:
        closing = Operation(OperationKind.CLOSE, (belief.name,), how=one.closed, places=one.places, by=one.by)
        return rulings_of_operation(closing, one, context, "")[0]
    if belief.item.active and one.due not in {"", belief.item.due}:
        asks = guarded(Operation(OperationKind.SUPERSEDE), [belief], one.trust, one.entry.day, context.known)
        return _ruling(one, OperationKind.SUPERSEDE, belief, asks=asks)
    return _ruling(one, OperationKind.CONFIRM, belief)


def _updating(operation: Operation, belief: Belief, trust: Trust, asks: str, fresh: str) -> Ruling:
    """Return the ruling that replaces an item by a partly changed one, or adds that beside what the log put there."""
    old, has_other = belief.item, belief.successor is not None
    text, day = stated_due(operation.text) if old.type is ItemType.TODO else (operation.text, "")
    successor = Candidate(
        old.type, text.rstrip(), operation.places, Confidence.HIGH, operation.reason, operation.by,
        page_section=old.page_section, name=old.person, due=day or due_after(old, operation.text, operation.day),
        trust=trust, id=fresh, page=belief.document, home=belief.document,
        beside=(f"in the memory: {old.text}",) if has_other else (),
    )  # fmt: skip
    operation = operation._replace(kind=_ADD, ids=()) if has_other else operation._replace(ids=(belief.name,))
    return Ruling(operation, successor, trust, asks)


def guarded(
    operation: Operation, targets: Sequence[Belief], trust: Trust, day: str, known: KnownItems, source: str = ""
) -> str:
    """Return why a person must decide whether items end, or an empty string.

    What somebody told the agent (`source`) ends by itself what the same person said, and answers questions.
    """
    if operation.kind in REMOVING:
        if not all(trust.may_end(belief.item, operation.how or "") for belief in targets):
            return "the item is trusted more than this line"
        if operation.kind is not OperationKind.UPDATE and not all(
            known.may_take_out(belief, day) for belief in targets
        ):
            return TOO_MANY
    others = [belief for belief in targets if belief.item.source != source and belief.item.page_section != ASKED]
    return f"{source} says otherwise" if source and others else ""
