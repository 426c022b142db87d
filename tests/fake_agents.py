"""Small programs that stand on the PATH as `claude` and `codex`, and print what the real ones print."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAM = """#!{python}
import json, os, sys, time
if sys.argv[-1:] == ["status"]:
    sys.exit({logged_out})
files = {{name: open(name).read() for name in os.listdir()}}
told = {{"words": sys.argv[1:], "environment": dict(os.environ), "input": sys.stdin.read(), "files": files}}
with open({note!r}, "a") as note:
    note.write(json.dumps(told | {{"folder": os.getcwd()}}) + chr(10))
time.sleep({seconds})
print({said!r})
print({errors!r}, file=sys.stderr)
sys.exit({status})
"""


@dataclass
class Fake:
    """A program that was laid down, and what it was told at each call, status aside."""

    path: Path
    note: Path

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(row) for row in self.note.read_text().splitlines()] if self.note.exists() else []


def lay(folder: Path, name: str, said: str, **how: Any) -> Fake:
    """Lay a program down that prints `said`; `status`, `errors`, `seconds` and `logged_out` say how else it behaves."""
    told = {"status": 0, "errors": "", "seconds": 0, "logged_out": 0, **how}
    folder.mkdir(parents=True, exist_ok=True)
    fake = Fake(folder / name, folder / f"{name}.calls")
    fake.path.write_text(_PROGRAM.format(python=sys.executable, said=said, note=str(fake.note), **told))
    fake.path.chmod(0o755)
    return fake


def claude_says(**changes: Any) -> str:
    """Return what `claude -p --output-format json` prints for a reply of a schema, as version 2.1.332 does."""
    spent = {"inputTokens": 24, "outputTokens": 18, "cacheReadInputTokens": 2000, "cacheCreationInputTokens": 200}
    last = {"input_tokens": 12, "output_tokens": 9, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 100}
    told = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "result": '{"items":[]}',
        "stop_reason": "tool_use",
        "total_cost_usd": 0.00282,
        "usage": last,
        "modelUsage": {"claude-haiku-4-5-20251001": {**spent, "costUSD": 0.00282}},
        "structured_output": {"items": []},
    }
    return json.dumps({**told, **changes})


NOTHING_SPENT: dict[str, Any] = {"structured_output": None, "modelUsage": {}, "total_cost_usd": 0, "is_error": True}
NOT_LOGGED_IN = claude_says(**NOTHING_SPENT, result="Not logged in · Please run /login", stop_reason="stop_sequence")


def codex_says(text: str | None = '{"items": []}', failed: str = "") -> str:
    """Return the lines that `codex exec --json` prints, as version 0.171.0 does."""
    skipped = {"id": "item_0", "type": "error", "message": "Codex is ignoring 1 unrecognized configuration setting."}
    rows: list[dict[str, Any]] = [
        {"type": "thread.started", "thread_id": "01a2"},
        {"type": "item.completed", "item": skipped},
        {"type": "turn.started"},
    ]
    if text is not None:
        rows.append({"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": text}})
    if failed:
        rows += [{"type": "error", "message": failed}, {"type": "turn.failed", "error": {"message": failed}}]
    else:
        usage = {"input_tokens": 1112, "cached_input_tokens": 1000, "cache_write_input_tokens": 0, "output_tokens": 9}
        rows.append({"type": "turn.completed", "usage": usage})
    return "\n".join(map(json.dumps, rows))
