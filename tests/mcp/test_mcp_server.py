"""The MCP server as agents use it: the SDK's own client, over a real process's standard streams."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from pipelines.api import Memory

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.client.client import Client

    from tests import conftest

CURATE = str(Path(sys.executable).with_name("curate"))


def talk(root: Path | str, story: Callable[[Client], Awaitable[None]], cwd: Path | None = None) -> None:
    """Start `curate mcp` as an agent's client does, and tell it a story."""
    from mcp import StdioServerParameters  # which takes a second to load
    from mcp.client.client import Client
    from mcp.client.stdio import stdio_client

    arguments = ["mcp", *(["--memory", str(root)] if root else [])]
    server = StdioServerParameters(command=CURATE, args=arguments, env=dict(os.environ), cwd=cwd)

    async def main() -> None:
        with open(os.devnull, "w") as quiet:  # noqa: ASYNC230, PTH123  for the server's own log
            async with Client(stdio_client(server, errlog=quiet)) as client:
                with anyio.fail_after(60):
                    await story(client)

    anyio.run(main)


async def said(client: Client, tool: str, *, fails: bool = False, **arguments: Any) -> str:
    """Call a tool and return its text."""
    from mcp_types import CallToolResult, TextContent

    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    [content] = result.content
    assert isinstance(content, TextContent)
    assert bool(result.is_error) is fails, content.text
    return content.text


def test_a_session_lists_and_settles_pairs_that_may_conflict(memory: conftest.Memory) -> None:
    def live(day: int, *lines: str) -> None:
        memory.write(
            f"Logs/2026-03-{day}.md", "".join(["project: Alpha\n\n", *(f"- Fact: {line}\n" for line in lines)])
        )
        memory.night(f"2026-03-{day + 1}T02:00")

    async def begin(client: Client) -> None:
        assert await said(client, "memory_settle") == "No pair waits."
        await said(client, "memory_context")

    talk(memory.root, begin)
    live(17, "The gateway listens on port 8080.", "Mara approves each release of the gateway.")
    live(18, "The gateway listens on another port.", "Bo approves each release, too.")
    live(19)

    async def story(client: Client) -> None:
        told = await said(client, "memory_settle")
        assert told in await said(client, "memory_context")
        pairs = dict(re.findall(r"`memory_settle\((k\w+), replaces, (k\w+)\)`", told))
        assert "curate settle" not in told
        [moved, bo] = sorted(pairs, key=lambda new: f"{new} Fact: Bo" in told)
        before, mara = pairs[moved], pairs[bo]
        result = await said(client, "memory_settle", item=moved, how="replaces", other=before)
        assert "is superseded: Fact: The gateway listens on port 8080." in result
        assert "both hold" in await said(client, "memory_settle", item=bo, how="both", other=mara)
        assert await said(client, "memory_settle") == "No pair waits."
        assert "May conflict" not in await said(client, "memory_context")
        assert "is superseded" in await said(client, "memory_settle", item=moved, other=before, fails=True)

    talk(memory.root, story)
    found = {held.item.text: held.item for held in Memory(memory.root).items()}
    assert found["The gateway listens on port 8080."].superseded_by == found["The gateway listens on another port."].id
    assert {one.status for text, one in found.items() if "approves" in text} == {"live"}
    assert {one.trust for one in found.values()} == {"self"}


def test_a_session_closes_corrects_and_reopens_what_is_trusted_no_more_than_its_word(memory: conftest.Memory) -> None:
    memory.day(
        "2026-03-18",
        "project: Alpha\n\n- Todo: Call Anders\n- Fact: The port is 8080\n- Todo: Tell Mara about the gateway\n",
    )
    memory.curate("add", "Fact", "The office is in Bern", "--document", "Alpha")
    memory.curate("add", "Todo", "Pay the rent", "--document", "Alpha")
    memory.curate("drop", "Tell", "Mara")
    ids = {held.item.text: held.item.id for held in Memory(memory.root).items()}
    log = f"Logs/{Memory(memory.root).today()}.md"

    async def story(client: Client) -> None:
        told = await said(client, "memory_close", item=ids["Call Anders"][:6], how="done", reason="he called back")
        assert told == f"{ids['Call Anders']} in Projects/alpha.md is done: Todo: Call Anders"
        assert "is done already" in await said(client, "memory_close", item=ids["Call Anders"], how="done")
        assert "can be ended or answered" in await said(
            client, "memory_close", item=ids["The port is 8080"], how="done", fails=True
        )
        told = await said(client, "memory_correct", item="the port", sentence="The port is 9090")
        assert "is superseded" in told
        assert " in Projects/alpha.md: Fact: " in told
        assert "is open again" in await said(client, "memory_reopen", item=ids["Call Anders"])
        # The owner's word, and what the owner ended, stay until a person decides.
        asked = [
            await said(client, "memory_close", item=ids["Pay the rent"], how="dropped"),
            await said(client, "memory_correct", item="office", sentence="The office is in Basel"),
        ]
        assert all("until a person decides" in told for told in asked)
        told = await said(client, "memory_reopen", item=ids["Tell Mara about the gateway"], fails=True)
        assert "Only a person can reopen" in told

    talk(memory.root, story)
    found = {held.item.text: held.item for held in Memory(memory.root).items()}
    assert (found["Call Anders"].status, found["The port is 8080"].status) == ("open", "superseded")
    assert (found["Pay the rent"].status, found["Tell Mara about the gateway"].status) == ("open", "dropped")
    assert (found["The office is in Bern"].status, found["The office is in Basel"].status) == ("live", "waiting")
    assert (found["The port is 9090"].trust, found["The port is 9090"].by) == ("self", "session@1")
    assert f"- {ids['Pay the rent']}" not in memory.read("Review.md")
    for kind in ("dropped", "contradict"):
        assert f"<!-- review {kind} " in memory.read("Review.md")
    assert f"Done: {ids['Call Anders']} (Call Anders), because he called back" in memory.read(log)
    why = memory.curate("why", found["The port is 9090"].id)
    assert "Correction: The port is 9090" in why
    assert "written by a person" not in why
    # The night reads those lines of the log, and has nothing to add to them.
    before = memory.read("Projects/alpha.md"), memory.read("Review.md")
    memory.curate("run")
    assert (memory.read("Projects/alpha.md"), memory.read("Review.md")) == before
    assert "nothing is broken" in memory.curate("check")


def test_a_hit_has_the_headings_that_say_what_it_means(memory: conftest.Memory) -> None:
    memory.write("Resources/rules.md", "# Rules\n\nNot allowed:\n\n- Merge pull requests\n")

    async def story(client: Client) -> None:
        told = await said(client, "memory_search", query="merge pull requests")
        assert "\nRules > Not allowed:\n- Merge pull requests" in told

    talk(memory.root, story)


def test_it_survives_what_no_client_should_send(memory: conftest.Memory) -> None:
    memory.write("../secret.md", "top secret")
    memory.write("Logs/2026-03-18.md", "- the quokka arrived\n" + "- much more to read\n" * 2000)

    async def story(client: Client) -> None:
        for name in ("../../etc/passwd", "../secret.md", "/etc/passwd", ".git/config", ".curate/index.db", "\0"):
            told = await said(client, "memory_read", name=name, fails=True)
            assert "top secret" not in told
        huge = "x" * 10_000_000
        for tool, name in (
            ("memory_search", "query"), ("memory_read", "name"), ("memory_log", "text"), ("memory_context", "project"),
            ("memory_why", "item"), ("memory_close", "item"), ("memory_reopen", "item"),
        ):  # fmt: skip
            told = await said(client, tool, fails=True, **{name: huge})
            assert len(told) < 1000
        assert "query must fit" in await said(client, "memory_search", query=7, fails=True)
        told = await said(client, "memory_search", query="x", limit=10**9, fails=True)
        assert "The argument limit must fit" in told
        for near in ("5.5", "five", 5.5, "inf", "99"):
            told = await said(client, "memory_search", query="x", limit=near, fails=True)
            assert "The argument limit must fit" in told
        for same in ("5", " 5 ", "5.0", 5.0):
            assert "Nothing was found" in await said(client, "memory_search", query="zzzz", limit=same)
        assert "text is missing" in await said(client, "memory_log", fails=True)
        assert "Unknown tool" in await said(client, "memory_nonsense", fails=True)
        assert len(await said(client, "memory_read", name="2026-03-18")) < 25_000
        assert len(await said(client, "memory_search", query="much more to read", limit=50)) <= 21_000
        assert "quokka" in await said(client, "memory_search", query="quokka")

    talk(memory.root, story)
    assert not list((memory.root / "Logs").glob("20[3-9]*"))


def test_a_memory_that_is_missing_is_told_and_found_when_it_is_there(tmp_path: Path, memory: conftest.Memory) -> None:
    place = tmp_path / "later"

    async def story(client: Client) -> None:
        assert "There is no memory at" in await said(client, "memory_search", query="x", fails=True)
        assert "There is no memory at" in await said(client, "memory_log", text="x", fails=True)
        memory.root.rename(place)
        assert "Written at" in await said(client, "memory_log", text="x")
        (place / "curate.toml").write_text("timezone = 7\n")
        assert "curate.toml has" in await said(client, "memory_log", text="x", fails=True)

    talk(place, story)

    async def nowhere(client: Client) -> None:
        assert "There is no memory at" in await said(client, "memory_context", fails=True)

    (tmp_path / "empty").mkdir()
    talk("", nowhere, tmp_path / "empty")


def process(root: Path) -> subprocess.Popen[bytes]:
    command = [CURATE, "mcp", "--memory", str(root)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def message(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


HELLO = message(
    id=0,
    method="initialize",
    params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
) + message(method="notifications/initialized")


def test_a_client_that_goes_away_is_no_failure(memory: conftest.Memory) -> None:
    with process(memory.root) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(HELLO)
        running.stdin.flush()
        running.stdout.readline()
        running.stdout.close()
        running.stdin.write(message(id=1, method="tools/list"))
        running.stdin.close()
        errors = running.stderr.read()
    assert running.returncode == 0, errors
    assert b"Traceback" not in errors
