"""The caps of a night: before a call is made the most that it may cost is set aside, and what it cost is settled after.

What the calls of earlier runs of the same day came to is remembered in a ledger, so that a run that died, and a second
run of the night, do not begin anew. A call whose end was never noted counts as the most that it may have cost.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError, ModelFailed
from pipelines.extract.llm.call import WrappedModel, provider_of
from pipelines.extract.llm.provider import within
from pipelines.provider_settings import added_tokens
from pipelines.store.files import making, read_bytes
from pipelines.usage import FailureKind, Usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipelines.extract.llm.call import Answer, Call, Model, Place
    from pipelines.provider_settings import Price
    from pipelines.user_settings import Caps

LEDGER: Final = ".curate/ledger.jsonl"
# More than any ordinary text needs, in any script: what is set aside must not turn out to be too little.
WORST_BYTES_A_TOKEN: Final = 2
_MAY_BE_PAID: Final = frozenset(
    {FailureKind.TIMED_OUT, FailureKind.CUT_OFF, FailureKind.GARBLED, FailureKind.FAILED, FailureKind.OVER_BUDGET}
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens and what they cost."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Return both."""
        return Cost(self.tokens + other.tokens, self.usd + other.usd)


class OverBudget(Exception):
    """Raised where a call does not fit the caps; its text ends a sentence that begins with the provider."""


class BudgetedModel(WrappedModel):
    """A model that is asked only while its calls fit the caps, and left alone at once when the night's time is over.

    A call counts as what the provider says it cost, whether it failed or not; where that is not said, and the call may
    have been answered, as the most that it may have cost.

    Args:
        model: who is asked.
        budget: what is left of the night.
        price: what the model costs, or None where that is not known; then it counts as free.
    """

    def __init__(self, model: Model, budget: Budget, price: Price | None) -> None:
        super().__init__(model)
        self._budget, self._price = budget, price

    def ask(self, call: Call) -> Answer:
        """Make the call, once.

        Raises:
            ModelFailed: no usable answer came; of the kind `OVER_BUDGET` where the caps are in the way.
        """
        sent = -(-call.bytes // WORST_BYTES_A_TOKEN) + added_tokens(self.name)
        received = self.output_tokens
        cost = worst = Cost(sent + received, self._price.worst(sent, received) if self._price else 0.0)
        try:
            held = self._budget.hold(self.name, call.place, worst)
        except OverBudget as fault:
            raise ModelFailed(provider_of(self.name), str(fault), FailureKind.OVER_BUDGET) from None
        try:
            answer = self._in_time(call)
            if answer.usage != Usage() or not self.output_tokens:  # a program has no tokens to tell
                cost = self._cost(answer.usage)
        except ModelFailed as fault:
            if fault.usage and fault.usage != Usage():
                cost = self._cost(fault.usage)
            elif fault.kind not in _MAY_BE_PAID:
                cost = Cost()
            raise
        finally:
            self._budget.settle(held, cost)
        return answer

    def _in_time(self, call: Call) -> Answer:
        left = self._budget.seconds_left()
        if left is None:
            return self._model.ask(call)
        try:
            return within(left, lambda: self._model.ask(call))
        except TimeoutError:
            why = "was still answering when the max_minutes of the night were over"
            raise ModelFailed(provider_of(self.name), why, FailureKind.OVER_BUDGET, usage=Usage()) from None

    def _cost(self, usage: Usage) -> Cost:
        return Cost(usage.input_tokens + usage.output_tokens, self._price.cost(usage) if self._price else usage.usd)


class Budget:
    """What is left of a night. Threads share it.

    Args:
        caps: the caps.
        ledger: what was spent before on the same day, and is spent now.
        clock: seconds from any moment on.
    """

    def __init__(self, caps: Caps, ledger: Ledger, clock: Callable[[], float] = time.monotonic) -> None:
        self._caps, self._ledger, self._clock = caps, ledger, clock
        self._end = clock() + caps.max_minutes * 60 if caps.max_minutes is not None else None
        self._spent = ledger.total()
        self._held: dict[str, Cost] = {}
        self._waiting: list[Place] = []
        self._refused: dict[str, Place] = {}
        self._changed = threading.Condition()

    def seconds_left(self) -> float | None:
        """Return the seconds until the night's time is over, or None where it has no end."""
        return None if self._end is None else max(0.0, self._end - self._clock())

    def pause(self, seconds: float) -> None:
        """Sleep, but not beyond the end."""
        left = self.seconds_left()
        time.sleep(seconds if left is None else min(seconds, left))

    def hold(self, who: str, place: Place, worst: Cost) -> str:
        """Set the most aside that a call may cost, and return the name under which it is settled.

        Where it would fit if other calls cost less than was set aside for them, it waits for them; of those that wait
        the earliest place comes first. Where a call of a model did not fit, no later one of it does: the oldest days
        come first, and a short day is not read before a long one that is older.

        Args:
            who: the model.
            place: where the call stands in the order of the night.
            worst: the most that it may cost.

        Raises:
            OverBudget: it does not fit.
        """
        with self._changed:
            self._waiting.append(place)
            try:
                while (why := self._why_not(who, place, worst)) or place > min(self._waiting):
                    if why and (not self._held or self.seconds_left() == 0) and place == min(self._waiting):
                        self._refused[who] = min(place, self._refused.get(who, place))
                        raise OverBudget(why)
                    self._changed.wait()
            finally:
                self._waiting.remove(place)
                self._changed.notify_all()
            name = uuid.uuid4().hex
            self._held[name] = worst
        self._ledger.note(name, worst)
        return name

    def settle(self, name: str, cost: Cost) -> None:
        """Say what a call cost that was held."""
        with self._changed:
            del self._held[name]
            self._spent += cost
            self._changed.notify_all()
        self._ledger.note(name, cost)

    def _why_not(self, who: str, place: Place, worst: Cost) -> str:
        if self._refused.get(who, place) < place:
            return "was not asked any more: an older day did not fit the caps of the night"
        if self.seconds_left() == 0:
            return f"was not asked any more: max_minutes = {self._caps.max_minutes:g} of a night are over"
        held = sum(self._held.values(), Cost())
        usd, tokens = self._caps.max_usd, self._caps.max_tokens
        if usd is not None and self._spent.usd + held.usd + worst.usd > usd:
            cap, spent, most = f"max_usd = {usd:g}", f"${self._spent.usd:.4f}", f"${worst.usd:.4f}"
            fits = worst.usd <= usd
        elif tokens is not None and self._spent.tokens + held.tokens + worst.tokens > tokens:
            cap, spent, most = f"max_tokens = {tokens}", f"{self._spent.tokens:,}", f"{worst.tokens:,} tokens"
            fits = worst.tokens <= tokens
        else:
            return ""
        if not fits:
            return f"was not asked: a call may come to {most}, which is more than {cap} of a whole night; raise it"
        return f"was not asked any more: of {cap} of a night {spent} is spent, and a call may come to {most}"


class Ledger:
    """What was spent on one day of a memory, a line a call, or two; the last line of a call counts.

    Args:
        file: where it is, or None to remember nothing.
        day: the memory's day; lines of other days are dropped when there is something to write.
    """

    def __init__(self, file: Path | None, day: str) -> None:
        self._file, self._day = file, day
        self._below = f"{file.parent.name}/{file.name}" if file else ""
        self._is_stale = False
        self._lock = threading.Lock()

    def total(self) -> Cost:
        """Return what was spent on the day so far. A ledger that cannot be read counts as none."""
        try:
            data = read_bytes(self._file.parents[1], self._below) if self._file else None
        except Exception:  # noqa: BLE001  derived: whatever is wrong with it, the night goes on
            data = None
        calls: dict[str, Cost] = {}
        for row in (data or b"").decode(errors="replace").splitlines():
            with contextlib.suppress(ValueError, TypeError, KeyError):
                noted = json.loads(row)
                if noted["day"] == self._day:
                    calls[str(noted["call"])] = Cost(int(noted["tokens"]), float(noted["usd"]))
        self._is_stale = not calls
        return sum(calls.values(), Cost())

    def note(self, call: str, cost: Cost) -> None:
        """Write down what a call may cost, or did. Where the disk refuses, the run goes on without."""
        if self._file is None:
            return
        row = json.dumps({"day": self._day, "call": call, "tokens": cost.tokens, "usd": cost.usd}) + "\n"
        above = self._below.rpartition("/")[0]
        with self._lock, contextlib.suppress(CurateError, OSError), making(self._file.parents[1], above) as folder:
            how = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if self._is_stale else 0)
            descriptor = folder.open(self._file.name, how)
            self._is_stale = False
            with os.fdopen(descriptor, "wb") as file:
                file.write(row.encode())
