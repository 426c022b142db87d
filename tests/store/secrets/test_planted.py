"""Secrets in logs, transcripts, tool results, addresses and keys of many lines: none gets any further."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Memory
from tests.extract.wire import KEY, anthropic_wire
from tests.planting import Planted, Planter

DAY = "2026-03-18"
NOW = ("--now", f"{DAY}T23:00")


@pytest.mark.parametrize("number", [20, pytest.param(200, marks=pytest.mark.torture)])
def test_no_planted_secret_is_committed_sent_kept_or_said(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    planted = Planter(20260318).plant(number)
    with anthropic_wire() as wire:
        _use(monkeypatch, tmp_path, wire.url)
        said = _tell_everything(memory, tmp_path, planted)
        said += memory.curate("index")
        said += memory.curate("run", "--dry-run", *NOW)
        said += memory.curate("run", *NOW)
        sent = json.dumps(wire.requests, ensure_ascii=False)
    assert wire.requests  # of both runs: a kept reply is not asked for twice
    parts = [part for one in planted for part in one.parts]
    assert _standing(parts, sent) == []
    assert _standing(parts, said) == []
    assert _standing(parts, _objects(memory)) == []
    kept = [file for file in memory.root.rglob("*") if file.is_file() and ".git" not in file.parts]
    for file in kept:
        assert _standing(parts, file.read_bytes().decode("utf-8", "replace")) == [], file
    assert memory.read(f"Logs/{DAY}.md").count("[redacted:") >= number // 2
    assert memory.git("status", "--porcelain") == ""


def _use(monkeypatch: pytest.MonkeyPatch, folder: Path, url: str) -> None:
    (folder / "config.toml").write_text(f'[anthropic]\nbase_url = "{url}"\n')
    monkeypatch.setenv("CURATE_CONFIG", str(folder / "config.toml"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def _tell_everything(memory: Memory, folder: Path, planted: list[Planted]) -> str:
    """Plant the secrets where agents and people leave them, a share in each place."""
    fifth = len(planted) // 5
    by_hand, logged, partial, spoken, tools = (planted[at * fifth : (at + 1) * fifth] for at in range(5))
    text = "".join(f"- 09:{number:02} Fact: see below\n  {_under(one)}\n" for number, one in enumerate(by_hand))
    memory.write(f"Logs/{DAY}.md", f"# {DAY}\n\n{text}")
    memory.write(f"Logs/partial/{DAY}-phone.md", "".join(f"- 10:00 {_under(one)}\n" for one in partial))
    said = "".join(memory.curate("log", f"Decision: {one.text}", *NOW) for one in logged)
    records = [_turn(number, one) for number, one in enumerate(spoken)]
    records += [_result(number, one) for number, one in enumerate(tools)]
    lines = "".join(json.dumps(record, ensure_ascii=bool(at % 2)) + "\n" for at, record in enumerate(records))
    (folder / "session.jsonl").write_text(lines)
    return said + memory.curate("capture", str(folder / "session.jsonl"), *NOW)


def _under(one: Planted) -> str:
    return one.text.replace("\n", "\n  ")


def _turn(number: int, one: Planted) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    content: Any = one.text if number % 3 else [{"type": "text", "text": f"Rule: keep this\n{one.text}\nand go on."}]
    return {
        "type": role, "sessionId": "s1", "timestamp": f"{DAY}T08:{number:02}:00Z", "cwd": "/home/ada/src/harbor",
        "message": {"role": role, "content": content},
    }  # fmt: skip


def _result(number: int, one: Planted) -> dict[str, Any]:
    """Return a record of a tool: what it was asked, what it gave back, and that as JSON within JSON."""
    stdout = [one.text, json.dumps({"env": one.text}), json.dumps(json.dumps([one.text]))][number % 3]
    blocks = [
        {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": [{"type": "text", "text": stdout}]},
        {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": f"echo '{one.text}'"}},
    ]
    return {
        "type": "user", "sessionId": "s1", "timestamp": f"{DAY}T09:{number:02}:00Z", "cwd": "/home/ada/src/harbor",
        "message": {"role": "user", "content": blocks}, "toolUseResult": {"stdout": stdout, "stderr": ""},
    }  # fmt: skip


def _standing(parts: list[str], text: str) -> list[str]:
    escaped = [(part, json.dumps(part)[1:-1], json.dumps(json.dumps(part)[1:-1])[1:-1]) for part in parts]
    return [forms[0] for forms in escaped if any(form in text for form in forms)]


def _objects(memory: Memory) -> str:
    """Return every object of the repository: whatever could be pushed, and what nothing leads to as well."""
    listed = memory.git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)").splitlines()
    found = [row.split() for row in listed]
    return "".join(memory.git("cat-file", "-p", ident) for kind, ident in found if kind in {"blob", "commit"})
