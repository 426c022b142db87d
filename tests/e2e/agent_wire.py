"""A local server that speaks what the agents speak: Anthropic's messages, OpenAI's responses and Gemini's contents.

Claude Code finds it by `ANTHROPIC_BASE_URL`, Codex by `openai_base_url` in its settings, Gemini CLI by
`GOOGLE_GEMINI_BASE_URL`. Prepared replies are given
in order; without any, a text. Every request is kept, so that a test sees what the model would have seen.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """What the model says: a text, or a call of a tool; with another status, an error.

    Args:
        text: the text.
        tool: the name of a tool to call instead, as the request offers it.
        arguments: what the tool is given; for the `exec` of Codex a program, as `input`.
        status: the HTTP status.
        kind: the code of an error.
    """

    text: str = "Done."
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    kind: str = ""


@dataclass(frozen=True)
class Request:
    """What a program asked: the path, its headers in small letters, and the body."""

    path: str
    headers: Mapping[str, str]
    body: Body

    @property
    def tools(self) -> list[str]:
        """The names of the tools that the model was offered; those of Codex without a name go by their type."""
        return [str(tool.get("name") or tool.get("type")) for tool in self.body.get("tools") or ()]

    def offers(self, tool: str) -> bool:
        """Whether the model may call a tool: its schema is there, or the name by which it asks for the schema."""
        return tool in self.tools or tool in self.words

    @property
    def words(self) -> str:
        """All that the model was sent, as one text to look for words in."""
        return json.dumps([self.body.get(key) for key in ("system", "instructions", "messages", "input", "contents")])


@dataclass
class AgentWire:
    """A running server: what it will say, and what it was asked.

    `by_request` decides in place of `said` where it gives something. `requests` are those for which a model answers.
    """

    url: str = ""
    said: list[Said] = field(default_factory=list)
    by_request: Callable[[Request], Said | None] | None = None
    requests: list[Request] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Request) -> Said:
        with self.lock:
            self.requests.append(request)
            chosen = self.by_request(request) if self.by_request else None
            return chosen or (self.said.pop(0) if self.said else Said())


@contextmanager
def agent_wire() -> Iterator[AgentWire]:
    """Serve on a free port of this machine until the block ends."""
    wire = AgentWire()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Made", (_Handler,), {"wire": wire}))
    server.daemon_threads = True
    wire.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wire: AgentWire

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        if path.endswith(":streamGenerateContent"):
            said = self.wire.answer(Request(path, {}, json.loads(content)))
            part = {"content": {"role": "model", "parts": [{"text": said.text}]}, "finishReason": "STOP"}
            self._send(200, "text/event-stream", f"data: {json.dumps({'candidates': [part]})}\r\n\r\n")
            return
        streams = {"/v1/messages": _messages, "/v1/responses": _responses, "/responses": _responses}
        if path not in streams:
            self._other()
            return
        headers = {key.lower(): value for key, value in self.headers.items()}
        said = self.wire.answer(Request(path, headers, json.loads(content)))
        if said.status >= 400:
            error = {"type": said.kind, "code": said.kind, "message": said.text}
            self._send(said.status, "application/json", json.dumps({"type": "error", "error": error}))
            return
        events = streams[path](said)
        rows = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send(200, "text/event-stream", "".join(rows))

    def do_GET(self) -> None:
        self._other()

    def do_HEAD(self) -> None:
        self._other()

    def _other(self) -> None:
        self.wire.others.append(f"{self.command} {self.path}")
        # Codex asks for a WebSocket first, and takes a stream at once where it is told that there is none.
        status = 426 if self.headers.get("upgrade") else 404
        self._send(status, "application/json", "" if self.command == "HEAD" else "{}")

    def _send(self, status: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing: the base class writes to standard error."""


def _messages(said: Said) -> Iterator[Body]:
    """Yield the events of one message of Anthropic's."""
    usage = {"input_tokens": 12, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000}
    message = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001"}
    stops: Body = {"stop_reason": None, "stop_sequence": None}
    yield {
        "type": "message_start",
        "message": {**message, **stops, "content": [], "usage": {**usage, "output_tokens": 1}},
    }
    if said.tool:
        block: Body = {"type": "tool_use", "id": "toolu_01", "name": said.tool, "input": {}}
        delta: Body = {"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": said.text}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stops["stop_reason"] = "tool_use" if said.tool else "end_turn"
    yield {"type": "message_delta", "delta": stops, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}


def _responses(said: Said) -> Iterator[Body]:
    """Yield the events of one response of OpenAI's."""
    response: Body = {"id": "resp_01", "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    if said.tool:
        item: Body = {"type": "function_call", "id": "fc_01", "call_id": "call_01", "name": said.tool}
        item["arguments"] = json.dumps(said.arguments)
        if said.tool == "exec":  # Codex's tool that takes a program in place of JSON
            item = {**item, "type": "custom_tool_call", "input": said.arguments["input"]}
    else:
        item = {"type": "message", "id": "msg_01", "role": "assistant", "status": "completed"}
        item["content"] = [{"type": "output_text", "text": said.text, "annotations": []}]
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {
        "input_tokens": 1112,
        "input_tokens_details": {"cached_tokens": 1000},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 1121,
    }
    yield {
        "type": "response.completed",
        "response": {**response, "status": "completed", "output": [item], "usage": usage},
    }
