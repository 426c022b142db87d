"""The protocol of the tools: what is answered to whom and when, and that nothing that is sent ends the server."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # its stubs are a package of their own

from pipelines.agents.tool_server import VERSIONS, argument_faults
from pipelines.mcp import TOOLS
from tests.mcp.test_mcp_server import CURATE, HELLO, message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Memory

LOG = {"name": "memory_log", "arguments": {"text": "held up"}}


class Server:
    """A server as a process, to which anything can be said."""

    def __init__(self, root: Path | str, *command: str) -> None:
        self.process = subprocess.Popen(
            [*(command or (CURATE, "mcp")), "--memory", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def say(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, data: bytes) -> Any:
        self.say(data)
        return self.hear()

    def end(self) -> tuple[bytes, bytes, int]:
        """Close the client's end, and return what else was printed on both streams, and the exit code."""
        out, err = self.process.communicate()
        return out, err, self.process.returncode


@pytest.fixture
def server(memory: Memory) -> Iterator[Server]:
    one = Server(memory.root)
    yield one
    one.process.kill()
    one.process.communicate()


def test_each_version_that_it_knows_is_spoken_and_else_its_newest(lasting: Server) -> None:
    others: list[Any] = ["2031-01-01", None, 7, []]
    for version in (*VERSIONS, *others):
        told = lasting.ask(message(id=1, method="initialize", params={"protocolVersion": version}))["result"]
        assert told["protocolVersion"] == (version if version in VERSIONS else VERSIONS[0])
        assert told["serverInfo"]["name"] == "memcurate"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdk_settles_on_the_newest_version(memory: Memory, mode: str) -> None:
    from mcp import StdioServerParameters  # which takes a second to load
    from mcp.client.client import Client
    from mcp.client.stdio import stdio_client

    async def main() -> str | None:
        parameters = StdioServerParameters(command=CURATE, args=["mcp", "--memory", str(memory.root)])
        async with Client(stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr), mode=mode) as client:
            return client.protocol_version

    assert anyio.run(main) == VERSIONS[0]


@pytest.mark.parametrize(
    ("line", "ident", "code"),
    [
        (b"nonsense", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b"[" * 100_000, None, -32700),
        (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b"}", None, -32700),
        (b"{}", None, -32600),
        (b"7", None, -32600),
        (b"[]", None, -32600),
        (message(id=7), 7, -32600),
        (message(id=None, method="ping"), None, -32600),
        (message(id=True, method="ping"), None, -32600),
        (message(id=1.5, method="ping"), None, -32600),
        (b'{"id": 3, "method": "ping"}', 3, -32600),
        (message(id="a", method="server/discover"), "a", -32601),
        (message(id="a", method="x" * 5000), "a", -32601),
        (message(id=1, method="ping", params=[1]), 1, -32602),
        (message(id=1, method="tools/call"), 1, -32602),
        (message(id=1, method="tools/call", params={"name": 7}), 1, -32602),
        (message(id=1, method="tools/call", params={"name": "memory_log", "arguments": [1]}), 1, -32602),
    ],
)
def test_what_is_no_request_is_answered_with_the_code_that_says_so(
    lasting: Server, line: bytes, ident: Any, code: int
) -> None:
    told = lasting.ask(line.strip() + b"\n")
    assert (told["id"], told["error"]["code"]) == (ident, code)
    assert told["error"]["message"].endswith(".")
    assert len(told["error"]["message"]) < 200
    assert lasting.ask(message(id=9, method="ping")) == {"jsonrpc": "2.0", "id": 9, "result": {}}


def test_what_wants_no_answer_gets_none(server: Server) -> None:
    server.say(
        b"\n \r\n"
        + message(method="notifications/initialized")
        + message(method="notifications/cancelled", params={"requestId": [1]})
        + message(method="unknown/notification", params=7)
        + message(id=3, result={})
        + message(id=4, error={"code": 1, "message": "x"})
        + message(id=9, method="ping")
    )
    assert server.hear()["id"] == 9
    assert server.end() == (b"", b"", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_without_a_word(server: Server, number: int) -> None:
    server.ask(HELLO)
    server.process.send_signal(number)
    assert server.process.wait() == 128 + number
    assert server.end()[:2] == (b"", b"")


def test_a_tool_that_breaks_is_an_answer_and_no_end(memory: Memory) -> None:
    code = "import os; from pipelines.api import Memory; Memory.read = lambda *_: os.write(1, b'junk'); "
    code += "from pipelines.start import main; main()"
    server = Server(memory.root, sys.executable, "-c", code, "mcp")
    told = server.ask(message(id=1, method="tools/call", params={"name": "memory_read", "arguments": {"name": "x"}}))
    assert told["result"]["isError"]
    assert "memory_read failed with AttributeError: this is a bug" in told["result"]["content"][0]["text"]
    assert server.ask(message(id=2, method="ping"))["id"] == 2
    out, err, code_of_exit = server.end()
    assert (out, code_of_exit) == (b"", 0)
    assert err.startswith(b"junk")  # standard output is the protocol's
    assert b"Traceback" in err


def test_until_a_tool_is_called_nothing_heavy_is_imported(memory: Memory) -> None:
    probe = (
        "import atexit, sys\n"
        "heavy = {'click', 'dataclasses', 'inspect', 'logging', 'mcp', 'numpy', 'pathlib', 'pipelines.api',"
        " 'pipelines.cli', 'pipelines.errors', 'pydantic', 'sqlite3', 'typing'}\n"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules)), file=sys.stderr))\n"
        "from pipelines.start import main; main()\n"
    )
    server = Server(memory.root, sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{probe}", "mcp")
    server.ask(HELLO)
    assert len(server.ask(message(id=1, method="tools/list"))["result"]["tools"]) == 10
    assert server.end() == (b"", b"[]\n", 0)


@pytest.mark.e2e
def test_the_inspector_lists_the_tools_and_calls_one(memory: Memory) -> None:
    program = shutil.which("mcp-inspector")
    if not program:
        pytest.skip("npm has not installed @modelcontextprotocol/inspector")

    def inspected(*asked: str) -> Any:
        command = [program, "--cli", CURATE, "mcp", "--memory", str(memory.root), "--method", *asked]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    assert [tool["name"] for tool in inspected("tools/list")["tools"]] == [tool["name"] for tool in TOOLS]
    called = inspected("tools/call", "--tool-name", "memory_log", "--tool-arg", "text=held up")
    assert "held up" in called["content"][0]["text"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
METHODS = st.sampled_from(
    ["initialize", "ping", "tools/list", "tools/call", "notifications/cancelled", "resources/list"]
)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([tool["name"] for tool in TOOLS]) | JSON,
        "arguments": st.dictionaries(st.sampled_from(["text", "query", "item", "limit", "name"]), JSON) | JSON,
        "requestId": JSON,
        "protocolVersion": JSON,
    },
)
MESSAGES = st.fixed_dictionaries(
    {}, optional={"jsonrpc": st.just("2.0") | JSON, "id": JSON, "method": METHODS | JSON, "params": CALLS | JSON}
)
LINES = st.binary(max_size=60) | (MESSAGES | JSON | st.lists(MESSAGES, max_size=3)).map(
    lambda one: json.dumps(one).encode()
)
NUMBERS = count()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without a memory: what it is told changes nothing."""
    server = Server(tmp_path_factory.mktemp("nowhere"))
    yield server
    assert server.end()[2] == 0


def is_answer(told: Any) -> bool:
    if told["jsonrpc"] != "2.0" or not isinstance(told["id"], str | int | None) or isinstance(told["id"], bool):
        return False
    if "error" in told:
        return isinstance(told["error"]["code"], int) and isinstance(told["error"]["message"], str)
    return isinstance(told["result"], dict)


@given(lines=st.lists(LINES, max_size=4))
def test_nothing_that_is_sent_ends_it_and_each_answer_is_one(lasting: Server, lines: list[bytes]) -> None:
    last = f"last {next(NUMBERS)}"
    call = message(id=last, method="tools/call", params={"name": "memory_why", "arguments": {}})
    lasting.say(b"".join(line.replace(b"\n", b" ") + b"\n" for line in lines) + call)
    while (told := lasting.hear())["id"] != last:
        assert is_answer(told)


@given(tool=st.sampled_from(TOOLS), data=st.data())
def test_arguments_are_refused_exactly_where_the_schema_refuses_them(tool: dict[str, Any], data: st.DataObject) -> None:
    schema = tool["inputSchema"]
    Draft202012Validator.check_schema(schema)
    number = st.integers(-5, 60) | st.sampled_from([300, 8000, 8001, 10**9, 10**9 + 1])
    words = st.sampled_from(["", "x" * 10, "x" * 11, "x" * 80, "x" * 501, "x" * 4001, "Rule", "done", "é" * 500])
    others: st.SearchStrategy[Any] = st.sampled_from([None, True, 1.5, [], {}])
    value = number | words | others
    names = st.sampled_from([*schema["properties"], *schema["required"], "other"])
    given_arguments = data.draw(st.dictionaries(names, value, max_size=5))
    faults = argument_faults(given_arguments, schema)
    assert bool(faults) is not Draft202012Validator(schema).is_valid(given_arguments)


def test_a_bad_argument_is_named_in_one_sentence_and_an_unknown_one_is_refused() -> None:
    schema = next(tool["inputSchema"] for tool in TOOLS if tool["name"] == "memory_search")
    said = '{"type": "string", "minLength": 0, "maxLength": 2000}'
    for arguments, fault in (
        ({}, f"The argument query is missing; it must fit {said}."),
        ({"query": "x" * 2001}, f"The argument query must fit {said}."),
        ({"query": "x", "limit": True}, 'The argument limit must fit {"type": "integer", "minimum": 1, "maximum": 50'),
        ({"query": "x", "limit": 0}, "The argument limit must fit"),
        ({"query": "x", "type": "Idea"}, "The argument type must fit"),
        (
            {"query": "x", "top": 3},
            "There is no argument 'top'; there are query, limit, type, project, since, before, source.",
        ),
    ):
        [found] = argument_faults(arguments, schema)
        assert found.startswith(fault)


def test_what_a_client_leaves_out_it_may_send_as_null_or_empty(memory: Memory, server: Server) -> None:
    memory.curate("add", "fact", "The kiln has three zones")
    assert (
        len(server.ask(HELLO + message(id=1, method="tools/list", params=None)) and server.hear()["result"]["tools"])
        > 3
    )
    empty: list[Any] = [None, "", [], {}]
    for nothing in empty:
        given_arguments = {"query": "kiln zones", "type": nothing, "limit": nothing, "other": nothing}
        call = {"name": "memory_search", "arguments": given_arguments}
        answer = server.ask(message(id=2, method="tools/call", params=call))
        assert "three zones" in answer["result"]["content"][0]["text"]
    call = {"name": "memory_search", "arguments": {"query": "kiln", "other": "x"}}
    assert server.ask(message(id=3, method="tools/call", params=call))["result"]["isError"]
