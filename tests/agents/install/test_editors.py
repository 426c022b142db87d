"""Cursor, Gemini CLI, VS Code and Claude Desktop: what they get has the shape that each of them publishes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pipelines.cli import run_cli
from tests.agents.install.outside import system
from tests.conftest import Memory

__all__ = ["system"]

STRINGS = {"type": "array", "items": {"type": "string"}}
STDIO = {"type": {"const": "stdio"}, "command": {"type": "string"}, "args": STRINGS, "env": {"type": "object"}}


def closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def named(shape: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": shape}


GEMINI_HOOK = closed(
    {
        "type": {"const": "command"},
        "command": {"type": "string"},
        "name": {"type": "string"},
        "timeout": {"type": "integer", "minimum": 1000},
    },
    "type", "command",
)  # fmt: skip
GEMINI_GROUP = closed({"matcher": {"type": "string"}, "hooks": {"type": "array", "items": GEMINI_HOOK}}, "hooks")
CURSOR_HOOK = closed({"command": {"type": "string"}, "timeout": {"type": "integer"}}, "command")
PUBLISHED = {
    "vscode": {"config/Code/User/mcp.json": closed({"servers": named(closed(STDIO, "type", "command"))})},
    "cursor": {
        ".cursor/mcp.json": closed({"mcpServers": named(closed(STDIO, "type", "command"))}),
        ".cursor/hooks.json": closed(
            {
                "version": {"const": 1},
                "hooks": closed({"sessionStart": {"type": "array", "items": CURSOR_HOOK}}, "sessionStart"),
            },
            "version", "hooks",
        ),
    },
    "claude-desktop": {
        "config/Claude/claude_desktop_config.json": closed(
            {"mcpServers": named(closed({"command": {"type": "string"}, "args": STRINGS}, "command", "args"))}
        )
    },
    "gemini": {
        ".gemini/settings.json": closed(
            {
                "mcpServers": named(closed({"command": {"type": "string"}, "args": STRINGS}, "command")),
                "hooks": closed({"SessionStart": {"type": "array", "items": GEMINI_GROUP}}, "SessionStart"),
            },
            "mcpServers", "hooks",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("target", PUBLISHED)
def test_what_is_written_has_the_published_shape(memory: Memory, target: str) -> None:
    """The shapes are those of the programs' own documents.

    VS Code: https://code.visualstudio.com/docs/agents/reference/mcp-configuration and `mcpStdioServerSchema` in
    microsoft/vscode, src/vs/workbench/contrib/mcp/common/mcpConfiguration.ts. Cursor: https://cursor.com/docs/mcp and
    https://cursor.com/docs/hooks. Claude Desktop: https://modelcontextprotocol.io/docs/develop/connect-local-servers.
    Gemini CLI: docs/reference/configuration.md and docs/hooks/reference.md of google-gemini/gemini-cli.
    """
    memory.curate("install", target)
    for path, shape in PUBLISHED[target].items():
        settings = json.loads((Path.home() / path).read_text())
        jsonschema.validate(settings, shape)
        servers = settings.get("servers", settings.get("mcpServers"))
        if servers is not None:
            assert servers["memcurate"]["args"] == ["mcp", "--memory", str(memory.root)]
            assert Path(servers["memcurate"]["command"]).is_absolute()
    assert "Nothing to do" in memory.curate("install", target)


def test_settings_that_changed_meanwhile_lose_only_what_is_ours(memory: Memory) -> None:
    settings = Path.home() / ".cursor/hooks.json"
    settings.parent.mkdir()
    settings.write_text('{"version":1, "hooks": {"stop": [{"command": "./mine.sh"}]}}')
    memory.curate("install", "cursor")
    written = json.loads(settings.read_text())
    written["hooks"]["sessionStart"].insert(0, {"command": "./theirs.sh"})
    settings.write_text(json.dumps(written, indent=4))
    assert run_cli(["uninstall", "cursor"]) == 0
    assert json.loads(settings.read_text()) == {
        "version": 1,
        "hooks": {"stop": [{"command": "./mine.sh"}], "sessionStart": [{"command": "./theirs.sh"}]},
    }
    assert '\n    "hooks"' in settings.read_text()


def test_a_mac_has_its_own_files(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    for target in ("claude-desktop", "vscode"):
        memory.curate("install", target)
    assert sorted(path.name for path in (Path.home() / "Library/Application Support").rglob("*.json")) == [
        "claude_desktop_config.json", "mcp.json",
    ]  # fmt: skip


def test_cursor_starts_a_chat_with_the_memory(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "kestrel").mkdir()
    memory.write("Projects/kestrel.md", "# Kestrel\n\n- Fact: The north gate stays closed.\n")
    memory.curate("install", "cursor")
    hooks = json.loads((Path.home() / ".cursor/hooks.json").read_text())["hooks"]
    event = json.dumps({"hook_event_name": "sessionStart", "workspace_roots": [str(tmp_path / "kestrel")]})
    done = subprocess.run(
        ["/bin/sh", "-c", hooks["sessionStart"][0]["command"]],
        input=event, capture_output=True, text=True, check=True, cwd="/",
    )  # fmt: skip
    said = json.loads(done.stdout)
    assert list(said) == ["additional_context"]
    assert "Who you are" in said["additional_context"]
    assert "The north gate stays closed." in said["additional_context"]


def test_the_list_needs_no_memory(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.curate("install", "gemini")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CURATE_MEMORY", raising=False)
    capsys.readouterr()
    assert run_cli(["install"]) == 0
    rows = {row.split()[0]: row.split()[1:] for row in capsys.readouterr().out.splitlines()}
    assert rows["gemini"] == ["yes", "~/.gemini/settings.json"]
    assert rows["cursor"] == rows["agents"] == ["no", "-"]
    assert run_cli(["install", "--memory", str(tmp_path / "none")]) == 2
