"""What a run does about batches: collect before it reads, send after it has written, and forget what was read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.failure_kinds import FailureKind
from pipelines.models.batching.collecting import Collected, Collector
from pipelines.models.batching.notes import State
from pipelines.models.batching.reader import BatchGatherer, BatchReader, groups_of
from pipelines.models.batching.sending import Outcome, Sender
from pipelines.models.calling import provider_of
from pipelines.models.extraction import Failure, all_failures
from pipelines.models.reading import ModelExtractor
from pipelines.spending import Spent, total

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pipelines.models.batching.notes import Note, Notes
    from pipelines.models.batching.terms import Terms
    from pipelines.models.batching.wire import Batcher
    from pipelines.models.extraction import Extractor
    from pipelines.models.replies import Replies


_KINDS: Final = frozenset(map(str, FailureKind))


@dataclass(frozen=True, slots=True)
class Told:
    """What a run did about batches, for its report.

    Args:
        sent: the notes of the batches that it sent.
        collected: the ids of those whose results it counts.
        waiting: how many are open still.
        spent: what the collected ones cost.
        failures: how calls of theirs failed.
        failure: why batches could not be sent or asked for, a sentence each, or empty.
        over_budget: which of the caps kept calls from being sent, or empty.
        said: what a person should know, a sentence each.
    """

    sent: tuple[Note, ...] = ()
    collected: tuple[str, ...] = ()
    waiting: int = 0
    spent: tuple[Spent, ...] = ()
    failures: tuple[Failure, ...] = ()
    failure: str = ""
    over_budget: str = ""
    said: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return it as the report has it; what it cost is counted with all other calls."""
        sent = [
            {"id": note.id, "model": note.name, "calls": len(note.asks), "days": list(note.days)} for note in self.sent
        ]
        return {"sent": sent, "collected": list(self.collected), "waiting": self.waiting, "said": list(self.said)}


@dataclass(frozen=True, slots=True)
class Batching:
    """The batches of a memory, for one run.

    Args:
        notes: where they are noted.
        batchers: who may be asked for them, whoever of them is to be asked tonight.
        replies: where replies are kept.
        terms: the terms of the run.
        sends: whether new calls are to go into a batch.
    """

    notes: Notes
    batchers: Sequence[Batcher]
    replies: Replies
    terms: Terms
    sends: bool = False

    def begin(self, extractor: Extractor, again: str, counted: Collection[str]) -> Sitting:
        """Collect what has come.

        Args:
            extractor: who reads.
            again: the day that is to be read anew, or empty.
            counted: the ids of batches whose cost a report tells already.

        Raises:
            NotWritable: the disk refused.
        """
        collected = Collector(self.notes, self.batchers, self.replies, self.terms).collect()
        return Sitting(self, extractor, again, collected, counted)

    def has_ended(self) -> bool:
        """Whether the note of a batch is here that was collected before."""
        return any(note.state is State.ENDED for note in self.notes.all())

    def digests(self) -> set[str]:
        """Return what is asked in the open batches."""
        return {ask.digest for note in self.notes.all() if note.is_open for ask in note.asks}

    def grouped(self, extractor: ModelExtractor) -> ModelExtractor:
        """Return the same reader, asking together about what the batches asked about together."""
        return replace(extractor, groups=groups_of(self.notes.all()))

    def takers(self, extractor: ModelExtractor) -> list[Batcher]:
        """Return who is to be sent batches, in the order of the chain; nobody where the first of it takes none."""
        if not self.sends:
            return []
        names = [model.name for model in extractor.chain.models]
        found = [batcher for name in names for batcher in self.batchers if batcher.name == name]
        return found if found and found[0].name == names[0] else []

    def rehearse(self, extractor: Extractor, again: str) -> Extractor:
        """Return who reads in a run that writes nothing: nothing is collected, and nothing will be sent."""
        return Sitting(self, extractor, again, Collected(self.notes.all()), ()).reader


class Sitting:
    """One run's dealings with batches, from collecting to forgetting."""

    def __init__(
        self, batching: Batching, extractor: Extractor, again: str, collected: Collected, counted: Collection[str]
    ) -> None:
        self._batching, self._collected = batching, collected
        self._new = [note for note in collected.notes if note.state is State.ENDED and note.id not in counted]
        self._said: list[str] = []
        self._gatherer: BatchGatherer | None = None
        self._targets: list[Batcher] = []
        self.reader = self._reader(extractor, again)

    def together(self) -> dict[str, list[list[str]]]:
        """Return day → the hashes of entries that are asked about in one call, call by call; a replay must know."""
        groups = groups_of(self._collected.notes)
        return {day: [sorted(group) for group in groups[day]] for day in sorted(groups)}

    def _reader(self, extractor: Extractor, again: str) -> Extractor:
        batching, notes = self._batching, self._collected.notes
        if not isinstance(extractor, ModelExtractor):
            if batching.sends:
                self._said.append("The rules read the logs, so there was nothing to send in a batch.")
            return extractor
        grouped = replace(extractor, groups=groups_of(notes))
        self._targets = batching.takers(extractor)
        if not self._targets:
            if batching.sends:
                first = provider_of(extractor.chain.models[0].name)
                self._said.append(f"{first} takes no batches, so its calls were made one by one, at the usual price.")
            return BatchReader(grouped, batching.replies, notes, again)
        self._gatherer = BatchGatherer(grouped, batching.replies, notes, again, today=batching.terms.day)
        return self._gatherer

    def finish(self) -> Told:
        """Send what was gathered, and tell what the run did. A disk that refuses ends the sending, and not the run."""
        outcome, faults = Outcome(), [fault.sentence for fault in self._collected.failures]
        if self._gatherer and (gathered := self._gatherer.gathered):
            sender = Sender(self._batching.notes, self._targets, self._batching.terms)
            try:
                sender.send(gathered, outcome)
            except CurateError as fault:
                faults.append(f"No further batch was sent: {fault.sentence}")
        faults += [fault.sentence for fault in outcome.stuck]
        failed = [*self._collected.failures, *outcome.failures]
        notes = [*self._collected.notes, *outcome.notes]
        return Told(
            sent=tuple(outcome.notes),
            collected=tuple(note.id for note in self._new),
            waiting=sum(note.is_open for note in notes),
            spent=total(tuple(_spent(note) for note in self._new if note.calls)),
            failures=all_failures(
                [Failure(fault.provider, fault.kind) for fault in failed], *(_failures(note) for note in self._new)
            ),
            failure=" ".join(dict.fromkeys(faults)),
            over_budget=outcome.over_budget,
            said=(*self._collected.said, *self._said, *_sentences(self._new, outcome.notes, self._collected.notes)),
        )

    def forget(self, pending: Collection[str]) -> None:
        """Remove the notes that have nothing more to tell: what they cost is in a report, and their days are read.

        Args:
            pending: the days that are still to be read.

        Raises:
            NotWritable: the disk refused; they are removed by the next run.
        """
        for note in self._collected.notes:
            if note.state is State.ENDED and not set(note.days) & set(pending):
                self._batching.notes.drop(note)


def _spent(note: Note) -> Spent:
    return Spent(note.name, note.calls, note.usage, note.price)


def _failures(note: Note) -> list[Failure]:
    return [Failure(note.provider, FailureKind(kind), count) for kind, count in note.failures if kind in _KINDS]


def _sentences(new: Sequence[Note], sent: Sequence[Note], before: Sequence[Note]) -> list[str]:
    told = []
    for note in new:
        failed = sum(count for _, count in note.failures)
        but = f"; {failed} had failed" if failed else ""
        told.append(
            f"Collected {_calls(len(note.asks) - failed)} of the batch of {note.day} from {note.provider}{but}."
        )
    told += [
        f"{_calls(len(note.asks))} of the batch of {note.day} wait at {note.provider} still."
        for note in before
        if note.is_open
    ]
    told += [
        f"Sent {_calls(len(note.asks))} to {note.provider} in a batch; a later run collects the answers."
        for note in sent
        if note.ident
    ]
    return told


def _calls(count: int) -> str:
    return f"{count} {'call' if count == 1 else 'calls'}"
