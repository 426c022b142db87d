"""A session and the next one, end to end: what was decided in the first stands at the start of the second."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory


def record(role: str, content: Any, time: str, folder: Path) -> str:
    """Return a record of Claude Code's transcript."""
    told = {"type": role, "sessionId": "5d0c-aa", "uuid": time, "timestamp": time, "cwd": str(folder), "version": "2.1"}
    return json.dumps(told | {"message": {"role": role, "content": content}}) + "\n"


def hook(command: list[str], folder: Path, **told: Any) -> str:
    """Run a hook's command as Claude Code does: JSON on standard input, in the session's folder."""
    asked = {"session_id": "5d0c-aa", "cwd": str(folder), "permission_mode": "default", **told}
    start = [sys.executable, "-c", "from pipelines.start import main; main()", *command]
    done = subprocess.run(start, input=json.dumps(asked), cwd=folder, check=True, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.stdout


def test_what_was_decided_in_one_session_stands_at_the_start_of_the_next(memory: Memory, tmp_path: Path) -> None:
    work = tmp_path / "src/harbor"
    work.mkdir(parents=True)
    root = ["--memory", str(memory.root)]
    transcript = tmp_path / "projects/5d0c-aa.jsonl"
    transcript.parent.mkdir()
    told = {"transcript_path": str(transcript)}
    begun = hook(["context", "--format", "claude-code", *root], work, hook_event_name="SessionStart", source="startup")
    assert "no run yet" in json.loads(begun)["hookSpecificOutput"]["additionalContext"]
    transcript.write_text(
        record("user", "Which queue do we take?", "2026-03-17T14:00:00Z", work)
        + record(
            "assistant", [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}], "2026-03-17T14:00:01Z", work
        )
        + record("user", [{"type": "tool_result", "content": "Decision: from a tool"}], "2026-03-17T14:00:02Z", work)
        + record(
            "assistant",
            [{"type": "text", "text": "Done.\n\nDecision: The queue is NATS."}],
            "2026-03-17T14:01:00Z",
            work,
        )
    )
    assert not hook(["capture", "--hook", *root], work, hook_event_name="PreCompact", trigger="auto", **told)
    assert not hook(["capture", "--hook", *root], work, hook_event_name="SessionEnd", reason="exit", **told)
    memory.curate("run", "--now", "2026-03-18T02:00")
    begun = hook(["context", "--format", "claude-code", *root], work, hook_event_name="SessionStart", source="startup")
    context = json.loads(begun)["hookSpecificOutput"]["additionalContext"]
    assert "The project (Projects/harbor.md)" in context
    assert "- Decision: The queue is NATS." in context
    assert "from a tool" not in "".join(
        text.decode() for path, text in memory.files().items() if "Sessions" not in path
    )
    (item,) = json.loads(memory.curate("items", "--json"))
    (evidence,) = item["evidence"]
    kept = memory.read(evidence["record"]["path"]).splitlines()[evidence["record"]["line"] - 1]
    assert json.loads(kept)["message"]["content"][0]["text"].endswith("Decision: The queue is NATS.")
