"""Sending: the gathered calls go out as batches, the oldest first, each noted on the disk before it leaves."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.models.batching.notes import Ask, Note, State
from pipelines.models.batching.wire import Sent
from pipelines.models.budget import Cost, OverBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.errors import ModelFailed
    from pipelines.models.batching.notes import Notes
    from pipelines.models.batching.terms import Terms
    from pipelines.models.batching.wire import Batcher
    from pipelines.models.calling import Call
    from pipelines.models.reading import Question

    Gathered = Sequence[tuple[str, Question]]
    Row = tuple[tuple[str, Question], tuple[str, Cost]]


@dataclass(slots=True)
class Outcome:
    """What sending came to.

    Args:
        notes: of what was sent, or may have been.
        failures: every failure, whether another provider stood in or not.
        stuck: those for which calls were sent to nobody.
        over_budget: which cap kept calls from being sent, a sentence, or empty.
    """

    notes: list[Note] = field(default_factory=list)
    failures: list[ModelFailed] = field(default_factory=list)
    stuck: list[ModelFailed] = field(default_factory=list)
    over_budget: str = ""


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends batches.

    Args:
        notes: where they are noted.
        batchers: who may be asked, in order: the next where one certainly does not take a batch.
        terms: the terms of the run.
    """

    notes: Notes
    batchers: Sequence[Batcher]
    terms: Terms

    def send(self, gathered: Gathered, done: Outcome) -> None:
        """Send calls, as far as the caps let them.

        Args:
            gathered: the calls, each with its day, the oldest first.
            done: is told what became of them.

        Raises:
            NotWritable: a note could not be written; what is not noted was not sent.
        """
        left = list(gathered)
        for batcher in self.batchers:
            if left:
                left = self._sent(batcher, left, done)
        if left:
            done.stuck = list(done.failures)

    def _sent(self, batcher: Batcher, gathered: Gathered, done: Outcome) -> list[tuple[str, Question]]:
        """Send what fits the caps to one provider; return what it did not take, and another may."""
        held = self._held(batcher, gathered, done)
        rows = list(zip(gathered, held, strict=False))
        for at, part in _parts(rows, batcher):
            note = self._note(batcher, part)
            self.notes.save(note)
            calls = [(ask.id, question.call) for ask, ((_, question), _) in zip(note.asks, part, strict=True)]
            sent = self._tried(batcher, note.id, calls)
            if sent.refused:
                self._taken_back(note, rows[at + len(part) :])
                done.failures.append(sent.refused)
                return list(gathered[at : len(rows)])
            done.notes.append(self._noted(note, sent))
            if sent.unsure:
                done.failures.append(sent.unsure)
                done.stuck.append(sent.unsure)
                self._give_back(rows[at + len(part) :])
                return []
        return []

    def _held(self, batcher: Batcher, gathered: Gathered, done: Outcome) -> list[tuple[str, Cost]]:
        """Set the most aside that each call may cost, in order, up to the first that does not fit."""
        found: list[tuple[str, Cost]] = []
        budget = self.terms.budget
        for _, question in gathered:
            worst = self.terms.worst(batcher.name, question.call, batcher.output_tokens)
            name = ""
            if budget is not None:
                try:
                    name = budget.hold(batcher.name, question.call.place, worst)
                except OverBudget as why:
                    done.over_budget = f"{batcher.provider} {why}."
                    break
                budget.settle(name, worst)  # it counts as its most until its batch is collected
            found.append((name, worst))
        return found

    def _note(self, batcher: Batcher, part: Sequence[Row]) -> Note:
        mark = uuid.uuid4().hex
        asks = []
        for number, ((day, question), (held, worst)) in enumerate(part):
            call = question.call
            entries = tuple((entry.key, entry.start_line, entry.end_line) for entry in question.entries)
            asked = (call.digest, call.task, call.prompt_id, call.prompt_version)
            asks.append(Ask(f"{mark}-{number}", day, *asked, entries, held, worst.tokens, worst.usd))
        who = (batcher.name, batcher.source, batcher.base_url)
        at = self.terms.now.isoformat(timespec="seconds")
        return Note(mark, State.SENDING, *who, at, self.terms.day, tuple(asks))

    def _tried(self, batcher: Batcher, mark: str, calls: Sequence[tuple[str, Call]]) -> Sent:
        """Send a batch, again while it is refused for a reason that may pass."""
        patience, sent = self.terms.patience, Sent()
        for tried in range(batcher.retries + 1):
            sent = batcher.submit(mark, calls)
            fault = sent.refused
            if fault is None or not fault.kind.may_pass or tried == batcher.retries:
                break
            if (pause := patience.pause(fault, tried)) > patience.longest_pause:
                break
            patience.sleep(pause)
        return sent

    def _noted(self, note: Note, sent: Sent) -> Note:
        if not sent.ident:
            return note
        note = replace(note, ident=sent.ident, state=State.SENT)
        self.notes.save(note)
        return note

    def _taken_back(self, note: Note, rest: Sequence[Row]) -> None:
        """Forget a batch that was certainly not taken, and what was set aside for it and for those after it."""
        self.notes.drop(note)
        if self.terms.budget is not None:
            for ask in note.asks:
                self.terms.budget.correct(ask.held, Cost(ask.tokens, ask.usd), Cost())
        self._give_back(rest)

    def _give_back(self, rows: Sequence[Row]) -> None:
        if self.terms.budget is not None:
            for _, (held, worst) in rows:
                self.terms.budget.correct(held, worst, Cost())


def _parts(rows: Sequence[Row], batcher: Batcher) -> Iterator[tuple[int, Sequence[Row]]]:
    """Yield the calls in parts that each fit a batch, with the place at which a part begins."""
    begin = size = 0
    for at, ((_, question), _) in enumerate(rows):
        more = question.call.bytes
        if at > begin and (at - begin == batcher.most_calls or size + more > batcher.most_bytes):
            yield begin, rows[begin:at]
            begin, size = at, 0
        size += more
    if begin < len(rows):
        yield begin, rows[begin:]
