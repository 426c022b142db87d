"""Local servers that speak the wires of Anthropic, Gemini and OpenAI: the real clients talk to them through base_url.

Each refuses what the real one refuses: another path or method, a missing or wrong key, sampling settings that are gone,
a schema that is not closed. Prepared answers are given in order; without any, a good empty one.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Check = Callable[[str, Mapping[str, str], dict[str, Any]], "Prepared | None"]

KEY = "test-key-of-nobody"
Body = dict[str, Any]


@dataclass(frozen=True)
class Prepared:
    """One HTTP answer.

    `cut` closes the connection amid the body; `hold` answers only when the test is over; `drip` gives the body a byte
    at a time, each soon enough for a library's own time limit; `reset` closes before anything is said; `gate` is
    passed before anything is said.
    """

    status: int = 200
    body: Body | str = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    cut: bool = False
    hold: bool = False
    drip: bool = False
    reset: bool = False
    gate: Callable[[], object] = lambda: None

    @property
    def content(self) -> bytes:
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass
class Wire:
    """A running server: what it will answer, and what it was asked."""

    url: str = ""
    answers: list[Prepared] = field(default_factory=list)
    by_request: Callable[[Body], Prepared] | None = None
    requests: list[Body] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wire: Wire
    check: Check
    good: Callable[[], Prepared]

    def do_POST(self) -> None:
        wire, made = self.wire, type(self)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        wire.requests.append(body)
        refusal = made.check(self.path, {key.lower(): value for key, value in self.headers.items()}, body)
        if refusal:
            wire.refused.append(refusal.content.decode())
        prepared = wire.by_request(body) if wire.by_request else wire.answers.pop(0) if wire.answers else made.good()
        self._send(refusal or prepared)

    def _send(self, answer: Prepared) -> None:
        self.close_connection = answer.cut or answer.hold or answer.drip or answer.reset
        answer.gate()
        if answer.reset:
            return
        if answer.hold:
            self.wire.over.wait(timeout=30)
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        self.send_header("content-length", str(len(answer.content)))
        for key, value in answer.headers.items():
            self.send_header(key, value)
        self.end_headers()
        self._write(answer)

    def _write(self, answer: Prepared) -> None:
        content = answer.content
        if not answer.drip:
            self.wfile.write(content[: len(content) // 2] if answer.cut else content)
            return
        for at in range(len(content)):
            self.wfile.write(content[at : at + 1])
            if self.wire.over.wait(timeout=0.02):
                return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing: the base class writes to standard error."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that gave up waiting is what some tests are about."""


@contextmanager
def _serving(check: Check, good: Callable[[], Prepared]) -> Iterator[Wire]:
    wire = Wire()
    handler = type("_Made", (_Handler,), {"wire": wire, "check": staticmethod(check), "good": staticmethod(good)})
    server = _Server(("127.0.0.1", 0), handler)
    wire.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield wire
    finally:
        wire.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


# ---------------------------------------------------------------- Anthropic


def anthropic_wire() -> AbstractContextManager[Wire]:
    return _serving(_check_anthropic, lambda: message('{"items": []}'))


def message(*texts: str, stop: str = "end_turn", thinking: bool = True, **changes: Any) -> Prepared:
    """Return a whole message, with the thinking block that the current small model puts first."""
    content: list[Body] = [{"type": "thinking", "thinking": "", "signature": "sig"}] if thinking else []
    content += [{"type": "text", "text": text} for text in texts]
    usage = {
        "input_tokens": 12,
        "output_tokens": 9,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 1000,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 0},
        "output_tokens_details": {"thinking_tokens": 4},
        "service_tier": "standard",
    }
    body = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-haiku-5-5", "content": content}
    stops = {"stop_reason": stop, "stop_sequence": None, "stop_details": None}
    return Prepared(body={**body, **stops, "usage": usage, **changes}, headers={"request-id": "req_01"})


def anthropic_error(status: int, kind: str, text: str = "m", **headers: str) -> Prepared:
    body = {"type": "error", "error": {"type": kind, "message": text, "details": None}, "request_id": "req_x"}
    return Prepared(status, body, {key.replace("_", "-"): value for key, value in headers.items()})


def _check_anthropic(path: str, headers: Mapping[str, str], body: Body) -> Prepared | None:
    if path != "/v1/messages":
        return anthropic_error(404, "not_found_error", path)
    if headers.get("authorization") != f"Bearer {KEY}" and headers.get("x-api-key") != KEY:
        return anthropic_error(401, "authentication_error", "invalid key")
    if "anthropic-version" not in headers:
        return anthropic_error(400, "invalid_request_error", "no version")
    gone = {"temperature", "top_p", "top_k", "output_format"} & set(body)
    missing = {"model", "max_tokens", "messages"} - set(body)
    schema = body.get("output_config", {}).get("format", {}).get("schema", {})
    if gone or missing or body["messages"][-1]["role"] != "user" or not _closed(schema):
        return anthropic_error(400, "invalid_request_error", f"{gone} {missing}")
    return None


def _closed(schema: object) -> bool:
    """Whether every object of a schema is closed and no keyword that the API refuses is in it."""
    if isinstance(schema, list):
        return all(_closed(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return False
    if {"maxLength", "minLength", "maximum", "minimum", "pattern", "maxItems"} & set(schema):
        return False
    return all(_closed(part) for part in schema.values())


# ---------------------------------------------------------------- Gemini


def gemini_wire() -> AbstractContextManager[Wire]:
    return _serving(_check_gemini, lambda: generated('{"items": []}'))


def generated(*texts: str, finish: str = "STOP", **changes: Any) -> Prepared:
    """Return a whole response, with a thought before the text."""
    parts: list[Body] = [{"text": "let me see", "thought": True}, *({"text": text} for text in texts)]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 7, "thoughtsTokenCount": 3, "totalTokenCount": 15}
    body = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3.8-flash", "responseId": "r1"}
    return Prepared(body={**body, **changes})


def gemini_error(status: int, name: str, text: str = "m", details: list[Body] | None = None) -> Prepared:
    return Prepared(status, {"error": {"code": status, "message": text, "status": name, "details": details or []}})


def _check_gemini(path: str, headers: Mapping[str, str], body: Body) -> Prepared | None:
    if not path.startswith("/v1/models/") or not path.endswith(":generateContent"):
        return gemini_error(404, "NOT_FOUND", path)
    if headers.get("x-goog-api-key") != KEY:
        return gemini_error(400, "INVALID_ARGUMENT", "API key not valid.", [{"reason": "API_KEY_INVALID"}])
    config = body.get("generationConfig", {})
    if "contents" not in body or (config.get("responseJsonSchema") and "responseMimeType" not in config):
        return gemini_error(400, "INVALID_ARGUMENT")
    return None


# ---------------------------------------------------------------- OpenAI


def openai_wire(*, formats: tuple[str, ...] = ("json_schema", "json_object")) -> AbstractContextManager[Wire]:
    """Serve chat completions; `formats` are the ways of asking for JSON that this server understands."""
    return _serving(
        lambda path, headers, body: _check_openai(path, headers, body, formats), lambda: completion('{"items": []}')
    )


def completion(text: str | None, finish: str = "stop", **changes: Any) -> Prepared:
    message = {"role": "assistant", "content": text, "refusal": None}
    usage = {"prompt_tokens": 20, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 16}}
    choice = {"index": 0, "message": {**message, **changes.pop("message", {})}, "finish_reason": finish}
    body = {"id": "c1", "object": "chat.completion", "model": "qwen3", "choices": [choice], "usage": usage}
    return Prepared(body={**body, **changes})


def openai_error(status: int, code: str | None = None, text: str = "m", **headers: str) -> Prepared:
    body = {"error": {"message": text, "type": "some_error", "param": None, "code": code}}
    return Prepared(status, body, {key.replace("_", "-"): value for key, value in headers.items()})


def _check_openai(path: str, headers: Mapping[str, str], body: Body, formats: tuple[str, ...]) -> Prepared | None:
    if path != "/v1/chat/completions":
        return openai_error(404, None, path)
    if headers.get("authorization") != f"Bearer {KEY}":
        return openai_error(401, "invalid_api_key")
    way = body.get("response_format", {}).get("type")
    if way and way not in formats:
        return openai_error(400, None, f"'response_format.type' must be one of {formats}")
    if way == "json_schema" and not _closed(body["response_format"]["json_schema"]["schema"]):
        return openai_error(400, "invalid_json_schema")
    if [one["role"] for one in body["messages"]] != ["system", "user"] or "max_tokens" not in body:
        return openai_error(400)
    return None
