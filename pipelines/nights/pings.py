"""Pings of a monitor (healthchecks and its kind): a run that begins, ends well or fails says so to the user's address.

They never hold up a night: each has a few seconds, and one that fails is a sentence in the report and nothing else.
"""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from pipelines.search.embedders.remote import opened

SECONDS: Final = 3.0
"""How long a ping has, from the address's name to its answer."""


class Pings:
    """The pings of one run.

    Args:
        url: the address, which is as good as a key and appears in no message; empty for no pings.
        seconds: how long each has.
    """

    def __init__(self, url: str, seconds: float = SECONDS) -> None:
        self._url, self._seconds = url, seconds
        self._start: _Ping | None = None

    def begin(self) -> None:
        """Say that a run begins; it goes on at once."""
        self._start = _Ping(_with_path(self._url, "/start")) if self._url else None

    def end(self, *, well: bool) -> list[str]:
        """Say that it ended, and return a sentence for each ping that nobody took; after twice the time at the most."""
        if not self._url:
            return []
        faults = [f"The ping at the beginning of the run {self._start.wait(self._seconds)}."] if self._start else []
        last = _Ping(self._url if well else _with_path(self._url, "/fail"))
        faults.append(f"The ping at the end of the run {last.wait(self._seconds)}.")
        return [fault for fault in faults if not fault.endswith(f" {_TAKEN}.")]


_TAKEN: Final = "was taken"


class _Ping:
    """A request under way, in a thread that no run and no end of a run waits for."""

    def __init__(self, url: str) -> None:
        self._why = "got no answer in time"
        self._url = url
        self._thread = threading.Thread(target=self._send, name="ping", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> str:
        """Return how it went, the end of a sentence that begins with the ping."""
        self._thread.join(seconds)
        return self._why

    def _send(self) -> None:
        try:
            request = urllib.request.Request(self._url, headers={"User-Agent": "memcurate"})  # noqa: S310  http(s) alone
            with opened(request, SECONDS):
                self._why = _TAKEN
        except urllib.error.HTTPError as refusal:
            self._why = f"was answered with status {refusal.code}"
            refusal.close()
        except TimeoutError:
            return
        except Exception as fault:  # noqa: BLE001  whatever an address on the net makes of it, the night goes on
            timed_out = isinstance(getattr(fault, "reason", None), TimeoutError)
            self._why = self._why if timed_out else "could not be sent: its address could not be reached"


def _with_path(url: str, more: str) -> str:
    """Return an address with more at the end of its path; what follows a `?` stays."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + more))
