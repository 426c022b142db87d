"""A night is asked to end, waited for so long and no longer, and then killed."""

import os
import threading
from pathlib import Path

import pytest

from pipelines.night.schedule import NightProcess


@pytest.mark.parametrize(("trap", "seconds", "killed", "code"), [("exit 143", 30, 0, 143), ("", 0.1, 1, 137)])
def test_what_runs_is_told_to_end_and_then_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trap: str, seconds: float, killed: int, code: int
) -> None:
    ready, program = tmp_path / "ready", tmp_path / "curate"
    os.mkfifo(ready)
    program.write_text(f"#!/bin/sh\ntrap '{trap}' TERM\necho > {ready}\nwhile :; do sleep 1; done\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    night, codes = NightProcess(tmp_path), []
    thread = threading.Thread(target=lambda: codes.append(night.run()))
    thread.start()
    ready.read_text()
    monkeypatch.setattr("pipelines.night.schedule.STOP_SECONDS", seconds)
    assert night.stop() is bool(killed)
    thread.join(30)
    assert codes == [code]
    assert night.run() == 130, "nothing more is started"
