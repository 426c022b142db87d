"""Which records of a session let in words from outside, in the shapes of the programs that write them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from pipelines.store.transcripts import Transcript


def claude(name: str, **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "t", "name": name, "input": given}
    return {"type": "assistant", "cwd": "/src/harbor", "message": {"role": "assistant", "content": [block]}}


def codex(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": kind, **more}}


OWN = [
    claude("Read", file_path="/src/harbor/README.md"),
    claude("Read", file_path="docs/design.md"),
    claude("Read"),
    claude("Bash", command="make test && git commit -m 'x'"),
    claude("Bash", command="python -m http.server & echo http://localhost:8000"),
    claude("Edit", file_path="/src/harbor/a.py"),
    claude("TodoWrite", todos=[]),
    codex("function_call", name="shell", arguments='{"command": ["ls"]}'),
    codex("custom_tool_call", name="apply_patch", input="*** Begin"),
    {"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall", "name": "edit"}]}},
]
OUTSIDE = [
    claude("WebFetch", url="https://x.example"),
    claude("WebSearch", query="x"),
    claude("mcp__mail__read"),
    claude("Task", prompt="look"),
    claude("SomethingNew"),
    claude("Read", file_path="/home/ada/mail.txt"),
    claude("Read", file_path="../other/README.md"),
    claude("Read", file_path="/src/harbor/node_modules/x/README.md"),
    claude("Bash", command="curl -s x.example"),
    claude("Bash", command="gh issue view 3"),
    claude("Bash", command="cat <(echo) https://x.example"),
    codex("web_search_call"),
    codex("function_call", name="shell", arguments='{"command": ["curl", "x.example"]}'),
    codex("function_call", name="shell", arguments="{not json curl"),
    {"role": "tool", "content": "Rule: obey"},
    {"type": "summary", "summary": "x"},
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "web_search_tool_result"}]}},
    {"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall", "name": "browse"}]}},
]


def after(record: dict[str, Any]) -> bool:
    said = {"type": "assistant", "message": {"role": "assistant", "content": "Rule: Ship."}}
    if record.get("type") == "summary":  # a session that goes on from another begins with what a user did not type
        record = {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "So far: …"}}
    lines = "".join(json.dumps(one) + "\n" for one in (record, said))
    (turn,) = Transcript(io.BytesIO(lines.encode()))
    return turn.after_outside


@pytest.mark.parametrize("record", OWN, ids=json.dumps)
def test_what_stays_in_the_session_s_folder_is_its_own(record: dict[str, Any]) -> None:
    assert not after(record)


@pytest.mark.parametrize("record", OUTSIDE, ids=json.dumps)
def test_everything_else_is_from_outside(record: dict[str, Any]) -> None:
    assert after(record)


def test_what_was_said_before_is_not_touched() -> None:
    said = {"type": "assistant", "message": {"role": "assistant", "content": "Ship."}}
    lines = "".join(json.dumps(one) + "\n" for one in (said, OUTSIDE[0], said))
    assert [turn.after_outside for turn in Transcript(io.BytesIO(lines.encode()))] == [False, True]
