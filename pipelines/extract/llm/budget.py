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
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, Model, ModelAnswer, provider_of
from pipelines.provider_settings import added_tokens
from pipelines.usage import FailureKind, Usage, usd_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.user_settings import CostCaps, UserSettings

# A safe bound for ordinary text in any script: a reservation must not be too small.
WORST_BYTES_A_TOKEN = 2
_MAY_BE_PAID = frozenset({FailureKind.TIMED_OUT, FailureKind.UNUSABLE})


class Budget:
    """The remaining budget of a night.

    Args:
        caps: the caps.
        spent: what earlier runs of the day used and cost.
        guard: whoever started this night and wants to be asked, or None.
    """

    def __init__(self, caps: CostCaps, spent: Usage, guard: Guard | None = None) -> None:
        self.spent = spent
        self._caps, self._guard = caps, guard

    def ask(self, model: Model, call: Call) -> ModelAnswer:
        """Have a model make a call, once, if that fits.

        A call, failed or not, counts as what the provider reports; if it reports nothing, and the call may have been
        answered, as its worst case. A call at an unknown price counts as free.

        Raises:
            ModelFailed: no usable answer came; of the kind `OVER_BUDGET` if the caps are in the way.
        """
        sent = -(-call.bytes // WORST_BYTES_A_TOKEN) + added_tokens(model.name)
        worst = Usage(sent, model.output_tokens, written_tokens=sent)
        usd = usd_of(model.name, worst)
        used, limit, ident = replace(worst, usd=usd or 0.0), None, uuid.uuid4().hex
        why = self._why_not(used)
        if self._guard and not why:
            why = self._guard.reserve(ident, model.name, used.tokens, usd)
        if why:
            raise ModelFailed(provider_of(model.name), why, FailureKind.OVER_BUDGET)
        try:
            answer = model.ask(call)
            if answer.usage != Usage() or not model.output_tokens:  # a program reports no tokens
                used = answer.usage
        except ModelFailed as fault:
            if fault.usage and fault.usage != Usage():
                used = fault.usage
            elif fault.kind not in _MAY_BE_PAID:
                used = Usage()
            limit = fault if fault.kind is FailureKind.RATE_LIMITED else None
            raise
        finally:
            used = replace(used, usd=usd_of(model.name, used) or 0.0)
            if self._guard:
                self._guard.settle(ident, used, limit)
            self.spent += used
        return answer

    def _why_not(self, worst: Usage) -> str:
        usd, tokens = self._caps.max_usd, self._caps.max_tokens
        if usd is not None and self.spent.usd + worst.usd > usd:
            cap, spent, most = f"max_usd = {usd:g}", f"${self.spent.usd:.4f}", f"${worst.usd:.4f}"
        elif tokens is not None and self.spent.tokens + worst.tokens > tokens:
            cap, spent, most = f"max_tokens = {tokens}", f"{self.spent.tokens:,}", f"{worst.tokens:,} tokens"
        else:
            return ""
        return f"was skipped: {spent} of {cap} is spent, and one call may cost {most}"


# ---------------------------------------- whoever started the night


GUARD = "CURATE_GUARD"
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

    def reserve(self, call: str, model: str, tokens: int, usd: float | None) -> str:
        """Wait until a call is granted; return why it is not, or an empty string.

        Args:
            call: a name that no other call has, a UUID.
            model: provider and model.
            tokens: the most that the call may need.
            usd: the most that it may cost, or None if the price is unknown.
        """
        provider = provider_of(model)
        bucket = self._buckets.get(provider, provider)
        self._send({"call": call, "bucket": bucket, "tokens": tokens, "usd": usd})
        return self._answers.get()

    def settle(self, call: str, used: Usage, limit: ModelFailed | None) -> None:
        """Tell the starter what a call used and cost; `limit` is the failure of one that came too fast."""
        slow = (limit.retry_after or _SLOW) if limit else None
        self._send({"call": call, "spent": [used.tokens, used.usd], "slow": slow})

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
