"""Local servers that take batches as Anthropic and Gemini do, through all their states; the real clients talk to them.

A batch stays as it is until a test moves it on (`finish`). What is answered is paid, one by one or in a batch, and the
server remembers for which day, so that a test can say that nothing was paid twice.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from tests.models.wire import (
    Prepared,
    _check_anthropic,
    _check_gemini,
    _Server,
    anthropic_error,
    gemini_error,
    generated,
    message,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.models.wire import (
        Body,
    )

KINDS = ("succeeded", "errored", "canceled", "expired")


@dataclass
class Batch:
    """One batch: its calls, and how far it is."""

    ident: str
    calls: dict[str, Body]
    mark: str = ""
    state: str = "open"
    answers: dict[str, Body] = field(default_factory=dict)
    fates: dict[str, str] = field(default_factory=dict)


@dataclass
class Provider:
    """A provider with its batches.

    `answer` makes the text of a reply from a call's words. `trouble` maps an operation (create, get, results, list,
    cancel, ask) to what happens at its next occurrences: a prepared answer in place of the right one, or a function
    that is given the right one, after it happened, and returns what is sent.
    """

    answer: Callable[[str], str] = lambda _: '{"items": []}'
    url: str = ""
    batches: dict[str, Batch] = field(default_factory=dict)
    trouble: dict[str, list[Prepared | Callable[[Prepared], Prepared]]] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    operations: list[str] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    arrange: Callable[[list[Body]], list[Body]] = lambda rows: rows
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, operation: str) -> int:
        return self.operations.count(operation)

    def finish(self, fate: str = "succeeded", *, but: Mapping[int, str] | None = None) -> None:
        """End every open batch: each call as `fate` says, except those whose numbers are named."""
        for batch in self.batches.values():
            if batch.state == "open":
                batch.state = "ended"
                for number, (ident, call) in enumerate(batch.calls.items()):
                    batch.fates[ident] = (but or {}).get(number, fate)
                    if batch.fates[ident] == "succeeded":
                        batch.answers[ident] = self.made(call)

    def made(self, call: Body) -> Body:
        """Answer one call, for money."""
        words = json.dumps(call)
        day = re.search(r"Day of the log: (\d{4}-\d\d-\d\d)", words)
        self.paid[day[1] if day else "?"] += 1
        body = self.shape(self.answer(json.dumps(call, ensure_ascii=False))).body
        assert isinstance(body, dict)
        return body

    shape: Callable[[str], Prepared] = message
    end: str = "succeeded"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: Provider
    route: Callable[[Provider, str, str, Mapping[str, str], Body], tuple[str, Callable[[], Prepared]]]

    def do_POST(self) -> None:
        self._serve("POST")

    def do_GET(self) -> None:
        self._serve("GET")

    def _serve(self, method: str) -> None:
        provider, made = self.provider, type(self)
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {key.lower(): value for key, value in self.headers.items()}
        with provider.lock:
            provider.bodies.append(body)
            operation, do = made.route(provider, method, self.path, headers, body)
            provider.operations.append(operation)
            queue = provider.trouble.get(operation)
            wrong = queue.pop(0) if queue else None
            answer = wrong if isinstance(wrong, Prepared) else wrong(do()) if wrong is not None else do()
        self._send(answer)

    def _send(self, answer: Prepared) -> None:
        self.close_connection = answer.cut or answer.reset
        if answer.reset:
            return
        content = answer.content
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        self.send_header("content-length", str(len(content)))
        for key, value in answer.headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if answer.cut else content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing: the base class writes to standard error."""


@contextmanager
def _serving(provider: Provider, route: object) -> Iterator[Provider]:
    handler = type("_Made", (_Handler,), {"provider": provider, "route": staticmethod(route)})  # type: ignore[arg-type]  # a function
    server = _Server(("127.0.0.1", 0), handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def lost(_: Prepared) -> Prepared:
    """Let something happen whose answer never arrives."""
    return Prepared(reset=True)


def cut(answer: Prepared) -> Prepared:
    return Prepared(answer.status, answer.body, answer.headers, answer.content_type, cut=True)


# ---------------------------------------------------------------- Anthropic


@contextmanager
def anthropic_batches(answer: Callable[[str], str]) -> Iterator[Provider]:
    with _serving(Provider(answer, shape=message), _route_anthropic) as provider:
        yield provider


def _route_anthropic(
    provider: Provider, method: str, path: str, headers: Mapping[str, str], body: Body
) -> tuple[str, Callable[[], Prepared]]:
    refusal = _check_anthropic("/v1/messages", headers, body if path == "/v1/messages" else _SOUND)
    if refusal:
        provider.refused.append(refusal.content.decode())
        return "refused", lambda: refusal
    path, _, query = path.partition("?")
    if (method, path) == ("POST", "/v1/messages"):
        return "ask", lambda: Prepared(body=provider.made(body))
    if (method, path) == ("POST", "/v1/messages/batches"):
        return "create", lambda: _create_anthropic(provider, headers, body)
    if (method, path) == ("GET", "/v1/messages/batches"):
        assert query == "limit=100"
        rows = [_batch_body(batch) for batch in reversed(provider.batches.values())]
        return "list", lambda: Prepared(body={"data": rows, "has_more": False, "first_id": None, "last_id": None})
    found = re.fullmatch(r"/v1/messages/batches/([^/]+)(/results|/cancel)?", path)
    batch = provider.batches.get(found[1]) if found else None
    if not found or not batch:
        return "unknown", lambda: anthropic_error(404, "not_found_error", path)
    return {
        None: ("get", lambda: Prepared(body=_batch_body(batch))),
        "/cancel": ("cancel", lambda: _cancel_anthropic(provider, batch)),
        "/results": ("results", lambda: Prepared(body=_lines(provider, batch), content_type="application/binary")),
    }[found[2]]


_SOUND: Body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": ""}]}


def _create_anthropic(provider: Provider, headers: Mapping[str, str], body: Body) -> Prepared:
    ids = [one["custom_id"] for one in body["requests"]]
    for one in body["requests"]:
        refusal = _check_anthropic("/v1/messages", headers, one["params"])
        if refusal or set(one) != {"custom_id", "params"} or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one["custom_id"]):
            provider.refused.append(str(refusal))
            return refusal or anthropic_error(400, "invalid_request_error")
    if len(set(ids)) != len(ids):
        return anthropic_error(400, "invalid_request_error", "custom_ids must be unique")
    batch = Batch(f"msgbatch_{len(provider.batches):02}", {one["custom_id"]: one["params"] for one in body["requests"]})
    provider.batches[batch.ident] = batch
    return Prepared(body=_batch_body(batch))


def _cancel_anthropic(provider: Provider, batch: Batch) -> Prepared:
    if batch.state == "ended":
        return anthropic_error(409, "invalid_request_error", "it has ended")
    batch.state = "canceling"
    told = Prepared(body=_batch_body(batch))
    if provider.end == "canceled":
        batch.state = "open"
        provider.finish("canceled")
    return told


def _batch_body(batch: Batch) -> Body:
    counts = Counter(batch.fates.values())
    ended = batch.state == "ended"
    return {
        "id": batch.ident,
        "type": "message_batch",
        "processing_status": {"open": "in_progress"}.get(batch.state, batch.state),
        "request_counts": {
            "processing": 0 if ended else len(batch.calls),
            **{kind: counts[kind] if ended else 0 for kind in KINDS},
        },
        "created_at": "2026-03-20T02:00:00Z",
        "expires_at": "2026-03-21T02:00:00Z",
        "ended_at": "2026-03-20T02:30:00Z" if ended else None,
        "archived_at": None,
        "cancel_initiated_at": None,
        # An address that leads elsewhere: the key must not follow it.
        "results_url": "http://127.0.0.1:9/elsewhere" if ended else None,
    }


def _lines(provider: Provider, batch: Batch) -> str:
    rows = []
    for ident in batch.calls:
        fate = batch.fates[ident]
        result: Body = {"type": fate}
        if fate == "succeeded":
            result["message"] = batch.answers[ident]
        elif fate == "errored":
            error = {"type": "invalid_request_error", "message": "bad", "details": None}
            result["error"] = {"type": "error", "error": error, "request_id": None}
        rows.append({"custom_id": ident, "result": result})
    return "".join(f"{json.dumps(row)}\n" for row in provider.arrange(rows))


# ---------------------------------------------------------------- Gemini


@contextmanager
def gemini_batches(answer: Callable[[str], str], *, as_file: bool = False) -> Iterator[Provider]:
    def route(provider: Provider, _: str, *request: Any) -> tuple[str, Callable[[], Prepared]]:
        return _route_gemini(provider, *request, as_file=as_file)

    with _serving(Provider(answer, shape=generated), route) as provider:
        yield provider


def _route_gemini(
    provider: Provider, path: str, headers: Mapping[str, str], body: Body, *, as_file: bool
) -> tuple[str, Callable[[], Prepared]]:
    path, _, query = path.partition("?")
    refusal = _check_gemini("/v1/models/m:generateContent", headers, body if "contents" in body else {"contents": []})
    if refusal:
        provider.refused.append(refusal.content.decode())
        return "refused", lambda: refusal
    if re.fullmatch(r"/v1/models/[^/:]+:generateContent", path):
        return "ask", lambda: Prepared(body=provider.made(body))
    if re.fullmatch(r"/v1/models/[^/:]+:batchGenerateContent", path):
        return "create", lambda: _create_gemini(provider, headers, body)
    if path == "/v1/batches":
        rows = [_job_body(provider, batch, as_file=as_file) for batch in provider.batches.values()]
        return "list", lambda: Prepared(body={"operations": rows})
    return _about_one(provider, path, query, as_file=as_file)


def _about_one(provider: Provider, path: str, query: str, *, as_file: bool) -> tuple[str, Callable[[], Prepared]]:
    found = re.fullmatch(r"/v1/(batches|files)/([^/:]+)(:cancel|:download)?", path)
    batch = provider.batches.get(f"batches/{found[2]}") if found else None
    if not found or not batch:
        return "unknown", lambda: gemini_error(404, "NOT_FOUND", path)
    if found[3] == ":cancel":
        return "cancel", lambda: _cancel_gemini(provider, batch)
    if found[3] == ":download":
        assert query == "alt=media"
        text = "".join(f"{json.dumps(row)}\n" for row in _rows(provider, batch, as_file=True))
        return "results", lambda: Prepared(body=text, content_type="application/octet-stream")
    return "get", lambda: Prepared(body=_job_body(provider, batch, as_file=as_file))


def _create_gemini(provider: Provider, headers: Mapping[str, str], body: Body) -> Prepared:
    rows = body["batch"]["inputConfig"]["requests"]["requests"]
    for row in rows:
        if _check_gemini("/v1/models/m:generateContent", headers, row["request"]) or not row["metadata"]["key"]:
            return gemini_error(400, "INVALID_ARGUMENT")
    ident = f"batches/b{len(provider.batches):02}"
    calls = {row["metadata"]["key"]: row["request"] for row in rows}
    provider.batches[ident] = Batch(ident, calls, body["batch"]["displayName"])
    return Prepared(body=_job_body(provider, provider.batches[ident], as_file=False))


def _cancel_gemini(provider: Provider, batch: Batch) -> Prepared:
    if provider.end == "canceled":
        provider.finish("canceled")
        batch.state = "CANCELLED"
    return Prepared(body={})


def _job_body(provider: Provider, batch: Batch, *, as_file: bool) -> Body:
    state = {"open": "PENDING", "ended": "SUCCEEDED"}.get(batch.state, batch.state)
    prefix = "JOB_STATE_" if state in {"PARTIALLY_SUCCEEDED", "CANCELLING"} else "BATCH_STATE_"
    metadata: Body = {"state": f"{prefix}{state}", "displayName": batch.mark, "createTime": "2026-03-20T02:00:00Z"}
    if state in {"SUCCEEDED", "PARTIALLY_SUCCEEDED"}:
        rows = _rows(provider, batch, as_file=False)
        inline = {"inlinedResponses": {"inlinedResponses": rows}}
        metadata["output"] = {"responsesFile": batch.ident.replace("batches", "files")} if as_file else inline
    return {"name": batch.ident, "metadata": metadata, "done": state != "PENDING"}


def _rows(provider: Provider, batch: Batch, *, as_file: bool) -> list[Body]:
    rows: list[Body] = []
    for ident in batch.calls:
        row: Body = {"key": ident} if as_file else {"metadata": {"key": ident}}
        if batch.fates.get(ident) == "succeeded":
            row["response"] = batch.answers[ident]
        elif batch.fates.get(ident) == "errored":
            row["error"] = {"code": 3, "message": "bad"}
        else:
            continue
        rows.append(row)
    return provider.arrange(rows)
