"""Asking again: a failure that may pass is waited for, as long as the provider wants it and no longer than a bound."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.errors import ModelFailed
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.models.calling import Answer, Call, Model
    from pipelines.usage import Tally


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
