"""A chain of models: the next is asked when one is down, refuses, or is over its limit.

A failure that may pass is waited for. A model that keeps failing is left alone for the rest of the run: its circuit
opens. A reply that was kept is used before anybody is asked, whosever it is.
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
OPENS_AFTER: Final = 3
FIRST_PAUSE: Final = 1.0
"""Seconds before the first repetition, doubled each time, where the provider names none."""
LONGEST_PAUSE: Final = 60.0
"""The longest pause that is made. A provider that wants more is left alone instead."""


class Chain:
    """Several models as one. It lives as long as a run: its circuits close with the next. Threads may share it.

    Args:
        models: who is asked, in order; at least one.
        replies: where replies are kept, or None to keep none.
        retry: how a model is asked again.
    """

    def __init__(
        self, models: Sequence[Model], replies: Replies | None = None, retry: RetryPolicy | None = None
    ) -> None:
        self.models = tuple(models)
        self._replies, self._retry = replies, retry or RetryPolicy()
        self._circuits = [Circuit(provider_of(model.name)) for model in self.models]

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
        for model in self.models if self._replies else ():
            if found := self._kept(model, call, read, tally):
                return found
        faults = []
        for model, circuit in zip(self.models, self._circuits, strict=True):
            try:
                return self._asked(model, circuit, call, read, tally)
            except ModelFailed as fault:
                faults.append(fault)
        own = [fault for fault in faults if not fault.kind.concerns_provider]
        failed = [fault for fault in faults if fault.kind is not FailureKind.OVER_BUDGET]
        why = "; ".join([faults[0].why, *(f"{fault.provider} {fault.why}" for fault in faults[1:])])
        raise ModelFailed(faults[0].provider, why, (own or failed or faults)[0].kind)

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
            answer = self._retry.ask(model, call, tally)
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


class Circuit:
    """Closed while a model is asked, open once it is left alone.

    It opens after `OPENS_AFTER` failures in a row, retries not counted, and at once where no other call can succeed: a
    wrong key, a used-up quota, a pause that nobody waits for. What was wrong with a day's content does not count. A
    call that is under way counts as a success until it ends.

    Several days are asked about at once, and their calls end in any order. They are judged in the order of the days: a
    failure concerns only the days after it, so that what becomes of a day does not hang on how fast a later one failed.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
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
        tally.failed(self._provider, kind)
        raise ModelFailed(self._provider, f"{last.why}, and is left alone in this run", kind)

    def failed(self, ticket: Ticket, fault: ModelFailed) -> None:
        """Note a failure, and open where it is one too many."""
        with self._lock:
            if fault.kind.concerns_content:
                del self._faults[ticket]
            else:
                self._faults[ticket] = fault
            if fault.kind.is_final or (fault.retry_after or 0.0) > LONGEST_PAUSE:
                self._open(ticket, fault)
                return
            in_a_row = 0
            for one in sorted(self._faults):
                noted = self._faults[one]
                in_a_row = in_a_row + 1 if noted else 0
                if noted and in_a_row == OPENS_AFTER:
                    self._open(one, noted)
                    return

    def _open(self, ticket: Ticket, fault: ModelFailed) -> None:
        if self._opened is None or ticket < self._opened[0]:
            self._opened = ticket, fault


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How a model is asked again: a failure that may pass is waited for, no longer than `LONGEST_PAUSE`.

    Args:
        sleep: what pauses.
        jitter: a number in [0, 1) that spreads the pauses of several callers.
    """

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
                pause = fault.retry_after
                if pause is None:
                    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**tried * (1 + self.jitter() / 4))
                if tried == model.retries or not fault.kind.may_pass or pause > LONGEST_PAUSE:
                    raise
                self.sleep(pause)
            else:
                tally.paid(model.name, answer.usage)
                return answer
        raise AssertionError  # the last try returns or raises
