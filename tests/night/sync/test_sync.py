"""`curate sync`: logs and edits reach the remote between nights, nights come back, and nothing is lost on the way."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.store.lock import run_lock
from tests.conftest import Memory
from tests.making import git
from tests.night.sync.machines import append_log, shared

TOKEN = "ghp_" + "q7Rz2mX9vK4tN8wB3cJ6hL1pD5sF0gY2aE4u"


@pytest.fixture
def pair(memory: Memory) -> tuple[Memory, Memory, Path]:
    """Return the memory on an agent's host, the clone of a worker that curates it, and the remote."""
    return shared(memory)


def test_a_log_with_a_secret_is_pushed_without_it_and_a_page_with_one_stays(pair: tuple[Memory, Memory, Path]) -> None:
    host, _, remote = pair
    append_log(host, "2025-01-02", f"- Fact: the token is {TOKEN}\n- <private>my diagnosis</private> lunch\n")
    host.write("Areas/keys.md", f"# Keys\n\n- {TOKEN}\n")
    told = host.curate("sync", "--now", "2025-01-02T12:00", exits=1)
    assert told.startswith("Pushed: origin.\nAreas/keys.md contains ")
    everything = git(remote, "log", "-p", "--all")
    assert "[redacted:" in everything
    assert "lunch" in everything
    assert TOKEN not in everything
    assert "diagnosis" not in everything
    assert TOKEN not in host.read("Logs/2025-01-02.md")


def test_a_run_at_work_is_not_disturbed(pair: tuple[Memory, Memory, Path]) -> None:
    host, _, remote = pair
    before = git(remote, "rev-parse", "main")
    append_log(host, "2025-01-02", "- Fact: the cache keeps 40 entries\n")
    with run_lock(host.root, "a run"):
        assert "Another run holds the lock" in host.curate("sync", exits=75)
    assert git(remote, "rev-parse", "main") == before


def test_a_memory_without_a_remote_says_how_to_name_one(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CURATE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    told = " ".join(memory.curate("sync", exits=1).split())
    assert 'Add it to /elsewhere/memcurate/config.toml: remote = "origin" under [push]' in told


def test_a_remote_with_a_wrong_address_says_which_are_right(pair: tuple[Memory, Memory, Path]) -> None:
    host, _, _ = pair
    git(host.root, "remote", "set-url", "origin", "../remote.git")
    told = " ".join(host.curate("sync", exits=1).split())
    assert "not supported. Use https://, ssh://, user@host:path or an absolute path." in told


def end_session(host: Memory, tmp_path: Path) -> None:
    """End a session of an agent, as its hook tells it."""
    words = {"type": "user", "timestamp": "2025-01-02T09:00:00Z", "sessionId": "s1", "cwd": str(tmp_path)}
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text(json.dumps(words | {"message": {"role": "user", "content": "We use Terraform."}}) + "\n")
    subprocess.run(
        [sys.executable, "-m", "pipelines.cli", "capture", "--hook", "--memory", str(host.root)],
        input=json.dumps({"transcript_path": str(transcript), "hook_event_name": "SessionEnd"}).encode(),
        check=True,
    )


def test_the_end_of_a_session_pushes_what_it_said(pair: tuple[Memory, Memory, Path], tmp_path: Path) -> None:
    host, _, remote = pair
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    hook = remote / "hooks/post-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ngit ls-tree -r --name-only main >{pipe}\n")
    hook.chmod(0o755)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    end_session(host, tmp_path)
    ready, _, _ = select.select([reader], [], [], 60)
    assert ready, "no push came"
    assert b"Logs/2025-01-02.md" in os.read(reader, 65_536)
    os.close(reader)
