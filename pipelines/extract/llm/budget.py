"""The caps of a night: each call must fit with its worst case before it is made, and counts with its real cost after.

What earlier runs of the same day spent, their reports say. Of a run that died, what was answered is kept and not paid
again. Whoever started the night may want to be asked, too, before each call. It hands a socket down, which needs no
address and no key. The messages are lines of JSON:

    {"call": ID, "bucket": PROVIDER:HASH, "tokens": N, "usd": X or null}     the most that a call may need
    {"call": ID, "granted": true} or {"call": ID, "why": TEXT}               the answer, when it is the call's turn
    {"call": ID, "spent": [TOKENS, USD], "slow": SECONDS or null}            what it cost; a 429 slows all

If the starter dies, the night ends: whoever repeats it must find the clone free.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import signal
import socket
import threading
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, Model, ModelAnswer, provider_of
from pipelines.extract.llm.provider import with_deadline
from pipelines.provider_settings import Price, added_tokens
from pipelines.usage import FailureKind, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.user_settings import CostCaps, UserSettings

# A safe bound for ordinary text in any script: a reservation must not be too small.
WORST_BYTES_A_TOKEN: Final = 2
_MAY_BE_PAID = frozenset({FailureKind.TIMED_OUT, FailureKind.UNUSABLE, FailureKind.OVER_BUDGET})


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens and their price."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Return the sum."""
        return Cost(self.tokens + other.tokens, self.usd + other.usd)


class Budget:
    """The remaining budget of a night.

    Args:
        caps: the caps.
        spent: what earlier runs of the day cost.
        clock: a monotonic clock, in seconds.
        guard: whoever started this night and wants to be asked, or None.
    """

    def __init__(
        self, caps: CostCaps, spent: Cost, clock: Callable[[], float] = time.monotonic, guard: Guard | None = None
    ) -> None:
        self.spent = spent
        self._caps, self._clock, self._guard = caps, clock, guard
        self._end = clock() + caps.max_minutes * 60 if caps.max_minutes is not None else None

    def ask(self, model: Model, call: Call, price: Price | None) -> ModelAnswer:
        """Have a model make a call, once, if that fits; it is abandoned when the night's time is over.

        A call, failed or not, counts as what the provider reports; if it reports nothing, and the call may have been
        answered, as its worst case.

        Args:
            model: the model.
            call: the call.
            price: the model's price, or None if unknown; then it counts as free.

        Raises:
            ModelFailed: no usable answer came; of the kind `OVER_BUDGET` if the caps are in the way.
        """
        sent = -(-call.bytes // WORST_BYTES_A_TOKEN) + added_tokens(model.name)
        received = model.output_tokens
        cost = worst = Cost(sent + received, price.worst(sent, received) if price else 0.0)
        held = self.hold(model.name, worst, is_priced=price is not None)
        limit: ModelFailed | None = None
        try:
            answer = self._in_time(model, call)
            if answer.usage != Usage() or not received:  # a program reports no tokens
                cost = _cost(answer.usage, price)
        except ModelFailed as fault:
            if fault.usage and fault.usage != Usage():
                cost = _cost(fault.usage, price)
            elif fault.kind not in _MAY_BE_PAID:
                cost = Cost()
            limit = fault if fault.kind is FailureKind.RATE_LIMITED else None
            raise
        finally:
            self.settle(held, cost, limit)
        return answer

    def _in_time(self, model: Model, call: Call) -> ModelAnswer:
        left = self.seconds_left()
        if left is None:
            return model.ask(call)
        try:
            return with_deadline(left, lambda: model.ask(call))
        except TimeoutError:
            why = "was still answering when max_minutes ran out"
            raise ModelFailed(provider_of(model.name), why, FailureKind.OVER_BUDGET, usage=Usage()) from None

    def seconds_left(self) -> float | None:
        """Return the seconds left of the night, or None if its time is not limited."""
        return None if self._end is None else max(0.0, self._end - self._clock())

    def pause(self, seconds: float) -> None:
        """Sleep, but not beyond the end."""
        left = self.seconds_left()
        time.sleep(seconds if left is None else min(seconds, left))

    def hold(self, who: str, worst: Cost, *, is_priced: bool = True) -> str:
        """Check that the most that a call may cost fits, and return a name to settle it by.

        Args:
            who: the model.
            worst: the most that it may cost.
            is_priced: whether the model's price is known.

        Raises:
            ModelFailed: it does not fit.
        """
        if why := self._why_not(worst):
            raise ModelFailed(provider_of(who), why, FailureKind.OVER_BUDGET)
        name, usd = uuid.uuid4().hex, worst.usd if is_priced else None
        if self._guard and (why := self._guard.reserve(name, who, worst.tokens, usd, self.seconds_left())):
            self.settle(name, Cost())
            raise ModelFailed(provider_of(who), why, FailureKind.OVER_BUDGET)
        return name

    def settle(self, name: str, cost: Cost, limit: ModelFailed | None = None) -> None:
        """Count a call's real cost; `limit` is the failure of one that came too fast."""
        if self._guard:
            after = limit.retry_after if limit else None
            self._guard.settle(name, cost.tokens, cost.usd, limited=limit is not None, retry_after=after)
        self.spent += cost

    def _why_not(self, worst: Cost) -> str:
        if self.seconds_left() == 0:
            return f"was skipped: the night's max_minutes = {self._caps.max_minutes:g} are over"
        usd, tokens = self._caps.max_usd, self._caps.max_tokens
        if usd is not None and self.spent.usd + worst.usd > usd:
            cap, spent, most = f"max_usd = {usd:g}", f"${self.spent.usd:.4f}", f"${worst.usd:.4f}"
            fits = worst.usd <= usd
        elif tokens is not None and self.spent.tokens + worst.tokens > tokens:
            cap, spent, most = f"max_tokens = {tokens}", f"{self.spent.tokens:,}", f"{worst.tokens:,} tokens"
            fits = worst.tokens <= tokens
        else:
            return ""
        if not fits:
            return f"was skipped: one call may cost {most}, more than {cap} allows for a night; raise the cap"
        return f"was skipped: {spent} of {cap} is spent, and one call may cost {most}"


def _cost(usage: Usage, price: Price | None) -> Cost:
    return Cost(usage.input_tokens + usage.output_tokens, price.cost(usage) if price else usage.usd)


# ---------------------------------------- whoever started the night


GUARD: Final = "CURATE_GUARD"
"""The environment variable with the number of the socket that the starter has left open."""
_GRACE = 10.0
_SLOW = 5.0


class Guard:
    """The connection to the starter.

    Args:
        connection: the socket.
        keys: provider → the key that it is called with.
        alone: what is done if the starter dies.
    """

    def __init__(self, connection: socket.socket, keys: Mapping[str, str], alone: Callable[[], None]) -> None:
        self._socket, self._alone = connection, alone
        self._buckets = {
            provider: f"{provider}:{hashlib.sha256(key.encode()).hexdigest()[:16]}" for provider, key in keys.items()
        }
        self._answers = queue.SimpleQueue[str]()
        threading.Thread(target=self._listen, name="guard", daemon=True).start()

    def reserve(self, call: str, model: str, tokens: int, usd: float | None, seconds: float | None) -> str:
        """Wait until a call is granted; return why it is not, or an empty string.

        Args:
            call: a name that no other call has, a UUID.
            model: provider and model.
            tokens: the most that the call may need.
            usd: the most that it may cost, or None if the price is unknown.
            seconds: the longest wait, or None.
        """
        provider = model.partition(":")[0]
        bucket = self._buckets.get(provider, provider)
        self._send({"call": call, "bucket": bucket, "tokens": tokens, "usd": usd})
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            return "was skipped: the night's time was over before it was its turn"

    def settle(self, call: str, tokens: int, usd: float, *, limited: bool, retry_after: float | None) -> None:
        """Tell the starter what a call cost.

        Args:
            call: its name.
            tokens: what it used.
            usd: what that cost.
            limited: whether the provider refused it because of its rate.
            retry_after: how long the provider asks to wait, or None.
        """
        slow = (retry_after or _SLOW) if limited else None
        self._send({"call": call, "spent": [tokens, usd], "slow": slow})

    def _send(self, message: Mapping[str, object]) -> None:
        # Without a starter, the other thread ends the process.
        with contextlib.suppress(OSError):
            self._socket.sendall(json.dumps(message).encode() + b"\n")

    def _listen(self) -> None:
        try:
            with self._socket, self._socket.makefile("rb") as lines:
                for line in lines:
                    self._answers.put(json.loads(line).get("why", ""))
        except (OSError, ValueError):
            pass
        self._alone()


def end_alone() -> None:
    """End this process and its group: politely, so that git's own children end, too, and then for certain."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE)
    os.killpg(0, signal.SIGKILL)


def open_guard(user: UserSettings) -> Guard | None:
    """Return the guard of this night, or None if its starter asks for nothing. Programs that it runs do not see it."""
    number = os.environ.pop(GUARD, "")
    if not number:
        return None
    connection = socket.socket(fileno=int(number))
    connection.set_inheritable(False)
    return Guard(connection, {name: one.api_key for name, one in user.models.items() if one.api_key}, end_alone)
