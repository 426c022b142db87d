"""Asking before spending: a night asks whoever started it, before each call of a model, whether it may make it.

Its starter hands a socket down, which needs no address and no key. The messages are lines of JSON:

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
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.user_settings import UserSettings


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
        self._buckets = {provider: f"{provider}:{_mark(key)}" for provider, key in keys.items()}
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


def _mark(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:16]
