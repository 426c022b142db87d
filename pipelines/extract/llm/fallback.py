"""A chain of models: the next is asked when one is down, refuses, or is over its limit.

A model that keeps failing is left alone for the rest of the run: its circuit opens. A reply that was kept is used
before anybody is asked, whosever it is.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import BadReply, provider_of
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.extract.llm.call import Answer, Call, Model, Place
    from pipelines.extract.llm.replies import Replies
    from pipelines.usage import Tally

    Ticket = tuple[Place, int]


Read = TypeVar("Read")


class Chain:
    """Several models as one. It lives as long as a run: its circuits close with the next. Threads may share it.

    Args:
        models: who is asked, in order; at least one.
        replies: where replies are kept, or None to keep none.
        patience: how a model is asked again.
    """

    def __init__(
        self, models: Sequence[Model], replies: Replies | None = None, patience: Patience | None = None
    ) -> None:
        self.models = tuple(models)
        self._replies, self._patience = replies, patience or Patience()
        self._circuits = [Circuit(provider_of(model.name), self._patience) for model in self.models]

    @property
    def input_tokens(self) -> int:
        """The most log text that every model of the chain takes in one call."""
        return min(model.input_tokens for model in self.models)

    def ask(self, call: Call, read: Callable[[str], Read], tally: Tally) -> tuple[Read, str]:
        """Return what `read` makes of the first usable reply, and the name of the model that gave it.

        Args:
            call: what is asked.
            read: makes something of a reply's text, or raises `BadReply`; such a reply is not kept.
            tally: counts what is spent and what fails, also where the whole fails.

        Raises:
            ModelFailed: no model gave a usable reply. It names all of them, and it is of a kind that concerns the day
                where for one of them it may be the day; `OVER_BUDGET` where nothing but the caps was in the way.
        """
        for model in self.models:
            if found := self._kept(model, call, read, tally):
                return found
        faults = []
        for model, circuit in zip(self.models, self._circuits, strict=True):
            try:
                return self._asked(model, circuit, call, read, tally)
            except ModelFailed as fault:
                faults.append(fault)
        raise _all_failed(faults)

    def _kept(self, model: Model, call: Call, read: Callable[[str], Read], tally: Tally) -> tuple[Read, str] | None:
        kept = self._replies.find(model, call) if self._replies else None
        if kept is None:
            return None
        try:
            found = read(kept.answer.text)
        except BadReply:
            return None  # somebody changed the file, or the rules are stricter than they were
        tally.replies.append(kept.key)
        return found, kept.answer.model

    def _asked(
        self, model: Model, circuit: Circuit, call: Call, read: Callable[[str], Read], tally: Tally
    ) -> tuple[Read, str]:
        ticket = circuit.enter(call.place, tally)
        try:
            answer = self._patience.ask(model, call, tally)
            try:
                found = read(answer.text)
            except BadReply as bad:
                fault = ModelFailed(provider_of(model.name), str(bad), bad.kind)
                tally.failed(fault.provider, fault.kind)
                raise fault from None
        except ModelFailed as fault:
            circuit.failed(ticket, fault)
            raise
        if self._replies:
            tally.replies.append(self._replies.keep(model, call, answer))
        return found, answer.model


def _all_failed(faults: Sequence[ModelFailed]) -> ModelFailed:
    first, *others = faults
    own = [fault for fault in faults if not fault.kind.concerns_provider]
    failed = [fault for fault in faults if fault.kind is not FailureKind.OVER_BUDGET]
    telling = (own or failed or faults)[0]
    why = "; ".join([first.why, *(f"{fault.provider} {fault.why}" for fault in others)])
    return ModelFailed(first.provider, why, telling.kind)


# ---------------------------------------- whether a model is still asked in this run
# Calls are judged in the order of the days that they are about.
#
# Several days are asked about at once, and their calls end in any order. Judged in the order of the days, a failure
# concerns only the days after it, so that what becomes of a day does not hang on how fast a later one failed.


OPENS_AFTER: Final = 3


class Circuit:
    """Closed while a model is asked, open once it is left alone.

    It opens after `OPENS_AFTER` failures in a row, retries not counted, and at once where no other call can succeed: a
    wrong key, a used-up quota, a pause that nobody waits for. What was wrong with a day's content does not count. A
    call that is under way counts as a success until it ends.
    """

    def __init__(self, provider: str, patience: Patience) -> None:
        self._provider, self._patience = provider, patience
        self._faults: dict[Ticket, ModelFailed | None] = {}
        self._begun: Counter[Place] = Counter()
        self._opened: tuple[Ticket, ModelFailed] | None = None
        self._lock = threading.Lock()

    def enter(self, place: Place, tally: Tally) -> Ticket:
        """Return a ticket for a call, by which its end is told, where the model may be asked at this place.

        Raises:
            ModelFailed: the circuit is open; of the kind `NOT_ASKED`, or `OVER_BUDGET` where the caps opened it.
        """
        with self._lock:
            self._begun[place] += 1
            ticket = place, self._begun[place]
            opened = self._opened
            if opened is None or ticket < opened[0]:
                self._faults[ticket] = None
                return ticket
        last = opened[1]
        kind = FailureKind.OVER_BUDGET if last.kind is FailureKind.OVER_BUDGET else FailureKind.NOT_ASKED
        fault = ModelFailed(self._provider, f"{last.why}, and is left alone in this run", kind)
        tally.failed(fault.provider, fault.kind)
        raise fault

    def failed(self, ticket: Ticket, fault: ModelFailed) -> None:
        """Note a failure, and open where it is one too many."""
        with self._lock:
            if fault.kind.concerns_content:
                del self._faults[ticket]
            else:
                self._faults[ticket] = fault
            if fault.kind.is_final or self._patience.is_exceeded(fault):
                self._open(ticket, fault)
            elif (last := self._third_in_a_row()) and (third := self._faults[last]):
                self._open(last, third)

    def _third_in_a_row(self) -> Ticket | None:
        count = 0
        for ticket in sorted(self._faults):
            count = count + 1 if self._faults[ticket] else 0
            if count == OPENS_AFTER:
                return ticket
        return None

    def _open(self, ticket: Ticket, fault: ModelFailed) -> None:
        if self._opened is None or ticket < self._opened[0]:
            self._opened = ticket, fault


# ---------------------------------------- asking again
# a failure that may pass is waited for, as long as the provider wants it and no longer than a bound.


@dataclass(frozen=True, slots=True)
class Patience:
    """How a model is asked again.

    Args:
        first_pause: seconds before the first repetition, doubled each time, where the provider names none.
        longest_pause: the longest pause that is made. A provider that wants more is left alone instead.
        sleep: what pauses.
        jitter: a number in [0, 1) that spreads the pauses of several callers.
    """

    first_pause: float = 1.0
    longest_pause: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def ask(self, model: Model, call: Call, tally: Tally) -> Answer:
        """Make a call, and make it again up to `model.retries` times while its failure may pass.

        Every try is counted in `tally`, with what it cost and how it failed.

        Raises:
            ModelFailed: the last try's failure.
        """
        for tried in range(model.retries + 1):
            try:
                answer = model.ask(call)
            except ModelFailed as fault:
                if fault.usage is not None or fault.kind is not FailureKind.OVER_BUDGET:  # else no call was made
                    tally.paid(model.name, fault.usage)
                tally.failed(fault.provider, fault.kind)
                pause = self.pause(fault, tried)
                if tried == model.retries or not fault.kind.may_pass or pause > self.longest_pause:
                    raise
                self.sleep(pause)
            else:
                tally.paid(model.name, answer.usage)
                return answer
        raise AssertionError  # the last try returns or raises

    def pause(self, fault: ModelFailed, tried: int) -> float:
        """Return the seconds to wait before a call is made again that failed `tried` times before."""
        if fault.retry_after is not None:
            return fault.retry_after
        return min(self.longest_pause, self.first_pause * 2.0**tried * (1 + self.jitter() / 4))

    def is_exceeded(self, fault: ModelFailed) -> bool:
        """Whether a provider wants to be left alone for longer than anybody waits here."""
        return fault.retry_after is not None and fault.retry_after > self.longest_pause
