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

from pipelines.errors import CurateError
from pipelines.store.files import making, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipelines.models.calling import Place
    from pipelines.provider_settings import Caps

LEDGER: Final = ".curate/ledger.jsonl"


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

    @property
    def day(self) -> str:
        """The memory's day, whose calls count."""
        return self._ledger.day

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
            return _why(f"max_usd = {usd:g}", f"${self._spent.usd:.4f}", f"${worst.usd:.4f}", fits=worst.usd <= usd)
        if tokens is not None and self._spent.tokens + held.tokens + worst.tokens > tokens:
            fits = worst.tokens <= tokens
            return _why(f"max_tokens = {tokens}", f"{self._spent.tokens:,}", f"{worst.tokens:,} tokens", fits=fits)
        return ""


def _why(cap: str, spent: str, worst: str, *, fits: bool) -> str:
    if not fits:
        return f"was not asked: a call may come to {worst}, which is more than {cap} of a whole night; raise it"
    return f"was not asked any more: of {cap} of a night {spent} is spent, and a call may come to {worst}"


class Ledger:
    """What was spent on one day of a memory, a line a call, or two; the last line of a call counts.

    Args:
        file: where it is, or None to remember nothing.
        day: the memory's day; lines of other days are dropped when there is something to write.
    """

    def __init__(self, file: Path | None, day: str) -> None:
        self._file, self.day = file, day
        self._below = f"{file.parent.name}/{file.name}" if file else ""
        self._is_stale = False
        self._lock = threading.Lock()

    def total(self) -> Cost:
        """Return what was spent on the day so far. A ledger that cannot be read counts as none."""
        calls: dict[str, Cost] = {}
        for row in self._rows():
            with contextlib.suppress(ValueError, TypeError, KeyError):
                told = json.loads(row)
                if told["day"] == self.day:
                    calls[str(told["call"])] = Cost(int(told["tokens"]), float(told["usd"]))
        self._is_stale = not calls
        return sum(calls.values(), Cost())

    def _rows(self) -> list[str]:
        try:
            data = read_bytes(self._file.parents[1], self._below) if self._file else None
        except Exception:  # noqa: BLE001  derived: whatever is wrong with it, the night goes on
            return []
        return (data or b"").decode(errors="replace").splitlines()

    def note(self, call: str, cost: Cost) -> None:
        """Write down what a call may cost, or did. Where the disk refuses, the run goes on without."""
        if self._file is None:
            return
        row = json.dumps({"day": self.day, "call": call, "tokens": cost.tokens, "usd": cost.usd}) + "\n"
        above = self._below.rpartition("/")[0]
        with self._lock, contextlib.suppress(CurateError, OSError), making(self._file.parents[1], above) as folder:
            how = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if self._is_stale else 0)
            descriptor = folder.open(self._file.name, how)
            self._is_stale = False
            with os.fdopen(descriptor, "wb") as file:
                file.write(row.encode())
