"""Whether a model is still asked in this run. Calls are judged in the order of the days that they are about.

Several days are asked about at once, and their calls end in any order. Judged in the order of the days, a failure
concerns only the days after it, so that what becomes of a day does not hang on how fast a later one failed.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Final

from pipelines.errors import ModelFailed
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from pipelines.models.calling import Place
    from pipelines.models.patience import Patience
    from pipelines.usage import Tally

    Ticket = tuple[Place, int]

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
