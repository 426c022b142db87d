"""Children are asked to end, waited for so long and no longer, and then killed."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from pipelines.night.schedule_jobs import Children, commands_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("trap", "seconds", "killed", "code"), [("exit 143", 30, 0, 143), ("", 0.1, 1, 137)])
def test_what_runs_is_told_to_end_and_then_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trap: str, seconds: float, killed: int, code: int
) -> None:
    ready, program = tmp_path / "ready", tmp_path / "curate"
    os.mkfifo(ready)
    program.write_text(f"#!/bin/sh\ntrap '{trap}' TERM\necho > {ready}\nwhile :; do sleep 1; done\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    children, codes = Children(tmp_path), []
    thread = threading.Thread(target=lambda: codes.append(children.run([["run"]])))
    thread.start()
    ready.read_text()
    assert children.stop(seconds) == killed
    thread.join(30)
    assert codes == [code]
    assert children.run([["run"]]) == 130, "nothing more is started"


def test_capture_is_of_the_agents_that_are_here(tmp_path: Path) -> None:
    assert commands_of("capture", {"HOME": str(tmp_path)}) == []
    (tmp_path / ".codex" / "sessions").mkdir(parents=True)
    assert commands_of("capture", {"HOME": str(tmp_path)}) == [["capture", "--from", "codex"]]
