"""An extractor that knows of batches: what they answered is read, what they will answer waits, nothing is paid twice.

A day is read whole or not at all, so one call of it that waits lets the day wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.errors import ModelFailed
from pipelines.failure_kinds import FailureKind
from pipelines.models.batching.moved import moved
from pipelines.models.calling import Answer, provider_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.models.batching.notes import Ask, Note
    from pipelines.models.extraction import Extraction, ExtractionRequest
    from pipelines.models.reading import ModelExtractor, Question
    from pipelines.models.replies import Replies

Groups = dict[str, list[frozenset[str]]]
WAITS: Final = "is asked about this day in a batch, and its answer is to come"
UNENDED: Final = "is asked about a day in a batch once the day is over"


def groups_of(notes: Iterable[Note]) -> Groups:
    """Return day → the hashes of the entries of each call that is in a batch; what was paid for is asked so again."""
    found: Groups = {}
    for ask in (ask for note in notes for ask in note.asks):
        if ask.keys not in found.setdefault(ask.day, []):
            found[ask.day].append(ask.keys)
    return found


class BatchReader:
    """Reads the days whose calls were answered, and leaves those alone whose calls are in a batch.

    Calls that failed in a batch are made at once, by the ordinary chain, and so are all calls that are in none.

    Args:
        inner: who reads; it groups the entries of a day as the notes do.
        replies: where answers are kept.
        notes: the batches.
        again: a day that is asked about anew, and at once, whatever the batches say; empty for none.
    """

    def __init__(self, inner: ModelExtractor, replies: Replies, notes: Sequence[Note], again: str = "") -> None:
        self.name = inner.name
        self._inner, self._replies, self._notes, self._again = inner, replies, notes, again

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return what is in a day.

        Raises:
            ModelFailed: of the kind `IN_BATCH` where the day waits for a batch; otherwise it could not be read.
        """
        if request.day != self._again:
            found = [(question, self._asks(request.day, question)) for question in self._inner.questions(request)]
            left = [(question, asks) for question, asks in found if not self._answered(question, asks)]
            if any(note.is_open for _, asks in left for note, _ in asks):
                raise self.waiting(WAITS)
            self.leave(request, [question for question, asks in left if not any(ask.fault for _, ask in asks)])
        return self._inner.extract(request)

    def leave(self, request: ExtractionRequest, fresh: list[Question]) -> None:
        """Do what is to be done about calls that no batch was asked for; here nothing: they are made at once."""

    def waiting(self, why: str) -> ModelFailed:
        """Return the failure of a day that waits."""
        return ModelFailed(provider_of(self._inner.chain.models[0].name), why, FailureKind.IN_BATCH)

    def _asks(self, day: str, question: Question) -> list[tuple[Note, Ask]]:
        keys = frozenset(entry.key for entry in question.entries)
        return [(note, ask) for note in self._notes for ask in note.asks if ask.day == day and ask.keys >= keys]

    def _answered(self, question: Question, asks: Sequence[tuple[Note, Ask]]) -> bool:
        """Whether there is a kept reply; one that a batch gave is kept as the answer to the call as it is now."""
        models = self._inner.chain.models
        if any(self._replies.find(model, question.call) for model in models):
            return True
        for note, ask in asks:
            model = next((model for model in models if model.source == note.source), None)
            kept = self._replies.read(ask.reply) if model and ask.reply else None
            if model and kept:
                text = moved(kept.answer.text, ask, question.entries)
                self._replies.keep(model, question.call, Answer(text, model.name, kept.answer.usage))
                return True
        return False


class BatchGatherer(BatchReader):
    """The same in a run that sends batches: calls that are in none are gathered for one, and their day waits.

    Args:
        inner: as above.
        replies: as above.
        notes: as above.
        again: as above.
        today: the memory's day. Its log goes on: its answer would come to another text than was asked about.
    """

    def __init__(
        self, inner: ModelExtractor, replies: Replies, notes: Sequence[Note], again: str = "", *, today: str
    ) -> None:
        super().__init__(inner, replies, notes, again)
        self._today = today
        self._gathered: dict[str, list[Question]] = {}

    def leave(self, request: ExtractionRequest, fresh: list[Question]) -> None:
        """Gather the calls; where a night is planned anew, what it came to last counts.

        Raises:
            ModelFailed: the day waits.
        """
        self._gathered.pop(request.day, None)
        if not fresh:
            return
        if request.day >= self._today:
            raise self.waiting(UNENDED)
        self._gathered[request.day] = fresh
        raise self.waiting(WAITS)

    @property
    def gathered(self) -> list[tuple[str, Question]]:
        """The calls that are to be sent, each with its day, the oldest first."""
        return [(day, question) for day in sorted(self._gathered) for question in self._gathered[day]]
