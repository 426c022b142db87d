"""A tool server of the Model Context Protocol over standard input and output: JSON-RPC, one message on each line.

A session waits a second at most for the list of tools, so this module imports nothing slow. Messages are answered one
after the other. Standard output belongs to the protocol; other output goes to standard error.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Json = dict[str, Any]


VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions of the protocol, newest first; the answers are the same in all of them."""
_PARSE, _REQUEST, _METHOD, _PARAMS = -32700, -32600, -32601, -32602
_LONGEST_NAME = 60


class _Refused(Exception):
    """Raised to answer a request with a protocol error: its code and a sentence."""


class ToolServer:
    """Serves tools to one client.

    Args:
        about: the server's name and version.
        instructions: what a model should know about the tools as a whole.
        tools: each as `tools/list` shows it. Their schemas may use only what `argument_faults` knows.
        call: runs a tool, by its name and checked arguments, and returns its answer; raises what goes wrong.
    """

    def __init__(self, about: Json, instructions: str, tools: Sequence[Json], call: Callable[[str, Json], str]) -> None:
        self._hello = {"capabilities": {"tools": {}}, "serverInfo": about, "instructions": instructions}
        self._tools = {tool["name"]: tool for tool in tools}
        self._run_tool = call

    def run(self) -> None:
        """Serve until the client closes the connection, or a signal ends the process."""
        lines, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDONLY)  # programs that a tool starts get neither of these
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
                signal.signal(number, lambda number, _frame: sys.exit(128 + number))
        with contextlib.suppress(BrokenPipeError), lines, out:  # the client may go away
            for line in filter(bytes.strip, lines):
                try:
                    message = json.loads(line.decode())
                except (ValueError, RecursionError):
                    answer: Json | None = _error(None, _PARSE, "The line is not JSON.")
                else:
                    answer = self._answer(message)
                if answer:
                    # A lone surrogate, which UTF-8 cannot encode, becomes a question mark.
                    out.write(json.dumps(answer, ensure_ascii=False).encode(errors="replace") + b"\n")
                    out.flush()

    def _answer(self, message: object) -> Json | None:
        """Return the answer to one message, or None if it needs none."""
        ident = message.get("id") if isinstance(message, dict) else None
        ident = ident if isinstance(ident, str | int) and not isinstance(ident, bool) else None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return _error(ident, _REQUEST, "This is not a message of JSON-RPC 2.0.")
        method, params = message.get("method"), message.get("params")
        params = {} if params is None else params
        if not isinstance(method, str):
            is_answer = "result" in message or "error" in message
            return None if is_answer else _error(ident, _REQUEST, "The message names no method.")
        if "id" not in message:
            return None
        if ident is None:
            return _error(None, _REQUEST, "The id of a request must be a string or an integer.")
        try:
            return {"jsonrpc": "2.0", "id": ident, "result": self._result(method, params)}
        except _Refused as refused:
            return _error(ident, *refused.args)

    def _result(self, method: str, params: object) -> Json:
        if not isinstance(params, dict):
            raise _Refused(_PARAMS, "params must be an object.")
        if method == "tools/call":
            return self._call(params.get("name"), params.get("arguments"))
        if method == "tools/list":
            return {"tools": list(self._tools.values())}
        if method == "initialize":
            asked = params.get("protocolVersion")
            return {"protocolVersion": asked if asked in VERSIONS else VERSIONS[0], **self._hello}
        if method == "ping":
            return {}
        raise _Refused(_METHOD, f"There is no method {method[:_LONGEST_NAME]!r}.")

    def _call(self, name: object, arguments: object) -> Json:
        """Return what a tool answers; an invalid call gets an answer too, for the model to read."""
        given = {} if arguments is None else arguments
        if not isinstance(name, str) or not isinstance(given, dict):
            raise _Refused(_PARAMS, "A call needs the name of a tool, and its arguments as an object.")
        tool = self._tools.get(name)
        if tool is None:
            return _content(
                f"Unknown tool: {name[:_LONGEST_NAME]!r}. The tools are {', '.join(self._tools)}.", failed=True
            )
        schema = tool["inputSchema"]
        known, needed = schema["properties"], schema["required"]
        given = {  # clients send what they leave out as null or empty
            name: _exact(value) if known.get(name, {}).get("type") == "integer" else value
            for name, value in given.items()
            if name in needed or value not in (None, "", [], {})
        }
        if faults := argument_faults(given, schema):
            return _content(" ".join(faults), failed=True)
        for key, value in given.items():
            if isinstance(value, str):  # lone surrogates become question marks
                given[key] = value.encode(errors="replace").decode()
        try:
            return _content(self._run_tool(name, given))
        except Exception as fault:  # noqa: BLE001  the client needs an answer, and the next call its turn
            from pipelines.errors import CurateError  # noqa: PLC0415  only failures need it

            if isinstance(fault, CurateError):
                return _content(str(fault), failed=True)
            sys.excepthook(type(fault), fault, fault.__traceback__)
            return _content(f"{name} failed with {type(fault).__name__}: this is a bug in memcurate.", failed=True)


def _error(ident: str | int | None, code: int, sentence: str) -> Json:
    return {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": sentence}}


def _content(text: str, *, failed: bool = False) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def _exact(value: object) -> object:
    """Return a whole number as an integer: agents also write `"5"` and 5.0."""
    if isinstance(value, str | float):
        with contextlib.suppress(ValueError):
            return int(float(value)) if float(value).is_integer() else value
    return value


def argument_faults(given: Json, schema: Json) -> list[str]:
    """Return a sentence for each invalid argument, which names it and says what is allowed.

    Args:
        given: the arguments of a call.
        schema: the tool's schema: a closed object, whose properties are strings with a length, enums, or integers in
            a range.
    """
    known = schema["properties"]
    faults = [f"There is no argument {name!r}; there are {', '.join(known)}." for name in given if name not in known]
    for name, allowed in known.items():
        is_missing = name not in given
        if name in schema["required"] if is_missing else not _fits(given[name], allowed):
            faults.append(f"The argument {name} {'is missing; it ' * is_missing}must fit {json.dumps(allowed)}.")
    return faults


def _fits(value: object, schema: Json) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "integer":
        return type(value) is int and schema["minimum"] <= value <= schema["maximum"]
    return isinstance(value, str) and schema["minLength"] <= len(value) <= schema["maxLength"]
