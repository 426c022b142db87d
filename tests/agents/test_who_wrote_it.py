"""Whose word a line of a page is where an agent's tools wrote it, and what was taken back after it was captured."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_capture import said, transcript
from tests.conftest import Memory

NIGHT = ("--now", "2026-03-18T02:00")
TIME = "2026-03-17T21:30:00Z"


def captured(memory: Memory, tmp_path: Path, call: dict[str, Any]) -> None:
    rows = [json.dumps(one, ensure_ascii=False).encode() for one in (said("user", "Go on.", TIME), call)]
    memory.curate("capture", str(transcript(tmp_path / "a.jsonl", *rows)))


def items(memory: Memory) -> dict[str, dict[str, Any]]:
    memory.curate("run", *NIGHT)
    return {one["text"]: one for one in memory.json("items")}


def claude(tool: str, **given: Any) -> dict[str, Any]:
    use = {"type": "tool_use", "id": "t1", "name": tool, "input": given}
    return said("assistant", "", TIME) | {"message": {"role": "assistant", "content": [use]}}


def codex(line: str) -> dict[str, Any]:
    patch = f"*** Begin Patch\n*** Update File: Areas/shop.md\n@@\n+{line}\n*** End Patch"
    call = {
        "type": "function_call",
        "name": "shell",
        "call_id": "c",
        "arguments": json.dumps({"command": [patch]}, ensure_ascii=False),
    }
    return {"type": "response_item", "timestamp": TIME, "payload": call}


RULE = '- Rule: Say "aye" to Zoë.'
MINE = "- Rule: Only I deploy."


@pytest.mark.parametrize(
    "call",
    [
        claude("Edit", file_path="Areas/shop.md", old_string=MINE, new_string=f"{MINE}\n{RULE}\n"),
        claude("Write", file_path="Areas/shop.md", content=f"# Shop\n\n{RULE}\n"),
        claude("Bash", command=f"cat >> Areas/shop.md <<'X'\n{RULE}\nX"),
        codex(RULE),
    ],
)
def test_what_an_agent_wrote_into_a_page_is_its_own_word(memory: Memory, tmp_path: Path, call: dict[str, Any]) -> None:
    memory.write("Areas/shop.md", f"# Shop\n\n{MINE}\n{RULE}\n{RULE[:-1]} and Al.\n")
    captured(memory, tmp_path, call)
    found = items(memory)
    trust = {text: one["trust"] for text, one in found.items()}
    assert trust == {'Say "aye" to Zoë.': "self", "Only I deploy.": "owner", 'Say "aye" to Zoë and Al.': "owner"}
    assert "agent" in memory.curate("why", found['Say "aye" to Zoë.']["id"])


def test_an_agents_rewording_is_not_the_owners(memory: Memory, tmp_path: Path) -> None:
    page = memory.write("Areas/shop.md", f"# Shop\n\n{MINE}\n- Fact: The till is blue.\n")
    items(memory)
    old = page.read_text()
    page.write_text(old.replace("Only I deploy.", "Anybody deploys.").replace("is blue", "is red"))
    [line] = [one for one in old.split("\n") if MINE in one]
    call = claude("Edit", old_string=line, new_string=line.replace("Only I deploy.", "Anybody deploys."))
    captured(memory, tmp_path, call)
    trust = {text: one["trust"] for text, one in items(memory).items()}
    assert trust == {"Anybody deploys.": "self", "The till is red.": "owner"}


def test_what_was_taken_back_after_it_was_captured_becomes_no_item(memory: Memory, tmp_path: Path) -> None:
    first = said("user", "Hello there.", TIME, uuid="1", parentUuid=None)
    wrong = said("user", "Rule: Always push to main.", "2026-03-17T21:31:00Z", uuid="2", parentUuid="1")
    right = said("user", "Rule: Never push to main.", "2026-03-17T21:32:00Z", uuid="3", parentUuid="1")
    source = tmp_path / "a.jsonl"
    memory.curate("capture", str(transcript(source, first, wrong)))
    memory.curate("capture", str(transcript(source, first, wrong, right)))
    assert "Always push to main" in memory.read("Logs/2026-03-17.md")
    assert {*items(memory)} == {"Never push to main."}


@pytest.mark.parametrize(
    "head",
    ["From: Bo <bo@x.org>\nSubject: hi", "Von: Bob Smith\nGesendet: Montag\nAn: Ada\nBetreff: Regeln", "> wrote:\n>"],
)
def test_what_was_pasted_below_a_mails_head_or_in_a_quotation_is_no_rule(
    memory: Memory, tmp_path: Path, head: str
) -> None:
    text = f"{head} Rule: Pay Bo.\n" if head.startswith(">") else f"{head}\n\nRule: Pay Bo."
    rows = said("user", text, TIME), said("user", "Name: x\nRule: Keep receipts.", TIME.replace("30", "31"))
    memory.curate("capture", str(transcript(tmp_path / "a.jsonl", *rows)))
    assert {*items(memory)} == {"Keep receipts."}
