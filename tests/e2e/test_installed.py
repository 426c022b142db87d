"""The plugin in the real Claude Code, and what `curate install gemini` wrote in the real Gemini CLI."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory
from tests.e2e.agent_wire import AgentWire

pytestmark = pytest.mark.e2e

PLUGIN = Path(__file__).parents[2] / "deploy/claude-code"


def run(program: Path, *words: str) -> str:
    done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_claude_accepts_the_plugin_and_a_session_uses_it(
    memory: Memory, wire: AgentWire, claude: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{Path(sys.executable).parent}")
    monkeypatch.delenv("CURATE_MEMORY", raising=False)
    monkeypatch.setenv("MCP_CONNECTION_NONBLOCKING", "0")
    monkeypatch.chdir(tmp_path)
    for manifest in (PLUGIN, PLUGIN / ".claude-plugin/plugin.json"):
        assert "Validation passed" in run(claude, "plugin", "validate", "--strict", str(manifest))
    run(claude, "plugin", "marketplace", "add", str(PLUGIN))
    run(claude, "plugin", "install", "memcurate@memcurate", "--config", f"memory={memory.root}")
    assert "Connected" in run(claude, "mcp", "list")
    run(claude, "-p", "Hello")
    first = next(request for request in wire.requests if "Hello" in request.words)
    tools = (f"mcp__plugin_memcurate_memcurate__memory_{name}" for name in ("search", "log", "recap"))
    assert all(map(first.offers, tools))
    assert "Who you are (SOUL.md)" in first.words
    for skill in ("recall", "remember", "recap"):
        assert f"memcurate:{skill}" in first.words
    assert "memcurate:review" not in first.words, "a person alone calls it"
    assert list((memory.root / "Sessions").rglob("*.jsonl")), "the session was captured at its end"
    run(claude, "plugin", "uninstall", "memcurate@memcurate")
    assert "plugin" not in memory.curate("install").partition("\n")[0]


def test_gemini_starts_with_the_memory_and_reaches_the_server(
    memory: Memory, wire: AgentWire, gemini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Path.home() / ".gemini/settings.json"
    before = settings.read_bytes()
    monkeypatch.chdir(tmp_path)
    memory.curate("install", "gemini")
    assert re.search(r"memcurate: .* - Connected", run(gemini, "mcp", "list"))
    run(gemini, "-m", "gemini-2.5-flash", "-p", "Hello")
    first = next(request for request in wire.requests if "Hello" in request.words)
    assert "Who you are (SOUL.md)" in first.words
    assert run_cli(["uninstall", "gemini"]) == 0
    assert settings.read_bytes() == before
