"""A provider on 127.0.0.1 that knows its keys, counts what it served, and fails when it is told to.

It speaks the wire of OpenAI and answers `{}`: the rules read the day. What a call used follows from its size.
"""

from __future__ import annotations

import json
import random
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OUTPUT = 40


@dataclass(frozen=True)
class Served:
    """One call: when it came and was answered, with whose key, what it used, and the whole text."""

    began: float
    ended: float
    tenant: str
    status: int
    tokens: int
    text: str


@dataclass
class Provider:
    """A running provider.

    Args:
        keys: key → tenant; another key is refused.
        url: its address.
        seconds: how long an answer takes.
        failing: status → the share of calls that fail with it.
        calls: what it served.
        gate: nothing is answered while it is closed.
    """

    keys: Mapping[str, str]
    url: str = ""
    seconds: float = 0.0
    failing: dict[int, float] = field(default_factory=dict)
    calls: list[Served] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    chance: random.Random = field(default_factory=lambda: random.Random(26))

    def status(self) -> int:
        drawn, below = self.chance.random(), 0.0
        for status, share in self.failing.items():
            below += share
            if drawn < below:
                return status
        return 200

    def tokens(self, tenant: str = "") -> int:
        return sum(call.tokens for call in self.calls if tenant in {"", call.tenant})

    def busiest_minute(self, tenant: str) -> tuple[int, int]:
        """Return the most requests and tokens with a tenant's key in any minute."""
        began = sorted((call for call in self.calls if call.tenant == tenant), key=lambda call: call.began)
        most = (0, 0)
        for number, first in enumerate(began):
            minute = [call for call in began[number:] if call.began < first.began + 60]
            most = max(most[0], len(minute)), max(most[1], sum(call.tokens for call in minute))
        return most


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: Provider

    def do_POST(self) -> None:
        provider, began = self.provider, time.monotonic()
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        tenant = provider.keys.get(self.headers.get("authorization", "").removeprefix("Bearer "), "")
        status = provider.status() if tenant else 401
        used = 0
        body: dict[str, object] = {"error": {"message": "m", "type": "some_error", "param": None, "code": None}}
        if status == 200:
            provider.gate.wait(60)
            time.sleep(provider.seconds)
            sent = len(text) // 4
            used = sent + OUTPUT
            message = {"role": "assistant", "content": "{}", "refusal": None}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": sent, "completion_tokens": OUTPUT}
            body = {"id": "c1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
        provider.calls.append(Served(began, time.monotonic(), tenant, status, used, text))
        answer = json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            if status == 429:
                self.send_header("retry-after", "1")
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            self.close_connection = True  # whoever asked was killed

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: those who ask are killed."""


@contextmanager
def providing(keys: Mapping[str, str]) -> Iterator[Provider]:
    """Run a provider."""
    provider = Provider(keys)
    provider.gate.set()
    server = _Server(("127.0.0.1", 0), type("_Made", (_Handler,), {"provider": provider}))
    provider.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        provider.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()
