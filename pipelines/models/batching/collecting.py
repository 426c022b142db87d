"""Collecting: each open batch is asked for once; what has come is kept among the replies, under the words it answers.

A batch is collected whole or not at all: a download that broke off is made again by the next run, and costs nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pipelines.errors import ModelFailed
from pipelines.failure_kinds import FailureKind
from pipelines.models.batching.notes import State
from pipelines.models.batching.wire import Looked, Stage
from pipelines.models.budget import Cost
from pipelines.models.calling import BadReply, provider_of
from pipelines.spending import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.models.batching.notes import Ask, Note, Notes
    from pipelines.models.batching.terms import Terms
    from pipelines.models.batching.wire import Batcher, Result
    from pipelines.models.replies import Replies


_LEFT_ALONE: Final = frozenset(
    {FailureKind.DOWN, FailureKind.RATE_LIMITED, FailureKind.TIMED_OUT, FailureKind.UNAUTHORISED}
)
"""After such a failure a provider is asked for no other batch by the same run: each could take as long."""


@dataclass(slots=True)
class Collected:
    """What collecting came to: the notes that stand now, what went wrong, and what a person should know."""

    notes: list[Note] = field(default_factory=list)
    failures: list[ModelFailed] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Collector:
    """Collects the batches of a memory.

    Args:
        notes: where they are noted.
        batchers: who may be asked for them.
        replies: where replies are kept.
        terms: the terms of the run.
    """

    notes: Notes
    batchers: Sequence[Batcher]
    replies: Replies
    terms: Terms

    def collect(self) -> Collected:
        """Ask for every open batch, once.

        Raises:
            NotWritable: a note could not be written; what was collected is kept, and is collected again.
        """
        found = Collected(said=[f"{path} is no note of a batch; remove it." for path in self.notes.odd()])
        for note in self.notes.all():
            if (after := self._collected(note, found)) is not None:
                found.notes.append(after)
        return found

    def _collected(self, note: Note, found: Collected) -> Note | None:
        """Return a note as it stands after its batch was asked for, or None where there is no such batch."""
        if note.state is State.ENDED:
            return note
        batcher = self._batcher(note)
        if batcher is None:
            why = f"cannot be asked for a batch of {note.day}: no key for it, or another address, is set now"
            return self._unreached(note, ModelFailed(note.provider, why, FailureKind.UNAUTHORISED), found)
        if any(fault.provider == note.provider and fault.kind in _LEFT_ALONE for fault in found.failures):
            return self._overdue(note, found) if self.terms.is_overdue(note) else note
        try:
            known = self._known(note, batcher)
            if known is None:
                self.notes.drop(note)  # it never came to be, so its calls are made as if it had not been thought of
                return None
            return self._looked(known, batcher, found)
        except ModelFailed as fault:
            return self._unreached(note, fault, found)

    def _batcher(self, note: Note) -> Batcher | None:
        """Return who was asked; another model of the same provider will do, for a batch is known by its name."""
        return next((b for b in self.batchers if (b.provider, b.base_url) == (note.provider, note.base_url)), None)

    def _known(self, note: Note, batcher: Batcher) -> Note | None:
        """Return a note with the provider's name for the batch: one that died amid sending has none yet."""
        if note.ident:
            return note
        others = {other.ident for other in self.notes.all()}
        there = batcher.find(note.id, len(note.asks), others)
        if not there.ident:
            return note if there.unsure else None
        note = replace(note, ident=there.ident, state=State.SENT if note.is_open else note.state)
        self.notes.save(note)
        return note

    def _looked(self, note: Note, batcher: Batcher, found: Collected) -> Note | None:
        looked = batcher.look(note.ident) if note.ident else Looked(Stage.OPEN)
        if looked.stage is Stage.OPEN and note.is_open and self.terms.is_overdue(note):
            looked = _cancelled(note, batcher)
        if looked.stage is Stage.GONE:
            why = f"does not know a batch of {note.day} any more, so its {_calls(note)} made one by one"
            found.said.append(f"{note.provider} {why}.")
            looked = Looked(Stage.ENDED, rest=ModelFailed(note.provider, why, FailureKind.EXPIRED))
        if looked.stage is Stage.ENDED:
            return self._ended(note, looked, found)
        return self._overdue(note, found) if self.terms.is_overdue(note) else note

    def _unreached(self, note: Note, fault: ModelFailed, found: Collected) -> Note | None:
        """Return a note whose batch could not be asked for: it waits, and so do its days, until its time is over."""
        if note.is_open:
            found.failures.append(fault)
        return self._overdue(note, found) if self.terms.is_overdue(note) else note

    def _overdue(self, note: Note, found: Collected) -> Note | None:
        """Return a note whose time is over: its days are read without it. What comes late is looked for once more.

        What comes later than twice that time is forgotten.
        """
        if note.state is State.LATE:
            if not self.terms.is_overdue(note, times=2):
                return note
            self.notes.drop(note)
            return None
        found.said.append(
            f"The batch that was sent to {note.provider} on {note.day} did not end within {self.terms.hours:g} hours, "
            f"so its {_calls(note)} made one by one."
        )
        asks = tuple(replace(ask, fault=str(FailureKind.EXPIRED)) for ask in note.asks)
        late = replace(note, state=State.LATE, asks=asks)
        self.notes.save(late)
        return late

    def _ended(self, note: Note, looked: Looked, found: Collected) -> Note:
        """Keep what came, and return the note that says so.

        Raises:
            ModelFailed: there is not a result for every call, or the disk did not take a reply.
        """
        asked = {ask.id for ask in note.asks}
        results: dict[str, Result] = {}
        for result in looked.results:
            results.setdefault(result.id, result)
        if strange := len(results.keys() - asked):
            what = "a result of a call that was" if strange == 1 else f"{strange} results of calls that were"
            found.said.append(f"{note.provider} gave {what} not in the batch.")
        if looked.rest is None and not asked <= results.keys() and not self.terms.is_overdue(note):
            why = f"gave {len(asked & results.keys())} of {len(asked)} results of a batch"
            raise ModelFailed(note.provider, why, FailureKind.CUT_OFF)
        rest = looked.rest or ModelFailed(note.provider, "left a call of a batch without a result", FailureKind.EXPIRED)
        return self._settled(note, [self._kept(note, ask, results.get(ask.id), rest) for ask in note.asks])

    def _kept(self, note: Note, ask: Ask, result: Result | None, rest: ModelFailed) -> tuple[Ask, Usage | None]:
        """Keep one reply, and return the ask that says so or why not, and what it used where it was answered."""
        from pipelines.models.reply import read_items  # noqa: PLC0415  brings in pydantic

        fault = rest if result is None else result.fault
        if result is None or result.answer is None:
            kind = fault.kind if fault else FailureKind.FAILED
            return replace(ask, fault=str(kind)), fault.usage if fault else None
        answer = replace(result.answer, model=note.name)  # the note knows who was asked, whoever is set now
        try:
            read_items(answer.text)
        except BadReply as bad:
            return replace(ask, fault=str(bad.kind)), answer.usage
        name = self.replies.keep(note, ask, answer)
        if self.replies.read(name) is None:
            raise ModelFailed(provider_of(note.name), "gave replies that the disk did not take", FailureKind.FAILED)
        return replace(ask, reply=name, fault=""), answer.usage

    def _settled(self, note: Note, told: Sequence[tuple[Ask, Usage | None]]) -> Note:
        used = [usage for _, usage in told if usage is not None]
        costs = [self.terms.usd(note.name, usage) for usage in used]
        known = [cost for cost in costs if cost is not None]
        ended = replace(
            note,
            state=State.ENDED,
            asks=tuple(ask for ask, _ in told),
            calls=len(used),
            usage=sum(used, Usage()),
            price=sum(known) if known else None,
            failures=tuple(sorted(Counter(ask.fault for ask, _ in told if ask.fault).items())),
        )
        self.notes.save(ended)
        self._correct(note, told)
        return ended

    def _correct(self, note: Note, told: Sequence[tuple[Ask, Usage | None]]) -> None:
        """Tell the caps what the calls came to, where they still count: on the day on which they were sent."""
        budget = self.terms.budget
        if budget is None or note.day != budget.day:
            return
        for ask, usage in told:
            used = usage or Usage()
            cost = Cost(used.input_tokens + used.output_tokens, self.terms.usd(note.name, used) or 0.0)
            is_told = usage is None or usage != Usage()  # else it was paid, and nobody says how much
            if ask.held and is_told:
                budget.correct(ask.held, Cost(ask.tokens, ask.usd), cost)


def _cancelled(note: Note, batcher: Batcher) -> Looked:
    """Return how far a batch is once its provider was asked to end it."""
    if not note.ident:
        return Looked(Stage.OPEN)
    batcher.cancel(note.ident)
    return batcher.look(note.ident)


def _calls(note: Note) -> str:
    return "call is" if len(note.asks) == 1 else f"{len(note.asks)} calls are"
