"""What can go wrong while nobody watches: it is told where people and monitors look, and the next night mends it."""

from __future__ import annotations

import json
import os
import shutil
import socket
from typing import TYPE_CHECKING

import pytest

from tests.agents.install.outside import system
from tests.night.test_pings import monitor

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory
    from tests.night.test_pings import Monitor

__all__ = ["monitor", "system"]
pytestmark = pytest.mark.usefixtures("system")
WORDS = "the cache keeps 40 entries"
FULL = """#!/bin/sh
case " $* " in *" {call} "*) echo "fatal: unable to write: No space left on device" >&2; exit 128;; esac
exec {git} "$@"
"""


@pytest.mark.parametrize("call", ["fast-import", "update-ref"])
def test_a_full_disk_at_the_commit_is_told_and_made_up_for(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, monitor: Monitor, call: str
) -> None:
    (tmp_path / "config.toml").write_text(f'[ping]\nurl = "{monitor.url}/me"\n')
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    memory.curate("run", "--now", "2026-03-17T23:00")
    memory.write("Logs/2026-03-18.md", f"- Fact: {WORDS}\n")
    memory.git("add", "-A")
    memory.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "Mine")
    shim, path = tmp_path / "full", os.environ["PATH"]
    shim.mkdir()
    (shim / "git").write_text(FULL.format(call=call, git=shutil.which("git")))
    (shim / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim}:{path}")
    monitor.heard.clear()
    said = memory.curate("run", "--now", "2026-03-19T02:00", exits=1)
    assert "No space left on device" in said
    assert monitor.heard == ["/me/start", "/me/fail"]
    assert "Failed    The last run failed: " in memory.curate("status", "--now", "2026-03-19T09:00", exits=1)
    assert "failed: " in memory.curate("context", "--now", "2026-03-19T09:00")

    monkeypatch.setenv("PATH", path)
    memory.curate("run", "--now", "2026-03-20T02:00")
    assert monitor.heard[2:] == ["/me/start", "/me"]
    memory.curate("status", "--now", "2026-03-20T09:00")
    assert "ended well" in memory.curate("context", "--now", "2026-03-20T09:00")
    assert [item["text"] for item in json.loads(memory.curate("items", "--json"))] == [WORDS]
    assert json.loads(memory.curate("check", "--json")) == []
    assert memory.git("status", "--porcelain") == ""
    memory.git("fsck", "--strict")


def test_a_remote_that_hangs_fails_no_night(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    memory.write("Logs/2026-03-18.md", f"- Fact: {WORDS}\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x.git"
        (tmp_path / "config.toml").write_text(f'[push]\nremote = "{address}"\ntimeout_seconds = 1\ntries = 1\n')
        said = memory.curate("run", "--now", "2026-03-19T02:00")
    assert (
        f"Not pushed to {address}: The remote did not answer within 1 seconds. The next run or sync tries again;"
        in said
    )
    assert WORDS in memory.curate("items")
    assert "Push      failed (" in memory.curate("status", "--now", "2026-03-19T09:00")


def test_a_clock_that_was_set_back_keeps_no_night_from_running(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", f"- Fact: {WORDS}\n")
    memory.curate("run", "--now", "2031-01-01T02:00")
    memory.write("Logs/2026-03-19.md", "- Fact: the queue has 3 readers\n")
    said = memory.curate("status", "--now", "2026-03-21T13:00", exits=1)
    assert "A run is dated 2031-01-01 02:00+00:00, which is in the future. Was the clock set back?" in said
    memory.curate("run", "--now", "2026-03-21T14:00")
    assert len(json.loads(memory.curate("items", "--json"))) == 2
    said = memory.curate("status", "--now", "2026-03-21T15:00")
    assert "Overdue" not in said
    assert "2031-01-01" in said, "until that report is gone"


def test_a_zone_that_does_not_exist_is_named_by_whatever_is_asked(memory: Memory) -> None:
    memory.write("curate.toml", 'timezone = "Mars/Olympus"\n')
    for verb in ("run", "status", "schedule"):
        said = memory.curate(verb, exits=1)
        assert "curate.toml" in said
        assert 'timezone = "Mars/Olympus"' in said
    assert "Mars/Olympus" in memory.curate("doctor", exits=1)
