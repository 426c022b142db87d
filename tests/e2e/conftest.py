"""Where the real programs are; a test of one that is not here is skipped, and says so."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.agent_wire import AgentWire, agent_wire


def real(name: str) -> Path:
    """Return the real program of this name: from the folder in AGENT_PROGRAMS or npm's below it, else from the PATH."""
    folder = os.environ.get("AGENT_PROGRAMS")
    found = shutil.which(name, path=folder and f"{folder}{os.pathsep}{folder}/node_modules/.bin")
    if found is None:
        pytest.skip(f"{name} is not here; install it by npm, and name its folder: make e2e AGENTS=DIR")
    return Path(found)


@pytest.fixture
def wire() -> Iterator[AgentWire]:
    with agent_wire() as wire:
        yield wire


@pytest.fixture
def claude(wire: AgentWire, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return Claude Code, logged in by a token, and talking to the local server."""
    program = real("claude")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-nobody")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


@pytest.fixture
def gemini(wire: AgentWire, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return Gemini CLI, logged in by a key, trusting the folder it runs in, and talking to the local server."""
    program = real("gemini")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", wire.url)
    monkeypatch.setenv("GEMINI_API_KEY", "key-of-nobody")
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    settings = Path.home() / ".gemini/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    return program


@pytest.fixture
def codex(wire: AgentWire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return Codex, logged in by a key, and talking to the local server by way of a script that tells it so."""
    script = tmp_path / "codex-here" / "codex"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\nexec '{real('codex')}' -c 'openai_base_url=\"{wire.url}/v1\"' \"$@\"\n")
    script.chmod(0o755)
    login = Path.home() / ".codex" / "auth.json"
    login.parent.mkdir()
    login.write_text('{"auth_mode": "apikey", "OPENAI_API_KEY": "key-of-nobody"}')
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    return script


@pytest.fixture
def openclaw(wire: AgentWire, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return OpenClaw, whose model is the local server; it wants its own release of node beside it, or on the PATH."""
    program = real("openclaw")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    model = {"id": "nobody", "name": "nobody", "contextWindow": 200_000, "maxTokens": 8000}
    server = {"baseUrl": wire.url, "apiKey": "key-of-nobody", "api": "anthropic-messages", "models": [model]}
    agents = {"defaults": {"model": {"primary": "local/nobody"}}}
    settings = Path.home() / ".openclaw" / "openclaw.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"models": {"providers": {"local": server}}, "agents": agents}))
    return program
