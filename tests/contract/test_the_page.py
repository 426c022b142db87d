"""What a person sees and does on the page, and what an agent does over MCP."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import Memory
from tests.contract.story import CACHE, DAY, FRIDAY, LINES, MARA, NEXT, PORT, held, ident, night, status, waiting
from tests.view.browsing import HOSTILE, Browser


def test_the_first_page_tells_the_night_and_what_is_due(told: Memory) -> None:
    page = Browser(told).enter().get("/")
    for words in (CACHE, MARA, DAY[-2:]):
        assert words in page


def test_without_the_code_nothing_is_shown(told: Memory) -> None:
    browser = Browser(told)
    for path in ("/", "/inbox", "/document/Projects/alpha", f"/item/{ident(told, PORT)}"):
        status_code, text, _ = browser.ask("GET", path, {})
        assert status_code in {401, 403}
        assert CACHE not in text


def test_a_form_from_elsewhere_is_refused(told: Memory) -> None:
    browser, todo = Browser(told).enter(), ident(told, MARA)
    headers = {"Cookie": browser.cookie, "Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    token = re.findall(r'name="token" value="([^"]+)"', browser.get(f"/item/{todo}"))[0]
    verb = f"verb=done&id={todo}"
    browser.ask("POST", "/do", headers, f"token={token}&{verb}")
    own = {"Cookie": browser.cookie, "Origin": f"http://{browser.host}", "Sec-Fetch-Site": "same-origin"}
    browser.ask("POST", "/do", own, verb)
    assert status(told, MARA) == "open"
    assert browser.ask("GET", "/", {"Cookie": browser.cookie, "Host": "evil.example"})[0] == 403
    assert browser.ask("POST", "/enter", {"Origin": "null"}, f"code={browser.code}")[0] == 403


def test_a_form_does_what_it_says_unless_the_item_changed_meanwhile(told: Memory) -> None:
    browser, todo, cache = Browser(told).enter(), ident(told, MARA), ident(told, CACHE)
    browser.post("/do", verb="done", id=todo, was=MARA, back=f"/item/{todo}")
    assert status(told, MARA) == "done"
    page = browser.post("/do", verb="correct", id=cache, was="Other words.", text="Use tin.", back=f"/item/{cache}")
    assert "changed meanwhile" in page
    assert CACHE in held(told)


def test_an_item_shows_what_it_rests_on(told: Memory) -> None:
    page = Browser(told).enter().get(f"/item/{ident(told, PORT)}")
    assert LINES[1] in page
    assert f"Logs/{DAY}" in page


def test_what_waits_is_decided_on_the_page(told: Memory) -> None:
    night(told, NEXT, "Correction: the deploy takes 12 minutes, not 40")
    (one,) = waiting(told)
    browser = Browser(told).enter()
    assert one["id"] in browser.get("/inbox")
    assert "Nothing waits for you." in browser.post("/do", verb="review", id=one["id"], choice="drop", back="/inbox")
    assert waiting(told) == []


def test_words_of_a_log_never_become_markup(memory: Memory) -> None:
    night(memory, DAY, *(f"Fact: The sign says {words} today." for words in HOSTILE[:6]))
    browser = Browser(memory).enter()
    for path in ("/", "/document/Projects/alpha", f"/day/{DAY}"):
        _, text, _ = browser.ask("GET", path, {"Cookie": browser.cookie, "Sec-Fetch-Site": "same-origin"})
        markup = [words for words in HOSTILE[:6] if not words.startswith(("\u202e", "{{", "["))]
        assert [words for words in markup if words in text.partition("<body")[2]] == []


def mcp(memory: Memory, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Call tools of the server as a client does, and return its results."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [("initialize", hello), *(("tools/call", {"name": name, "arguments": words}) for name, words in calls)]
    lines = [json.dumps({"jsonrpc": "2.0", "id": n, "method": m, "params": p}) for n, (m, p) in enumerate(asked)]
    program = str(Path(sys.executable).with_name("curate"))
    done = subprocess.run(
        [program, "mcp", "--memory", str(memory.root)],
        input="\n".join(lines) + "\n", capture_output=True, text=True, check=True, env=dict(os.environ), timeout=60,
    )  # fmt: skip
    answers = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda one: int(one["id"]))
    return [one["result"] for one in answers[1:]]


def test_an_agent_searches_reads_and_logs_over_mcp(told: Memory) -> None:
    searched, context, logged = mcp(
        told,
        ("memory_search", {"query": "gateway port"}),
        ("memory_context", {}),
        ("memory_log", {"text": "Fact: The kettle is new."}),
    )
    assert "8080" in str(searched)
    assert FRIDAY in str(context)
    assert not logged.get("isError")
    assert any("kettle" in path.read_text() for path in (told.root / "Logs").glob("*.md"))


def test_an_agent_cannot_end_what_the_owner_said(told: Memory) -> None:
    told.curate("add", "Rule", "Never sell the boat.", "--now", "2026-03-11T09:00")
    boat, mine = ident(told, "Never sell the boat."), ident(told, FRIDAY)
    calls = (
        ("memory_settle", {"item": mine, "how": "replaces", "other": boat}),
        ("memory_close", {"item": boat, "how": "ended"}),
        ("memory_correct", {"item": boat, "sentence": "Sell the boat."}),
        ("memory_close", {"item": mine, "how": "ended", "reason": "the key is AKIAIOSFODNN7QZ3XK2B"}),
        ("memory_read", {"name": "Areas/../../outside.md"}),
        ("memory_read", {"name": "Areas/linked.md"}),
    )
    told.root.with_name("outside.md").write_text("Not of the memory.\n")
    (told.root / "Areas/linked.md").symlink_to(told.root.with_name("outside.md"))
    *_, ended, read, linked = mcp(told, *calls)
    assert "Never sell the boat." in held(told)
    assert not ended.get("isError")
    assert status(told, FRIDAY) == "ended"
    assert "Not of the memory." not in str(read) + str(linked)
    assert not [log for log in (told.root / "Logs").glob("*.md") if "AKIAIOSFODNN7QZ3XK2B" in log.read_text()]


def test_bad_input_over_mcp_is_told_and_the_server_goes_on(told: Memory) -> None:
    bad, good = mcp(told, ("memory_search", {}), ("memory_search", {"query": "gateway"}))
    assert bad["isError"]
    assert "8080" in str(good)
